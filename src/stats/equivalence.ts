/**
 * Is it no worse than, or the same as, within a margin that was declared before?
 *
 * An interval that holds 0 shows neither: it may hold a great harm as well. Here it has to lie within the margin, and
 * with it the question is turned round: a difference as large as the margin is what has to be ruled out.
 */
import type { Estimate } from "./estimate.ts";
import { type StudentEstimate, studentTail } from "./pValue.ts";
import type { Expected } from "./verdict.ts";

export interface WithinMargin {
  /** Whether the difference's interval lies inside the margin, which it does just where `p` is under half of 1 − confidence. */
  readonly shown: boolean;
  /** One-sided: the chance of a difference so far inside, or farther, were the truth at the margin. */
  readonly p: number;
}

/** How much worse is still no worse, above 0 and in the difference's unit; and which side of control is the worse one. */
export interface Margin {
  readonly margin: number;
  readonly worse: Expected;
}

/**
 * Non-inferiority: the difference (treatment − control) is not worse by the margin or more. With an interval of 95 % a
 * test at 2.5 %, one-sided.
 *
 * Piaggio and others, *Reporting of Noninferiority and Equivalence Randomized Trials*, JAMA 308 (2012) 2594–2604.
 * Assumes what the interval assumes, and a margin that was not chosen by looking at the data.
 */
export function noWorse(difference: StudentEstimate, { margin, worse }: Margin): WithinMargin {
  const shown = liesWithin(difference, { margin, worse });
  const p = worse === "higher" ? studentTail(difference, margin, "lower") : studentTail(difference, -margin, "higher");
  return { shown, p };
}

/**
 * Equivalence: two one-sided tests, and the larger p-value of the two. The difference is smaller than the margin either
 * way. The usual level of 5 % is an interval of 90 %; one of 95 % is stricter.
 *
 * Schuirmann, *A Comparison of the Two One-Sided Tests Procedure and the Power Approach*, Journal of Pharmacokinetics
 * and Biopharmaceutics 15 (1987) 657–680. Assumes what the interval assumes, and a margin that was not chosen by
 * looking.
 */
export function equivalent(difference: StudentEstimate, margin: number): WithinMargin {
  const [above, below] = [
    noWorse(difference, { margin, worse: "higher" }),
    noWorse(difference, { margin, worse: "lower" }),
  ];
  return { shown: above.shown && below.shown, p: Math.max(above.p, below.p) };
}

/** The same question to an interval that is not Student's t, as of shares: it answers without a p-value. */
export function liesWithin({ low, high }: Estimate, { margin, worse }: Margin): boolean {
  return worse === "higher" ? high < declared(margin) : low > -declared(margin);
}

function declared(margin: number): number {
  if (margin > 0) return margin;
  throw new RangeError(`a margin says how much worse is still no worse, and is above 0, not ${margin}`);
}
