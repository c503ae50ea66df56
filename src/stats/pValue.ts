/**
 * How surprising a value is, from the interval that it travels with.
 *
 * An interval of Student's t and its p-value are one thing seen from two sides: what is declared at 5 % lies outside the
 * 95 % interval just where the p-value is under .05.
 */
import { studentCdf, studentQuantile } from "./distributions.ts";
import { type Estimate, upperEnd } from "./estimate.ts";

/**
 * The two-sided p-value of an estimate whose interval is Student's t with n − 1 degrees of freedom, against `bound`.
 *
 * Assumes what the interval assumes. An interval of no width leaves no doubt: 1 at the bound, 0 anywhere else.
 */
export function studentP({ value, low, high, confidence, n }: Estimate, bound = 0): number {
  const standardError = (high - low) / 2 / studentQuantile(upperEnd(confidence), n - 1);
  if (standardError === 0) return value === bound ? 1 : 0;
  return Math.min(1, 2 * studentCdf(-Math.abs(value - bound) / standardError, n - 1));
}
