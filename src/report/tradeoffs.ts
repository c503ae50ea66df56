/**
 * What each arm gives for what it takes: reward, timeouts, time to control and cost, and which arms no other dominates.
 *
 * The front is taken over the means. How firm an arm's place on it is, the replicates say: each has a front of its own.
 */
import { type Standing, standings } from "../stats/pareto.ts";
import type { Estimates } from "./estimates.ts";
import type { Experiment } from "./experiment.ts";
import { type Measure, measureCalled } from "./measures.ts";

/** What is weighed, each by the first of these measures that every arm has a value of. */
const OBJECTIVES = [
  ["reward"],
  ["outer_timeout"],
  ["longest_control_gap_seconds"],
  ["cost_usd", "tokens", "provider_calls"],
] as const;

export interface ArmStanding {
  readonly arm: string;
  readonly onFront: boolean;
  /** Arms of the front that are at least as good in everything, and better in something. */
  readonly dominatedBy: readonly string[];
  /** In how many replicates it is on the front of that replicate. */
  readonly fronts: number;
}

export interface Tradeoffs {
  readonly objectives: readonly Measure[];
  /** In the order of the arms. */
  readonly arms: readonly ArmStanding[];
  /** How many replicates have a value of everything for every arm. */
  readonly replicates: number;
}

/** Null where there is nothing to weigh against each other: one arm, or fewer than two objectives. */
export function tradeoffsOf({ arms, worlds }: Experiment, estimates: Estimates): Tradeoffs | null {
  const names = arms.map(({ row }) => row.arm);
  const objectives = OBJECTIVES.flatMap((candidates) => {
    const found = candidates.find((measure) => names.every((arm) => estimates.arm(arm, measure) !== undefined));
    return found === undefined ? [] : [measureCalled(found)!];
  });
  if (names.length < 2 || objectives.length < 2) return null;
  const least = ({ better }: Measure, value: number) => (better === "higher" ? -value : value);
  const found = standings(
    names.map((arm) => objectives.map((each) => least(each, estimates.arm(arm, each.measure)!.value))),
  );

  const values = names.map((arm) =>
    objectives.map(
      (each) =>
        new Map(estimates.replicates(arm, each.measure).map(({ replicate, value }) => [replicate, least(each, value)])),
    ),
  );
  const single: (readonly Standing[])[] = [];
  for (const { replicate } of worlds) {
    const points = values.map((of) => of.map((each) => each.get(replicate)));
    if (points.every((point): point is number[] => !point.includes(undefined))) single.push(standings(points));
  }
  return {
    objectives,
    arms: names.map((arm, at) => ({
      arm,
      onFront: found[at]!.onFront,
      dominatedBy: found[at]!.dominatedBy.map((index) => names[index]!),
      fronts: single.filter((standing) => standing[at]!.onFront).length,
    })),
    replicates: single.length,
  };
}
