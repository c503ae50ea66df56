/** The difference between groups that are not paired: nothing that the sides have in common is taken off the noise. */
import { studentQuantile } from "./distributions.ts";
import { type Estimate, NotEstimable, upperEnd } from "./estimate.ts";
import type { ClusterSum } from "./paired.ts";
import { ratio } from "./ratio.ts";

/** An estimate between groups: its degrees of freedom are no count of clusters. */
export interface Unpaired extends Estimate {
  readonly freedom: number;
}

/**
 * Treatment's mean − control's, each over its own clusters; every trial of a side weighs the same. `n` counts the
 * clusters of both.
 *
 * Welch, *The Generalization of Student's Problem When Several Different Population Variances Are Involved*, Biometrika
 * 34 (1947) 28–35, with Satterthwaite's degrees of freedom; the sides' variances are those of `ratio`. Assumes
 * independent clusters, and that the sides are independent of one another. Coverage of 95 % on heavy-tailed clusters,
 * from 10 to 100 on either side: 95 to 96.
 */
export function unpairedMeanDifference(
  treatment: readonly ClusterSum[],
  control: readonly ClusterSum[],
  confidence = 0.95,
): Unpaired {
  const [one, other] = [side(treatment, "treatment"), side(control, "control")];
  const variance = one.variance + other.variance;
  const value = one.mean - other.mean;
  const n = treatment.length + control.length;
  if (variance === 0) return { value, low: value, high: value, confidence, n, freedom: n - 2 };
  const freedom = variance ** 2 / (one.variance ** 2 / (one.n - 1) + other.variance ** 2 / (other.n - 1));
  const reach = studentQuantile(upperEnd(confidence), freedom) * Math.sqrt(variance);
  return { value, low: value - reach, high: value + reach, confidence, n, freedom };
}

function side(clusters: readonly ClusterSum[], name: string) {
  const n = clusters.length;
  if (n < 2) {
    throw new NotEstimable(`a difference between groups needs two clusters or more on either side; ${name} has ${n}`);
  }
  const shares = clusters.map(({ sum, n: pairs }) => ({ numerator: sum, denominator: pairs }));
  const { value, high } = ratio(shares, 0.95, "a mean");
  const standardError = (high - value) / studentQuantile(0.975, n - 1);
  return { mean: value, variance: standardError ** 2, n };
}
