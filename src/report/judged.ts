/**
 * What the data say to the panel's hypotheses, and how the simulation stands against published figures.
 *
 * Both are declared before a run; here they are only looked up and judged. Where the verdict is withheld no hypothesis is judged.
 * All that are estimated make one family: who declares more has more chances to be right by luck, so their p-values are adjusted by
 * Holm's method, and an answer that does not survive it is not shown. A zero is counted, and no luck is in it.
 */
import { NotEstimable } from "../stats/estimate.ts";
import { holm } from "../stats/multiple.ts";
import { centralInterval, type Published, reproduced } from "../stats/reproduced.ts";
import type { Verdict } from "../stats/verdict.ts";
import { amount, contrary, type Decided, decide, declaration, type Undecided } from "./declared.ts";
import { CONFIDENCE, type Difference, type Estimates } from "./estimates.ts";
import type { Experiment, Hypothesis, PublishedRow } from "./experiment.ts";
import { BY_PERMUTATION, isOverCalls, type Measure, measureCalled } from "./measures.ts";
import { changeIntervalOf, changeOf, probability, relative, whole } from "./numbers.ts";
import type { Counted } from "./zeros.ts";

export interface JudgedHypothesis {
  readonly hypothesis: Hypothesis;
  /** NOT SHOWN where the panel's verdict is withheld. */
  readonly verdict: Verdict;
  /** Null where nothing was estimated. */
  readonly chance: Chance | null;
  /** Of one that is NOT SHOWN, the smallest true effect that would have been shown four times in five, in the measure's unit; null else. */
  readonly detectable: number | null;
  readonly difference: Difference | null;
  /** Null where nothing was decided, or nothing compared. */
  readonly decided: Decided | null;
  /** Where a zero was expected and looked for; else null. */
  readonly zero: Counted | null;
  /** The measure's title, and among which trials. */
  readonly what: string;
  /** What was declared of it, and what became of that. */
  readonly outcome: string;
  /** What is counted: replicates, scenarios, clusters of both; or trials or calls, where a zero is expected. */
  readonly counted: string;
  /** All of it in words, with effect, interval and n. */
  readonly sentence: string;
}

/** How surprising what was found is, were there nothing beyond the bound. */
export interface Chance {
  /** Taken alone. */
  readonly p: number;
  /** Among all that are declared and estimated, by Holm's method. */
  readonly adjusted: number;
  /** How many these are. */
  readonly family: number;
}

/** The level at which the whole family is judged. */
const LEVEL = 1 - CONFIDENCE;
/** The same without the rounding. */
const LEVEL_IN_WORDS = Number(LEVEL.toFixed(6));
/** A level that was reached by rounding is reached. */
const ROUNDING = 1e-9;
/** How likely an effect called detectable is to be shown. */
export const POWER = 0.8;

/** How hypotheses are judged, by name: a frozen panel says it of itself before it is run. */
export const ANALYSIS = {
  method: "paired differences; Student's t on independent clusters",
  outer_timeouts: "sign-flip permutation over clusters",
  family: "Holm over all hypotheses that are estimated",
  level: LEVEL_IN_WORDS,
  confidence: CONFIDENCE,
} as const;

/** What the words call the arms. */
export type NameOf = (arm: string) => string;

/** What hypotheses are judged by. */
export interface Evidence {
  /** Of trials of one kind, or of all. */
  readonly among: (kind: string | undefined) => Estimates;
  readonly zeros: ReadonlyMap<Hypothesis, Counted>;
}

export function judgeHypotheses(
  experiment: Experiment,
  evidence: Evidence,
  nameOf: NameOf,
): readonly JudgedHypothesis[] {
  const { withheld } = experiment;
  const decided = new Map<Hypothesis, Decided>();
  for (const hypothesis of experiment.hypotheses) {
    const difference = differenceFor(hypothesis, experiment, evidence);
    const found = difference === null || withheld !== null ? null : decidedIn(experiment, hypothesis, difference);
    if (found !== null && !("why" in found)) decided.set(hypothesis, found);
  }
  const adjusted = holm([...decided.values()].map(({ p }) => p));
  const chances = new Map(
    [...decided].map(([hypothesis, { p }], at) => [hypothesis, { p, adjusted: adjusted[at]!, family: decided.size }]),
  );
  return experiment.hypotheses.map((hypothesis) =>
    judged(hypothesis, experiment, evidence, chances.get(hypothesis) ?? null, nameOf),
  );
}

/**
 * In a simulation arms that came out alike are alike, for they met the same luck. In measured trials that nothing differed may be luck,
 * and there is no noise to say how much of it: such a difference decides nothing.
 */
function decidedIn({ measured }: Experiment, hypothesis: Hypothesis, difference: Difference): Decided | Undecided {
  if (measured && difference.low !== null && difference.low === difference.high) {
    return { why: "every pair differs by as much, so nothing says how far others might" };
  }
  return decide(hypothesis, difference);
}

/** Null where nothing was compared. */
function differenceFor(
  { measure: name, arm, against, expect, kind }: Hypothesis,
  { hasCalls }: Experiment,
  { among }: Evidence,
): Difference | null {
  const measure = measureCalled(name);
  if (measure === undefined || (isOverCalls(measure) && !hasCalls)) return null;
  return against === undefined || expect === "zero" ? null : (among(kind).difference(arm, against, name) ?? null);
}

function judged(
  hypothesis: Hypothesis,
  experiment: Experiment,
  evidence: Evidence,
  chance: Chance | null,
  nameOf: NameOf,
): JudgedHypothesis {
  const { withheld, hasCalls, design } = experiment;
  const { measure: name, arm, against, expect, kind } = hypothesis;
  const measure = measureCalled(name);
  const unit = measure?.unit ?? "count";
  const isZero = expect === "zero";
  const overCalls = measure !== undefined && isOverCalls(measure);
  const what = `${measure?.title ?? name}${kind === undefined ? "" : ` in ${kindInWords(kind)} trials`}`;
  const difference = differenceFor(hypothesis, experiment, evidence);
  const zero = evidence.zeros.get(hypothesis) ?? null;
  const counted = isZero ? (overCalls ? "calls" : "trials") : overCalls ? "replicates" : countedIn(design, name);
  const pair = isZero || against === undefined ? nameOf(arm) : `${nameOf(arm)} against ${nameOf(against)}`;
  const says = declaration(hypothesis, unit);
  const told = (verdict: Verdict, outcome: string, decided: Decided | null, more = ""): JudgedHypothesis => {
    const sentence = `${capital(what)}, ${pair}: ${outcome}.${more}`;
    const isOpen = verdict === "NOT SHOWN" && decided !== null && chance !== null;
    const detectable = isOpen ? difference!.detectable(LEVEL / chance.family, POWER) : null;
    return { hypothesis, verdict, chance, detectable, difference, decided, zero, what, outcome, counted, sentence };
  };
  const undecided = (why: string) => told("NOT SHOWN", `declared ${says}; ${why}`, null);
  if (measure === undefined) return undecided("this engine has no such measure");
  if (overCalls && !hasCalls) return undecided("needs --detail calls, and this run kept trials only");
  if (isZero && (zero === null || zero.all === 0)) return undecided("no trial has a value");
  if (!isZero && difference === null) return undecided("no trial has a value under both arms");
  if (withheld !== null) return undecided("withheld, see above");
  if (difference === null) {
    const { others, all, farthest } = zero!;
    if (others === 0)
      return told("PASS", `${says}, as declared`, null, ` Of ${whole(all)} ${counted} none has another value.`);
    const found = `found another value in ${whole(others)} of ${whole(all)} ${counted}, ${amount(farthest, unit)} at most`;
    return told("FAIL", `declared ${says}, ${found}`, null);
  }
  const decided = decidedIn(experiment, hypothesis, difference);
  if ("why" in decided) return undecided(decided.why);
  const stands = chance === null || chance.family === 1 || chance.adjusted <= LEVEL + ROUNDING;
  const verdict = stands ? decided.verdict : "NOT SHOWN";
  const outcome = {
    PASS: `${says}, as declared`,
    FAIL: `declared ${says}, ${contrary(hypothesis)}`,
    "NOT SHOWN": `declared ${says}, not shown${decided.verdict === verdict ? "" : ` among ${chance!.family} hypotheses, though alone it would be ${decided.verdict}`}`,
  }[verdict];
  return told(verdict, outcome, decided, ` ${inWords(difference, decided, counted, chance)}`);
}

export function kindInWords(kind: string): string {
  return kind.replaceAll("_", " ");
}

/** What an estimate of this measure counts. */
function countedIn({ paired, by }: Experiment["design"], measure: string): string {
  if (paired) return countedBy[by];
  return BY_PERMUTATION.has(measure) ? "trials of both" : "scenarios of both";
}

const countedBy = {
  replicate: "replicates",
  scenario: "scenarios",
  both: "clusters",
} as const;

/** The difference in words, with all that it rests on. */
function inWords(difference: Difference, { by }: Decided, counted: string, chance: Chance | null): string {
  const { measure, relative: ofIt, permutation, n } = difference;
  const interval =
    by === "relative"
      ? `${relative(ofIt!.low!)} to ${relative(ofIt!.high!)}`
      : (changeIntervalOf(difference, measure.unit) ?? "");
  const parts = [
    `95 % ${interval}`,
    ...(permutation === null || by !== "permutation"
      ? []
      : [`${permutation.test}${permutation.test === "sign-flip" ? "" : "'s exact"} ${probability(permutation.p)}`]),
    ...(chance === null || chance.family === 1 ? [] : [`Holm ${probability(chance.adjusted)}`]),
    `${n} ${counted}`,
  ];
  const isTold = ofIt !== null && (measure.unit !== "share" || by === "relative");
  const share = isTold ? `, or ${relative(ofIt.value)}` : "";
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
      const needs = measure !== undefined && isOverCalls(measure) && !hasCalls;
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
