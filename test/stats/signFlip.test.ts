import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { type Flipping, signFlip } from "../../src/stats/signFlip.ts";

const key = keyed.seeded(1);
const flip = (differences: readonly number[], flipping: Flipping = {}) => signFlip(differences, keyed, key, flipping);

/** So many clusters lower by one and so many higher by one. */
const discordant = (lower: number, higher: number) => [...Array(lower).fill(-1), ...Array(higher).fill(1)] as number[];

describe("a sign-flip test", () => {
  test.each([
    [0, 5, 0.0625],
    [0, 6, 0.03125],
    [0, 9, 0.00390625],
    [3, 9, 0.14599609375],
    [4, 4, 1],
  ])("of %d clusters lower and %d higher by one is McNemar's exact test: p %d", (lower, higher, p) => {
    expect(flip(discordant(lower, higher))).toEqual({ p, method: "exact", n: lower + higher });
  });

  test("asks one way only, if told which", () => {
    const differences = [-3, -1, 2];
    // Totals by sign of 1, 2, 3: six lie at −2 or above, four at 2 or above … and the one observed is −2.
    expect(flip(differences, { side: "lower" }).p).toBe(3 / 8);
    expect(flip(differences, { side: "higher" }).p).toBe(6 / 8);
    expect(flip(differences).p).toBe(6 / 8);
  });

  test("lets clusters without a difference say nothing", () => {
    expect(flip([0, 0, ...discordant(0, 6), 0])).toEqual(flip(discordant(0, 6)));
    expect(flip([0, 0])).toEqual({ p: 1, method: "exact", n: 0 });
  });

  test("samples where there are too many patterns to try them all", () => {
    // Ten of fifteen: 2 × P(X ≥ 10) = 0.301758; a sample of 20,000 knows that to 0.0032.
    const { p, ...rest } = flip(discordant(5, 10));
    expect(rest).toEqual({ method: "sampled", n: 15 });
    expect(Math.abs(p - 0.301758)).toBeLessThan(0.013);
    expect(flip(discordant(7, 7)).method).toBe("exact");
  });

  test("never says that chance is out of the question", () => {
    expect(flip(discordant(0, 40), { flips: 999 })).toEqual({ p: 1 / 1_000, method: "sampled", n: 40 });
  });

  test("gives the same answer in any order, and mirrors its sides", () => {
    const differences = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 20 });
    const flips = 200;
    fc.assert(
      fc.property(differences, (some) => {
        const turned = some.map((difference) => -difference);
        expect(flip(some.toReversed(), { flips })).toEqual(flip(some, { flips }));
        expect(flip(turned, { flips })).toEqual(flip(some, { flips }));
        expect(flip(turned, { flips, side: "lower" })).toEqual(flip(some, { flips, side: "higher" }));
      }),
    );
  });

  test("knows ties of decimals for ties, as of whole numbers", () => {
    const whole = [-5, 9, -7, -1, -6, 6];
    expect(flip(whole.map((difference) => difference / 10))).toEqual(flip(whole));
  });

  test("refuses what is no number", () => {
    expect(() => flip([1, Number.NaN])).toThrow("differences add up to a number, and these add up to NaN");
  });
});
