import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dominates, standings } from "../../src/stats/pareto.ts";

const fronts = (...points: readonly (readonly number[])[]) => standings(points).map(({ onFront }) => onFront);

describe("on the front", () => {
  test("is what is best in something, and what is best in nothing but beaten by none", () => {
    expect(
      standings([
        [1, 9],
        [9, 1],
        [4, 4],
        [5, 5],
        [9, 9],
      ]),
    ).toEqual([
      { onFront: true, dominatedBy: [] },
      { onFront: true, dominatedBy: [] },
      { onFront: true, dominatedBy: [] },
      { onFront: false, dominatedBy: [2] },
      { onFront: false, dominatedBy: [0, 1, 2] },
    ]);
  });

  test("equals stand together: all of them on it, or all of them off it for the same reason", () => {
    expect(fronts([1, 1], [1, 1])).toEqual([true, true]);
    expect(
      standings([
        [1, 1],
        [2, 2],
        [2, 2],
      ]).map(({ dominatedBy }) => dominatedBy),
    ).toEqual([[], [0], [0]]);
  });

  test("a tie in one coordinate is decided by another", () => {
    expect(fronts([1, 3], [1, 2], [0, 5])).toEqual([false, true, true]);
  });

  test("where one thing counts, it is the least, and whatever equals it", () => {
    expect(fronts([3], [1], [2], [1])).toEqual([false, true, false, true]);
  });

  test("is whatever stands alone, and where nothing is weighed everything", () => {
    expect(fronts([7, 7])).toEqual([true]);
    expect(fronts([], [])).toEqual([true, true]);
    expect(standings([])).toEqual([]);
  });
});

describe("law:", () => {
  // Few values, so that ties are common.
  const some = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: width, maxLength: width }), {
      minLength: 1,
      maxLength: 20,
    }),
  );

  test("nobody on the front is dominated by anybody; everybody off it is by someone on it", () => {
    fc.assert(
      fc.property(some, (points) => {
        const found = standings(points);
        expect(found.some(({ onFront }) => onFront)).toBe(true);
        for (const [at, { onFront, dominatedBy }] of found.entries()) {
          expect(points.some((other) => dominates(other, points[at]!))).toBe(!onFront);
          expect(dominatedBy.length > 0).toBe(!onFront);
          for (const index of dominatedBy) {
            expect(found[index]!.onFront).toBe(true);
            expect(dominates(points[index]!, points[at]!)).toBe(true);
          }
        }
      }),
    );
  });

  test("order and scale do not matter, and one more that is dominated changes nobody's place", () => {
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 9 }), (points, factor) => {
        const reversed = fronts(...points.toReversed()).toReversed();
        expect(reversed).toEqual(fronts(...points));
        expect(fronts(...points.map((point) => point.map((value) => value * factor)))).toEqual(fronts(...points));
        const worse = points[0]!.map((value) => value + 1);
        expect(fronts(...points, worse)).toEqual([...fronts(...points), false]);
      }),
    );
  });
});
