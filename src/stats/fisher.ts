/**
 * Are two shares too far apart for chance, in groups that are not paired?
 *
 * Exact at any size, and so also where one of the groups has no success at all.
 */
import { counted, logChoose } from "./binomial.ts";

/** Successes among so many tries. */
export interface Counts {
  readonly successes: number;
  readonly n: number;
}

/** Tables whose chances differ by less are as likely as one another: they do in the last digits only. */
const AS_LIKELY = 1 + 1e-7;

/**
 * Fisher's exact test. `either` adds up the tables that are no likelier than the one observed, with its margins;
 * `lower` and `higher` those in which treatment has so few or so many successes.
 *
 * Fisher, *The Logic of Inductive Inference*, Journal of the Royal Statistical Society 98 (1935) 39–82. Assumes that
 * tries are independent, and takes both margins as given, which makes it cautious: with nothing to find it rejects at
 * 5 % in 1.9 % of experiments of 113 and 113 tries with a share of 4 %.
 */
export function fisherExact(
  treatment: Counts,
  control: Counts,
  side: "either" | "lower" | "higher" = "either",
): number {
  for (const { successes, n } of [treatment, control]) {
    if (counted(successes) > counted(n))
      throw new RangeError(`successes are counted among tries, and ${successes} of ${n} cannot be`);
  }
  const successes = treatment.successes + control.successes;
  const all = treatment.n + control.n;
  const chance = (count: number) =>
    Math.exp(logChoose(treatment.n, count) + logChoose(control.n, successes - count) - logChoose(all, successes));
  const observed = chance(treatment.successes);

  let p = 0;
  for (let count = Math.max(0, successes - control.n); count <= Math.min(successes, treatment.n); count += 1) {
    const isAsFarOut = {
      either: chance(count) <= observed * AS_LIKELY,
      lower: count <= treatment.successes,
      higher: count >= treatment.successes,
    }[side];
    if (isAsFarOut) p += chance(count);
  }
  return Math.min(1, p);
}
