/**
 * The difference between two ways of doing the same thing, from pairs.
 *
 * A pair is one thing done both ways, and its difference is treatment − control. Pairs come in clusters: what is
 * independent is the cluster, and `n` of an estimate counts those. What the two sides of a pair have in common never
 * counts as noise. Whoever aggregates elsewhere hands in one sum and one count for each cluster.
 *
 * The t interval decides. The bootstrap stands beside it: where the two differ much, the clusters are few or lopsided.
 */
import type { Draws, Key } from "../random.ts";
import { type Estimate, NotEstimable } from "./estimate.ts";
import { bcaRatio, type Resampling, ratio, type Share } from "./ratio.ts";
import { type Crossing, twoWayRatio } from "./twoWay.ts";

export interface Pair {
  /** What the pair shares its luck with: a replicate, or a scenario where there is one replicate. */
  readonly cluster: number | string;
  readonly difference: number;
}

/** The pairs of one cluster: their differences added up, and how many they are. */
export interface ClusterSum {
  readonly sum: number;
  readonly n: number;
}

/** Both sides of one cluster, each added up over the same pairs. */
export interface BothSums {
  readonly treatmentSum: number;
  readonly controlSum: number;
}

/** The clusters of pairs, in the order of their first pair. */
export function clustered(pairs: readonly Pair[]): readonly ClusterSum[] {
  const clusters = new Map<number | string, number[]>();
  for (const { cluster, difference } of pairs) {
    const differences = clusters.get(cluster);
    if (differences) differences.push(difference);
    else clusters.set(cluster, [difference]);
  }
  return [...clusters.values()].map((differences) => {
    // In order, so that the rounding of the sum does not depend on who came first.
    differences.sort((a, b) => a - b);
    return { sum: differences.reduce((sum, difference) => sum + difference, 0), n: differences.length };
  });
}

/**
 * Mean of treatment − control over pairs, in the unit of the pairs: every pair weighs the same.
 *
 * With clusters of equal size, the t interval on cluster means; with unequal ones its linearised form (see `ratio`).
 */
export function meanDifference(clusters: readonly ClusterSum[], confidence = 0.95): Estimate {
  return ratio(shares(clusters), confidence, "a difference");
}

/** The same mean with a BCa bootstrap interval over whole clusters. Luck is the key's: say what it is for. */
export function bcaMeanDifference(
  clusters: readonly ClusterSum[],
  draws: Draws,
  key: Key,
  resampling: Resampling = {},
): Estimate {
  return bcaRatio(shares(clusters), draws, key, resampling, "a difference");
}

/**
 * The same mean where scenarios recur in every replicate, so that a pair has luck in common with both (see `twoWay`).
 */
export function twoWayMeanDifference(cells: readonly (ClusterSum & Crossing)[], confidence = 0.95): Estimate {
  const crossed = shares(cells).map((share, at) => ({ ...cells[at]!, ...share }));
  return twoWayRatio(crossed, confidence, "a difference");
}

/**
 * Treatment's mean over control's, less one: 0.29 is 29 % more. Without unit.
 *
 * A ratio of totals (see `ratio`) and not a mean of ratios, so a pair with a small control has no great say.
 */
export function relativeChange(clusters: readonly BothSums[], confidence = 0.95): Estimate {
  return lessOne(ratio(sides(clusters), confidence, "a relative change"));
}

/** The same change where scenarios recur in every replicate. */
export function twoWayRelativeChange(cells: readonly (BothSums & Crossing)[], confidence = 0.95): Estimate {
  const crossed = sides(cells).map((share, at) => ({ ...cells[at]!, ...share }));
  return lessOne(twoWayRatio(crossed, confidence, "a relative change"));
}

function shares(clusters: readonly ClusterSum[]): readonly Share[] {
  const empty = clusters.find(({ n }) => !(n >= 1));
  if (empty) throw new RangeError(`a cluster is one pair or more, and one of these has ${empty.n}`);
  const pairs = clusters.reduce((sum, { n }) => sum + n, 0);
  if (pairs < 2) {
    const found = pairs === 1 ? "there is 1" : "there are none";
    throw new NotEstimable(`a difference needs two pairs or more to have an interval; ${found}`);
  }
  return clusters.map(({ sum, n }) => ({ numerator: sum, denominator: n }));
}

function sides(clusters: readonly BothSums[]): readonly Share[] {
  const control = clusters.reduce((sum, { controlSum }) => sum + controlSum, 0);
  if (control <= 0) {
    throw new NotEstimable(`a relative change needs a control that adds up to more than nothing, not to ${control}`);
  }
  return clusters.map(({ treatmentSum, controlSum }) => ({ numerator: treatmentSum, denominator: controlSum }));
}

function lessOne(change: Estimate): Estimate {
  return { ...change, value: change.value - 1, low: change.low - 1, high: change.high - 1 };
}
