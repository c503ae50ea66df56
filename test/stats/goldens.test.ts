/** Our figures beside R's, made by goldens.R; and published ones, where R has no such method. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Draws, keyed, normalQuantile } from "../../src/random.ts";
import { boundedConfidenceSequence } from "../../src/stats/confidenceSequence.ts";
import { studentQuantile } from "../../src/stats/distributions.ts";
import { ecdf } from "../../src/stats/ecdf.ts";
import { equivalent, noWorse } from "../../src/stats/equivalence.ts";
import { fisherExact } from "../../src/stats/fisher.ts";
import { mcnemar } from "../../src/stats/mcnemar.ts";
import { benjaminiHochberg, holm } from "../../src/stats/multiple.ts";
import { newcombe, newcombePaired } from "../../src/stats/newcombe.ts";
import { bcaMeanDifference, clustered, meanDifference, twoWayMeanDifference } from "../../src/stats/paired.ts";
import { varianceRatio } from "../../src/stats/pairing.ts";
import { detectablePaired, leastShown, mcnemarPower, minimalDetectable, power } from "../../src/stats/power.ts";
import { studentP } from "../../src/stats/pValue.ts";
import { quantile, sorted } from "../../src/stats/quantile.ts";
import { quantileDifference } from "../../src/stats/quantileDifference.ts";
import { ratio } from "../../src/stats/ratio.ts";
import { restrictedMeanDifference } from "../../src/stats/restrictedMeanDifference.ts";
import { select } from "../../src/stats/selection.ts";
import { signFlip } from "../../src/stats/signFlip.ts";
import { kaplanMeier, restrictedMean } from "../../src/stats/survival.ts";
import { rejections, uniformity } from "../../src/stats/uniformity.ts";
import { unpairedMeanDifference } from "../../src/stats/welch.ts";
import { wilson } from "../../src/stats/wilson.ts";

type Numbers = readonly number[];
interface Ends {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}
interface Lives {
  readonly cluster: Numbers;
  readonly times: Numbers;
  readonly done: Numbers;
}
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
  newcombe: readonly { counts: Numbers; low: number; high: number }[];
  newcombePaired: readonly { counts: Numbers; low: number; high: number }[];
  studentQuantile: readonly { freedom: number; p: number; value: number }[];
  within: readonly { x: Numbers; margin: number; higher: number; lower: number; both: number }[];
  ratio: readonly (Ends & { numerator: Numbers; denominator: Numbers })[];
  twoWay: readonly { scenario: Numbers; replicate: Numbers; y: Numbers; low: number; high: number }[];
  bca: readonly { numerator: Numbers; denominator: Numbers; low: number; high: number }[];
  signFlip: readonly { x: Numbers; either: number; lower: number; higher: number }[];
  quantileDifference: readonly (Ends & { treatment: readonly Numbers[]; control: readonly Numbers[]; p: number })[];
  ecdf: readonly { values: Numbers; censored: number; x: Numbers; share: Numbers }[];
  restrictedMeanDifference: readonly (Ends & { treatment: Lives; control: Lives; horizon: number })[];
  mixture: readonly { n: number; narrowest_at: number; confidence: number; reach: number }[];
  selection: readonly {
    gaps: Numbers;
    spread: number;
    indifference: number;
    confidence: number;
    first: number;
    best: number;
    stages: number;
  }[];
  varianceRatio: readonly (Ends & { treatment: Numbers; control: Numbers })[];
  uniformity: readonly { p_values: Numbers; distance: number; p: number }[];
  rejections: readonly { counts: Numbers; alpha: number; too_many: number }[];
  detectable: readonly { n: number; discordance: number; difference: number }[];
};

const close = (found: Numbers, expected: Numbers, digits = 10) => {
  expect(found).toHaveLength(expected.length);
  for (const [at, value] of expected.entries()) expect(found[at]).toBeCloseTo(value, digits);
};
const ends = ({ value, low, high }: Ends) => [value, low, high];

/** Instead of luck: resample after resample, all n^n ways to draw n of n. */
const everyResample = (n: number): Draws => ({
  ...keyed,
  uniform: (_, ordinal = 0) => ((Math.floor(Math.floor(ordinal / n) / n ** (ordinal % n)) % n) + 0.5) / n,
});
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

describe("as R has it,", () => {
  test.each(goldens.newcombe)("Newcombe's interval of $counts", ({ counts: [a, n, b, m], low, high }) => {
    const found = newcombe({ successes: a!, n: n! }, { successes: b!, n: m! });
    close([found.low, found.high], [low, high], 9);
  });

  test.each(goldens.newcombePaired)(
    "Newcombe's interval of the pairs $counts",
    ({ counts: [both, onlyTreatment, onlyControl, neither], low, high }) => {
      const found = newcombePaired({
        both: both!,
        onlyTreatment: onlyTreatment!,
        onlyControl: onlyControl!,
        neither: neither!,
      });
      close([found.low, found.high], [low, high], 9);
    },
  );

  test.each(goldens.studentQuantile)("t($freedom, $p)", ({ freedom, p, value }) => {
    expect(studentQuantile(p, freedom)).toBeCloseTo(value, 7);
  });

  test.each(goldens.within)(
    "no worse than, and the same as, within $margin: $x",
    ({ x, margin, higher, lower, both }) => {
      const found = meanDifference(singles(x));
      const ps = [
        noWorse(found, { margin, worse: "higher" }).p,
        noWorse(found, { margin, worse: "lower" }).p,
        equivalent(found, margin).p,
      ];
      close(ps, [higher, lower, both], 6);
    },
  );

  test.each(goldens.ratio)("the ratio of $numerator to $denominator", ({ numerator, denominator, ...expected }) => {
    const shares = numerator.map((sum, at) => ({ numerator: sum, denominator: denominator[at]! }));
    close(ends(ratio(shares, 0.95, "a ratio")), ends(expected), 6);
  });

  test.each(goldens.twoWay)("a mean clustered two ways, $y", ({ scenario, replicate, y, low, high }) => {
    const cells = y.map((sum, at) => ({ scenario: String(scenario[at]), replicate: replicate[at]!, sum, n: 1 }));
    const found = twoWayMeanDifference(cells);
    close([found.low, found.high], [low, high], 6);
  });

  test.each(goldens.bca)("BCa over all resamples, $numerator", ({ numerator, denominator, low, high }) => {
    const n = numerator.length;
    // In the order in which they are drawn, so that no resample comes twice.
    const clusters = numerator.map((sum, at) => ({ sum, n: denominator[at]! }));
    const found = bcaMeanDifference(clusters, everyResample(n), keyed.seeded(1), { resamples: n ** n });
    close([found.low, found.high], [low, high], 8);
  });

  test.each(goldens.signFlip)("all signs of $x", ({ x, either, lower, higher }) => {
    const p = (side: "either" | "lower" | "higher") => signFlip(x, keyed, keyed.seeded(1), { side }).p;
    close([p("either"), p("lower"), p("higher")], [either, lower, higher]);
  });

  test.each(goldens.quantileDifference)(
    "the difference of quantiles at $p over all resamples, $treatment",
    ({ treatment, control, p, ...expected }) => {
      const clusters = treatment.map((values, at) => ({ treatment: values, control: control[at]! }));
      const n = clusters.length;
      const found = quantileDifference(clusters, p, everyResample(n), keyed.seeded(1), { resamples: n ** n });
      close(ends(found), ends(expected), 6);
    },
  );

  test.each(goldens.ecdf)("who is through by when, $values", ({ values, censored, x, share }) => {
    const steps = ecdf(values, censored);
    close(
      steps.flatMap((step) => [step.x, step.share]),
      x.flatMap((at, index) => [at, share[index]!]),
    );
  });

  test.each(goldens.restrictedMeanDifference)(
    "the difference of clustered mean times up to $horizon",
    ({ treatment, control, horizon, ...expected }) => {
      const of = ({ cluster, times, done }: Lives, name: number) => {
        const own = times.map((_, at) => at).filter((at) => cluster[at] === name);
        return { times: own.map((at) => times[at]!), cutOff: own.map((at) => done[at] === 0) };
      };
      const names = [...new Set([...treatment.cluster, ...control.cluster])];
      const clusters = names.map((name) => ({ treatment: of(treatment, name), control: of(control, name) }));
      const found = restrictedMeanDifference(clusters, horizon);
      for (const [at, value] of ends(expected).entries()) expect(ends(found)[at]! / value).toBeCloseTo(1, 7);
    },
  );

  test.each(goldens.mixture)("how far a sum of $n may go", ({ n, narrowest_at, confidence, reach }) => {
    // Values between −1 and 1 have Hoeffding's variance of 1.
    const looks = boundedConfidenceSequence(
      Array.from({ length: n }, () => 0),
      { low: -1e6, high: 1e6 },
      { confidence, narrowestAt: narrowest_at },
    );
    expect(looks.at(-1)!.high / 1e6).toBeCloseTo(Math.min(1, reach), 8);
  });

  test.each(goldens.selection)(
    "Kim and Nelson's selection among $gaps",
    ({ gaps, spread, indifference, confidence, first, best, stages }) => {
      const observed = gaps.map((gap, system) =>
        Array.from(
          { length: 2_000 },
          (_, at) => gap + spread * Math.sin((at + 1) * (1 + (system + 1) / 3)) + Math.cos(at + 1),
        ),
      );
      const found = select(observed, { indifference, confidence, first, better: "higher" });
      expect([found.best, found.stages]).toEqual([best, stages]);
      const losses = observed.map((values) => values.map((value) => -value));
      expect(select(losses, { indifference, confidence, first, better: "lower" })).toEqual(found);
    },
  );

  test.each(goldens.varianceRatio)(
    "what pairing $treatment with $control saved",
    ({ treatment, control, ...expected }) => {
      const clusters = treatment.map((sum, at) => ({ treatmentSum: 3 * sum, controlSum: 3 * control[at]!, n: 3 }));
      for (const [at, value] of ends(expected).entries())
        expect(ends(varianceRatio(clusters))[at]! / value).toBeCloseTo(1, 6);
    },
  );

  test.each(goldens.uniformity)("Kolmogorov and Smirnov's test of $p_values", ({ p_values, distance, p }) => {
    const found = uniformity(p_values);
    expect(found.distance).toBeCloseTo(distance, 12);
    expect(found.p).toBeCloseTo(p, 7);
  });

  test.each(goldens.rejections)("$counts rejections at $alpha", ({ counts: [rejected, n], alpha, too_many }) => {
    const ps = Array.from({ length: n! }, (_, at) => (at < rejected! ? alpha : 1));
    expect(rejections(ps, alpha).tooMany).toBeCloseTo(too_many, 10);
  });

  test.each(goldens.detectable)("what $n pairs can show, of which $discordance are discordant", (golden) => {
    expect(detectablePaired(golden.n, golden.discordance)).toBeCloseTo(golden.difference, 9);
  });
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

  test("an interval for a difference of shares between groups holds it, stays within −1 and 1, and mirrors its sides", () => {
    fc.assert(
      fc.property(few, few, few, few, (a, b, c, d) => {
        fc.pre(a + b > 0 && c + d > 0);
        const [one, other] = [
          { successes: a, n: a + b },
          { successes: c, n: c + d },
        ];
        const { value, low, high } = newcombe(one, other);
        expect(low <= value && value <= high && low >= -1 - 1e-12 && high <= 1 + 1e-12).toBe(true);
        expect(newcombe(other, one).low).toBeCloseTo(-high, 10);
      }),
    );
  });

  test("Fisher's test is what whole numbers give: the ways to draw a table no likelier, over all ways", () => {
    const choose = (n: number, k: number): bigint => {
      let ways = 1n;
      for (let at = 1; at <= k; at += 1) ways = (ways * BigInt(n - k + at)) / BigInt(at);
      return ways;
    };
    fc.assert(
      fc.property(few, few, few, few, (a, b, c, d) => {
        const [n, m, successes] = [a + b, c + d, a + c];
        let [all, unlikely] = [0n, 0n];
        for (let count = Math.max(0, successes - m); count <= Math.min(successes, n); count += 1) {
          const ways = choose(n, count) * choose(m, successes - count);
          all += ways;
          if (ways <= choose(n, a) * choose(m, c)) unlikely += ways;
        }
        const exact = Number((unlikely * 10n ** 15n) / all) / 1e15;
        expect(fisherExact({ successes: a, n }, { successes: c, n: m })).toBeCloseTo(exact, 10);
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
