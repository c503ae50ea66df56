/**
 * Conducts a panel: every replicate a world of its own, in it all arms side by side at matched concurrency.
 *
 * What becomes of the trials is somebody else's business: events are handed to a function that is given.
 */
import type { Agent } from "../agent/effects.ts";
import type { Record, TrialEvent } from "../agent/events.ts";
import type { Grade } from "../agent/grading.ts";
import { UNLIMITED } from "../agent/plan.ts";
import { trial } from "../agent/trial.ts";
import { after, beginning, type Duration } from "../policy/time.ts";
import { type Draws, type Key, keyed } from "../random.ts";
import { replicateKey, type Task } from "../scenario/draw.ts";
import { type Arm, type Panel, toldBudget } from "../scenario/load.ts";
import { profileIn } from "../scenario/situation.ts";
import { Host } from "../world/host.ts";
import { BrokenPromise, type KernelOptions } from "../world/kernel.ts";
import type { Bound } from "../world/oracle.ts";
import { Provider } from "../world/provider.ts";
import { type Entrant, type Lane, type Occupancy, simulate, throughout, type WorldRecord } from "../world/simulated.ts";
import { pairKey, type TasksOf, trialId } from "./schedule.ts";
import { Yardstick } from "./yardstick.ts";

/** A trial that has ended, with all that its events do not say. Times are milliseconds since the world began. */
export interface FinishedTrial {
  readonly trialId: number;
  readonly pairKey: number;
  readonly arm: Arm;
  readonly task: Task;
  readonly replicate: number;
  readonly events: readonly TrialEvent[];
  /** What its agent did after the cut, where that had not reached it; it is not graded. */
  readonly afterCut?: readonly TrialEvent[];
  /** Null: nothing can be said. */
  readonly grade: Grade | null;
  /** What the oracle would have come to. */
  readonly oracle: Bound;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly concurrency: number;
}

/** A world that has ended. Arms stand in the panel's order. */
export interface FinishedWorld {
  readonly replicate: number;
  readonly delivered: number;
  readonly endedAt: number;
  readonly firstQueueEmptyAt: number;
  readonly occupancy: readonly Occupancy[];
  /** Slots taken by each arm until the first queue was empty, on average. */
  readonly meanConcurrency: readonly number[];
  /** Largest relative difference between two of them: matched concurrency means that it is small. */
  readonly concurrencyGap: number;
}

/** Runs one replicate; `finished` is told of each trial as it ends. */
export function conductWorld(
  panel: Panel,
  tasksOf: TasksOf,
  replicate: number,
  finished: (trial: FinishedTrial) => void,
  { luck = keyed, kernel }: { readonly luck?: Draws; readonly kernel?: KernelOptions } = {},
): FinishedWorld {
  const tasks = tasksOf(replicate);
  const yardsticks = tasks.map((task) => new Yardstick(task));
  const providers = providersOf(panel.arms, luck, replicateKey(luck, panel.seed, replicate));
  const lanes = panel.arms.map(
    (arm, armIndex): Lane => ({
      slots: panel.concurrencyPerArm,
      provider: providers[armIndex]!,
      host: arm.host === null ? null : new Host(arm.host),
      entrants: tasks.map((task, index) => {
        const pair = pairKey(panel, replicate, index);
        const yardstick = yardsticks[index]!;
        return entrant(arm, task, luck, ({ events, afterCut, startedAt, endedAt, concurrency }) =>
          finished({
            trialId: trialId(panel, pair, armIndex),
            pairKey: pair,
            arm,
            task,
            replicate,
            events,
            ...(afterCut === undefined ? null : { afterCut }),
            grade: yardstick.grade(arm, events),
            oracle: yardstick.oracle(arm),
            startedAt,
            endedAt,
            concurrency,
          }),
        );
      }),
    }),
  );
  const world = told(panel, replicate, () =>
    simulate({ lanes, first: replicate - 1, cutGrace: panel.cutGrace, ...(kernel === undefined ? {} : { kernel }) }),
  );
  return { replicate, ...world, ...concurrencyOf(world) };
}

/**
 * The provider of each arm: one of its own, or the one that all arms share whose provider is of the world. Their weather is
 * the same in any case, so that no arm's luck depends on who else is listed.
 */
function providersOf(arms: readonly Arm[], luck: Draws, replicate: Key): readonly (Provider | null)[] {
  const shared = new Map<string, Provider>();
  return arms.map((arm) => {
    const own = providerOf(arm, luck, replicate);
    if (own === null || arm.provider!.scope === "arm") return own;
    const terms = JSON.stringify(arm.provider!.terms);
    const there = shared.get(terms) ?? own;
    shared.set(terms, there);
    return there;
  });
}

/** A provider for an arm that is alone in its world; null: it has none. */
export function providerOf({ provider }: Arm, luck: Draws, replicate: Key): Provider | null {
  return provider === null ? null : new Provider(provider.terms, luck, luck.within(replicate, "provider"));
}

/** The oracle's own trial: it does what it knows to be enough, and nobody sees it do anything else. */
function* foretold(bound: Bound, outerLimit: Duration, record: Record): Agent<void> {
  const end = after(beginning, outerLimit);
  record({ event: "trial_began", at: beginning, budget: null, outerLimit, reserveBegins: end });
  const at = after(beginning, bound.length);
  if (bound.length > 0) yield { effect: "pass", until: at };
  if (bound.reward === 0) record({ event: "gave_up", at });
  else {
    record({ event: "committed", at });
    record({ event: "submitted", at, partial: false });
  }
}

/** One task under one arm. */
export function entrant(arm: Arm, task: Task, luck: Draws, ended: Entrant["ended"]): Entrant {
  const { plan, model, outerLimit, key, limits, outside, deliveries, redraw } = task;
  if (arm.profile.oracle) {
    const bound = new Yardstick(task).oracle(arm);
    return { outerLimit, begin: (record) => foretold(bound, outerLimit, record), ended };
  }
  return {
    outerLimit,
    interrupts: outside.map(({ at }) => at),
    cutReaches: arm.cutReaches,
    begin: (record) =>
      trial(
        {
          plan,
          profile: profileIn(model, arm.profile),
          settings: arm.settings,
          told: toldBudget(arm, outerLimit),
          outerLimit,
          luck,
          key,
          economy: arm.provider === null ? null : arm.provider.economy,
          ...(limits === UNLIMITED ? null : { limits }),
          ...(outside.length === 0 ? null : { outside }),
          ...(deliveries === null ? null : { deliveries }),
          redraw,
        },
        record,
      ),
    ended,
  };
}

/**
 * One task under one arm, alone in a world: its events. What a replay and an exhibit show.
 *
 * @param replicate what the weather of its provider is keyed by
 */
export function replay(
  arm: Arm,
  task: Task,
  cutGrace: Duration,
  replicate: Key,
  luck: Draws = keyed,
): readonly TrialEvent[] {
  let events: readonly TrialEvent[] = [];
  const only = entrant(arm, task, luck, (ended) => {
    events = throughout(ended);
  });
  const provider = providerOf(arm, luck, replicate);
  const host = arm.host === null ? null : new Host(arm.host);
  simulate({ lanes: [{ slots: 1, entrants: [only], provider, host }], first: 0, cutGrace });
  return events;
}

/** One task of a panel under one arm, amid all the others: for whoever waits in a queue or shares cores with them. */
export function replayAmidOthers(
  panel: Panel,
  tasksOf: TasksOf,
  replicate: number,
  arm: Arm,
  scenario: string,
): readonly TrialEvent[] {
  let events: readonly TrialEvent[] = [];
  conductWorld(panel, tasksOf, replicate, (trial) => {
    if (trial.arm.arm === arm.arm && trial.task.scenario === scenario) events = throughout(trial);
  });
  return events;
}

function concurrencyOf({
  occupancy,
  firstQueueEmptyAt,
}: WorldRecord): Pick<FinishedWorld, "meanConcurrency" | "concurrencyGap"> {
  const meanConcurrency = occupancy.map((lane) => meanUntil(lane, firstQueueEmptyAt));
  const most = Math.max(...meanConcurrency);
  const least = Math.min(...meanConcurrency);
  return { meanConcurrency, concurrencyGap: most === 0 ? 0 : (most - least) / most };
}

/** The mean of a step function from 0 to `end`; what it begins with, if that is no time at all. */
function meanUntil({ since, taken }: Occupancy, end: number): number {
  if (end <= 0) return taken[0] ?? 0;
  let sum = 0;
  for (const [index, from] of since.entries()) {
    const to = Math.min(since[index + 1] ?? end, end);
    if (to > from) sum += taken[index]! * (to - from);
  }
  return sum / end;
}

/** Our own broken promises crash loudly, with what it takes to see them again. */
function told<Result>(panel: Panel, replicate: number, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    throw new BrokenPromise(`${panel.panel}, seed ${panel.seed}, replicate ${replicate}: ${error.message}`);
  }
}
