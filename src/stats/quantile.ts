/**
 * Quantiles, by one definition throughout: type 7 of Hyndman and Fan, *Sample Quantiles in Statistical Packages*, The
 * American Statistician 50 (1996) 361–365. The sample's values stand at 0, 1/(n−1), …, 1 and a straight line joins
 * neighbours. It is what DuckDB's `quantile_cont` computes, so a figure is the same worked out here or in SQL.
 */
import { NotEstimable } from "./estimate.ts";

declare const order: unique symbol;

/** Numbers in ascending order, so that a quantile cannot be taken of a list nobody sorted. */
export type Sorted = Float64Array & { readonly [order]: "ascending" };

export function sorted(values: ArrayLike<number>): Sorted {
  const ascending = Float64Array.from(values);
  if (ascending.some(Number.isNaN)) throw new RangeError("a sample is made of numbers, and one of these is NaN");
  return ascending.sort() as Sorted;
}

/** The value below which a share `p` of the sample lies, for p from 0 to 1, both included. */
export function quantile(sample: Sorted, p: number): number {
  if (sample.length === 0) throw new NotEstimable("a quantile needs one value or more; there are none");
  const { below, above, between } = quantileRanks(sample.length, p);
  return between === 0 ? sample[below]! : sample[below]! + (sample[above]! - sample[below]!) * between;
}

/** Between which two of so many values, counted from 0, the quantile lies, and how far along. */
export function quantileRanks(size: number, p: number): { below: number; above: number; between: number } {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`a quantile is asked for a share from 0 to 1, not ${p}`);
  const position = (size - 1) * p;
  // (1 − 0.95) / 2 is a hair more than 0.025, and the sixth of 201 values must not become a little of the seventh.
  const nearest = Math.round(position);
  if (Math.abs(position - nearest) <= 4 * Number.EPSILON * size) return { below: nearest, above: nearest, between: 0 };
  const below = Math.floor(position);
  return { below, above: below + 1, between: position - below };
}

export function median(values: ArrayLike<number>): number {
  return quantile(sorted(values), 0.5);
}
