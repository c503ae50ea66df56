/**
 * Conducts a gallery: each of its cases by itself, one after another, as one world with many parts.
 *
 * The cases have nothing in common but the luck that they are drawn from, so each has the trials that it has alone; only
 * their numbers go on from case to case.
 */
import { type Draws, keyed } from "../random.ts";
import type { Panel } from "../scenario/load.ts";
import { conductWorld, type FinishedTrial, type FinishedWorld } from "./conduct.ts";
import { scheduled, tasksOf } from "./schedule.ts";

export function conductGallery(
  { cases, replicates }: Panel,
  replicate: number,
  finished: (trial: FinishedTrial) => void,
  luck: Draws = keyed,
): FinishedWorld {
  const worlds: FinishedWorld[] = [];
  let pairs = 0;
  let trials = 0;
  for (const panel of cases) {
    const [firstPair, firstTrial] = [pairs, trials];
    const numbered = (trial: FinishedTrial) =>
      finished({ ...trial, pairKey: firstPair + trial.pairKey, trialId: firstTrial + trial.trialId });
    worlds.push(conductWorld(panel, scheduled(panel, luck), replicate, numbered, { luck }));
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
    // Within a case arms run side by side; whether those of different cases do, means nothing.
    concurrencyGap: Math.max(...worlds.map(({ concurrencyGap }) => concurrencyGap)),
  };
}
