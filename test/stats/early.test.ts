import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { boundedConfidenceSequence, confidenceSequence } from "../../src/stats/confidenceSequence.ts";
import { NotEstimable } from "../../src/stats/estimate.ts";
import { select } from "../../src/stats/selection.ts";

const values = (n: number) => Array.from({ length: n }, (_, at) => keyed.uniform(keyed.seeded(3), at));

describe("looking early", () => {
  test("begins at twenty values, and gives one interval for each number of them from there on", () => {
    const looks = confidenceSequence(values(50), { narrowestAt: 50 });
    expect(looks.map(({ n }) => n)).toEqual(Array.from({ length: 31 }, (_, at) => 20 + at));
    expect(() => confidenceSequence(values(19), { narrowestAt: 50 })).toThrow(
      new NotEstimable("looking early begins at 20 independent clusters; there are 19"),
    );
  });

  test("does not change an interval that was already shown", () => {
    const looks = confidenceSequence(values(60), { narrowestAt: 40 });
    expect(looks.slice(0, 11)).toEqual(confidenceSequence(values(30), { narrowestAt: 40 }));
  });

  test("costs less than half of a fixed interval's width more where it was tuned for", () => {
    const { low, high, n } = confidenceSequence(values(400), { narrowestAt: 400 }).at(-1)!;
    const fixed = (2 * 1.96 * Math.sqrt(1 / 12)) / Math.sqrt(n);
    expect((high - low) / fixed).toBeGreaterThan(1.3);
    expect((high - low) / fixed).toBeLessThan(1.6);
  });

  test("of bounded values never leaves the bounds, and holds the mean from the first value on", () => {
    const bounded = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(bounded, (some) => {
        for (const { value, low, high } of boundedConfidenceSequence(some, { low: -1, high: 1 }, { narrowestAt: 30 })) {
          expect(-1 <= low && low <= value + 1e-12 && value - 1e-12 <= high && high <= 1).toBe(true);
        }
      }),
    );
    expect(() => boundedConfidenceSequence([0, 2], { low: -1, high: 1 }, { narrowestAt: 30 })).toThrow(
      "values lie from -1 to 1, and one of these is 2",
    );
  });

  test("is tuned for one value or more", () => {
    expect(() => confidenceSequence(values(30), { narrowestAt: 0 })).toThrow(
      "an interval is narrowest at one value or more, not at 0",
    );
  });
});

describe("selecting the best of many", () => {
  const settings = { indifference: 0.5, better: "higher", first: 5 } as const;

  test("asks for the first stages of all before it drops any", () => {
    expect(select([values(4), values(9)], settings)).toEqual({ inPlay: [0, 1], best: null, stages: 4, atMost: null });
  });

  test("selects one alone without a look at it", () => {
    expect(select([[]], settings).best).toBe(0);
  });

  test("needs no more than the first stages where all meet the same luck and differ by a constant", () => {
    const luck = values(5);
    const observed = [0, 1, 3, 2].map((shift) => luck.map((value) => 100 * value + shift));
    expect(select(observed, settings)).toEqual({ inPlay: [2], best: 2, stages: 5, atMost: 5 });
  });

  test("says the same whether it is fed stage by stage, without those it dropped, or all at once", () => {
    const noise = (system: number, at: number) => keyed.uniform(keyed.within(keyed.seeded(8), system), at);
    const shifts = [0, 0.3, 0.1, 0.2];
    const all = shifts.map((shift, system) => Array.from({ length: 600 }, (_, at) => shift + noise(system, at)));
    const narrow = { ...settings, indifference: 0.1 };
    let fed = all.map((observations) => observations.slice(0, 5));
    for (let found = select(fed, narrow); found.best === null; found = select(fed, narrow)) {
      const { inPlay, stages } = found;
      fed = fed.map((observations, at) => (inPlay.includes(at) ? all[at]!.slice(0, stages + 1) : observations));
    }
    expect(select(fed, narrow)).toEqual(select(all, narrow));
    expect(select(all, narrow).best).toBe(1);
    expect(fed[0]!.length).toBeLessThan(fed[1]!.length);
  });

  test("ends at the last stage at the latest, one selected, whatever was observed", () => {
    const observations = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 400, maxLength: 400 });
    fc.assert(
      fc.property(fc.array(observations, { minLength: 2, maxLength: 4 }), (observed) => {
        const { best, stages, atMost, inPlay } = select(observed, { ...settings, indifference: 2 });
        if (atMost! <= 400) {
          expect(stages).toBeLessThanOrEqual(atMost!);
          expect(inPlay).toEqual([best]);
        }
        expect(inPlay.length).toBeGreaterThan(0);
      }),
      { numRuns: 30 },
    );
  });

  test("refuses what cannot be asked", () => {
    expect(() => select([], settings)).toThrow("a selection is made among one setting or more; there are none");
    expect(() => select([[1]], { ...settings, indifference: 0 })).toThrow(
      "an indifference zone is wider than 0, not 0",
    );
    expect(() => select([[1]], { ...settings, first: 1 })).toThrow("variances need two first stages or more, not 1");
    expect(() => select([[1]], { ...settings, confidence: 1 })).toThrow("a confidence lies above 0 and below 1, not 1");
  });
});
