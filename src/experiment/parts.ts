/**
 * Conducts a panel of panels: the cases of a gallery, or the cells of a panel that varies something, each by itself, one after
 * another, as one world with many parts.
 *
 * The parts have nothing in common but the luck that they are drawn from, so each has the trials that it has alone; only
 * their numbers go on from part to part. Where parts have the same tasks, these are drawn once.
 */
import { type Draws, keyed } from "../random.ts";
import type { Task } from "../scenario/draw.ts";
import type { Panel } from "../scenario/load.ts";
import { conductWorld, type FinishedTrial, type FinishedWorld } from "./conduct.ts";
import { partsOf, scheduled, tasksOf } from "./schedule.ts";

export function conductParts(
  whole: Panel,
  replicate: number,
  finished: (trial: FinishedTrial) => void,
  luck: Draws = keyed,
): FinishedWorld {
  const worlds: FinishedWorld[] = [];
  let pairs = 0;
  let trials = 0;
  const { replicates } = whole;
  const drawn = new Map<Panel["source"], readonly Task[]>();
  for (const panel of partsOf(whole)) {
    const tasks = drawn.get(panel.source) ?? scheduled(panel, luck)(replicate);
    drawn.set(panel.source, tasks);
    const [firstPair, firstTrial] = [pairs, trials];
    const numbered = (trial: FinishedTrial) =>
      finished({ ...trial, pairKey: firstPair + trial.pairKey, trialId: firstTrial + trial.trialId });
    worlds.push(conductWorld(panel, () => tasks, replicate, numbered, { luck }));
    pairs += tasksOf(panel) * replicates;
    trials += tasksOf(panel) * panel.arms.length * replicates;
  }
  return {
    replicate,
    delivered: worlds.reduce((sum, { delivered }) => sum + delivered, 0),
    endedAt: Math.max(...worlds.map(({ endedAt }) => endedAt)),
    firstQueueEmptyAt: Math.min(...worlds.map(({ firstQueueEmptyAt }) => firstQueueEmptyAt)),
    occupancy: worlds.flatMap(({ occupancy }) => occupancy),
    meanConcurrency: worlds.flatMap(({ meanConcurrency }) => meanConcurrency),
    // Within a part arms run side by side; whether those of different parts do, means nothing.
    concurrencyGap: Math.max(...worlds.map(({ concurrencyGap }) => concurrencyGap)),
  };
}
