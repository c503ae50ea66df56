/**
 * How far apart two quantiles are, from clusters that hold values of both sides.
 *
 * A mean of a few hundred seconds says nothing of the worst hour; a high quantile does. A quantile of pooled values is
 * no mean of clusters' quantiles, so there is no t interval for it: clusters are drawn anew, whole.
 */
import { type Draws, type Key, pick } from "../random.ts";
import { normalCdf, studentQuantile } from "./distributions.ts";
import { type Estimate, NotEstimable, upperEnd } from "./estimate.ts";
import { quantile, quantileRanks, sorted } from "./quantile.ts";
import type { Resampling } from "./ratio.ts";

/** The values of one cluster, as many as there are on either side. They need not be pairs. */
export interface BothSamples {
  readonly treatment: ArrayLike<number>;
  readonly control: ArrayLike<number>;
}

/**
 * Treatment's quantile − control's, each of type 7 (see `quantile`) over the values of all clusters; `n` counts
 * clusters. What was cut off comes in as the time of its cut, and the answer holds for quantiles below that.
 *
 * Percentile bootstrap over whole clusters: Davison and Hinkley, *Bootstrap Methods and their Application* (1997),
 * sections 3.8 and 5.3; its tails are widened to those of Student's t with n − 1 degrees of freedom after Hesterberg,
 * *What Teachers Should Know About the Bootstrap*, The American Statistician 69 (2015) 371–386. Not BCa, whose
 * jackknife does not hold for quantiles. Assumes independent clusters that are one another's like. The answer does not
 * depend on the order of the clusters. Coverage of 95 % on heavy-tailed clusters, from 10 to 100 of them: 95 to 97 for
 * the median, the 90th and the 99th percentile.
 */
export function quantileDifference(
  clusters: readonly BothSamples[],
  p: number,
  draws: Draws,
  key: Key,
  { confidence = 0.95, resamples = 2_000 }: Resampling = {},
): Estimate {
  const ordered = inOrder(clusters);
  const n = ordered.length;
  const sides = [pooled(ordered.map(({ treatment }) => treatment)), pooled(ordered.map(({ control }) => control))];
  const fewest = Math.min(...sides.map(({ sizes }) => sizes.filter((size) => size > 0).length));
  if (fewest < 2) {
    throw new NotEstimable(
      `a difference of quantiles needs values of two independent clusters or more on either side; there is ${fewest}`,
    );
  }
  const difference = (times: Uint32Array) => weighted(sides[0]!, times, p) - weighted(sides[1]!, times, p);

  const times = new Uint32Array(n).fill(1);
  const value = difference(times);
  const resampled: number[] = [];
  for (let resample = 0; resample < resamples; resample += 1) {
    times.fill(0);
    for (let drawn = 0; drawn < n; drawn += 1) times[pick(draws, key, n, resample * n + drawn)]! += 1;
    const found = difference(times);
    // A resample without a value on one side has no quantile there, and says nothing.
    if (!Number.isNaN(found)) resampled.push(found);
  }
  const tail = normalCdf(-studentQuantile(upperEnd(confidence), n - 1) * Math.sqrt(n / (n - 1)));
  const ascending = sorted(resampled);
  return {
    value,
    low: Math.min(value, quantile(ascending, tail)),
    high: Math.max(value, quantile(ascending, 1 - tail)),
    confidence,
    n,
  };
}

/** All values of a side in ascending order, and of which cluster each is. */
interface Pooled {
  readonly values: Float64Array;
  readonly from: Uint32Array;
  /** How many each cluster has. */
  readonly sizes: readonly number[];
}

function pooled(clusters: readonly ArrayLike<number>[]): Pooled {
  const all = clusters.flatMap((values, cluster) => Array.from(values, (value) => ({ value, cluster })));
  const wrong = all.find(({ value }) => !Number.isFinite(value));
  if (wrong) throw new RangeError(`a sample is made of numbers, and one of these is ${wrong.value}`);
  all.sort((a, b) => a.value - b.value);
  return {
    values: Float64Array.from(all, ({ value }) => value),
    from: Uint32Array.from(all, ({ cluster }) => cluster),
    sizes: clusters.map(({ length }) => length),
  };
}

/** The quantile where each cluster's values count so many times. NaN where none counts. */
function weighted({ values, from, sizes }: Pooled, times: Uint32Array, p: number): number {
  let total = 0;
  for (const [cluster, size] of sizes.entries()) total += size * times[cluster]!;
  if (total === 0) return Number.NaN;
  const ranks = quantileRanks(total, p);
  let reached = 0;
  let below = Number.NaN;
  for (let at = 0; at < from.length; at += 1) {
    reached += times[from[at]!]!;
    if (reached > ranks.below && Number.isNaN(below)) below = values[at]!;
    if (reached > ranks.above) return below + (values[at]! - below) * ranks.between;
  }
  return below;
}

/** By their values and not by their names, so that which cluster a draw picks depends on nothing else. */
function inOrder(clusters: readonly BothSamples[]): readonly BothSamples[] {
  return clusters
    .map(({ treatment, control }) => ({ treatment: sorted(treatment), control: sorted(control) }))
    .sort((a, b) => compare(a.treatment, b.treatment) || compare(a.control, b.control));
}

function compare(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return one.length - other.length;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return one[at]! - other[at]!;
  return 0;
}
