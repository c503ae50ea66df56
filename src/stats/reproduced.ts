/**
 * Does a simulation agree with a figure somebody published?
 *
 * The published figure comes from one run, so it is held against what single replicates give, not against the interval
 * of their mean, which shrinks with every replicate until nothing real lies inside.
 */
import { quantile, sorted } from "./quantile.ts";

/** Where the middle of a sample lies. Not an interval of its mean. */
export interface Central {
  readonly low: number;
  readonly high: number;
  /** 0.95: as much of the sample lies between. */
  readonly share: number;
  readonly n: number;
}

/** The central part of the values: an equal tail is cut at either end, by type 7 quantiles. */
export function centralInterval(values: ArrayLike<number>, share = 0.95): Central {
  if (!(share > 0 && share <= 1)) throw new RangeError(`a central share lies above 0 and is 1 at most, not ${share}`);
  const sample = sorted(values);
  const cut = (1 - share) / 2;
  return { low: quantile(sample, cut), high: quantile(sample, 1 - cut), share, n: sample.length };
}

/** A published figure, or the two ends between which it was said to lie. */
export type Published = number | readonly [number, number];

/**
 * Whether the published figure lies inside the central 95 % of the replicates' values, ends included; where these do
 * not vary, whether it lies within 1 % of their mean. A published range agrees if any figure in it does.
 */
export function reproduced(published: Published, values: ArrayLike<number>): boolean {
  const [from, to] = typeof published === "number" ? [published, published] : published;
  const { low, high } = centralInterval(values);
  const leeway = low === high ? 0.01 * Math.abs(low) : 0;
  return from <= high + leeway && to >= low - leeway;
}
