/**
 * Distributions as data, and how one is drawn: by inverse transform, one uniform to a variate.
 *
 * A variate is a function of its uniform that never falls as the uniform rises, so that common random numbers
 * stay common when a parameter changes: the same trial is slow under both.
 */
import { LONGEST_SECONDS } from "./policy/settings.ts";
import { normalQuantile } from "./random.ts";

export type Distribution =
  | { readonly distribution: "fixed"; readonly value: number }
  /** Of the logarithm: its mean and its standard deviation. */
  | { readonly distribution: "lognormal"; readonly mu: number; readonly sigma: number }
  | { readonly distribution: "uniform"; readonly from: number; readonly to: number }
  | { readonly distribution: "exponential"; readonly mean: number }
  /** Poisson counts whose mean varies as a gamma of shape k: a negative binomial. */
  | { readonly distribution: "poisson_gamma"; readonly mean: number; readonly k: number }
  | { readonly distribution: "choice"; readonly choices: readonly { readonly value: number; readonly p: number }[] }
  /** Uniform within each bin. */
  | {
      readonly distribution: "histogram";
      readonly bins: readonly { readonly from: number; readonly to: number; readonly p: number }[];
    }
  /** Each as likely as the others; in ascending order. */
  | { readonly distribution: "samples"; readonly samples: readonly number[] };

/** The variate of a uniform. */
export type Sampler = (uniform: number) => number;

const Z99 = normalQuantile(0.99);

/** A log-normal from its own mean rather than that of its logarithm. */
export function lognormalOfMean(mean: number, sigma: number): Distribution {
  return { distribution: "lognormal", mu: Math.log(mean) - (sigma * sigma) / 2, sigma };
}

/** A log-normal from its median and the value that one in a hundred exceeds. */
export function lognormalOfMedian(median: number, p99: number): Distribution {
  return { distribution: "lognormal", mu: Math.log(median), sigma: Math.log(p99 / median) / Z99 };
}

const samplers = new WeakMap<Distribution, Sampler>();

/** How a distribution is drawn. Made once for each, however often it is asked for. */
export function sampler(distribution: Distribution): Sampler {
  const known = samplers.get(distribution);
  if (known !== undefined) return known;
  const made = makeSampler(distribution);
  samplers.set(distribution, made);
  return made;
}

function makeSampler(distribution: Distribution): Sampler {
  switch (distribution.distribution) {
    case "fixed": {
      const { value } = distribution;
      return () => value;
    }
    case "lognormal": {
      const { mu, sigma } = distribution;
      return (uniform) => Math.min(Math.exp(mu + sigma * normalQuantile(uniform)), LONGEST_SECONDS);
    }
    case "uniform": {
      const { from, to } = distribution;
      return (uniform) => from + (to - from) * uniform;
    }
    case "exponential": {
      const { mean } = distribution;
      return (uniform) => Math.min(-mean * Math.log1p(-uniform), LONGEST_SECONDS);
    }
    case "poisson_gamma":
      return poissonGamma(distribution.mean, distribution.k);
    case "choice": {
      const { choices } = distribution;
      const rising = choices.toSorted((a, b) => a.value - b.value);
      return (uniform) => rising[chosen(rising, uniform)]!.value;
    }
    case "histogram": {
      const { bins } = distribution;
      return (uniform) => {
        let below = 0;
        for (const { from, to, p } of bins) {
          if (uniform < below + p) return from + ((to - from) * (uniform - below)) / p;
          below += p;
        }
        return bins.at(-1)!.to;
      };
    }
    case "samples": {
      const { samples } = distribution;
      return (uniform) => samples[Math.floor(uniform * samples.length)]!;
    }
  }
}

/** Its mean; of one that is cut at the longest length there is, the mean without the cut. */
export function meanOf(distribution: Distribution): number {
  switch (distribution.distribution) {
    case "fixed":
      return distribution.value;
    case "lognormal":
      return Math.exp(distribution.mu + (distribution.sigma * distribution.sigma) / 2);
    case "uniform":
      return (distribution.from + distribution.to) / 2;
    case "exponential":
    case "poisson_gamma":
      return distribution.mean;
    case "choice":
      return distribution.choices.reduce((sum, { value, p }) => sum + value * p, 0);
    case "histogram":
      return distribution.bins.reduce((sum, { from, to, p }) => sum + ((from + to) / 2) * p, 0);
    case "samples":
      return distribution.samples.reduce((sum, sample) => sum + sample, 0) / distribution.samples.length;
  }
}

/** So many times as much for every uniform. Counts of a Poisson-gamma stay counts: there it is the mean that is so many times as much. */
export function scaled(distribution: Distribution, factor: number): Distribution {
  switch (distribution.distribution) {
    case "fixed":
      return { ...distribution, value: distribution.value * factor };
    case "lognormal":
      return { ...distribution, mu: distribution.mu + Math.log(factor) };
    case "uniform":
      return { ...distribution, from: distribution.from * factor, to: distribution.to * factor };
    case "exponential":
    case "poisson_gamma":
      return { ...distribution, mean: distribution.mean * factor };
    case "choice":
      return { ...distribution, choices: distribution.choices.map(({ value, p }) => ({ value: value * factor, p })) };
    case "histogram":
      return {
        ...distribution,
        bins: distribution.bins.map(({ from, to, p }) => ({ from: from * factor, to: to * factor, p })),
      };
    case "samples":
      return { ...distribution, samples: distribution.samples.map((sample) => sample * factor) };
  }
}

/** Which of several things a uniform falls on, given their probabilities; the last takes what rounding leaves. */
export function chosen(things: readonly { readonly p: number }[], uniform: number): number {
  let left = uniform;
  for (let at = 0; at < things.length - 1; at++) {
    left -= things[at]!.p;
    if (left < 0) return at;
  }
  return things.length - 1;
}

/**
 * Negative binomial with r = k and p = k / (k + mean), by its cumulative probabilities, which are added up once
 * and as far as any uniform has asked.
 *
 * pmf(n + 1) = pmf(n) · (n + k) / (n + 1) · (1 − p); kept as logarithms, for a great mean makes pmf(0) underflow.
 */
function poissonGamma(mean: number, k: number): Sampler {
  const failure = Math.log(mean) - Math.log(k + mean);
  let log = k * (Math.log(k) - Math.log(k + mean));
  const below = [Math.exp(log)];
  // Beyond this nothing is left to add up, whatever rounding made of the sum.
  const most = Math.ceil(mean + 60 * (1 + Math.sqrt(mean + (mean * mean) / k)) + 200 / -failure);
  return (uniform) => {
    while (below.at(-1)! <= uniform && below.length <= most) {
      const n = below.length - 1;
      log += Math.log(n + k) - Math.log(n + 1) + failure;
      below.push(below.at(-1)! + Math.exp(log));
    }
    return firstAbove(below, uniform);
  };
}

/** The first place at which an ascending list exceeds a value; its last place if none does. */
function firstAbove(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
