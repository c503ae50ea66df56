/**
 * What the data say to the panel's hypotheses, and how the simulation stands against published figures.
 *
 * Both are declared before a run; here they are only looked up and judged. Where the verdict is withheld no hypothesis is judged.
 */
import { NotEstimable } from "../stats/estimate.ts";
import { centralInterval, type Published, reproduced } from "../stats/reproduced.ts";
import { type Verdict, verdict } from "../stats/verdict.ts";
import { CONFIDENCE, type Difference, type Estimates } from "./estimates.ts";
import type { Experiment, Hypothesis, PublishedRow } from "./experiment.ts";
import { isMedian, type Measure, measureCalled } from "./measures.ts";
import { changeIntervalOf, changeOf, probability, relative } from "./numbers.ts";

export interface JudgedHypothesis extends Hypothesis {
  /** NOT SHOWN where the panel's verdict is withheld. */
  readonly verdict: Verdict;
  readonly difference: Difference | null;
  /** The measure's title. */
  readonly what: string;
  /** What was declared of it, and what became of that. */
  readonly outcome: string;
  /** What is counted: replicates, scenarios, or clusters of both. */
  readonly counted: string;
  /** All of it in words, with effect, interval and n. */
  readonly sentence: string;
}

/** What the words call the arms. */
export type NameOf = (arm: string) => string;

export function judgeHypotheses(
  { hypotheses, withheld, hasCalls, design }: Experiment,
  estimates: Estimates,
  nameOf: NameOf,
): readonly JudgedHypothesis[] {
  return hypotheses.map((hypothesis) => {
    const { measure: name, arm, against, expect } = hypothesis;
    const measure = measureCalled(name);
    const difference = estimates.difference(arm, against, name) ?? null;
    const what = measure?.title ?? name;
    const told = (outcome: string) => `${capital(what)}, ${nameOf(arm)} against ${nameOf(against)}: ${outcome}.`;
    const counted = measure !== undefined && isMedian(measure) ? "replicates" : countedBy[design.by];
    const undecided = (why: string): JudgedHypothesis => {
      const outcome = `declared ${expect}; ${why}`;
      return { ...hypothesis, verdict: "NOT SHOWN", difference, what, outcome, counted, sentence: told(outcome) };
    };
    if (measure === undefined) return undecided("this engine has no such measure");
    if (isMedian(measure) && !hasCalls) return undecided("needs --detail calls, and this run kept trials only");
    if (difference === null) return undecided("no trial has a value under both arms");
    if (withheld !== null) return undecided("withheld, see above");
    const { low, high } = difference;
    if (low === null || high === null) return undecided(difference.refusal ?? "the data carry no interval");
    const said = verdict(expect, { ...difference, low, high, confidence: CONFIDENCE }, difference.permutation);
    const outcome = answers[said](expect);
    const sentence = `${told(outcome)} ${evidence(difference, counted)}`;
    return { ...hypothesis, verdict: said, difference, what, outcome, counted, sentence };
  });
}

const answers: Readonly<Record<Verdict, (expect: "lower" | "higher") => string>> = {
  PASS: (expect) => `${expect}, as declared`,
  FAIL: (expect) => `declared ${expect}, found ${expect === "lower" ? "higher" : "lower"}`,
  "NOT SHOWN": (expect) => `declared ${expect}, not shown`,
};

const countedBy = {
  replicate: "replicates",
  scenario: "scenarios",
  both: "clusters",
} as const;

/** The difference in words, with all that it rests on. */
function evidence(difference: Difference, counted: string): string {
  const { measure, relative: ofIt, permutation, n } = difference;
  const parts = [
    `95 % ${changeIntervalOf(difference, measure.unit)}`,
    ...(permutation === null ? [] : [`sign-flip ${probability(permutation.p)}`]),
    `${n} ${counted}`,
  ];
  const share = ofIt === null || measure.unit === "share" ? "" : `, or ${relative(ofIt.value)}`;
  const effect = changeOf(difference, measure.unit).replace(" points", " percentage points");
  return `The difference is ${effect}${share} (${parts.join("; ")}).`;
}

export interface JudgedFigure {
  readonly row: PublishedRow;
  readonly measure: Measure | undefined;
  readonly published: Published;
  /** Over replicates. */
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly replicates: number;
  readonly reproduced: boolean;
}

export interface UnjudgedFigure {
  readonly row: PublishedRow;
  readonly why: string;
}

export function judgePublished(
  { published, hasCalls }: Experiment,
  estimates: Estimates,
): { readonly judged: readonly JudgedFigure[]; readonly unjudged: readonly UnjudgedFigure[] } {
  const judged: JudgedFigure[] = [];
  const unjudged: UnjudgedFigure[] = [];
  for (const row of published) {
    const measure = measureCalled(row.measure);
    const values = valuesOf(row, estimates);
    if (values.length === 0) {
      const needs = measure !== undefined && isMedian(measure) && !hasCalls;
      const why = needs ? "needs --detail calls, and this run kept trials only" : "no replicate has a value to compare";
      unjudged.push({ row, why });
      continue;
    }
    const figure: Published = row.low === row.high ? row.low : [row.low, row.high];
    try {
      const { low, high } = centralInterval(values);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      judged.push({
        row,
        measure,
        published: figure,
        mean,
        low,
        high,
        replicates: values.length,
        reproduced: reproduced(figure, values),
      });
    } catch (error) {
      if (!(error instanceof NotEstimable)) throw error;
      unjudged.push({ row, why: error.message });
    }
  }
  return { judged, unjudged };
}

/** One value for each replicate; with `against`, the change from that arm in the same replicate. */
function valuesOf({ arm, against, measure }: PublishedRow, estimates: Estimates): readonly number[] {
  const own = estimates.replicates(arm, measure);
  if (against === null) return own.map(({ value }) => value);
  const others = new Map(estimates.replicates(against, measure).map(({ replicate, value }) => [replicate, value]));
  return own.flatMap(({ replicate, value }) => {
    const other = others.get(replicate);
    return other === undefined || other === 0 ? [] : [value / other - 1];
  });
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
