import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../src/random.ts";
import { normalCdf, studentCdf, studentQuantile } from "../../src/stats/distributions.ts";

describe("Student's t", () => {
  // By SciPy 1.17.
  test.each([
    [1, 12.706204736174694],
    [4, 2.7764451051977934],
    [7, 2.364624251592784],
    [29, 2.045229642132703],
    [112, 1.9813718148763053],
  ])("of %d degrees of freedom has 97.5 %% below %d", (freedom, t) => {
    expect(studentQuantile(0.975, freedom)).toBeCloseTo(t, 6);
    expect(studentQuantile(0.025, freedom)).toBeCloseTo(-t, 6);
    expect(studentCdf(t, freedom)).toBeCloseTo(0.975, 7);
  });

  test("of 4 degrees of freedom has 89.6 % below 1.5", () => {
    expect(studentCdf(1.5, 4)).toBeCloseTo(0.896, 7);
  });

  test("needs a degree of freedom, and a share above 0 and below 1", () => {
    expect(() => studentCdf(1, 0)).toThrow("Student's t has one degree of freedom or more, not 0");
    expect(() => studentQuantile(0.5, Number.NaN)).toThrow("Student's t has one degree of freedom or more, not NaN");
    expect(() => studentQuantile(1, 7)).toThrow("a quantile of t is asked for a share above 0 and below 1, not 1");
  });
});

test.each([0.001, 0.025, 0.3, 0.5, 0.9, 0.999])("the normal has %d below its quantile of that share", (share) => {
  expect(normalCdf(normalQuantile(share))).toBeCloseTo(share, 14);
});
