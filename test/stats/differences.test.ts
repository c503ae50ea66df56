/** Differences that are no plain mean of pairs: of quantiles, of mean times, within margins; and what pairing saved. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { equivalent, liesWithin, noWorse } from "../../src/stats/equivalence.ts";
import { NotEstimable } from "../../src/stats/estimate.ts";
import { meanDifference } from "../../src/stats/paired.ts";
import { varianceRatio } from "../../src/stats/pairing.ts";
import { studentP } from "../../src/stats/pValue.ts";
import { quantile, sorted } from "../../src/stats/quantile.ts";
import { quantileDifference } from "../../src/stats/quantileDifference.ts";
import { restrictedMeanDifference } from "../../src/stats/restrictedMeanDifference.ts";
import { unpairedMeanDifference } from "../../src/stats/welch.ts";

const key = keyed.seeded(1);
const some = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 8 });
const clusters = fc.array(fc.record({ treatment: some, control: some }), { minLength: 2, maxLength: 8 });

describe("a difference of quantiles", () => {
  const difference = (of: Parameters<typeof quantileDifference>[0], p = 0.9) =>
    quantileDifference(of, p, keyed, key, { resamples: 200 });

  test("is that of the pooled values, lies in its interval, and does not depend on the order of clusters", () => {
    fc.assert(
      fc.property(clusters, fc.constantFrom(0, 0.25, 0.5, 0.9, 1), (of, p) => {
        const pooled = (side: "treatment" | "control") => quantile(sorted(of.flatMap((cluster) => cluster[side])), p);
        const found = difference(of, p);
        expect(found.value).toBeCloseTo(pooled("treatment") - pooled("control"), 9);
        expect(found.low <= found.value && found.value <= found.high).toBe(true);
        expect(found.n).toBe(of.length);
        expect(difference(of.toReversed(), p)).toEqual(found);
      }),
    );
  });

  test("between sides that are alike in every cluster has no width", () => {
    const alike = [[1, 2, 3], [9], [4, 400]].map((values) => ({ treatment: values, control: values }));
    expect(difference(alike)).toEqual({ value: 0, low: 0, high: 0, confidence: 0.95, n: 3 });
  });

  test("needs values of two clusters on either side", () => {
    const lone = [
      { treatment: [1], control: [2] },
      { treatment: [3], control: [] },
    ];
    expect(() => difference(lone)).toThrow(
      new NotEstimable(
        "a difference of quantiles needs values of two independent clusters or more on either side; there is 1",
      ),
    );
    expect(() => difference([{ treatment: [Infinity], control: [2] }])).toThrow(
      "a sample is made of numbers, and one of these is Infinity",
    );
  });

  test("lets a cluster have values on one side only", () => {
    const lopsided = [
      { treatment: [1, 5], control: [2] },
      { treatment: [3], control: [] },
      { treatment: [], control: [4, 4] },
    ];
    expect(difference(lopsided, 0.5).value).toBe(3 - 4);
  });
});

describe("a difference of mean times", () => {
  const seen = (times: readonly number[], horizon: number) => ({ times, cutOff: times.map((time) => time >= horizon) });

  test("of trials cut off at the horizon only is that of their times, with the interval of clusters", () => {
    fc.assert(
      fc.property(clusters, (of) => {
        const horizon = 400;
        const lives = of.map(({ treatment, control }) => ({
          treatment: seen(treatment, horizon),
          control: seen(control, horizon),
        }));
        const found = restrictedMeanDifference(lives, horizon);
        const mean = (side: "treatment" | "control") => {
          const times = of.flatMap((cluster) => cluster[side]).map((time) => Math.min(time, horizon));
          return times.reduce((sum, time) => sum + time, 0) / times.length;
        };
        expect(found.value).toBeCloseTo(mean("treatment") - mean("control"), 8);
      }),
    );
    const paired = [
      [5, 3],
      [10, 2],
      [7, 9],
      [1, 1],
    ] as const;
    const found = restrictedMeanDifference(
      paired.map(([treatment, control]) => ({ treatment: seen([treatment], 8), control: seen([control], 8) })),
      8,
    );
    const plain = meanDifference(
      paired.map(([treatment, control]) => ({ sum: Math.min(treatment, 8) - Math.min(control, 8), n: 1 })),
    );
    expect(found).toEqual({
      ...plain,
      value: expect.closeTo(plain.value, 10),
      low: expect.closeTo(plain.low, 10),
      high: expect.closeTo(plain.high, 10),
    });
  });

  test("between sides that are alike in every cluster has no width", () => {
    const alike = [[3, 900], [20], [7, 7, 5400]].map((times) => seen(times, 5_400));
    const found = restrictedMeanDifference(
      alike.map((lives) => ({ treatment: lives, control: lives })),
      5_400,
    );
    expect(found).toEqual({ value: 0, low: 0, high: 0, confidence: 0.95, n: 3 });
  });

  test("needs two clusters, and lifetimes on either side", () => {
    const one = { treatment: seen([1], 9), control: seen([2], 9) };
    expect(() => restrictedMeanDifference([one], 9)).toThrow(
      new NotEstimable(
        "a difference of mean times needs two independent clusters or more to have an interval; there is 1",
      ),
    );
    const empty = { ...one, control: seen([], 9) };
    expect(() => restrictedMeanDifference([empty, empty], 9)).toThrow(
      new NotEstimable("a difference of mean times needs a lifetime on either side; control has none"),
    );
  });
});

describe("no worse than, within a margin", () => {
  const around2 = meanDifference([1, 2, 3, 2, 2].map((sum) => ({ sum, n: 1 })));

  test("is shown where the whole interval lies inside, on the side that is worse", () => {
    // 2 ± 2.776445 × √0.5 / √5: 1.122 to 2.878.
    expect(noWorse(around2, { margin: 3, worse: "higher" }).shown).toBe(true);
    expect(noWorse(around2, { margin: 2.5, worse: "higher" }).shown).toBe(false);
    expect(noWorse(around2, { margin: 0.1, worse: "lower" }).shown).toBe(true);
    expect(equivalent(around2, 3).shown).toBe(true);
    expect(equivalent(around2, 2.5).shown).toBe(false);
  });

  test("is shown just where the p-value is under half of what the interval leaves out", () => {
    const sums = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(sums, fc.integer({ min: 1, max: 60 }), fc.constantFrom("lower", "higher"), (of, margin, worse) => {
        const found = meanDifference(of.map((sum) => ({ sum, n: 1 })));
        const end = worse === "higher" ? found.high : -found.low;
        fc.pre(Math.abs(end - margin) > 1e-4);
        const { shown, p } = noWorse(found, { margin, worse });
        expect(shown).toBe(p < 0.025);
        expect(equivalent(found, margin).p).toBeGreaterThanOrEqual(p);
      }),
    );
  });

  test("of an interval without width is certain", () => {
    const sure = meanDifference([2, 2, 2].map((sum) => ({ sum, n: 1 })));
    expect(noWorse(sure, { margin: 3, worse: "higher" })).toEqual({ shown: true, p: 0 });
    expect(noWorse(sure, { margin: 2, worse: "higher" })).toEqual({ shown: false, p: 1 });
  });

  test("counts the degrees of freedom that groups which are not paired have", () => {
    const [one, other] = [
      [1, 9, 4],
      [2.5, 2, 3, 2, 2, 2.5],
    ].map((sums) => sums.map((sum) => ({ sum, n: 1 })));
    const found = unpairedMeanDifference(one!, other!);
    // R: t.test(c(1, 9, 4), c(2.5, 2, 3, 2, 2, 2.5)), and with mu = 12, alternative = "less".
    expect(studentP(found)).toBeCloseTo(0.42272, 4);
    expect(noWorse(found, { margin: 12, worse: "higher" }).p).toBeCloseTo(0.02647, 4);
  });

  test("answers for shares too, without a p-value, and wants a margin above 0", () => {
    const share = { value: 0.02, low: -0.01, high: 0.06, confidence: 0.95, n: 113 };
    expect(liesWithin(share, { margin: 0.1, worse: "higher" })).toBe(true);
    expect(liesWithin(share, { margin: 0.05, worse: "higher" })).toBe(false);
    expect(() => liesWithin(share, { margin: 0, worse: "lower" })).toThrow(
      "a margin says how much worse is still no worse, and is above 0, not 0",
    );
  });
});

describe("what pairing saved", () => {
  test("is more than 1 where the sides rise and fall together, less where against each other", () => {
    const both = (control: readonly number[]) =>
      varianceRatio([10, 20, 30, 40, 55].map((treatmentSum, at) => ({ treatmentSum, controlSum: control[at]!, n: 5 })));
    expect(both([9, 22, 29, 41, 50]).low).toBeGreaterThan(1);
    expect(both([50, 41, 29, 22, 9]).high).toBeLessThan(1);
  });

  test("is nothing that can be said where all clusters agree, or two are all there are", () => {
    const alike = Array.from({ length: 4 }, () => ({ treatmentSum: 3, controlSum: 2, n: 1 }));
    expect(() => varianceRatio(alike)).toThrow(
      new NotEstimable(
        "a ratio of variances needs clusters that differ, on their own and by pairs, whichever one is left out",
      ),
    );
    expect(() => varianceRatio(alike.slice(2))).toThrow(
      new NotEstimable("a ratio of variances needs three independent clusters or more; there are 2"),
    );
  });
});
