/** What a run says in short, for programs: the JSON beside the report. */
import type { AskedInCells } from "./cells.ts";
import type { Comparison, Estimated, Estimates } from "./estimates.ts";
import type { Experiment } from "./experiment.ts";
import type { Exploration } from "./exploratory.ts";
import type { Observed } from "./gallery.ts";
import type { JudgedFigure, JudgedHypothesis } from "./judged.ts";
import { isOverCalls, MEASURES } from "./measures.ts";
import type { BothWays } from "./setAside.ts";
import type { Tradeoffs } from "./tradeoffs.ts";

interface SummaryFigure {
  readonly value: number;
  /** Null where the data carry a value but no interval. */
  readonly low: number | null;
  readonly high: number | null;
  /** How many independent things it rests on. */
  readonly n: number;
}

interface SummaryDifference extends SummaryFigure {
  /** The first arm of the panel. */
  readonly against: string;
  /** As a share of the other arm's value; absent where that is nothing. */
  readonly relative?: SummaryFigure;
  /** Two-sided, taken alone; absent where there is no interval. */
  readonly p?: number;
  /** The same among all differences that no hypothesis declares, by Benjamini and Hochberg's method: exploratory. Absent where one does. */
  readonly p_exploratory?: number;
}

type SummaryVerdict = "PASS" | "FAIL" | "NOT SHOWN";

interface SummaryHypothesis {
  readonly measure: string;
  readonly arm: string;
  /** Null where it expects a zero, which is held against nothing. */
  readonly against: string | null;
  readonly expect: "lower" | "higher" | "not_lower" | "not_higher" | "zero";
  /** What else it declares; absent where it declares nothing of the kind. */
  readonly by?: number;
  readonly margin?: number;
  readonly margin_absolute?: number;
  readonly kind?: string;
  /** NOT SHOWN throughout where the panel's verdict is withheld. */
  readonly verdict: SummaryVerdict;
  /** Null where there is no difference to speak of: the sentence says why. */
  readonly effect: {
    readonly value: number;
    readonly low: number | null;
    readonly high: number | null;
    readonly confidence: number;
    /** As a share of the other arm's value; there where that is what decides. */
    readonly relative?: SummaryFigure;
  } | null;
  /** Two-sided, taken alone; absent where nothing was estimated. */
  readonly p?: number;
  /** The same among all hypotheses of the panel that are estimated, by Holm's method: at most 0.05 where it passes or fails. */
  readonly p_adjusted?: number;
  /** How many these are. */
  readonly family?: number;
  /** Of one that is NOT SHOWN: the smallest true difference that would have been shown with a power of 0.8, in the measure's unit. */
  readonly minimal_detectable?: number;
  /** The variance of the difference without pairing over that with it: how many times the clusters an unpaired run needs. */
  readonly variance_ratio?: number;
  /** The same with trials that the infrastructure failed counted as failures, which are left out above; absent where there are none. */
  readonly with_infrastructure_failures?: { readonly verdict: SummaryVerdict; readonly effect: SummaryFigure | null };
  /** Of what is independent; of trials or calls where a zero is expected. */
  readonly n: number;
  readonly sentence: string;
}

interface SummaryPublished {
  readonly arm: string;
  readonly against: string | null;
  readonly measure: string;
  readonly published: number | readonly [number, number];
  readonly mean: number;
  /** Central 95 % of the replicates' values. */
  readonly low: number;
  readonly high: number;
  readonly verdict: "reproduced" | "not reproduced";
  readonly source: string;
}

/** Reward, timeouts, time to control and cost, weighed against each other by nobody. */
interface SummaryTradeoffs {
  /** Measures: what is weighed. */
  readonly objectives: readonly string[];
  /** Whether arms are weighed only against those that meet the same model, provider, host and harness. */
  readonly divided: boolean;
  readonly arms: Readonly<
    Record<
      string,
      {
        /** Whether no other arm is at least as good in everything and better in something. */
        readonly front: boolean;
        /** Arms of the front that are so. */
        readonly dominated_by: readonly string[];
        /** Replicates on whose own front it is, of those that have all the values. */
        readonly front_replicates: number;
        readonly replicates: number;
      }
    >
  >;
}

/** A hypothesis in every cell of a panel that varies what is around its arms: exploratory, each cell by itself. */
interface SummarySensitivity {
  readonly measure: string;
  readonly arm: string;
  readonly against: string;
  readonly expect: string;
  /** Where it passes, where it turns, and what matters most. */
  readonly sentence: string;
  /** By what is varied: its share of how the effect varies between cells. */
  readonly matters: Readonly<Record<string, number>>;
  readonly levels: readonly {
    readonly varied: string;
    readonly level: string;
    readonly cells: number;
    readonly passed: number;
    readonly failed: number;
    /** Mean over its cells. */
    readonly effect: number;
  }[];
  readonly cells: readonly {
    readonly levels: Readonly<Record<string, string>>;
    /** Whether nothing is changed in it. */
    readonly own: boolean;
    readonly verdict: SummaryVerdict;
    readonly effect: SummaryFigure | null;
    /** Two-sided, taken alone. */
    readonly p: number | null;
  }[];
}

/** One scenario of a case of a gallery, and what was seen of it under each arm. */
interface SummaryCase {
  readonly case: string;
  readonly scenario: string;
  readonly says: string | null;
  readonly question: string;
  readonly source: string | null;
  readonly arms: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Summary {
  readonly experiment: string;
  readonly source: "simulated" | "measured";
  readonly panel: string;
  readonly question: string;
  /** Of all rows of all worlds. */
  readonly digest: string;
  readonly complete: boolean;
  readonly verdict: { readonly withheld: string | null; readonly sentence: string };
  readonly arms: Readonly<Record<string, Readonly<Record<string, SummaryFigure>>>>;
  readonly differences: Readonly<Record<string, Readonly<Record<string, SummaryDifference>>>>;
  /** Null where there is nothing to weigh: one arm, or too few values. */
  readonly tradeoffs: SummaryTradeoffs | null;
  /** Of a gallery; empty elsewhere. */
  readonly cases: readonly SummaryCase[];
  readonly hypotheses: readonly SummaryHypothesis[];
  /** For each hypothesis, what it comes to in every cell; empty where the panel varies nothing. */
  readonly sensitivity: readonly SummarySensitivity[];
  readonly published: readonly SummaryPublished[];
  /** How many trials of each arm the infrastructure failed, and are left out; empty where there are none. */
  readonly infrastructure_failures: Readonly<Record<string, number>>;
  /** Measures that this run cannot give because it kept trials only. */
  readonly needs_detail: readonly string[];
}

const named = MEASURES.filter(({ derived }) => derived !== true);

export function summaryOf(
  experiment: Experiment,
  estimates: Estimates,
  comparisons: readonly Comparison[],
  confidence: number,
  sentence: string,
  hypotheses: readonly JudgedHypothesis[],
  exploration: Exploration,
  bothWays: BothWays | null,
  published: readonly JudgedFigure[],
  tradeoffs: Tradeoffs | null,
  observed: readonly Observed[],
  asked: readonly AskedInCells[] = [],
): Summary {
  const { row, arms, digest, complete, withheld, hasCalls } = experiment;
  const first = arms[0]!.row.arm;
  return {
    experiment: row.experiment_id,
    source: experiment.measured ? "measured" : "simulated",
    panel: row.panel,
    question: row.question,
    digest,
    complete,
    verdict: { withheld, sentence: withheld === null ? sentence : "" },
    arms: objectOf(
      arms.map(({ row: { arm } }) => [
        arm,
        objectOf(
          named.flatMap(({ measure }) => {
            const found = estimates.arm(arm, measure);
            return found === undefined ? [] : [[measure, figureOf(found)] as const];
          }),
        ),
      ]),
    ),
    differences: objectOf(
      comparisons
        .filter(({ against }) => against === first)
        .map(({ arm, against }) => [
          arm,
          objectOf(
            named.flatMap(({ measure }) => {
              const found = estimates.difference(arm, against, measure);
              if (found === undefined) return [];
              const { relative, p } = found;
              const adjusted = exploration.adjusted(found);
              const told = {
                against,
                ...figureOf(found),
                ...(relative === null ? {} : { relative: figureOf(relative) }),
                ...(p === null ? {} : { p }),
                ...(adjusted === null ? {} : { p_exploratory: adjusted }),
              };
              return [[measure, told] as const];
            }),
          ),
        ]),
    ),
    tradeoffs: tradeoffs && {
      objectives: tradeoffs.objectives.map(({ measure }) => measure),
      divided: tradeoffs.isDivided,
      arms: objectOf(
        tradeoffs.arms.map(({ arm, onFront, dominatedBy, fronts }) => [
          arm,
          { front: onFront, dominated_by: dominatedBy, front_replicates: fronts, replicates: tradeoffs.replicates },
        ]),
      ),
    },
    cases: experiment.cases.map(
      ({ of_case, scenario, says, scenario_question: question, scenario_source: source }) => ({
        case: of_case,
        scenario,
        says,
        question,
        source,
        arms: objectOf(
          observed
            .filter((each) => each.ofCase === of_case && each.scenario === scenario)
            .map(({ name, seen }) => [name, seen] as const),
        ),
      }),
    ),
    hypotheses: hypotheses.map((judged, at) => hypothesisOf(judged, confidence, bothWays?.counted[at] ?? null)),
    sensitivity: asked.map(sensitivityOf),
    published: published.map(({ row: figure, published: value, mean, low, high, reproduced }) => ({
      arm: figure.arm,
      against: figure.against,
      measure: figure.measure,
      published: value,
      mean,
      low,
      high,
      verdict: reproduced ? "reproduced" : "not reproduced",
      source: figure.source,
    })),
    infrastructure_failures: objectOf((bothWays?.arms ?? []).map(({ arm, failed }) => [arm, failed])),
    needs_detail: hasCalls ? [] : named.filter(isOverCalls).map(({ measure }) => measure),
  };
}

function sensitivityOf({ hypothesis, cells, levels, matters, sentence }: AskedInCells): SummarySensitivity {
  const { measure, arm, against = "", expect } = hypothesis;
  return {
    ...{ measure, arm, against, expect, sentence },
    matters: objectOf(matters.map(({ name, share }) => [name, share])),
    levels: levels.map(({ name, ...counted }) => ({ varied: name, ...counted })),
    cells: cells.map(({ levels: at, isOwn, verdict, effect: value, low, high, n, p }) => ({
      levels: at,
      own: isOwn,
      verdict,
      effect: value === null ? null : { value, low, high, n },
      p,
    })),
  };
}

function hypothesisOf(
  { hypothesis, verdict, chance, detectable, difference, decided, zero, sentence }: JudgedHypothesis,
  confidence: number,
  withFailed: JudgedHypothesis | null,
): SummaryHypothesis {
  const { measure, arm, against = null, expect, by, margin, margin_absolute, kind } = hypothesis;
  const change = decided?.by === "relative" ? difference?.relative : null;
  const saved = difference?.pairing() ?? null;
  return {
    measure,
    arm,
    against,
    expect,
    ...(by === undefined ? {} : { by }),
    ...(margin === undefined ? {} : { margin }),
    ...(margin_absolute === undefined ? {} : { margin_absolute }),
    ...(kind === undefined ? {} : { kind }),
    verdict,
    effect:
      difference === null
        ? null
        : {
            value: difference.value,
            low: difference.low,
            high: difference.high,
            confidence,
            ...(change ? { relative: figureOf(change) } : {}),
          },
    ...(chance === null ? {} : { p: chance.p, p_adjusted: chance.adjusted, family: chance.family }),
    ...(detectable === null ? {} : { minimal_detectable: detectable }),
    ...(saved === null ? {} : { variance_ratio: saved }),
    ...(withFailed === null
      ? {}
      : {
          with_infrastructure_failures: {
            verdict: withFailed.verdict,
            effect: withFailed.difference && figureOf(withFailed.difference),
          },
        }),
    n: difference?.n ?? zero?.all ?? 0,
    sentence,
  };
}

function figureOf({ value, low, high, n }: Estimated): SummaryFigure {
  return { value, low, high, n };
}

/** An arm may have any name, `__proto__` too: these are own properties. */
function objectOf<Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(entries);
}
