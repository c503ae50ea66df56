/**
 * What the data say to a hypothesis that stood before the data did.
 *
 * An interval that holds 0 shows nothing, and "not shown" is not "shown not to be": those are three answers, not two.
 */
import type { Estimate } from "./estimate.ts";
import type { SignFlip } from "./signFlip.ts";

/** On which side of control the treatment was declared to lie. */
export type Expected = "lower" | "higher";

export type Verdict = "PASS" | "FAIL" | "NOT SHOWN";

/**
 * PASS where the difference (treatment − control) lies wholly on the expected side of 0, FAIL where wholly on the
 * other, NOT SHOWN else: 0 itself is on neither side.
 *
 * Where a permutation test was declared it decides instead of the interval, not beside it, since two chances to pass
 * are not one: its p (of side `either`) at most 1 − confidence, and the side is that of the value.
 */
export function verdict(expected: Expected, difference: Estimate, permutation: SignFlip | null = null): Verdict {
  const side = permutation ? sideByPermutation(difference, permutation) : sideByInterval(difference);
  if (side === null) return "NOT SHOWN";
  return side === expected ? "PASS" : "FAIL";
}

function sideByInterval({ low, high }: Estimate): Expected | null {
  if (high < 0) return "lower";
  return low > 0 ? "higher" : null;
}

function sideByPermutation({ value, confidence }: Estimate, { p }: SignFlip): Expected | null {
  // 1 − 0.9 is a hair less than 0.1, and a p of exactly 0.1 passes.
  if (p > 1 - confidence + 1e-12 || value === 0) return null;
  return value < 0 ? "lower" : "higher";
}
