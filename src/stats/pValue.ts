/**
 * How surprising a value is, from the interval that it travels with.
 *
 * An interval of Student's t and its p-value are one thing seen from two sides: what is declared at 5 % lies outside the
 * 95 % interval just where the p-value is under .05.
 */
import { studentCdf, studentQuantile } from "./distributions.ts";
import { type Estimate, upperEnd } from "./estimate.ts";

/** An estimate whose interval is Student's t: with n − 1 degrees of freedom, or with as many as it says. */
export type StudentEstimate = Estimate & { readonly freedom?: number };

/**
 * The two-sided p-value of an estimate against `bound`.
 *
 * Assumes what the interval assumes. An interval of no width leaves no doubt: 1 at the bound, 0 anywhere else.
 */
export function studentP(estimate: StudentEstimate, bound = 0): number {
  if (estimate.value === bound) return 1;
  return Math.min(1, 2 * studentTail(estimate, bound, estimate.value < bound ? "lower" : "higher"));
}

/**
 * The chance, were the truth at `bound`, of a value as far to this side of it, or farther: a one-sided p-value. Without
 * width the interval leaves no doubt: 0 on this side of the bound, 1 at it and on the other.
 */
export function studentTail(estimate: StudentEstimate, bound: number, side: "lower" | "higher"): number {
  const { value, low, high, confidence, n, freedom = n - 1 } = estimate;
  const standardError = (high - low) / 2 / studentQuantile(upperEnd(confidence), freedom);
  const beyond = side === "lower" ? value - bound : bound - value;
  if (standardError === 0) return beyond < 0 ? 0 : 1;
  return studentCdf(beyond / standardError, freedom);
}
