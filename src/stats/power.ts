/**
 * What an experiment of so many independent things could have shown.
 *
 * Before a run it says how many trials are needed; beside a null result, how large an effect would have been seen. Effects are planted
 * in what is known of the noise: clusters as they came out, centred, drawn anew.
 */
import { type Draws, type Key, normalQuantile, pick } from "../random.ts";
import { binomialPmf } from "./binomial.ts";
import { studentQuantile } from "./distributions.ts";
import { NotEstimable } from "./estimate.ts";
import { mcnemar } from "./mcnemar.ts";
import type { ClusterSum } from "./paired.ts";
import { quantile, type Sorted, sorted } from "./quantile.ts";
import { linearised, sumOfSquares } from "./ratio.ts";

/** An experiment that is not done: what its clusters look like, how many it would have, and when it would reject. */
export interface Planned {
  /** As they came out of a run: treatment − control, summed, and over how many pairs. */
  readonly clusters: readonly ClusterSum[];
  /** How many clusters it would have. */
  readonly n: number;
  /** Two-sided: 0.05 rejects one in forty by chance on either side. */
  readonly alpha: number;
  readonly draws: Draws;
  readonly key: Key;
  /** How often it is played through. */
  readonly experiments?: number;
}

/**
 * Of each experiment played through, the least true effect that it would have shown: n clusters are drawn with replacement, centred, and
 * the t test of `meanDifference` rejects once the effect exceeds so much. An effect shifts every pair alike, and so leaves the
 * standard error as it is: one pass answers for all effects.
 *
 * Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 25. Assumes that clusters to come are like those that came.
 */
export function leastShown({ clusters, n, alpha, draws, key, experiments = 2_000 }: Planned): Sorted {
  if (n < 2 || clusters.length < 2) {
    const found = Math.min(n, clusters.length);
    throw new NotEstimable(
      `power needs two independent clusters or more; there ${found === 1 ? "is" : "are"} ${found}`,
    );
  }
  const { value: mean } = linearised(clusters.map(asShare));
  const centred = clusters.map(({ sum, n: pairs }) => asShare({ sum: sum - mean * pairs, n: pairs }));
  const reach = studentQuantile(1 - alpha / 2, n - 1) * Math.sqrt(n / (n - 1));
  const least = new Float64Array(experiments);
  for (let experiment = 0; experiment < experiments; experiment += 1) {
    const drawn = Array.from({ length: n }, (_, at) => centred[pick(draws, key, centred.length, experiment * n + at)]!);
    const { value, total, residuals } = linearised(drawn);
    least[experiment] = (reach * Math.sqrt(sumOfSquares(residuals))) / total - value;
  }
  return sorted(least);
}

/** How likely a true effect of this size (0 or more, in the unit of the pairs) is shown, on its own side. */
export function power(planned: Planned, effect: number): number {
  const least = leastShown(planned);
  let shown = 0;
  for (const needed of least) if (needed < effect) shown += 1;
  return shown / least.length;
}

/** The smallest true effect that is shown with this power, in the unit of the pairs. */
export function minimalDetectable(planned: Planned, wanted = 0.8): number {
  return Math.max(0, quantile(leastShown(planned), wanted));
}

/** How likely a pair comes out differently, either way. */
export interface Discordance {
  readonly onlyTreatment: number;
  readonly onlyControl: number;
}

/**
 * How likely McNemar's exact test shows that treatment is on the side it is truly on, with n independent pairs. Exact: all
 * numbers of discordant pairs and all their splits are added up.
 */
export function mcnemarPower(n: number, { onlyTreatment, onlyControl }: Discordance, alpha: number): number {
  const discordance = onlyTreatment + onlyControl;
  if (!(onlyTreatment >= 0 && onlyControl >= 0 && discordance <= 1)) {
    throw new RangeError(
      `chances of a pair lie from 0 to 1 together, and these are ${onlyTreatment} and ${onlyControl}`,
    );
  }
  if (discordance === 0) return 0;
  const share = Math.max(onlyTreatment, onlyControl) / discordance;
  let shown = 0;
  let against = -1;
  for (let discordant = 1; discordant <= n; discordant += 1) {
    const chance = binomialPmf(discordant, n, discordance);
    if (chance < 1e-12) continue;
    against = mostAgainst(discordant, alpha, against);
    for (let other = 0; other <= against; other += 1)
      shown += chance * binomialPmf(discordant - other, discordant, share);
  }
  return Math.min(1, shown);
}

/**
 * Of so many discordant pairs, how many may go the other way for the test to reject; -1: not even none. More pairs never allow fewer.
 *
 * @param known what fewer discordant pairs allow
 */
function mostAgainst(discordant: number, alpha: number, known: number): number {
  let [rejecting, not] = [known, Math.ceil(discordant / 2)];
  while (not - rejecting > 1) {
    const middle = Math.floor((rejecting + not) / 2);
    if (mcnemar(discordant - middle, middle) <= alpha) rejecting = middle;
    else not = middle;
  }
  return rejecting;
}

/**
 * The smallest difference of shares that McNemar's exact test shows with this power, with n independent pairs of which such a share
 * comes out differently; or a larger share, where the difference needs it. Null where n pairs show no difference at all.
 */
export function mcnemarDetectable(n: number, discordance: number, alpha: number, wanted = 0.8): number | null {
  const shows = (difference: number) => {
    const differently = Math.max(discordance, difference);
    const onlyControl = (differently - difference) / 2;
    return mcnemarPower(n, { onlyTreatment: differently - onlyControl, onlyControl }, alpha) >= wanted;
  };
  if (!shows(1)) return null;
  let [low, high] = [0, 1];
  for (let step = 0; step < 30; step += 1) {
    const middle = (low + high) / 2;
    if (shows(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The smallest difference of shares that n independent pairs show, by the normal approximation, where so many pairs come out
 * differently.
 *
 * Connor, *Sample Size for Testing Differences in Proportions for the Paired-Sample Design*, Biometrics 43 (1987) 207–211. Assumes
 * many discordant pairs; with few, see `mcnemarPower`. Null where even a difference of all discordant pairs is not shown.
 */
export function detectablePaired(n: number, discordance: number, alpha = 0.05, wanted = 0.8): number | null {
  const [rejecting, showing] = [normalQuantile(1 - alpha / 2), normalQuantile(wanted)];
  const short = (difference: number) =>
    difference * Math.sqrt(n) -
    rejecting * Math.sqrt(discordance) -
    showing * Math.sqrt(Math.max(0, discordance - difference * difference));
  if (short(discordance) < 0) return null;
  let [low, high] = [0, discordance];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (short(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}

const asShare = ({ sum, n }: ClusterSum) => ({ numerator: sum, denominator: n });
