/**
 * How many paid trials a panel's hypotheses need, by trials that were simulated.
 *
 * A paid run is a set of tasks, tried under every arm: its pairs are independent. So small runs are drawn out of simulated pairs, and judged
 * by the tests that a report of measured trials uses: exact McNemar for outer timeouts, whose power is added up, and Student's t for
 * means, whose power is played through. Every hypothesis becomes one question: on which side of 0 does a pair's distance lie from
 * what was declared?
 */

import { type Key, keyed } from "../random.ts";
import { CONFIDENCE } from "../report/estimates.ts";
import { BY_PERMUTATION, isOverCalls, type Measure, measureCalled } from "../report/measures.ts";
import type { Panel } from "../scenario/load.ts";
import { type Discordance, mcnemarDetectable, mcnemarPower, minimalDetectable, power } from "../stats/power.ts";
import type { Reading } from "../telemetry/store.ts";
import { literal } from "../telemetry/table.ts";

type Hypothesis = Panel["hypotheses"][number];

/** What of one hypothesis can be planned. */
export interface Question {
  readonly hypothesis: Hypothesis;
  readonly measure: Measure;
  /** Of simulated pairs, how far each lies from what was declared, on the side that was declared above 0; in the measure's unit. */
  readonly distances: readonly number[];
  /** Where outcomes are yes or no: how often a pair comes out differently, for and against what was declared. */
  readonly discordance: Discordance | null;
  /** Mean of the distances; below 0 where the simulation says the contrary. */
  readonly effect: number;
  /** Of all trials, how many are of the kind that it speaks of. */
  readonly share: number;
  /** Of pairs of each kind: how many there are, and how much of all that pairs differ they carry. */
  readonly kinds: readonly { readonly kind: string; readonly share: number; readonly carries: number }[];
}

interface PairRow {
  readonly kind: string;
  readonly treatment: number;
  readonly control: number;
}

/**
 * What can be planned, or why nothing can.
 *
 * @param planFor a true change towards the declared side, as a share of the other arm's value; null: what the simulation shows
 */
export async function questionOf(
  tables: Reading,
  hypothesis: Hypothesis,
  planFor: number | null,
): Promise<Question | string> {
  const { measure: name, arm, against, expect, kind } = hypothesis;
  const measure = measureCalled(name);
  if (measure === undefined || isOverCalls(measure))
    return "it is a quantile over calls, and not a figure of single trials";
  if (against === undefined || expect === "zero")
    return "a zero is counted and not estimated: any number of trials can refute it, and none can show it";
  const rows = await tables.rows<PairRow>(
    `SELECT t.kind::VARCHAR AS kind, (${measure.sql.replaceAll(/\bt\./g, "")})::DOUBLE AS treatment, c.value::DOUBLE AS control
     FROM trials AS t JOIN (SELECT pair_key, (${measure.sql}) AS value FROM trials WHERE arm::VARCHAR = ${literal(against)}) AS c USING (pair_key)
     WHERE t.arm::VARCHAR = ${literal(arm)} AND treatment IS NOT NULL AND control IS NOT NULL ORDER BY t.trial_id`,
  );
  const own = rows.filter((row) => kind === undefined || row.kind === kind);
  if (own.length < 2) return "no simulated trial has a value under both arms";
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const control = mean(own.map((row) => row.control));
  const distance = distanceOf(hypothesis, control);
  const distances = own.map(({ treatment, control: other }) => distance(treatment, other));
  const isYesOrNo = BY_PERMUTATION.has(name) && distances.every((each) => Math.abs(each) === 1 || each === 0);
  const count = (value: number) => distances.filter((each) => each === value).length / distances.length;
  const apart = own.map(({ treatment, control: other }) => Math.abs(treatment - other));
  const total = apart.reduce((sum, value) => sum + value, 0);
  const effect = planFor === null ? mean(distances) : planFor * Math.abs(control) + distance(control, control);
  return {
    hypothesis,
    measure,
    distances,
    discordance: isYesOrNo
      ? planted({ onlyTreatment: count(1), onlyControl: count(-1) }, planFor === null ? null : effect)
      : null,
    effect,
    share: own.length / rows.length,
    kinds: [...new Set(own.map((row) => row.kind))].sort().map((each) => {
      const those = own.flatMap((row, at) => (row.kind === each ? [apart[at]!] : []));
      return {
        kind: each,
        share: those.length / own.length,
        carries: total === 0 ? 0 : those.reduce((sum, value) => sum + value, 0) / total,
      };
    }),
  };
}

/** How far a pair lies on the declared side of the declared bound. */
function distanceOf({ expect, by = 0, margin = 0, margin_absolute: absolute }: Hypothesis, control: number) {
  switch (expect) {
    case "lower":
      return (treatment: number, other: number) => other * (1 - by) - treatment;
    case "higher":
      return (treatment: number, other: number) => treatment - other * (1 + by);
    case "not_higher":
      return (treatment: number, other: number) => (absolute ?? margin * control) + other - treatment;
    default:
      return (treatment: number, other: number) => treatment - other + (absolute ?? margin * control);
  }
}

/** The same noise with another effect: as many pairs go the wrong way, and more or fewer the right one. */
function planted(found: Discordance, effect: number | null): Discordance {
  if (effect === null) return found;
  return { onlyTreatment: Math.min(1 - found.onlyControl, found.onlyControl + effect), onlyControl: found.onlyControl };
}

export interface Planning {
  /** Two-sided, for each hypothesis. */
  readonly alpha: number;
  readonly key: Key;
}

/** How likely a run of n trials of each arm, of all kinds, shows it. */
export function powerOf(question: Question, n: number, { alpha, key }: Planning): number {
  const { discordance, effect } = question;
  const pairs = pairsOf(question, n);
  if (pairs < 2 || effect <= 0) return 0;
  if (discordance !== null) return mcnemarPower(pairs, discordance, alpha);
  if (isCertain(question)) return 1;
  return Math.max(0, power(playedThrough(question, pairs, alpha, key), effect) - muteShare(question, pairs));
}

/** The smallest effect that such a run shows with this power, in the unit of the measure; null: none. */
export function detectableBy(question: Question, n: number, wanted: number, { alpha, key }: Planning): number | null {
  const { discordance } = question;
  const pairs = pairsOf(question, n);
  if (pairs < 2) return null;
  if (discordance !== null)
    return mcnemarDetectable(pairs, discordance.onlyTreatment + discordance.onlyControl, alpha, wanted);
  if (isCertain(question)) return 0;
  const withMute = wanted + muteShare(question, pairs);
  return withMute >= 1 ? null : minimalDetectable(playedThrough(question, pairs, alpha, key), withMute);
}

const pairsOf = ({ share }: Question, n: number) => Math.round(n * share);
const isCertain = ({ distances }: Question) => distances.every((each) => each === distances[0]);

function playedThrough({ distances }: Question, n: number, alpha: number, key: Key) {
  return { clusters: distances.map((sum) => ({ sum, n: 1 })), n, alpha, draws: keyed, key, experiments: EXPERIMENTS };
}

/**
 * Of all such runs, those in which no pair stands out. They leave the test no noise to hold anything against, and are not counted as runs
 * that show it.
 */
const muteShare = ({ distances }: Question, pairs: number) => commonest(distances) ** pairs;

/** The share of the commonest of some values. */
function commonest(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Math.max(...counts.values()) / values.length;
}

/** Runs that are played through for one figure: a power of .8 is then known to ± .025. */
const EXPERIMENTS = 1_000;

/** The fewest trials of one arm that show it with this power; null if `atMost` are not enough. */
export function neededFor(question: Question, wanted: number, atMost: number, planning: Planning): number | null {
  const shows = (n: number) => powerOf(question, n, planning) >= wanted;
  if (!shows(atMost)) return null;
  let [few, enough] = [1, atMost];
  while (enough - few > Math.max(1, enough * 0.02)) {
    const middle = Math.floor((few + enough) / 2);
    if (shows(middle)) enough = middle;
    else few = middle;
  }
  return enough;
}

/** The level that is left for each hypothesis: Holm's first step, as if none were easier than the others. */
export function levelFor(panel: Panel): number {
  const family = panel.hypotheses.filter(({ expect }) => expect !== "zero").length;
  return (1 - CONFIDENCE) / Math.max(1, family);
}
