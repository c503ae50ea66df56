/**
 * A stub for the model: habits as data, and the one function that turns what was seen into a move.
 *
 * The stub sees what the runtime shows it, result fields and output, and nothing else: never the
 * script of a command, never the clock. Whatever luck it needs is a keyed draw, so that two trials
 * differ only in what the policy and the world did.
 */
import { chosen, type Distribution, sampler } from "../distribution.ts";
import type { AskedCondition } from "../policy/condition.ts";
import type { Hint, MessageKind } from "../policy/notice.ts";
import { between, type Duration, inSeconds, moment, nothing, seconds } from "../policy/time.ts";
import { type Draws, type Key, normalQuantile } from "../random.ts";
import type { ContextTerms } from "./context.ts";
import type { Action, ClampReason } from "./events.ts";
import type { Carried, WaitResult } from "./shell.ts";

/** How long a wait to ask for. */
export type Lengths =
  /** One length for certain. */
  | Duration
  /** Several with their probabilities, which add up to 1. */
  | readonly { readonly length: Duration; readonly p: number }[]
  /** Drawn anew each time, in seconds. */
  | { readonly drawn: Distribution }
  /** One after the other, wait by wait; the last again and again. */
  | { readonly ladder: readonly Duration[] }
  /** The profile's own cadence. */
  | { readonly cadence: true }
  /** A share of what the last result said remains of the run, where one did. */
  | { readonly shareOfRemaining: number; readonly otherwise: Duration };

export interface WaitRule {
  /** From which wait on one process this rule holds, counted from 1; the last rule that holds wins. */
  readonly from: number;
  /** Holds only where the model first had control of the process so late after its start; left out: always. */
  readonly late?: Duration;
  readonly length: Lengths;
}

/** Conditions that hold together; null where a condition is not asked for. */
export interface StopRule {
  /** At least so many waits on the process came back running with nothing new. */
  readonly quietWaits: number | null;
  /** The last result says it has run longer than this. */
  readonly running: Duration | null;
  /** Output that was shown gave away a failure. */
  readonly failureSeen: boolean | null;
  /** Results say that it has used no CPU to speak of since the one before; left out: nobody asks. */
  readonly cpuIdle?: boolean;
  /** Once everything else holds: how likely it is at each look; left out: certain. */
  readonly probability?: number;
}

export const IN_THE_RESERVE = ["stop_and_go_on", "finish", "ignore"] as const;
export type InTheReserve = (typeof IN_THE_RESERVE)[number];

export const BETWEEN = ["wait", "status", "read_output", "probe", "work"] as const;
/** What a model may do about a live process, each time it has control: `work` goes on with what does not need it. */
export type Between = (typeof BETWEEN)[number];

export const ON_READY = ["go_on", "keep_waiting"] as const;

/** How a model behaves around processes. */
export interface Profile {
  readonly profile: string;
  readonly says: string;
  /** How long the model takes for a step: always the same, or drawn in seconds. A provider with a latency of its own overrules it. */
  readonly step: Duration | Distribution;
  /** How often it looks by itself, if it has such a cadence. */
  readonly cadence: Duration | null;
  readonly waits: readonly WaitRule[];
  /** What it does each time, with probabilities that add up to 1; empty: it waits. */
  readonly between: readonly { readonly does: Between; readonly p: number }[];
  /** Stops a process as soon as one of these rules holds; never if there is none. */
  readonly stopsAProcess: readonly StopRule[];
  /** What it does once it has read that the reserve has begun: always the same, or with probabilities that add up to 1. */
  readonly inTheReserve: InTheReserve | readonly { readonly does: InTheReserve; readonly p: number }[];
  /** Once output says that a process is ready: leave it running and go on with the plan, or keep waiting for its end. */
  readonly onReady: (typeof ON_READY)[number];
  /** Arguments that it gives to calls for which the plan names none. */
  readonly arguments: CallArguments;
  readonly reruns: Reruns;
  /** How it waits for a condition where that takes one call; null: it looks again and again, call by call. */
  readonly conditions: AskedCondition | null;
  /** What it expects of a command before it runs it; null: it expects nothing. */
  readonly expects: Expectation | null;
  /** Which tools it has beside the one that runs commands, from which tool call of the trial on; null: all, always. */
  readonly tools: readonly ToolRule[] | null;
  /** How likely it is to forget a live process whenever the conversation is compacted. */
  readonly forgets: number;
  /** How likely it is to do what a message of each kind asks of it. */
  readonly obeys: Readonly<Record<MessageKind, number>>;
  /** How likely it is, each time it has control, to end its turn until it is told of a process, where the runtime would wake it. */
  readonly endsItsTurn: number;
  readonly context: ContextTerms;
  /** Not a model but the bound: knows every script, and waits exactly as long as it pays. */
  readonly oracle: boolean;
}

/** Tools that a model has from a tool call of its trial on, counted from 1; the last rule that has begun holds. */
export interface ToolRule {
  readonly from: number;
  readonly has: readonly Action[];
}

/** Tools by which results of a process can be read later. */
const READERS: readonly Action[] = ["wait", "status", "read_output"];

/** Which tools a model has at a call; null: all. */
export function toolsAt({ tools }: Profile, call: number): readonly Action[] | null {
  if (tools === null) return null;
  let has: readonly Action[] = [];
  for (const rule of tools) if (rule.from <= call) has = rule.has;
  return has;
}

export function canRead(has: readonly Action[] | null): boolean {
  return has === null || READERS.some((tool) => has.includes(tool));
}

/** A move that needs no tool but those there are: another way to look, or none. */
export function within(move: Move, has: readonly Action[] | null): Move {
  if (has === null) return move;
  switch (move.move) {
    case "wait":
    case "status":
    case "read_output": {
      const way = has.includes(move.move) ? move.move : READERS.find((tool) => has.includes(tool));
      if (way === move.move) return move;
      return way === undefined ? GO_ON : way === "status" ? STATUS : way === "read_output" ? READ : WAIT_A_LITTLE;
    }
    case "stop":
      return has.includes("stop") ? move : GO_ON;
    case "stop_and_finish":
      return has.includes("stop") ? move : { move: "finish" };
    default:
      return move;
  }
}

export interface CallArguments {
  /** Share of commands that it starts in the background. */
  readonly backgroundShare: number;
  /** Share of commands to which it gives a timeout, and which one, in seconds. */
  readonly timeoutShare: number;
  readonly timeout: Distribution | null;
}

/** How likely it is to run a command again, and how often at most. */
export interface Reruns {
  /** That came back running: taken not to have started. */
  readonly running: number;
  /** That a timeout ended. */
  readonly timedOut: number;
  readonly atMost: number;
}

/** A noisy estimate of a command's length, and what follows from it. */
export interface Expectation {
  /** Standard deviation of the estimate's logarithm around the command's usual length. */
  readonly sigma: number;
  /** What is expected to take longer is started in the background; null: nothing is. */
  readonly backgroundOver: Duration | null;
  /** A timeout of so many times the estimate; null: none. */
  readonly timeoutFactor: number | null;
}

/** After public logs: calibration, section 4 and 10. */
export const USUAL_CONTEXT: ContextTerms = {
  start: 38_000,
  step: 1_750,
  poll: 60,
  stepOutput: 214,
  pollOutput: 42,
  bytesPerToken: 4,
  window: 272_000,
  compactsAt: 0.9,
  kept: 20_000,
  summary: 4_000,
};

export const OBEYS_ALL: Profile["obeys"] = {
  notice: 1,
  reminder: 1,
  hint: 1,
  heartbeat: 1,
  deadline_notice: 1,
  wrap_up: 1,
};

/**
 * Habits that a profile need not speak of: none of them does anything, but that a server which is ready is left running and
 * that a message is obeyed, where there is one.
 */
export const PLAIN_HABITS = {
  between: [],
  onReady: "go_on",
  arguments: { backgroundShare: 0, timeoutShare: 0, timeout: null },
  reruns: { running: 0, timedOut: 0, atMost: 0 },
  conditions: null,
  expects: null,
  tools: null,
  forgets: 0,
  obeys: OBEYS_ALL,
  endsItsTurn: 0,
  context: USUAL_CONTEXT,
  oracle: false,
} as const satisfies Partial<Profile>;

/** What the model has seen of one live process. */
export interface Seen {
  /** How often it has had control since the process came back running. */
  looks: number;
  /** How many waits on it have returned. */
  waits: number;
  quietWaits: number;
  failureSeen: boolean;
  readySeen: boolean;
  /** As the last result said. */
  elapsed: Duration;
  /** CPU time used, as the last result that said so did; null: none has. */
  cpu: Duration | null;
  /** Whether hardly any of it was used since the look before; null where results do not say. */
  cpuIdle: boolean | null;
  /** How late after its start control came first. */
  readonly firstControl: Duration;
  /** What the last result that spoke of it said remains of the run. */
  remaining: Duration | null;
  /** What the last result pointed out, if the model minds that. */
  hint: Hint | null;
}

export type Move =
  | { readonly move: "wait"; readonly length: Duration }
  | { readonly move: "stop" }
  /** Stops the process and gives up the rest of the plan but commit and submission. */
  | { readonly move: "stop_and_finish" }
  /** The same where there is no way to stop it. */
  | { readonly move: "finish" }
  | { readonly move: "status" }
  | { readonly move: "read_output" }
  | { readonly move: "probe" }
  /** Leaves the process running and goes on with the plan. */
  | { readonly move: "go_on" }
  /** Leaves it running and does nothing more until it is told of something. */
  | { readonly move: "end_turn" };

export const STOP: Move = { move: "stop" };
const FINISH: Move = { move: "stop_and_finish" };
const GO_ON: Move = { move: "go_on" };
const END_TURN: Move = { move: "end_turn" };
export const STATUS: Move = { move: "status" };
const READ: Move = { move: "read_output" };
const PROBE: Move = { move: "probe" };
/** A look by way of a wait: the shortest there is. */
const WAIT_A_LITTLE: Move = { move: "wait", length: nothing };

/** What a model has to choose from about a process, beside what it has seen. */
export interface Choice {
  /** What it does now that it knows of the reserve; null: it does not. */
  readonly reserve: InTheReserve | null;
  /** Whether anything of the plan can be done without the process. */
  readonly canWork: boolean;
  /** Whether the process serves anything that could be probed. */
  readonly canProbe: boolean;
  /** Whether it would be woken once the process is over. */
  readonly isWoken: boolean;
}

/**
 * What a model does next about a process that is still running.
 *
 * @param key of this process's waits: the draw for wait n is the n-th of it
 */
export function nextMove(profile: Profile, seen: Seen, choice: Choice, luck: Draws, key: Key): Move {
  const { reserve } = choice;
  if (reserve !== null && reserve !== "ignore") return reserve === "finish" ? FINISH : STOP;
  seen.looks += 1;
  if (seen.readySeen && profile.onReady === "go_on") return GO_ON;
  for (const [at, rule] of profile.stopsAProcess.entries()) if (holds(rule, at, seen, luck, key)) return STOP;
  if (seen.hint === "quiet_polls") return STOP;
  if (choice.isWoken && endsTurn(profile, seen, luck, key)) return END_TURN;
  if (seen.hint === "repeated_read" && choice.canWork) return GO_ON;
  // Whoever has been told not to look again at once waits.
  if (profile.between.length > 0 && seen.hint === null) {
    const other = insteadOfWaiting(profile, seen, choice, luck, key);
    if (other !== null) return other;
  }
  const ordinal = seen.waits + 1;
  return { move: "wait", length: askedFor(ruleFor(profile.waits, ordinal, seen), profile, seen, luck, key, ordinal) };
}

/** Ends its turn by habit, or as it was told that there is nothing to see. */
function endsTurn({ endsItsTurn }: Profile, { hint, looks }: Seen, luck: Draws, key: Key): boolean {
  return hint !== null || (endsItsTurn > 0 && luck.uniform(luck.within(key, "ends_its_turn"), looks) < endsItsTurn);
}

function insteadOfWaiting({ between }: Profile, seen: Seen, choice: Choice, luck: Draws, key: Key): Move | null {
  switch (drawn(between, luck.uniform(luck.within(key, "between"), seen.looks)).does) {
    case "status":
      return STATUS;
    case "read_output":
      return READ;
    case "probe":
      return choice.canProbe ? PROBE : null;
    case "work":
      return choice.canWork ? GO_ON : null;
    case "wait":
      return null;
  }
}

/** The one of several things, each with its probability, that a uniform falls on. */
function drawn<Thing extends { readonly p: number }>(things: readonly Thing[], uniform: number): Thing {
  return things[chosen(things, uniform)]!;
}

function holds(rule: StopRule, at: number, seen: Seen, luck: Draws, key: Key): boolean {
  const { quietWaits, running, failureSeen, cpuIdle, probability } = rule;
  return (
    (quietWaits === null || seen.quietWaits >= quietWaits) &&
    (running === null || seen.elapsed > running) &&
    (failureSeen === null || seen.failureSeen === failureSeen) &&
    (cpuIdle === undefined || seen.cpuIdle === cpuIdle) &&
    (probability === undefined || luck.uniform(luck.within(luck.within(key, "stops"), at), seen.looks) < probability)
  );
}

function ruleFor(rules: readonly WaitRule[], ordinal: number, { firstControl }: Seen): Lengths {
  let found = rules[0]!;
  for (const rule of rules) {
    if (rule.from <= ordinal && (rule.late === undefined || firstControl >= rule.late)) found = rule;
  }
  return found.length;
}

function askedFor(
  lengths: Lengths,
  profile: Profile,
  { remaining }: Seen,
  luck: Draws,
  key: Key,
  ordinal: number,
): Duration {
  if (typeof lengths === "number") return lengths;
  if ("drawn" in lengths) return seconds(sampler(lengths.drawn)(luck.uniform(key, ordinal)));
  if ("ladder" in lengths) return lengths.ladder[Math.min(ordinal, lengths.ladder.length) - 1]!;
  if ("cadence" in lengths) return profile.cadence!;
  if ("shareOfRemaining" in lengths) {
    return remaining === null ? lengths.otherwise : (Math.round(remaining * lengths.shareOfRemaining) as Duration);
  }
  return drawn(lengths, luck.uniform(key, ordinal)).length;
}

/** What a model does in the reserve, drawn once for the whole trial. */
export function inTheReserve({ inTheReserve: habit }: Profile, luck: Draws, key: Key): InTheReserve {
  return typeof habit === "string" ? habit : drawn(habit, luck.uniform(luck.within(key, "reserve"))).does;
}

/** How a model calls a command: what the plan leaves open follows its habits, and what it expects. */
export interface Calling {
  readonly background: boolean;
  readonly timeout: Duration | null;
}

/** Whether a profile ever adds anything to a call. */
export function callsPlainly({ arguments: { backgroundShare, timeoutShare }, expects, tools }: Profile): boolean {
  return backgroundShare === 0 && timeoutShare === 0 && expects === null && tools === null;
}

/** @param key of the step: of a plan's run */
export function called(profile: Profile, usual: Duration | null, plan: Calling, luck: Draws, key: Key): Calling {
  let { background, timeout } = plan;
  const { backgroundShare, timeoutShare, timeout: lengths } = profile.arguments;
  const habit = luck.within(key, "arguments");
  if (luck.uniform(habit, 0) < backgroundShare) background = true;
  if (timeout === null && lengths !== null && luck.uniform(habit, 1) < timeoutShare) {
    timeout = atLeastOne(seconds(sampler(lengths)(luck.uniform(habit, 2))));
  }
  const { expects } = profile;
  if (expects !== null && usual !== null) {
    const estimate = usual * Math.exp(expects.sigma * normalQuantile(luck.uniform(habit, 3)));
    if (expects.backgroundOver !== null && estimate > expects.backgroundOver) background = true;
    if (timeout === null && expects.timeoutFactor !== null && !background) {
      timeout = atLeastOne(Math.round(Math.min(estimate * expects.timeoutFactor, LONGEST_TIMEOUT)) as Duration);
    }
  }
  return { background, timeout };
}

/** What no policy would grant anyway: keeps a wild estimate a moment that can be counted. */
const LONGEST_TIMEOUT = seconds(86_400);

function atLeastOne(length: Duration): Duration {
  return Math.max(length, 1) as Duration;
}

/** A process that came back running for the first time. */
export function firstSight({ result, marks }: Look, startedAgo: Duration): Seen {
  const seen: Seen = {
    looks: 0,
    waits: 0,
    quietWaits: 0,
    failureSeen: marks.includes("failure"),
    readySeen: marks.includes("ready"),
    elapsed: nothing,
    cpu: null,
    cpuIdle: null,
    firstControl: startedAgo,
    remaining: result.remaining_run_seconds === undefined ? null : seconds(result.remaining_run_seconds),
    hint: null,
  };
  if (result.cpu_seconds !== undefined) seesCpu(seen, result.elapsed_seconds, result.cpu_seconds);
  seen.elapsed = seconds(result.elapsed_seconds);
  return seen;
}

/** What a look at a live process shows. */
type Look = Carried<{
  readonly elapsed_seconds: number;
  readonly remaining_run_seconds?: number;
  readonly cpu_seconds?: number;
}>;

/** Less than this share of the time on one core is idling: a process that waits is not quite still. */
const IDLE_SHARE = 0.01;

function seesCpu(seen: Seen, elapsed: number, cpu: number): void {
  const since = between(moment(seen.elapsed), moment(seconds(elapsed)));
  const used = seconds(cpu) - (seen.cpu ?? 0);
  // Two looks at one moment tell nothing new.
  if (since > 0) seen.cpuIdle = used < since * IDLE_SHARE;
  seen.cpu = seconds(cpu);
}

/** Takes in what a wait brought. */
export function afterWait(seen: Seen, wait: Carried<WaitResult>): void {
  seen.waits += 1;
  if (!wait.freshOutput) seen.quietWaits += 1;
  afterLook(seen, wait);
}

/** Takes in what any look at it brought. */
export function afterLook(seen: Seen, { marks, result }: Look): void {
  if (marks.length > 0) {
    if (marks.includes("failure")) seen.failureSeen = true;
    if (marks.includes("ready")) seen.readySeen = true;
  }
  if (result.cpu_seconds !== undefined) seesCpu(seen, result.elapsed_seconds, result.cpu_seconds);
  seen.elapsed = seconds(result.elapsed_seconds);
  if (result.remaining_run_seconds !== undefined) seen.remaining = seconds(result.remaining_run_seconds);
}

/** Whether a result speaks of the reserve: by a clamp reason or by guidance. Nothing else tells a model of it. */
export function speaksOfReserve(result: {
  readonly clamp_reasons?: readonly ClampReason[];
  readonly guidance?: unknown;
}): boolean {
  return result.guidance !== undefined || (result.clamp_reasons?.includes("remaining_run_budget") ?? false);
}

/** How a choice of lengths reads: `3600 s (p 0.6) or 240 s (p 0.4)`. */
export function inWords(lengths: Lengths): string {
  if (typeof lengths === "number") return `${inSeconds(lengths)} s`;
  if ("drawn" in lengths) return `drawn from a ${lengths.drawn.distribution}`;
  if ("ladder" in lengths) return `${lengths.ladder.map((length) => inSeconds(length)).join(", ")} s in turn`;
  if ("cadence" in lengths) return "its own cadence";
  if ("shareOfRemaining" in lengths) {
    return `${Math.round(lengths.shareOfRemaining * 1e6) / 1e4} % of what remains, or ${inSeconds(lengths.otherwise)} s`;
  }
  return lengths.map(({ length, p }) => `${inSeconds(length)} s (p ${p})`).join(" or ");
}
