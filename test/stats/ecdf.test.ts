import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ecdf } from "../../src/stats/ecdf.ts";

describe("the steps of a distribution", () => {
  test("rise at each value by the share of members that have it", () => {
    expect(ecdf([240, 10, 240, 240], 0)).toEqual([
      { x: 10, share: 0.25 },
      { x: 240, share: 1 },
    ]);
  });

  test("end below 1 by the share that never arrived", () => {
    expect(ecdf([10, 240, 3850], 1)).toEqual([
      { x: 10, share: 0.25 },
      { x: 240, share: 0.5 },
      { x: 3850, share: 0.75 },
    ]);
  });

  test("are none where nobody arrived", () => {
    expect(ecdf([], 7)).toEqual([]);
    expect(ecdf([], 0)).toEqual([]);
  });

  test("keep a jump where it is when they are thinned", () => {
    const values = [...Array.from({ length: 1_000 }, (_, i) => i), ...Array<number>(9_000).fill(777)];
    const steps = ecdf(values, 0, 10);
    expect(steps.find(({ x }) => x === 777)).toEqual({ x: 777, share: 0.9778 });
    expect(steps.length).toBeLessThanOrEqual(10);
  });

  test("are thinned to at most so many, keep their ends, and are nowhere off by more than a step", () => {
    const values = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(values, fc.nat(50), fc.integer({ min: 2, max: 20 }), (some, censored, atMost) => {
        const all = ecdf(some, censored, 1_000);
        const kept = ecdf(some, censored, atMost);
        expect(kept.length).toBeLessThanOrEqual(atMost);
        expect([kept[0], kept.at(-1)]).toEqual([all[0], all.at(-1)]);
        for (const { x, share } of all) {
          const shown = kept.findLast((step) => step.x <= x)!;
          expect(share - shown.share).toBeGreaterThanOrEqual(0);
          expect(share - shown.share).toBeLessThanOrEqual(1 / (atMost - 1));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("need room for their ends, and a count of those who never arrived", () => {
    expect(() => ecdf([1], 0, 1)).toThrow("a line needs two steps or more to keep its ends, not 1");
    expect(() => ecdf([1], -1)).toThrow("members that never arrived are counted from 0, not -1");
  });
});
