/**
 * Where a bootstrap's interval ends: bias-corrected and accelerated.
 *
 * Efron, *Better Bootstrap Confidence Intervals*, Journal of the American Statistical Association 82 (1987) 171–185,
 * with the jackknife acceleration of Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), section 14.3.
 * Pure: who resamples brings the luck. It reads tails of the resamples, so a thousand is few.
 */
import { normalQuantile } from "../random.ts";
import { normalCdf } from "./distributions.ts";
import { upperEnd } from "./estimate.ts";
import { quantile, type Sorted } from "./quantile.ts";

/** A statistic of a sample, of its resamples, and of the sample with each of its independent parts left out. */
export interface Bootstrap {
  readonly value: number;
  readonly resampled: Sorted;
  readonly leftOut: readonly number[];
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export function bcaInterval({ value, resampled, leftOut }: Bootstrap, confidence: number): Interval {
  const bias = normalQuantile(shareBelow(resampled, value));
  const bend = acceleration(leftOut);
  const reach = normalQuantile(upperEnd(confidence));

  const end = (z: number) => {
    const shifted = bias + z;
    const straightened = 1 - bend * shifted;
    // At zero the correction has gone to the end of the line; beyond, its formula would come back from the other side.
    if (straightened <= 0) return shifted > 0 ? 1 : 0;
    return normalCdf(bias + shifted / straightened);
  };
  return { low: quantile(resampled, end(-reach)), high: quantile(resampled, end(reach)) };
}

/** Ties count half; and never none nor all, since a share of resamples is known to half a resample only. */
function shareBelow(resampled: Sorted, value: number): number {
  const rounding = 1e-13 * Math.max(Math.abs(quantile(resampled, 0)), Math.abs(quantile(resampled, 1)));
  let below = 0;
  for (const other of resampled) {
    if (Math.abs(other - value) <= rounding) below += 0.5;
    else if (other < value) below += 1;
  }
  return Math.min(Math.max(below, 0.5), resampled.length - 0.5) / resampled.length;
}

/**
 * How the standard error changes with the value: a sixth of the skewness of the left-out values. 0 where they agree.
 */
function acceleration(leftOut: readonly number[]): number {
  const mean = leftOut.reduce((sum, value) => sum + value, 0) / leftOut.length;
  const farthest = leftOut.reduce((far, value) => Math.max(far, Math.abs(mean - value)), 0);
  if (farthest === 0) return 0;
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    // Skewness has no unit; taken in units of the farthest, its powers neither overflow nor vanish.
    const apart = (mean - value) / farthest;
    squares += apart ** 2;
    cubes += apart ** 3;
  }
  return cubes / (6 * squares ** 1.5);
}
