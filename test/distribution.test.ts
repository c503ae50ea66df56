import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Distribution, lognormalOfMean, lognormalOfMedian, sampler } from "../src/distribution.ts";
import { keyed } from "../src/random.ts";

const distributions: Readonly<Record<string, Distribution>> = {
  fixed: { distribution: "fixed", value: 3 },
  "lognormal by mu": { distribution: "lognormal", mu: 1, sigma: 0.5 },
  "lognormal by mean": lognormalOfMean(4, 0.5),
  "lognormal by median": lognormalOfMedian(2, 12),
  uniform: { distribution: "uniform", from: 2, to: 6 },
  exponential: { distribution: "exponential", mean: 5 },
  poisson_gamma: { distribution: "poisson_gamma", mean: 28.7, k: 1.7 },
  "poisson_gamma, nearly Poisson": { distribution: "poisson_gamma", mean: 900, k: 1e6 },
  choice: {
    distribution: "choice",
    choices: [
      { value: 9, p: 0.25 },
      { value: 1, p: 0.75 },
    ],
  },
  histogram: {
    distribution: "histogram",
    bins: [
      { from: 0, to: 2, p: 0.5 },
      { from: 2, to: 2, p: 0 },
      { from: 4, to: 6, p: 0.5 },
    ],
  },
  samples: { distribution: "samples", samples: [1, 1, 2, 8] },
};

/** Of the log-normal whose p99 is six medians; 2.3263… is the normal's own p99. */
const SIGMA = Math.log(6) / 2.3263478740408408;

/** Mean and variance, by the textbook. */
const moments: Readonly<Record<string, readonly [number, number]>> = {
  fixed: [3, 0],
  "lognormal by mu": [Math.exp(1.125), (Math.exp(0.25) - 1) * Math.exp(2.25)],
  "lognormal by mean": [4, 16 * (Math.exp(0.25) - 1)],
  "lognormal by median": [2 * Math.exp(SIGMA ** 2 / 2), 4 * Math.exp(SIGMA ** 2) * (Math.exp(SIGMA ** 2) - 1)],
  uniform: [4, 16 / 12],
  exponential: [5, 25],
  poisson_gamma: [28.7, 28.7 + 28.7 ** 2 / 1.7],
  "poisson_gamma, nearly Poisson": [900, 900 + 900 ** 2 / 1e6],
  choice: [3, 12],
  histogram: [3, 4 + 1 / 3],
  samples: [3, 8.5],
};

describe.each(Object.entries(distributions))("%s", (name, distribution) => {
  const sample = sampler(distribution);
  const share = fc.double({ min: 2 ** -53, max: 1 - 2 ** -53, noNaN: true });

  test("never falls as its uniform rises, and is finite and zero or more", () => {
    fc.assert(
      fc.property(share, share, (one, other) => {
        const [low, high] = [sample(Math.min(one, other)), sample(Math.max(one, other))];
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThan(Number.POSITIVE_INFINITY);
      }),
    );
  });

  test("has the mean and the variance of the textbook", () => {
    const [mean, variance] = moments[name]!;
    const n = 200_000;
    // One uniform in each of n equal cells: as even a sample as there is.
    const key = keyed.seeded(1);
    const drawn = Float64Array.from({ length: n }, (_, at) => sample((at + keyed.uniform(key, at)) / n));
    const found = drawn.reduce((sum, value) => sum + value, 0) / n;
    expect(found).toBeCloseTo(mean, 1);
    expect(Math.abs(found / mean - 1)).toBeLessThan(0.001);
    const spread = drawn.reduce((sum, value) => sum + (value - found) ** 2, 0) / n;
    expect(Math.abs(spread - variance)).toBeLessThanOrEqual(0.01 * variance);
  });
});

test("a lognormal by median and p99 has them", () => {
  const sample = sampler(lognormalOfMedian(2, 12));
  expect(sample(0.5)).toBeCloseTo(2, 12);
  expect(sample(0.99)).toBeCloseTo(12, 10);
});

describe("a poisson_gamma of mean 1 and k 1 is a geometric of one half:", () => {
  test.each([
    [0.49, 0],
    [0.51, 1],
    [0.76, 2],
    [0.99, 6],
    [1 - 2 ** -40, 40],
  ])("at %d it is %d", (uniform, value) => {
    expect(sampler({ distribution: "poisson_gamma", mean: 1, k: 1 })(uniform)).toBe(value);
  });
});

test("a variate does not depend on which were asked for before", () => {
  const fresh = (): Distribution => ({ distribution: "poisson_gamma", mean: 50, k: 2 });
  const [one, other] = [sampler(fresh()), sampler(fresh())];
  const uniforms = [0.9, 0.1, 0.9999, 0.5, 2 ** -53];
  expect(uniforms.map(one)).toEqual(uniforms.toReversed().map(other).reverse());
});
