/**
 * Conducts a panel: every replicate a world of its own, in it all arms side by side at matched concurrency.
 *
 * What becomes of the trials is somebody else's business: events are handed to a function that is given.
 */
import type { TrialEvent } from "../agent/events.ts";
import { trial } from "../agent/trial.ts";
import type { Duration } from "../policy/time.ts";
import { type Draws, keyed } from "../random.ts";
import type { Task } from "../scenario/draw.ts";
import { type Arm, type Panel, toldBudget } from "../scenario/load.ts";
import { profileIn } from "../scenario/situation.ts";
import { BrokenPromise, type KernelOptions } from "../world/kernel.ts";
import { type Entrant, type Lane, type Occupancy, simulate, type WorldRecord } from "../world/simulated.ts";
import { pairKey, type TasksOf, trialId } from "./schedule.ts";

/** A trial that has ended, with all that its events do not say. Times are milliseconds since the world began. */
export interface FinishedTrial {
  readonly trialId: number;
  readonly pairKey: number;
  readonly arm: Arm;
  readonly task: Task;
  readonly replicate: number;
  readonly events: readonly TrialEvent[];
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
  const lanes = panel.arms.map(
    (arm, armIndex): Lane => ({
      slots: panel.concurrencyPerArm,
      entrants: tasks.map((task, index) => {
        const pair = pairKey(panel, replicate, index);
        return entrant(arm, task, luck, (ended) =>
          finished({ trialId: trialId(panel, pair, armIndex), pairKey: pair, arm, task, replicate, ...ended }),
        );
      }),
    }),
  );
  const world = told(panel, replicate, () =>
    simulate({ lanes, first: replicate - 1, cutGrace: panel.cutGrace, ...(kernel === undefined ? {} : { kernel }) }),
  );
  return { replicate, ...world, ...concurrencyOf(world) };
}

/** One task under one arm. */
export function entrant(arm: Arm, task: Task, luck: Draws, ended: Entrant["ended"]): Entrant {
  return {
    outerLimit: task.outerLimit,
    begin: (record) =>
      trial(
        {
          plan: task.plan,
          profile: profileIn(task.model, arm.profile),
          settings: arm.settings,
          told: toldBudget(arm, task.outerLimit),
          outerLimit: task.outerLimit,
          luck,
          key: task.key,
        },
        record,
      ),
    ended,
  };
}

/** One task under one arm, alone in a world: its events. What a replay and an exhibit show. */
export function replay(arm: Arm, task: Task, cutGrace: Duration, luck: Draws = keyed): readonly TrialEvent[] {
  let events: readonly TrialEvent[] = [];
  const only = entrant(arm, task, luck, (ended) => {
    events = ended.events;
  });
  simulate({ lanes: [{ slots: 1, entrants: [only] }], first: 0, cutGrace });
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
