/**
 * Experiments whose truth is known, to see how often an interval holds it and how often a test rejects nothing.
 *
 * Lengths of time are lognormal: a few trials of a cluster outweigh the rest of it, as with real commands. What a
 * cluster's trials have in common, and what the two sides of a pair have, is drawn once for both. The tests play each
 * study some hundred times, and `npm run coverage-study` thousands of times.
 */
import { type Key, keyed, normalQuantile } from "../../src/random.ts";
import { confidenceSequence } from "../../src/stats/confidenceSequence.ts";
import { normalCdf } from "../../src/stats/distributions.ts";
import type { Estimate } from "../../src/stats/estimate.ts";
import { mcnemar } from "../../src/stats/mcnemar.ts";
import {
  bcaMeanDifference,
  meanDifference,
  relativeChange,
  twoWayMeanDifference,
  twoWayRelativeChange,
} from "../../src/stats/paired.ts";
import { varianceRatio } from "../../src/stats/pairing.ts";
import { studentP } from "../../src/stats/pValue.ts";
import { quantileDifference } from "../../src/stats/quantileDifference.ts";
import { restrictedMeanDifference } from "../../src/stats/restrictedMeanDifference.ts";
import { select } from "../../src/stats/selection.ts";
import { signFlip } from "../../src/stats/signFlip.ts";
import { kaplanMeier, restrictedMean } from "../../src/stats/survival.ts";
import { unpairedMeanDifference } from "../../src/stats/welch.ts";

/** In the logarithm: what a cluster's trials share, what a pair shares, and what is a trial's own. */
const SPREAD = { cluster: 0.3, pair: 0.8, own: 0.8 };
const TOTAL = Math.hypot(SPREAD.cluster, SPREAD.pair, SPREAD.own);
const MEAN = Math.exp(TOTAL ** 2 / 2);
const PAIRS = 20;
/** Treatment takes so many times as long. */
export const EFFECT = 1.3;
/** The outer limit, in means: about one trial in nine is cut off. */
const HORIZON = 4;

const normal = (key: Key, part: string, ordinal: number) =>
  normalQuantile(keyed.uniform(keyed.within(key, part), ordinal));

interface World {
  readonly treatment: readonly number[];
  readonly control: readonly number[];
}

/** Clusters of twenty pairs each, of lengths of time. */
function worlds(key: Key, clusters: number, effect = EFFECT): readonly World[] {
  return Array.from({ length: clusters }, (_, cluster) => {
    const shared = SPREAD.cluster * normal(key, "cluster", cluster);
    const side = (name: string, times: number) =>
      Array.from({ length: PAIRS }, (_, at) => {
        const pair = cluster * PAIRS + at;
        return (
          times * Math.exp(shared + SPREAD.pair * normal(key, "pair", pair) + SPREAD.own * normal(key, name, pair))
        );
      });
    return { treatment: side("treatment", effect), control: side("control", 1) };
  });
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const sums = (of: readonly World[]) =>
  of.map(({ treatment, control }) => ({ treatmentSum: total(treatment), controlSum: total(control), n: PAIRS }));
const differences = (of: readonly World[]) =>
  sums(of).map(({ treatmentSum, controlSum, n }) => ({ sum: treatmentSum - controlSum, n }));

/** How much more than usual treatment does in one scenario, and in one replicate, in the logarithm. */
const UNEVEN = { scenario: 0.4, replicate: 0.3 };

/** Scenarios that recur in every replicate, each with luck of its own that treatment meets unevenly; one pair in each cell. */
function crossed(key: Key, scenarios: number, replicates: number, uneven = UNEVEN) {
  return Array.from({ length: scenarios * replicates }, (_, at) => {
    const [scenario, replicate] = [at % scenarios, Math.floor(at / scenarios)];
    const shared = 0.5 * normal(key, "scenario", scenario) + SPREAD.cluster * normal(key, "replicate", replicate);
    const more =
      uneven.scenario * normal(key, "scenario's effect", scenario) +
      uneven.replicate * normal(key, "replicate's effect", replicate);
    const side = (name: string) => Math.exp(shared + 0.5 * normal(key, name, at));
    return {
      scenario: String(scenario),
      replicate,
      treatmentSum: EFFECT * Math.exp(more) * side("treatment"),
      controlSum: side("control"),
    };
  });
}
const CROSSED_MEAN = Math.exp((0.25 + SPREAD.cluster ** 2 + 0.25) / 2);
const UNEVEN_EFFECT = EFFECT * Math.exp((UNEVEN.scenario ** 2 + UNEVEN.replicate ** 2) / 2);

/** The mean of min(time, horizon) of a lognormal time with this median. */
function truncatedMean(median: number): number {
  const at = Math.log(HORIZON / median) / TOTAL;
  return median * MEAN * normalCdf(at - TOTAL) + HORIZON * (1 - normalCdf(at));
}

/** Some are lost before the horizon, for reasons of their own. */
function seen(key: Key, name: string, times: readonly number[], first: number) {
  const lost = times.map((_, at) => 8 * keyed.uniform(keyed.within(key, name), first + at));
  const ends = times.map((_, at) => Math.min(HORIZON, lost[at]!));
  return {
    times: times.map((time, at) => Math.min(time, ends[at]!)),
    cutOff: times.map((time, at) => time > ends[at]!),
  };
}

/** Of the sums over one cluster. */
function trueVarianceRatio(): number {
  const [c2, p2, o2] = [SPREAD.cluster ** 2, SPREAD.pair ** 2, SPREAD.own ** 2];
  const across = PAIRS * (PAIRS - 1) * Math.exp(2 * c2 + p2 + o2);
  const squares = PAIRS * Math.exp(2 * (c2 + p2 + o2)) + across;
  const products = PAIRS * Math.exp(2 * c2 + 2 * p2 + o2) + across;
  const mean2 = (PAIRS * MEAN) ** 2;
  const [variance, covariance] = [squares - mean2, products - mean2];
  const unpaired = (EFFECT ** 2 + 1) * variance;
  return unpaired / (unpaired - 2 * EFFECT * covariance);
}

export interface Study {
  readonly method: string;
  /** Independent clusters, or scenarios and replicates. */
  readonly clusters: string;
  /** Whether the interval held the truth, or the test rejected, in the experiment of this key. */
  readonly holds: (key: Key) => boolean;
}

const covers = (method: string, clusters: number | string, truth: number, estimate: (key: Key) => Estimate): Study => ({
  method,
  clusters: String(clusters),
  holds(key) {
    const { low, high } = estimate(key);
    return low <= truth && truth <= high;
  },
});

/** Intervals of 95 %, each on so many clusters. */
export const intervals = {
  t: (clusters: number) =>
    covers("mean difference, t", clusters, (EFFECT - 1) * MEAN, (key) =>
      meanDifference(differences(worlds(key, clusters))),
    ),
  bca: (clusters: number) =>
    covers("mean difference, BCa", clusters, (EFFECT - 1) * MEAN, (key) =>
      bcaMeanDifference(differences(worlds(key, clusters)), keyed, keyed.within(key, "bca"), { resamples: 1_000 }),
    ),
  relative: (clusters: number) =>
    covers("relative change", clusters, EFFECT - 1, (key) => relativeChange(sums(worlds(key, clusters)))),
  welch: (clusters: number) =>
    covers("mean difference, unpaired", clusters, (EFFECT - 1) * MEAN, (key) => {
      const side = (name: string, effect: number) =>
        sums(worlds(keyed.within(key, name), clusters, effect)).map(({ treatmentSum, n }) => ({
          sum: treatmentSum,
          n,
        }));
      return unpairedMeanDifference(side("one", EFFECT), side("other", 1));
    }),
  twoWay: (scenarios: number, replicates: number) =>
    covers("mean difference, two ways", `${scenarios} × ${replicates}`, (UNEVEN_EFFECT - 1) * CROSSED_MEAN, (key) =>
      twoWayMeanDifference(
        crossed(key, scenarios, replicates).map(({ treatmentSum, controlSum, ...cell }) => ({
          ...cell,
          sum: treatmentSum - controlSum,
          n: 1,
        })),
      ),
    ),
  twoWayRelative: (scenarios: number, replicates: number) =>
    covers("relative change, two ways", `${scenarios} × ${replicates}`, UNEVEN_EFFECT - 1, (key) =>
      twoWayRelativeChange(crossed(key, scenarios, replicates)),
    ),
  /** Treatment does the same in every scenario and every replicate. */
  twoWayEven: (scenarios: number, replicates: number) =>
    covers("relative change that is even, two ways", `${scenarios} × ${replicates}`, EFFECT - 1, (key) =>
      twoWayRelativeChange(crossed(key, scenarios, replicates, { scenario: 0, replicate: 0 })),
    ),
  quantile: (clusters: number, p: number) =>
    covers(`difference of quantiles at ${p}`, clusters, (EFFECT - 1) * Math.exp(TOTAL * normalQuantile(p)), (key) =>
      quantileDifference(worlds(key, clusters), p, keyed, keyed.within(key, "quantile"), { resamples: 200 }),
    ),
  restricted: (clusters: number) =>
    covers("difference of restricted means", clusters, truncatedMean(EFFECT) - truncatedMean(1), (key) =>
      restrictedMeanDifference(
        worlds(key, clusters).map(({ treatment, control }, at) => ({
          treatment: seen(key, "lost treatment", treatment, at * PAIRS),
          control: seen(key, "lost control", control, at * PAIRS),
        })),
        HORIZON,
      ),
    ),
  restrictedMean: (lifetimes: number) =>
    covers("restricted mean of independent lifetimes", lifetimes, truncatedMean(1), (key) =>
      restrictedMean(seen(key, "lost", independent(key, lifetimes), 0), HORIZON),
    ),
  survival: (lifetimes: number) =>
    covers("survival at the median", lifetimes, 0.5, (key) => {
      const steps = kaplanMeier(seen(key, "lost", independent(key, lifetimes), 0));
      // Before the first step the curve stands at 1, without a band.
      const { share: value, low, high } = steps.findLast(({ x }) => x <= 1) ?? { share: 1, low: 1, high: 1 };
      return { value, low, high, confidence: 0.95, n: lifetimes };
    }),
  varianceRatio: (clusters: number) =>
    covers("variance ratio of pairing", clusters, trueVarianceRatio(), (key) =>
      varianceRatio(sums(worlds(key, clusters))),
    ),
  /** The truth is inside at every look from the first to the last. */
  early: (clusters: number): Study => ({
    method: "confidence sequence, at every look",
    clusters: String(clusters),
    holds: (key) => {
      const means = differences(worlds(key, clusters)).map(({ sum, n }) => sum / n);
      const truth = (EFFECT - 1) * MEAN;
      return confidenceSequence(means, { narrowestAt: 50 }).every(({ low, high }) => low <= truth && truth <= high);
    },
  }),
  /** The best of five is selected, though the others are no farther behind than the indifference zone. */
  selection: (first: number): Study => ({
    method: "selection of the best of five (KN), first stages",
    clusters: String(first),
    holds: (key) => {
      const luck = Array.from({ length: 400 }, (_, at) => normal(key, "stage", at));
      const observed = [0.5, 0, 0, 0, 0].map((gap, system) =>
        luck.map((shared, at) => gap + shared + normal(keyed.within(key, system), "own", at) / 2),
      );
      return select(observed, { indifference: 0.5, better: "higher", first }).best === 0;
    },
  }),
};

function independent(key: Key, lifetimes: number): readonly number[] {
  return Array.from({ length: lifetimes }, (_, at) => Math.exp(TOTAL * normal(key, "lifetime", at)));
}

/** Both sides alike: p-values of tests of nothing. */
export const nothing = {
  t: (key: Key) => studentP(meanDifference(differences(worlds(key, 20, 1)))),
  signFlip: (key: Key) =>
    signFlip(
      differences(worlds(key, 20, 1)).map(({ sum }) => sum),
      keyed,
      keyed.within(key, "flips"),
      { flips: 499 },
    ).p,
  /** Of 113 pairs one in five comes out differently, either way alike. */
  mcnemar(key: Key) {
    const ways = Array.from({ length: 113 }, (_, at) => keyed.uniform(key, at));
    return mcnemar(ways.filter((way) => way < 0.1).length, ways.filter((way) => way > 0.9).length);
  },
};

export const experiment = (at: number) => keyed.within(keyed.seeded(2_026), at);

/** The share of so many experiments in which it holds. */
export function share(holds: (key: Key) => boolean, experiments: number): number {
  let found = 0;
  for (let at = 0; at < experiments; at += 1) if (holds(experiment(at))) found += 1;
  return found / experiments;
}
