import { describe, expect, test } from "vitest";
import { binomialCdf } from "../../src/stats/binomial.ts";
import { mcnemarDetectable, mcnemarPower } from "../../src/stats/power.ts";

describe("the smallest difference that independent pairs show", () => {
  test("needs six pairs that differ one way, where none differs the other way", () => {
    const shown = mcnemarDetectable(113, 0, 0.05)!;
    expect(1 - binomialCdf(5, 113, shown)).toBeCloseTo(0.8, 6);
  });

  test.each([
    [113, 0.1, 0.05],
    [113, 0.2, 0.0125],
    [226, 0.04, 0.05],
  ])("%i pairs of which a share of %d differs, at a level of %d: shown just so often", (n, discordance, alpha) => {
    const shown = mcnemarDetectable(n, discordance, alpha)!;
    const chance = (difference: number) => {
      const differently = Math.max(discordance, difference);
      const onlyControl = (differently - difference) / 2;
      return mcnemarPower(n, { onlyTreatment: differently - onlyControl, onlyControl }, alpha);
    };
    expect(chance(shown)).toBeCloseTo(0.8, 6);
    expect(chance(shown * 0.99)).toBeLessThan(0.8);
  });

  test("is none with five pairs, which cannot be split unevenly enough", () => {
    expect(mcnemarDetectable(5, 0.2, 0.05)).toBeNull();
    expect(mcnemarDetectable(6, 0.2, 0.05)).toBeGreaterThan(0.9);
  });
});
