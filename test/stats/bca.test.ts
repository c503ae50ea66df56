import { describe, expect, test } from "vitest";
import { bcaInterval } from "../../src/stats/bca.ts";
import { sorted } from "../../src/stats/quantile.ts";

/** Resamples 0, 1, …, 1000, so that where the interval ends says which share of them lies below. */
const resampled = sorted(Array.from({ length: 1_001 }, (_, at) => at));
const symmetric = [1, 2, 3];

describe("a BCa interval", () => {
  test("cuts equal tails where the value is the median and nothing is skewed", () => {
    expect(bcaInterval({ value: 500, resampled, leftOut: symmetric }, 0.95)).toEqual({
      low: expect.closeTo(25, 9),
      high: expect.closeTo(975, 9),
    });
  });

  test("moves by twice the bias of the resamples", () => {
    // 841.5 of 1001 below: z0 = 0.99717; Φ(2 × z0 − 1.96) = 0.51371, Φ(2 × z0 + 1.96) = 0.99996.
    expect(bcaInterval({ value: 841, resampled, leftOut: symmetric }, 0.95)).toEqual({
      low: expect.closeTo(513.7, 1),
      high: expect.closeTo(1_000, 0),
    });
  });

  test("bends towards the long tail", () => {
    // Left out in turn, 0, 0, 0, 4 lie 1, 1, 1 and −3 below their mean: a = −24 / (6 × 12^1.5) = −0.0962.
    const { low, high } = bcaInterval({ value: 500, resampled, leftOut: [0, 0, 0, 4] }, 0.95);
    expect(low).toBeCloseTo(7.856, 1);
    expect(high).toBeCloseTo(950.423, 1);
  });

  test("of left-out values that agree bends nowhere", () => {
    const straight = bcaInterval({ value: 500, resampled, leftOut: symmetric }, 0.95);
    expect(bcaInterval({ value: 500, resampled, leftOut: [2, 2, 2] }, 0.95)).toEqual(straight);
  });

  test("stays with the resamples where the value lies outside of all of them", () => {
    const beyond = (value: number) => bcaInterval({ value, resampled, leftOut: symmetric }, 0.95);
    expect(beyond(-1).low).toBe(0);
    expect(beyond(1_001).high).toBe(1_000);
    expect(beyond(-1).high).toBeLessThan(1);
    expect(beyond(1_001).low).toBeGreaterThan(999);
  });

  test("ends at the end where its correction has no end", () => {
    const lopsided = Array.from({ length: 1_000 }, (_, at) => (at === 0 ? -1 : 0));
    const ends = bcaInterval({ value: 1_001, resampled, leftOut: lopsided }, 0.9999);
    expect(ends.high).toBe(1_000);
    expect(ends.low).toBeLessThanOrEqual(ends.high);
  });
});
