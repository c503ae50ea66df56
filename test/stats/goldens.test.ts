/** Our figures beside R's, made by goldens.R; and published ones, where R has no such method. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed, normalQuantile } from "../../src/random.ts";
import { fisherExact } from "../../src/stats/fisher.ts";
import { mcnemar } from "../../src/stats/mcnemar.ts";
import { benjaminiHochberg, holm } from "../../src/stats/multiple.ts";
import { newcombe, newcombePaired } from "../../src/stats/newcombe.ts";
import { clustered, meanDifference } from "../../src/stats/paired.ts";
import { detectablePaired, leastShown, mcnemarPower, minimalDetectable, power } from "../../src/stats/power.ts";
import { studentP } from "../../src/stats/pValue.ts";
import { quantile, sorted } from "../../src/stats/quantile.ts";
import { kaplanMeier, restrictedMean } from "../../src/stats/survival.ts";
import { unpairedMeanDifference } from "../../src/stats/welch.ts";
import { wilson } from "../../src/stats/wilson.ts";

type Numbers = readonly number[];
const goldens = JSON.parse(readFileSync(new URL("goldens.json", import.meta.url), "utf8")) as {
  multiple: readonly { p: Numbers; holm: Numbers; bh: Numbers }[];
  mcnemar: readonly { discordant: Numbers; p: number }[];
  fisher: readonly { counts: Numbers; either: number; lower: number; higher: number }[];
  wilson: readonly { counts: Numbers; low: number; high: number }[];
  student: readonly { x: Numbers; low: number; high: number; p: number; p_at_1: number }[];
  welch: readonly { treatment: Numbers; control: Numbers; low: number; high: number; freedom: number }[];
  quantiles: readonly { x: Numbers; p: Numbers; values: Numbers }[];
  survival: readonly {
    times: Numbers;
    done: Numbers;
    x: Numbers;
    share: Numbers;
    low: readonly (number | null)[];
    high: readonly (number | null)[];
    at_risk: Numbers;
    horizon: number;
    mean: number;
    error: number;
  }[];
  mcnemarPower: readonly { n: number; treatment: number; control: number; alpha: number; power: number }[];
  studentPower: readonly { n: number; effect: number; power: number }[];
};

const close = (found: Numbers, expected: Numbers, digits = 10) => {
  expect(found).toHaveLength(expected.length);
  for (const [at, value] of expected.entries()) expect(found[at]).toBeCloseTo(value, digits);
};
const singles = (values: Numbers) => values.map((sum) => ({ sum, n: 1 }));

describe("as R has it", () => {
  test.each(goldens.multiple)("Holm and Benjamini–Hochberg of $p", ({ p, holm: h, bh }) => {
    close(holm(p), h);
    close(benjaminiHochberg(p), bh);
  });

  test.each(goldens.mcnemar)("McNemar's exact test of $discordant", ({ discordant: [one, other], p }) => {
    expect(mcnemar(one!, other!)).toBeCloseTo(p, 11);
    expect(mcnemar(other!, one!)).toBeCloseTo(p, 11);
  });

  test.each(goldens.fisher)("Fisher's exact test of $counts", ({ counts: [a, n, b, m], either, lower, higher }) => {
    const groups = [
      { successes: a!, n: n! },
      { successes: b!, n: m! },
    ] as const;
    close(
      [fisherExact(...groups), fisherExact(...groups, "lower"), fisherExact(...groups, "higher")],
      [either, lower, higher],
    );
  });

  test.each(goldens.wilson)("Wilson's interval of $counts", ({ counts: [successes, n], low, high }) => {
    const found = wilson(successes!, n!);
    close([found.low, found.high], [low, high], 9);
  });

  test.each(goldens.student)("the t interval and its p-value of $x", ({ x, low, high, p, p_at_1 }) => {
    const found = meanDifference(singles(x));
    close([found.low, found.high, studentP(found), studentP(found, 1)], [low, high, p, p_at_1], 6);
  });

  test.each(goldens.welch)(
    "Welch's interval of $treatment against $control",
    ({ treatment, control, low, high, freedom }) => {
      const found = unpairedMeanDifference(singles(treatment), singles(control));
      close([found.low, found.high, found.freedom], [low, high, freedom], 6);
    },
  );

  test.each(goldens.quantiles)("quantiles of $x", ({ x, p, values }) => {
    const sample = sorted(x);
    close(
      p.map((share) => quantile(sample, share)),
      values,
    );
  });

  test.each(goldens.survival)(
    "Kaplan and Meier's curve of $times",
    ({ times, done, x, share, low, high, at_risk, horizon, mean, error }) => {
      const lives = { times, cutOff: done.map((is) => is === 0) };
      const steps = kaplanMeier(lives);
      close(
        steps.map((step) => step.x),
        x,
      );
      close(
        steps.map((step) => step.share),
        share,
      );
      close(
        steps.map((step) => step.atRisk),
        at_risk,
      );
      for (const [at, step] of steps.entries()) {
        // Where nobody is left R gives no band; ours closes.
        close([step.low, step.high], [low[at] ?? step.share, high[at] ?? step.share]);
      }
      const found = restrictedMean(lives, horizon);
      close([found.value, (found.high - found.value) / 1.959963984540054], [mean, error], 8);
    },
  );

  test.each(goldens.mcnemarPower)(
    "the power of McNemar's test with $n pairs",
    ({ n, treatment, control, alpha, power: expected }) => {
      expect(mcnemarPower(n, { onlyTreatment: treatment, onlyControl: control }, alpha)).toBeCloseTo(expected, 10);
    },
  );

  test.each(goldens.studentPower)(
    "the power of the t test with $n pairs, within the luck of 4,000 experiments",
    ({ n, effect, power: expected }) => {
      // A normal sample in the form of its quantiles: standard deviation 1, as R was told.
      const noise = Array.from({ length: 999 }, (_, at) => normalQuantile((at + 0.5) / 999));
      const planned = {
        clusters: singles(noise),
        n,
        alpha: 0.05,
        draws: keyed,
        key: keyed.seeded(5),
        experiments: 4_000,
      };
      expect(Math.abs(power(planned, effect) - expected)).toBeLessThan(
        3.3 * Math.sqrt((expected * (1 - expected)) / 4_000) + 0.005,
      );
    },
  );
});

describe("as published", () => {
  test("Newcombe's intervals: his own examples", () => {
    const unpaired = newcombe({ successes: 56, n: 70 }, { successes: 48, n: 80 });
    close([unpaired.low, unpaired.high], [0.0524, 0.3339], 4);
    const paired = newcombePaired({ both: 36, onlyTreatment: 12, onlyControl: 2, neither: 0 });
    close([paired.low, paired.high], [0.0569, 0.3404], 4);
  });

  test("what 113 and 226 pairs can show, by how many come out differently", () => {
    const found = [113, 226].map((n) =>
      [0.1, 0.2, 0.3].map((discordance) => Number(detectablePaired(n, discordance)!.toFixed(3))),
    );
    expect(found).toEqual([
      [0.082, 0.117, 0.143],
      [0.059, 0.083, 0.102],
    ]);
  });

  test("9 of 226 against 0 of 113", () => {
    expect(fisherExact({ successes: 9, n: 226 }, { successes: 0, n: 113 })).toBeCloseTo(0.032177, 6);
    const { value, low, high } = newcombe({ successes: 9, n: 226 }, { successes: 0, n: 113 });
    expect(value).toBeCloseTo(9 / 226, 12);
    expect(low).toBeGreaterThan(0);
    expect(high).toBeLessThan(0.08);
  });
});

describe("laws", () => {
  const p = fc.double({ min: 0, max: 1, noNaN: true });
  const few = fc.nat({ max: 40 });

  test("an adjusted p-value is never smaller than the plain one, and keeps its place among them", () => {
    fc.assert(
      fc.property(fc.array(p, { minLength: 1, maxLength: 12 }), (ps) => {
        for (const adjusted of [holm(ps), benjaminiHochberg(ps)]) {
          for (const [at, value] of ps.entries()) {
            expect(adjusted[at]).toBeGreaterThanOrEqual(value - 1e-15);
            expect(adjusted[at]).toBeLessThanOrEqual(1);
            for (const [other, theirs] of ps.entries())
              if (theirs > value) expect(adjusted[other]).toBeGreaterThanOrEqual(adjusted[at]!);
          }
        }
        for (const [at, value] of holm(ps).entries())
          expect(value).toBeGreaterThanOrEqual(benjaminiHochberg(ps)[at]! - 1e-15);
      }),
    );
  });

  test("a test asked of swapped sides gives the same answer, and both sides together leave no table out", () => {
    fc.assert(
      fc.property(few, few, few, few, (a, b, c, d) => {
        const [one, other] = [
          { successes: a, n: a + b },
          { successes: c, n: c + d },
        ];
        expect(fisherExact(one, other)).toBeCloseTo(fisherExact(other, one), 10);
        expect(fisherExact(one, other, "lower")).toBeCloseTo(fisherExact(other, one, "higher"), 10);
        expect(fisherExact(one, other, "lower") + fisherExact(one, other, "higher")).toBeGreaterThanOrEqual(1 - 1e-9);
      }),
    );
  });

  test("an interval for a difference of shares holds it, and stays within −1 and 1", () => {
    fc.assert(
      fc.property(few, few, few, few, (both, onlyTreatment, onlyControl, neither) => {
        fc.pre(both + onlyTreatment + onlyControl + neither > 0);
        const { value, low, high } = newcombePaired({ both, onlyTreatment, onlyControl, neither });
        expect(low).toBeLessThanOrEqual(value + 1e-12);
        expect(high).toBeGreaterThanOrEqual(value - 1e-12);
        expect(low).toBeGreaterThanOrEqual(-1 - 1e-12);
        expect(high).toBeLessThanOrEqual(1 + 1e-12);
        const swapped = newcombePaired({ both, onlyTreatment: onlyControl, onlyControl: onlyTreatment, neither });
        expect(swapped.low).toBeCloseTo(-high, 10);
      }),
    );
  });

  test("a p-value lies under the level just where the interval leaves the bound out", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 20 }),
        fc.integer({ min: -40, max: 40 }),
        (sums, bound) => {
          const found = meanDifference(singles(sums));
          fc.pre(Math.abs(found.low - bound) > 1e-4 && Math.abs(found.high - bound) > 1e-4);
          expect(studentP(found, bound) < 0.05).toBe(found.low > bound || found.high < bound);
        },
      ),
    );
  });

  test("who is not done only grows fewer, and where nobody is cut off the mean up to the last is the mean", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ time: fc.integer({ min: 1, max: 50 }), cut: fc.boolean() }), {
          minLength: 1,
          maxLength: 40,
        }),
        (lives) => {
          const times = lives.map(({ time }) => time);
          const steps = kaplanMeier({ times, cutOff: lives.map(({ cut }) => cut) });
          for (const [at, { share, low, high }] of steps.entries()) {
            expect(share).toBeLessThan(at === 0 ? 1 : steps[at - 1]!.share);
            expect(low).toBeLessThanOrEqual(share + 1e-12);
            expect(high).toBeGreaterThanOrEqual(share - 1e-12);
          }
          const all = restrictedMean({ times, cutOff: times.map(() => false) }, Math.max(...times));
          expect(all.value).toBeCloseTo(times.reduce((sum, time) => sum + time, 0) / times.length, 9);
        },
      ),
    );
  });

  test("a larger effect is shown no less often, and the least that is shown with power 80 % is shown with power 80 %", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ cluster: fc.nat({ max: 8 }), difference: fc.integer({ min: -9, max: 9 }) }), {
          minLength: 6,
          maxLength: 60,
        }),
        fc.integer({ min: 2, max: 30 }),
        fc.nat(),
        (pairs, n, seed) => {
          const clusters = clustered(pairs);
          fc.pre(clusters.length >= 2);
          const planned = { clusters, n, alpha: 0.05, draws: keyed, key: keyed.seeded(seed), experiments: 200 };
          const least = minimalDetectable(planned);
          expect(power(planned, least + 1e-9)).toBeGreaterThanOrEqual(0.8);
          expect(power(planned, least * 2)).toBeGreaterThanOrEqual(power(planned, least));
          expect(leastShown(planned)).toHaveLength(200);
        },
      ),
      { numRuns: 40 },
    );
  });
});
