/** Which trials a replicate consists of, in which order, and what they are called. */

import type { Draws } from "../random.ts";
import { compilePopulation, drawScenario, replicateKey, type Task } from "../scenario/draw.ts";
import type { Panel } from "../scenario/load.ts";

/** How many trials each arm has in one replicate. */
export function tasksOf({ source }: Panel): number {
  return "population" in source ? source.population.tasks : source.scenarios.length;
}

/** The panels that it is made of: cases of a gallery, or cells; none where it is one comparison. */
export function partsOf({ cases, cells }: Panel): readonly Panel[] {
  return cases.length > 0 ? cases : cells.map(({ panel }) => panel);
}

/** How many trials there are in one replicate, over all arms. */
export function trialsOf(panel: Panel): number {
  const parts = partsOf(panel);
  if (parts.length > 0) return parts.reduce((sum, each) => sum + tasksOf(each) * each.arms.length, 0);
  return tasksOf(panel) * panel.arms.length;
}

/** The tasks of one replicate, in panel order; the same for every arm. */
export type TasksOf = (replicate: number) => readonly Task[];

/** @param luck every draw of the panel comes from it */
export function scheduled({ source, seed }: Panel, luck: Draws): TasksOf {
  if ("scenarios" in source) {
    return (replicate) =>
      source.scenarios.map((scenario) => drawScenario(scenario, luck, replicateKey(luck, seed, replicate)));
  }
  const { population } = source;
  const draw = compilePopulation(population, luck);
  return (replicate) => {
    const key = replicateKey(luck, seed, replicate);
    return Array.from({ length: population.tasks }, (_, index) => draw(index, key));
  };
}

/** Trials of one scenario and replicate are a pair under any two arms. Counted from 1. */
export function pairKey(panel: Panel, replicate: number, task: number): number {
  return (replicate - 1) * tasksOf(panel) + task + 1;
}

/** Unique in the experiment, and the same whatever worker runs it. Counted from 1. */
export function trialId(panel: Panel, pair: number, arm: number): number {
  return (pair - 1) * panel.arms.length + arm + 1;
}
