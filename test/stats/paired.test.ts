import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { type Estimate, NotEstimable } from "../../src/stats/estimate.ts";
import {
  bcaMeanDifference,
  type ClusterSum,
  clustered,
  meanDifference,
  relativeChange,
  twoWayMeanDifference,
  twoWayRelativeChange,
} from "../../src/stats/paired.ts";

const key = keyed.seeded(1);

/** Clusters of unequal size, as SQL would hand them in; amounts are seconds, in whole milliseconds. */
const amount = fc.integer({ min: -1e7, max: 1e7 }).map((milliseconds) => milliseconds / 1_000);
const cluster = fc.record({ sum: amount, n: fc.integer({ min: 1, max: 20 }) });
const clusters = fc.array(cluster, { minLength: 2, maxLength: 12 });

/** The same law for the estimate that decides and the one beside it. */
const means: [string, (clusters: readonly ClusterSum[]) => Estimate][] = [
  ["t", meanDifference],
  ["BCa bootstrap", (clusters) => bcaMeanDifference(clusters, keyed, key, { resamples: 200 })],
];

describe("clustering pairs", () => {
  test("adds up each cluster's differences and counts them", () => {
    const pairs = [
      { cluster: "b", difference: 3 },
      { cluster: "a", difference: 1 },
      { cluster: "b", difference: -5 },
    ];
    expect(clustered(pairs)).toEqual([
      { sum: -2, n: 2 },
      { sum: 1, n: 1 },
    ]);
  });

  test("does not take the number 1 for the name 1", () => {
    const pairs = [1, "1"].map((cluster) => ({ cluster, difference: 4 }));
    expect(clustered(pairs)).toHaveLength(2);
  });
});

describe("the mean difference", () => {
  test("of equal clusters has the textbook t interval on their means", () => {
    // Means 1, 2, 3, 4, 10: mean 4, standard deviation √12.5, t(4, .975) = 2.776445.
    const equal = [1, 2, 3, 4, 10].map((mean) => ({ sum: 3 * mean, n: 3 }));
    expect(meanDifference(equal)).toEqual({
      value: 4,
      low: expect.closeTo(-0.38994517, 6),
      high: expect.closeTo(8.38994517, 6),
      confidence: 0.95,
      n: 5,
    });
  });

  test("of unequal clusters weighs every pair alike", () => {
    // 45 over 15 pairs; residuals 3, −10, 15, 4, −12; variance 5/4 × 494 / 15².
    const unequal = [
      { sum: 12, n: 3 },
      { sum: -4, n: 2 },
      { sum: 30, n: 5 },
      { sum: 7, n: 1 },
      { sum: 0, n: 4 },
    ];
    expect(meanDifference(unequal)).toEqual({
      value: 3,
      low: expect.closeTo(-1.59956026, 6),
      high: expect.closeTo(7.59956026, 6),
      confidence: 0.95,
      n: 5,
    });
  });

  test("is surer of less: an interval of 99 % is wider than one of 90 %", () => {
    const some = [1, 2, 4].map((sum) => ({ sum, n: 1 }));
    const [wide, narrow] = [meanDifference(some, 0.99), meanDifference(some, 0.9)];
    expect(wide.high - wide.low).toBeGreaterThan(narrow.high - narrow.low);
    expect(() => meanDifference(some, 95)).toThrow("a confidence lies above 0 and below 1, and this one is 95");
  });

  test.each<[string, ClusterSum[]]>([
    ["a difference needs two pairs or more to have an interval; there is 1", [{ sum: 5, n: 1 }]],
    ["a difference needs two pairs or more to have an interval; there are none", []],
    ["a difference needs two independent clusters or more to have an interval; there is 1", [{ sum: 5, n: 113 }]],
  ])("explains its refusal: %s", (refusal, clusters) => {
    for (const mean of [meanDifference, means[1]![1]]) expect(() => mean(clusters)).toThrow(new NotEstimable(refusal));
  });

  test("is not made of clusters without pairs, nor of what is no number", () => {
    const withOne = (odd: ClusterSum) => [{ sum: 1, n: 1 }, odd];
    expect(() => meanDifference(withOne({ sum: 0, n: 0 }))).toThrow(
      "a cluster is one pair or more, and one of these has 0",
    );
    expect(() => meanDifference(withOne({ sum: Number.NaN, n: 1 }))).toThrow("this one adds up to NaN over 2");
  });
});

describe.each(means)("the mean difference by %s", (_, mean) => {
  test("is the same to the bit, in whatever order the clusters come", () => {
    const shuffled = clusters.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    );
    fc.assert(
      fc.property(shuffled, ([some, reordered]) => {
        expect(mean(reordered)).toEqual(mean(some));
      }),
    );
  });

  test("is the same to the bit, in whatever order the pairs of a cluster come", () => {
    const pairs = fc
      .array(amount, { minLength: 2, maxLength: 20 })
      .map((differences) => differences.map((difference, at) => ({ cluster: at % 2, difference })));
    fc.assert(
      fc.property(pairs, (some) => {
        expect(mean(clustered(some.toReversed()))).toEqual(mean(clustered(some)));
      }),
    );
  });

  test("moves by as much as every pair moves", () => {
    fc.assert(
      fc.property(clusters, amount, (some, shift) => {
        const before = mean(some);
        const after = mean(some.map(({ sum, n }) => ({ sum: sum + shift * n, n })));
        expectNear(after, {
          ...before,
          value: before.value + shift,
          low: before.low + shift,
          high: before.high + shift,
        });
      }),
    );
  });

  test("is made of numbers in order, however large and small what it is made of", () => {
    const any = fc.double({ min: -1e150, max: 1e150, noNaN: true });
    const extreme = fc.array(fc.record({ sum: any, n: fc.integer({ min: 1, max: 20 }) }), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(extreme, (some) => {
        const { value, low, high } = mean(some);
        expect([value, low, high].every(Number.isFinite) && low <= high).toBe(true);
      }),
    );
  });

  test("has no width where all pairs agree", () => {
    const agreeing = fc.tuple(amount, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 12 }));
    fc.assert(
      fc.property(agreeing, ([difference, sizes]) => {
        const pairs = sizes.flatMap((size, cluster) => Array<number>(size).fill(cluster));
        const { value, low, high } = mean(clustered(pairs.map((cluster) => ({ cluster, difference }))));
        expect([low, high]).toEqual([value, value]);
        expect(value).toBeCloseTo(difference, 9);
      }),
    );
  });
});

describe("the t interval", () => {
  test("has its value in the middle, and turns over when the sides change places", () => {
    fc.assert(
      fc.property(clusters, (some) => {
        const { value, low, high, ...rest } = meanDifference(some);
        const turned = meanDifference(some.map(({ sum, n }) => ({ sum: -sum, n })));
        expectNear(turned, { value: -value, low: -high, high: -low, ...rest });
        expectNear({ value: (low + high) / 2, low, high, ...rest }, { value, low, high, ...rest });
      }),
    );
  });
});

describe("the BCa interval", () => {
  const skewed = [0.2, 0.5, 0.7, 1.1, 1.3, 2, 2.4, 3.9, 5.5, 12].map((sum) => ({ sum, n: 1 }));

  test("of a skewed sample is the one that SciPy finds", () => {
    // scipy.stats.bootstrap, method BCa, 400,000 resamples, three seeds: 1.50 to 6.29, 6.31, 6.33.
    const { low, high, ...rest } = bcaMeanDifference(skewed, keyed, key, { resamples: 200_000 });
    expect(Math.abs(low - 1.5)).toBeLessThan(0.02);
    expect(Math.abs(high - 6.31)).toBeLessThan(0.06);
    expect(rest).toEqual({ value: expect.closeTo(2.96, 12), confidence: 0.95, n: 10 });
  });

  test("leans to the long tail, as the t interval cannot", () => {
    const { value, low, high } = bcaMeanDifference(skewed, keyed, key);
    expect(high - value).toBeGreaterThan(2 * (value - low));
  });

  test("depends on its key and on nothing drawn elsewhere", () => {
    const again = () => bcaMeanDifference(skewed, keyed, keyed.within(key, "duration_seconds"));
    expect(again()).toEqual(again());
    expect(again()).not.toEqual(bcaMeanDifference(skewed, keyed, key));
  });

  test("stays inside what resampling can give, even for two clusters", () => {
    const { low, high } = bcaMeanDifference(
      [
        { sum: 0, n: 1 },
        { sum: 1, n: 1 },
      ],
      keyed,
      key,
    );
    expect([low, high]).toEqual([0, 1]);
  });

  test("turns over when the sides change places, but for the luck of the draw", () => {
    const turned = skewed.map(({ sum, n }) => ({ sum: -sum, n }));
    const { low, high } = bcaMeanDifference(turned, keyed, key, { resamples: 100_000 });
    const straight = bcaMeanDifference(skewed, keyed, key, { resamples: 100_000 });
    expect(Math.abs(low + straight.high)).toBeLessThan(0.1);
    expect(Math.abs(high + straight.low)).toBeLessThan(0.03);
  });
});

describe("the mean difference across scenarios and replicates", () => {
  const grid = (rows: readonly (readonly number[])[]) =>
    rows.flatMap((row, at) => row.map((sum, replicate) => ({ scenario: `scenario-${at}`, replicate, sum, n: 1 })));

  test("adds both ways of clustering and takes off what it counted twice", () => {
    // Variances by hand: 1.925926 by scenario + 1.148148 by replicate − 0.833333 by both; t(2, .975) = 4.302653.
    const cells = grid([
      [1, 4, 2],
      [6, 8, 7],
      [3, 9, 5],
    ]);
    expect(twoWayMeanDifference(cells)).toEqual({
      value: 5,
      low: expect.closeTo(-1.44068561, 5),
      high: expect.closeTo(11.44068561, 5),
      confidence: 0.95,
      n: 3,
    });
  });

  test("is never surer than clustering one way alone", () => {
    // Replicates cancel to the last: 16/3 by scenario + 0 by replicate − 14/9 by both is less than 16/3.
    const cells = grid([
      [10, 12, 8],
      [2, 0, 4],
      [6, 6, 6],
    ]);
    const { low, high } = twoWayMeanDifference(cells);
    expect((high - low) / 2).toBeCloseTo(4.30265273 * Math.sqrt(16 / 3), 6);
  });

  test("is the same to the bit, in whatever order the cells come, and moves with them", () => {
    const cells = fc
      .array(fc.array(amount, { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 5 })
      .map(grid)
      .chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }), amount));
    fc.assert(
      fc.property(cells, ([some, reordered, shift]) => {
        const before = twoWayMeanDifference(some);
        expect(twoWayMeanDifference(reordered)).toEqual(before);
        const moved = { ...before, value: before.value + shift, low: before.low + shift, high: before.high + shift };
        expectNear(twoWayMeanDifference(some.map((cell) => ({ ...cell, sum: cell.sum + shift }))), moved);
      }),
    );
  });

  test("counts the fewer of the two, and needs two of each", () => {
    expect(
      twoWayMeanDifference(
        grid([
          [1, 2, 3, 4],
          [4, 2, 5, 1],
        ]),
      ).n,
    ).toBe(2);
    expect(() => twoWayMeanDifference(grid([[1], [2], [3]]))).toThrow(
      new NotEstimable(
        "a difference across scenarios and replicates needs two of each or more to have an interval; there are 3 and 1",
      ),
    );
  });
});

describe("the relative change", () => {
  const some = [
    { treatmentSum: 130, controlSum: 100 },
    { treatmentSum: 118, controlSum: 95 },
    { treatmentSum: 141, controlSum: 104 },
    { treatmentSum: 125, controlSum: 98 },
  ];

  test("is the ratio of the means less one, with its linearised interval", () => {
    expect(relativeChange(some)).toEqual({
      value: expect.closeTo(0.2947103, 7),
      low: expect.closeTo(0.2177549, 6),
      high: expect.closeTo(0.37166576, 6),
      confidence: 0.95,
      n: 4,
    });
  });

  test("does not depend on the unit, and has no width where all clusters change alike", () => {
    const side = fc.double({ min: 0.001, max: 1e4, noNaN: true });
    const both = fc.array(fc.record({ treatmentSum: side, controlSum: side }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(both, side, (clusters, unit) => {
        const scaled = clusters.map((one) => ({
          treatmentSum: one.treatmentSum * unit,
          controlSum: one.controlSum * unit,
        }));
        expectNear(relativeChange(scaled), relativeChange(clusters));
        const alike = clusters.map(({ controlSum }) => ({ treatmentSum: controlSum * unit, controlSum }));
        const { value, low, high } = relativeChange(alike);
        expect([low, high]).toEqual([value, value]);
      }),
    );
  });

  test("across scenarios and replicates has the same value and an interval no narrower", () => {
    const cells = some.map((sums, at) => ({ ...sums, scenario: `scenario-${at >> 1}`, replicate: at & 1 }));
    const { value, n } = twoWayRelativeChange(cells);
    expect([value, n]).toEqual([expect.closeTo(0.2947103, 7), 2]);
  });

  test("to nothing at all is refused", () => {
    expect(() => relativeChange(some.map((sums) => ({ ...sums, controlSum: 0 })))).toThrow(
      new NotEstimable("a relative change needs a control that adds up to more than nothing, not to 0"),
    );
    expect(() => relativeChange(some.slice(0, 1))).toThrow(
      new NotEstimable("a relative change needs two independent clusters or more to have an interval; there is 1"),
    );
  });
});

/** Equal but for rounding, on the scale of the estimate itself. */
function expectNear(found: Estimate, expected: Estimate): void {
  const leeway = 1e-9 * Math.max(1, Math.abs(expected.value), Math.abs(expected.low), Math.abs(expected.high));
  for (const part of ["value", "low", "high"] as const) {
    expect(Math.abs(found[part] - expected[part]), part).toBeLessThan(leeway);
  }
  expect([found.confidence, found.n]).toEqual([expected.confidence, expected.n]);
}
