import { describe, expect, test } from "vitest";
import type { Estimate } from "../../src/stats/estimate.ts";
import { type Expected, type Verdict, verdict } from "../../src/stats/verdict.ts";

const between = (low: number, high: number, confidence = 0.95): Estimate => ({
  value: (low + high) / 2,
  low,
  high,
  confidence,
  n: 30,
});
const chance = (p: number) => ({ p, method: "exact", n: 9 }) as const;

describe("a verdict", () => {
  test.each<[Expected, number, number, Verdict]>([
    ["lower", -5, -1, "PASS"],
    ["lower", -5, 1, "NOT SHOWN"],
    ["lower", 1, 5, "FAIL"],
    ["higher", 1, 5, "PASS"],
    ["higher", -1, 5, "NOT SHOWN"],
    ["higher", -5, -1, "FAIL"],
    ["lower", -5, 0, "NOT SHOWN"],
    ["higher", 0, 5, "NOT SHOWN"],
    ["lower", 0, 0, "NOT SHOWN"],
    ["lower", -4, -4, "PASS"],
  ])("on expecting it %s, of a difference between %d and %d: %s, %s", (expected, low, high, answer) => {
    expect(verdict(expected, between(low, high))).toBe(answer);
  });

  test.each<[Expected, number, number, number, Verdict]>([
    ["lower", -5, 1, 0.004, "PASS"],
    ["higher", -5, 1, 0.004, "FAIL"],
    ["lower", -5, -1, 0.0625, "NOT SHOWN"],
    ["lower", 0, 0, 0.01, "NOT SHOWN"],
    ["higher", 1, 3, 0.05, "PASS"],
    ["higher", 1, 3, 0.0501, "NOT SHOWN"],
  ])("by permutation, on expecting it %s, between %d and %d at p %d: %s", (expected, low, high, p, answer) => {
    expect(verdict(expected, between(low, high), chance(p))).toBe(answer);
  });

  test("holds p against the confidence that the estimate was asked for, equality included", () => {
    expect(verdict("lower", between(-5, 1, 0.9), chance(0.1))).toBe("PASS");
    expect(verdict("lower", between(-5, 1, 0.99), chance(0.02))).toBe("NOT SHOWN");
  });
});
