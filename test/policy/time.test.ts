import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  after,
  before,
  beginning,
  between,
  type Duration,
  earliest,
  type Instant,
  inSeconds,
  latest,
  longer,
  milliseconds,
  moment,
  never,
  nothing,
  seconds,
  shorter,
} from "../../src/policy/time.ts";

const aMoment = fc.oneof(fc.constant(never), fc.integer({ min: -1e9, max: 1e15 }).map(moment));
const aLength = fc.oneof(
  fc.constantFrom(nothing, never as number as Duration),
  fc.integer({ min: 0, max: 1e15 }).map(milliseconds),
);

describe("a length on paper", () => {
  test.each([
    [240, 240_000],
    [0.1, 100],
    [10.0499, 10_050],
    [0.0004, 0],
    [0, 0],
  ])("%d s is %d ms inside", (paper, inside) => {
    expect(seconds(paper)).toBe(inside);
  });

  test("of 2,400 steps of 0.1 s is 240 s, to the millisecond", () => {
    let now = beginning;
    for (let step = 0; step < 2_400; step += 1) now = after(now, seconds(0.1));
    expect(now).toBe(seconds(240));
  });

  test("comes back as it was written, in whole milliseconds", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1e13 }), (ms) => seconds(inSeconds(milliseconds(ms))) === ms));
  });
});

describe("a moment", () => {
  test("lies as long after another as that lies before it", () => {
    fc.assert(
      fc.property(aMoment, aLength, (from, length) => {
        const to = after(from, length);
        expect(to).toBeGreaterThanOrEqual(from);
        if (to !== never) expect([before(to, length), between(from, to)]).toEqual([from, length]);
      }),
    );
  });

  test("that never comes stays where it is", () => {
    expect(after(never, seconds(1))).toBe(never);
    expect(after(moment(1), never as number as Duration)).toBe(never);
    expect(before(never, seconds(600))).toBe(never);
    expect(before(moment(0), seconds(600))).toBe(-600_000);
  });

  test("is never less than nothing away", () => {
    fc.assert(fc.property(aMoment, aMoment, (a, b) => between(a, b) === Math.max(b - a, 0)));
  });

  test("is compared as numbers are", () => {
    fc.assert(
      fc.property(aMoment, aMoment, (a: Instant, b: Instant) => {
        expect([earliest(a, b), latest(a, b)]).toEqual([Math.min(a, b), Math.max(a, b)]);
        const [x, y] = [milliseconds(a), milliseconds(b)];
        expect([shorter(x, y), longer(x, y)]).toEqual([Math.min(a, b), Math.max(a, b)]);
      }),
    );
  });
});
