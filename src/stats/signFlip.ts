/**
 * Could chance alone have tilted the clusters this way?
 *
 * If treatment and control are alike, each cluster's difference might as well have had the other sign. So the
 * observed total is held against the totals under other signs: all of them where there are few, a seeded sample where
 * there are many. For counts, as of outer timeouts, where differences are mostly 0 and a t interval leans on too
 * little. With pairs of 0/1 outcomes as clusters this *is* McNemar's exact test.
 */
import type { Draws, Key } from "../random.ts";

export interface SignFlip {
  /** The chance, were both sides alike, of a total as far out as the one observed. */
  readonly p: number;
  readonly method: "exact" | "sampled";
  /** Clusters whose difference is not 0. The others are the same under either sign and say nothing. */
  readonly n: number;
}

export interface Flipping {
  /** `either` doubts both ways; `lower` asks only whether treatment lies below control, `higher` above. */
  readonly side?: "either" | "lower" | "higher";
  /** How many sign patterns are drawn where there are too many to try them all. */
  readonly flips?: number;
}

/** All sign patterns are tried up to this many clusters: 16,384 patterns, fewer than a sample would draw. */
const EXACT_UP_TO = 14;

/**
 * Sign-flip permutation of cluster differences (treatment − control, one for each cluster).
 *
 * Fisher, *The Design of Experiments* (1935), section 21; sampled p-values are (1 + hits) / (1 + flips), never 0:
 * Phipson and Smyth, *Permutation P-values Should Never Be Zero*, Statistical Applications in Genetics and Molecular
 * Biology 9 (2010) 39. Assumes independent clusters, and that under no effect a cluster's difference is as likely as
 * its opposite. Where both sides are alike it rejects at 5 % in 5.1 % of experiments of 20
 * heavy-tailed clusters.
 */
export function signFlip(
  differences: readonly number[],
  draws: Draws,
  key: Key,
  { side = "either", flips = 20_000 }: Flipping = {},
): SignFlip {
  const total = differences.reduce((sum, difference) => sum + difference, 0);
  if (!Number.isFinite(total)) throw new RangeError(`differences add up to a number, and these add up to ${total}`);
  // Sizes in order: which cluster a flip meets then depends on its size alone, not on its name or sign.
  const sizes = differences
    .map(Math.abs)
    .filter((size) => size > 0)
    .sort((a, b) => a - b);
  const n = sizes.length;

  const observed = side === "either" ? Math.abs(total) : side === "higher" ? total : -total;
  const rounding = 1e-12 * sizes.reduce((sum, size) => sum + size, 0);
  const isHit = (flipped: number) => (side === "either" ? Math.abs(flipped) : flipped) >= observed - rounding;

  if (n <= EXACT_UP_TO) {
    const patterns = 2 ** n;
    const hits = count(patterns, (pattern) => isHit(signed(sizes, (at) => ((pattern >> at) & 1) === 1)));
    return { p: hits / patterns, method: "exact", n };
  }
  const hits = count(flips, (flip) => isHit(signed(sizes, (at) => draws.uniform(key, flip * n + at) < 0.5)));
  return { p: (1 + hits) / (1 + flips), method: "sampled", n };
}

function signed(sizes: readonly number[], isPositive: (at: number) => boolean): number {
  let sum = 0;
  for (const [at, size] of sizes.entries()) sum += isPositive(at) ? size : -size;
  return sum;
}

function count(tries: number, isHit: (index: number) => boolean): number {
  let hits = 0;
  for (let index = 0; index < tries; index++) if (isHit(index)) hits += 1;
  return hits;
}
