import { describe, expect, test } from "vitest";
import { NotEstimable } from "../../src/stats/estimate.ts";
import { centralInterval, type Published, reproduced } from "../../src/stats/reproduced.ts";

const upTo = (n: number) => Array.from({ length: n + 1 }, (_, i) => i);

describe("the central interval", () => {
  test("cuts an equal tail at either end", () => {
    expect(centralInterval(upTo(200))).toEqual({ low: 5, high: 195, share: 0.95, n: 201 });
    expect(centralInterval(upTo(200), 0.5)).toEqual({ low: 50, high: 150, share: 0.5, n: 201 });
    expect(centralInterval(upTo(200), 1)).toEqual({ low: 0, high: 200, share: 1, n: 201 });
  });

  test("needs a value, and a share of the sample", () => {
    expect(() => centralInterval([])).toThrow(NotEstimable);
    expect(() => centralInterval(upTo(9), 95)).toThrow("a central share lies above 0 and is 1 at most, not 95");
  });
});

describe("a published figure", () => {
  test.each<[Published, boolean]>([
    [100, true],
    [5, true],
    [4.9, false],
    [195, true],
    [195.1, false],
    [[190, 300], true],
    [[-9, 300], true],
    [[196, 300], false],
    [[-9, 4], false],
  ])("of %j against replicates from 0 to 200: %s", (published, answer) => {
    expect(reproduced(published, upTo(200))).toBe(answer);
  });

  test.each<[Published, boolean]>([
    [10.05, true],
    [10.1, true],
    [9.9, true],
    [10.11, false],
    [[10.09, 12], true],
  ])("of %j against replicates that all say 10: %s", (published, answer) => {
    expect(reproduced(published, Array(30).fill(10))).toBe(answer);
  });

  test("below zero has the same leeway as above", () => {
    expect([reproduced(-10.05, [-10, -10]), reproduced(-10.2, [-10, -10])]).toEqual([true, false]);
  });
});
