/**
 * Do the intervals hold the truth as often as they say?
 *
 * Each is put to 400 simulated experiments whose truth is known. Seeded, so that the answer is the same every time;
 * with 400 experiments an honest 95 % comes out between 92 and 98 %, and few clusters cost a little more.
 */
import { describe, expect, test } from "vitest";
import { type Key, keyed, normalQuantile, pick } from "../../src/random.ts";
import type { Estimate } from "../../src/stats/estimate.ts";
import {
  bcaMeanDifference,
  clustered,
  meanDifference,
  relativeChange,
  twoWayMeanDifference,
} from "../../src/stats/paired.ts";
import { signFlip } from "../../src/stats/signFlip.ts";
import { wilson } from "../../src/stats/wilson.ts";

const EXPERIMENTS = 400;

/** The share of experiments whose interval holds the truth. */
function coverage(truth: number, experiment: (key: Key) => Estimate): number {
  return share((key) => {
    const { low, high } = experiment(key);
    return low <= truth && truth <= high;
  });
}

function share(holds: (key: Key) => boolean): number {
  let found = 0;
  for (let at = 0; at < EXPERIMENTS; at++) if (holds(keyed.within(keyed.seeded(2_026), at))) found += 1;
  return found / EXPERIMENTS;
}

const normal = (key: Key, part: string, ordinal: number) =>
  normalQuantile(keyed.uniform(keyed.within(key, part), ordinal));

/** Twenty clusters of one to ten pairs, with luck of their own that each cluster's pairs have in common. */
function pairs(key: Key) {
  const sizes = Array.from({ length: 20 }, (_, cluster) => 1 + pick(keyed, keyed.within(key, "size"), 10, cluster));
  return sizes.flatMap((size, cluster) =>
    Array.from({ length: size }, (_, at) => ({
      cluster,
      difference: 0.5 + normal(key, "cluster", cluster) + normal(key, "pair", cluster * 10 + at),
    })),
  );
}

/** Twelve scenarios in ten replicates, each with luck of its own. */
function cells(key: Key) {
  return Array.from({ length: 120 }, (_, at) => {
    const [scenario, replicate] = [at % 12, Math.floor(at / 12)];
    const sum = normal(key, "scenario", scenario) + normal(key, "replicate", replicate) + normal(key, "pair", at);
    return { scenario: `scenario-${scenario}`, replicate, sum, n: 1 };
  });
}

describe("an interval of 95 % holds the truth in 90 to 99 % of experiments:", () => {
  test.each<[string, number, (key: Key) => Estimate]>([
    ["mean difference, t", 0.5, (key) => meanDifference(clustered(pairs(key)))],
    ["mean difference, BCa", 0.5, (key) => bcaMeanDifference(clustered(pairs(key)), keyed, key, { resamples: 1_000 })],
    ["mean difference, two ways", 0, (key) => twoWayMeanDifference(cells(key))],
    [
      "relative change",
      0.3,
      (key) =>
        relativeChange(
          Array.from({ length: 20 }, (_, at) => {
            const controlSum = Math.exp(normal(key, "control", at) / 2);
            return { controlSum, treatmentSum: controlSum * 1.3 * (1 + normal(key, "treatment", at) / 10) };
          }),
        ),
    ],
    [
      "share of successes",
      0.1,
      (key) =>
        wilson(Array.from({ length: 113 }, (_, at) => keyed.uniform(key, at)).filter((u) => u < 0.1).length, 113),
    ],
  ])("%s", (_, truth, experiment) => {
    const found = coverage(truth, experiment);
    expect(found).toBeGreaterThanOrEqual(0.9);
    expect(found).toBeLessThanOrEqual(0.99);
  });
});

describe("the wrong answer to what is independent", () => {
  test("makes an interval that holds the truth far too seldom: pairs taken one by one", () => {
    const oneByOne = (key: Key) => meanDifference(pairs(key).map(({ difference }) => ({ sum: difference, n: 1 })));
    expect(coverage(0.5, oneByOne)).toBeLessThan(0.85);
  });

  test("makes an interval that holds the truth far too seldom: scenarios only, where replicates have luck too", () => {
    const byScenario = (key: Key) =>
      meanDifference(clustered(cells(key).map(({ scenario, sum }) => ({ cluster: scenario, difference: sum }))));
    expect(coverage(0, byScenario)).toBeLessThan(0.85);
  });
});

test("where both sides are alike, a sign-flip test finds a difference in about one experiment of twenty", () => {
  const counts = (key: Key) =>
    Array.from({ length: 30 }, (_, at) => pick(keyed, keyed.within(key, "one"), 6, at) - pick(keyed, key, 6, at));
  const found = share((key) => signFlip(counts(key), keyed, keyed.within(key, "flips"), { flips: 999 }).p <= 0.05);
  expect(found).toBeGreaterThan(0.02);
  expect(found).toBeLessThan(0.08);
});
