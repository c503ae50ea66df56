/**
 * Differences that no hypothesis declares: found, not foretold.
 *
 * A page shows hundreds, and one in twenty stands out by chance alone. So their p-values are adjusted together, by Benjamini and
 * Hochberg's method, and whatever stands is still exploratory: a reason to declare it and to run again.
 */
import { benjaminiHochberg } from "../stats/multiple.ts";
import type { Verdict } from "../stats/verdict.ts";
import { CONFIDENCE, type Difference } from "./estimates.ts";
import type { JudgedHypothesis } from "./judged.ts";

export interface Exploration {
  /** How many are explored together. */
  readonly family: number;
  /** What hypotheses say of it; empty: none declares it. */
  verdicts(difference: Difference): readonly Verdict[];
  /** Its p-value among all that are explored; null where it is declared, or has no interval. */
  adjusted(difference: Difference): number | null;
  /** Whether it can be told from none even so. */
  stands(difference: Difference): boolean;
}

/** @param shown all differences that a reader sees, declared or not */
export function explore(shown: readonly Difference[], judged: readonly JudgedHypothesis[]): Exploration {
  const declared = new Map<string, Verdict[]>();
  for (const { hypothesis, verdict } of judged) {
    const { arm, against, measure, kind } = hypothesis;
    if (against === undefined || kind !== undefined) continue;
    const key = JSON.stringify([arm, against, measure]);
    declared.set(key, [...(declared.get(key) ?? []), verdict]);
  }
  const verdicts = ({ arm, against, measure }: Difference) =>
    declared.get(JSON.stringify([arm, against, measure.measure])) ?? [];
  const explored = shown.filter((each) => each.p !== null && verdicts(each).length === 0);
  const ps = benjaminiHochberg(explored.map(({ p }) => p!));
  const adjusted = new Map(explored.map((each, at) => [each, ps[at]!]));
  return {
    family: explored.length,
    verdicts,
    adjusted: (difference) => adjusted.get(difference) ?? null,
    stands: (difference) => (adjusted.get(difference) ?? 1) <= 1 - CONFIDENCE + 1e-12,
  };
}
