/**
 * What each arm gives for what it takes: reward, timeouts, time to control, cost and work thrown away, and which arms no other
 * dominates.
 *
 * The front is taken over the means. How firm an arm's place on it is, the replicates say: each has a front of its own.
 */
import { type Standing, standings } from "../stats/pareto.ts";
import type { Estimates } from "./estimates.ts";
import type { Arm, Experiment } from "./experiment.ts";
import { type Measure, measureCalled } from "./measures.ts";

/** What is weighed, each by the first of these measures that every arm has a value of. */
const OBJECTIVES = [
  ["reward"],
  ["outer_timeout"],
  ["longest_control_gap_seconds"],
  // Where nothing misses what a killed command would have brought, whoever kills first would look best.
  ["finite_commands_killed"],
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
  /** Whether arms are weighed only against those that meet the same model, provider, host and harness. */
  readonly isDivided: boolean;
  /** In the order of the arms. */
  readonly arms: readonly ArmStanding[];
  /** How many replicates have a value of everything for every arm. */
  readonly replicates: number;
}

/** Null where there is nothing to weigh against each other: one arm, or fewer than two objectives. */
export function tradeoffsOf({ row, arms, worlds }: Experiment, estimates: Estimates): Tradeoffs | null {
  const names = arms.map(({ row }) => row.arm);
  const objectives = OBJECTIVES.flatMap((candidates) => {
    const found = candidates.find((measure) => names.every((arm) => estimates.arm(arm, measure) !== undefined));
    return found === undefined ? [] : [measureCalled(found)!];
  });
  if (names.length < 2 || objectives.length < 2) return null;
  const least = ({ better }: Measure, value: number) => (better === "higher" ? -value : value);
  const circumstances = arms.map((arm) => (row.crossed ? circumstancesOf(arm) : ""));
  const found = standingsAmongLike(
    names.map((arm) => objectives.map((each) => least(each, estimates.arm(arm, each.measure)!.value))),
    circumstances,
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
    if (points.every((point): point is number[] => !point.includes(undefined)))
      single.push(standingsAmongLike(points, circumstances));
  }
  return {
    objectives,
    isDivided: new Set(circumstances).size > 1,
    arms: names.map((arm, at) => ({
      arm,
      onFront: found[at]!.onFront,
      dominatedBy: found[at]!.dominatedBy.map((index) => names[index]!),
      fronts: single.filter((standing) => standing[at]!.onFront).length,
    })),
    replicates: single.length,
  };
}

/**
 * What an arm of a crossed panel meets, whatever its policy: nobody can choose another model by changing a policy. Where arms are
 * listed they were chosen to be compared, and are, whatever they differ in.
 */
function circumstancesOf({ row: { profile, provider, host, cut_reaches: cut } }: Arm): string {
  return JSON.stringify([profile, provider, host, cut]);
}

function standingsAmongLike(points: readonly (readonly number[])[], like: readonly string[]): readonly Standing[] {
  const found: Standing[] = [];
  for (const each of new Set(like)) {
    const own = points.flatMap((_, at) => (like[at] === each ? [at] : []));
    for (const [at, { onFront, dominatedBy }] of standings(own.map((index) => points[index]!)).entries()) {
      found[own[at]!] = { onFront, dominatedBy: dominatedBy.map((other) => own[other]!) };
    }
  }
  return found;
}
