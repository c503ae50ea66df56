/**
 * How long until it is done, where some never are: those that were cut off count for as long as they were seen.
 *
 * Leaving them out would have everything look done sooner; taking the cut for an end would have nothing look hung.
 */
import { normalQuantile } from "../random.ts";
import { type Estimate, NotEstimable, upperEnd } from "./estimate.ts";

/** From here until the next step, the share that is not done. */
export interface SurvivalStep {
  /** In the unit of the times. */
  readonly x: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  /** Not done and still seen just before. */
  readonly atRisk: number;
}

/** When each was last seen, and whether it was cut off then; if not, it was done. */
export interface Lifetimes {
  readonly times: ArrayLike<number>;
  readonly cutOff: ArrayLike<boolean | number>;
}

/**
 * The Kaplan–Meier curve: a step at each time at which anything was done. Who is cut off at a time was still there for
 * what was done at it.
 *
 * Kaplan and Meier, *Nonparametric Estimation from Incomplete Observations*, Journal of the American Statistical
 * Association 53 (1958) 457–481; Greenwood's variance on the scale of log(−log), after Kalbfleisch and Prentice, *The
 * Statistical Analysis of Failure Time Data* (1980), section 1.3, so that no band leaves 0 to 1. Assumes independent
 * lifetimes, and that being cut off says nothing of what was left. Coverage of 95 % at the median, from 10 to 100
 * lifetimes: 94 to 95.
 */
export function kaplanMeier(lifetimes: Lifetimes, confidence = 0.95): readonly SurvivalStep[] {
  const z = normalQuantile(upperEnd(confidence));
  const steps: SurvivalStep[] = [];
  for (const { x, share, atRisk, greenwood } of deaths(lifetimes)) {
    // At 0 and 1 there is nothing for the scale to stretch: the band closes.
    const reach = share > 0 && share < 1 ? (z * Math.sqrt(greenwood)) / -Math.log(share) : 0;
    const end = (sign: number) => share ** Math.exp(sign * reach);
    steps.push({ x, share, low: end(1), high: end(-1), atRisk });
  }
  return steps;
}

/**
 * The mean time until it is done, or until `horizon` where it is not done by then: the area under the curve up to
 * there. `n` counts the lifetimes.
 *
 * Irwin, *The Standard Error of an Estimate of Expectation of Life*, Journal of Hygiene 47 (1949) 188–189; variance as
 * in Klein and Moeschberger, *Survival Analysis* (2nd ed., 2003), section 4.5. Assumes independent lifetimes; where
 * they come in clusters, or are to be compared, see `restrictedMeanDifference`. Coverage of 95 % on heavy-tailed
 * lifetimes: 84 with 10 of them, 90 with 20, 91 with 30, 93 with 60, 94 with 100; with fewer it is too narrow.
 */
export function restrictedMean(lifetimes: Lifetimes, horizon: number, confidence = 0.95): Estimate {
  const n = lifetimes.times.length;
  if (n === 0) throw new NotEstimable("a mean time needs one lifetime or more; there are none");
  const { mean: value, steps } = areaBelow(lifetimes, horizon);
  let variance = 0;
  for (const { area, atRisk, done } of steps) {
    if (atRisk > done) variance += (area ** 2 * done) / (atRisk * (atRisk - done));
  }
  const reach = normalQuantile(upperEnd(confidence)) * Math.sqrt(variance);
  return { value, low: value - reach, high: value + reach, confidence, n };
}

/** The area under the curve up to the horizon, and how much of it is left from each step on. */
export function areaBelow(
  lifetimes: Lifetimes,
  horizon: number,
): { readonly mean: number; readonly steps: readonly (Death & { readonly area: number })[] } {
  if (!(horizon > 0)) throw new RangeError(`a mean time is taken up to a horizon above 0, not ${horizon}`);
  const within = deaths(lifetimes).filter(({ x }) => x < horizon);
  const steps: (Death & { area: number })[] = [];
  let area = 0;
  let end = horizon;
  for (const death of within.toReversed()) {
    area += death.share * (end - death.x);
    end = death.x;
    steps.push({ ...death, area });
  }
  return { mean: area + end, steps: steps.reverse() };
}

export interface Death {
  readonly x: number;
  readonly done: number;
  readonly atRisk: number;
  readonly share: number;
  /** Sum of d / (n (n − d)) so far: Greenwood's. */
  readonly greenwood: number;
}

function deaths({ times, cutOff }: Lifetimes): readonly Death[] {
  const order = Array.from(times, (x, at) => ({ x, cut: Boolean(cutOff[at]) })).sort((a, b) => a.x - b.x);
  if (order.some(({ x }) => !(x >= 0))) throw new RangeError("a lifetime is zero or more, and one of these is not");
  const found: Death[] = [];
  let share = 1;
  let greenwood = 0;
  for (let at = 0; at < order.length; ) {
    const { x } = order[at]!;
    let end = at;
    let done = 0;
    for (; end < order.length && order[end]!.x === x; end += 1) if (!order[end]!.cut) done += 1;
    const atRisk = order.length - at;
    if (done > 0) {
      share *= (atRisk - done) / atRisk;
      greenwood += done === atRisk ? 0 : done / (atRisk * (atRisk - done));
      found.push({ x, done, atRisk, share, greenwood });
    }
    at = end;
  }
  return found;
}
