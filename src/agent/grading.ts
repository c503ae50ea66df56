/**
 * What a trial is worth to its grader, told from its events.
 *
 * A test passes once a command that earns it has come to its own end, until another one spoils it.
 * Where no step names the tests it earns, the credited act earns them all: an upper bound, since nobody
 * says that the work was right.
 */
import type { Instant } from "../policy/time.ts";
import type { Command, Test } from "./effects.ts";
import type { TrialEvent } from "./events.ts";
import { type Grading, namesTests, type Plan } from "./plan.ts";

export interface Grade {
  readonly reward: number;
  readonly testsPassed: number;
  readonly testsTotal: number;
}

/**
 * Null: nothing can be said, as the provider failed.
 *
 * @param byName whether any step of the plan earns tests by name: for whoever grades many trials of it
 */
export function grade(
  events: readonly TrialEvent[],
  plan: Plan,
  grading: Grading,
  byName: boolean = namesTests(plan),
): Grade | null {
  if (lastEvent(events) === "provider_failed") return null;
  const testsPassed = serves(events, grading) ? creditedTests(events, byName, grading) : 0;
  const { tests: testsTotal } = grading;
  const reward = grading.reward === "share" ? testsPassed / testsTotal : testsPassed >= testsTotal ? 1 : 0;
  return { reward, testsPassed, testsTotal };
}

/** How a trial ended: what stands last, but for what the harness found afterwards. */
function lastEvent(events: readonly TrialEvent[]): TrialEvent["event"] | undefined {
  let last = events.length - 1;
  while (last >= 0 && events[last]!.event === "left_behind") last -= 1;
  return events[last]?.event;
}

/** Whether the service that is asked for answers once the trial is over. */
function serves(events: readonly TrialEvent[], { service }: Grading): boolean {
  if (service === null) return true;
  const ports = new Map<number, number | null>();
  for (const event of events) {
    if (event.event === "exec_called" && event.process !== null) ports.set(event.process, event.command.port);
  }
  return events.some((event) => event.event === "left_behind" && event.answers && ports.get(event.process) === service);
}

function creditedTests(events: readonly TrialEvent[], byName: boolean, { credit, tests }: Grading): number {
  const act = creditedAct(events, credit);
  if (act === null) return 0;
  if (byName) return passing(events, act.at);
  return act.whole ? tests : 0;
}

interface Act {
  /** Up to when work counts. */
  readonly at: Instant;
  /** Whether it stands for the whole plan: submitted or committed, and nothing given up. */
  readonly whole: boolean;
}

/** The last act that is credited; null if there was none. It stands near the end, so the search begins there. */
function creditedAct(events: readonly TrialEvent[], credit: Grading["credit"]): Act | null {
  let end: Instant | null = null;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]!;
    if (event.event === "submitted") return { at: end ?? event.at, whole: !event.partial };
    if (event.event === "committed" && credit !== "submitted") return { at: end ?? event.at, whole: true };
    if (credit === "worktree" && isEnd(event)) end = event.at;
  }
  return end === null ? null : { at: end, whole: false };
}

/** An end that leaves the work tree as it is. */
function isEnd({ event }: TrialEvent): boolean {
  return event === "cut_off" || event === "gave_up" || event === "limit_reached";
}

/** How many tests pass at a moment, from the ends that commands had come to by then. */
function passing(events: readonly TrialEvent[], by: Instant): number {
  const commands = new Map<number, Command>();
  const ends = new Map<number, Instant>();
  for (const event of events) {
    if (event.event === "exec_called" && event.process !== null) commands.set(event.process, event.command);
    if (event.event !== "control_returned" && event.event !== "left_behind" && event.event !== "exit_awaited") continue;
    const { process, end } = event;
    if (process !== null && end?.by === "itself" && end.prevented !== true) ends.set(process, end.at);
  }
  const order = [...ends].filter(([, at]) => at <= by).sort(([a, at], [b, bt]) => at - bt || a - b);
  const passed = new Set<Test>();
  for (const [process] of order) {
    for (const test of commands.get(process)?.passes ?? []) passed.add(test);
    for (const test of commands.get(process)?.spoils ?? []) passed.delete(test);
  }
  return passed.size;
}
