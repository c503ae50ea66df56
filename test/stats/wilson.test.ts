import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NotEstimable } from "../../src/stats/estimate.ts";
import { wilson } from "../../src/stats/wilson.ts";

describe("Wilson's interval", () => {
  test.each([
    [9, 226, 0.02109, 0.07394],
    [0, 113, 0, 0.03288],
    [113, 113, 1 - 0.03288, 1],
    [1, 1, 0.20655, 1],
  ])("of %d in %d reaches from %d to %d", (successes, n, low, high) => {
    const estimate = { low: expect.closeTo(low, 5), high: expect.closeTo(high, 5) };
    expect(wilson(successes, n)).toEqual({ value: successes / n, ...estimate, confidence: 0.95, n });
  });

  test("ends exactly at 0 and at 1 where all tries agree", () => {
    expect([wilson(0, 7).low, wilson(7, 7).high]).toEqual([0, 1]);
  });

  test("holds its value, stays between 0 and 1, and mirrors itself for failures", () => {
    const counts = fc
      .integer({ min: 1, max: 10_000 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([successes, n]) => {
        const { value, low, high } = wilson(successes, n);
        expect(0 <= low && low <= value && value <= high && high <= 1).toBe(true);
        expect(wilson(n - successes, n).low).toBeCloseTo(1 - high, 12);
      }),
    );
  });

  test("needs a try, and no more successes than tries", () => {
    expect(() => wilson(0, 0)).toThrow(new NotEstimable("a share needs one try or more; there are none"));
    expect(() => wilson(3, 2)).toThrow("successes are counted among tries, and 3 of 2 cannot be");
    expect(() => wilson(-1, 2)).toThrow("successes are counted among tries, and -1 of 2 cannot be");
    expect(() => wilson(0.5, 2)).toThrow("successes are counted among tries, and 0.5 of 2 cannot be");
  });
});
