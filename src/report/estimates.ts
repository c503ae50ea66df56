/**
 * Every measure of every arm, and the differences between arms, each with its interval.
 *
 * DuckDB adds up, this side of it estimates: one sum and one count for each arm and cluster come back, however many trials
 * there are. What a cluster is, the experiment's design says. Sums are over whole milliseconds and integers, so that they
 * do not depend on the order in which rows are read.
 */
import { type Draws, type Key, keyed } from "../random.ts";
import { NotEstimable } from "../stats/estimate.ts";
import { fisherExact } from "../stats/fisher.ts";
import { mcnemar } from "../stats/mcnemar.ts";
import { newcombe, newcombePaired, type PairedCounts } from "../stats/newcombe.ts";
import {
  type BothSums,
  bcaMeanDifference,
  type ClusterSum,
  meanDifference,
  relativeChange,
  twoWayMeanDifference,
  twoWayRelativeChange,
} from "../stats/paired.ts";
import { mcnemarDetectable, minimalDetectable } from "../stats/power.ts";
import { studentP } from "../stats/pValue.ts";
import { ratio } from "../stats/ratio.ts";
import { type SignFlip, signFlip } from "../stats/signFlip.ts";
import { type Crossing, twoWayRatio } from "../stats/twoWay.ts";
import { unpairedMeanDifference } from "../stats/welch.ts";
import type { Reading } from "../telemetry/store.ts";
import { literal } from "../telemetry/table.ts";
import type { Experiment } from "./experiment.ts";
import { BY_PERMUTATION, isOverCalls, MEASURES, type Measure } from "./measures.ts";

export const CONFIDENCE = 0.95;

/** An estimate; without ends where the data carry a value but no interval. */
export interface Estimated {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
  /** How many independent things it rests on. */
  readonly n: number;
}

export interface Difference extends Estimated {
  readonly measure: Measure;
  readonly arm: string;
  readonly against: string;
  /** As a share of the other arm's value; null where that is nothing. */
  readonly relative: Estimated | null;
  /** The bootstrap's interval, where one was asked for. */
  readonly bootstrap: { readonly low: number; readonly high: number } | null;
  /** For measures that a permutation or an exact test decides. */
  readonly permutation: Permutation | null;
  /** Why there is no interval; null: there is. */
  readonly refusal: string | null;
  /** Two-sided, against none and taken alone: the permutation's where one decides, else that of the interval; null where there is none. */
  readonly p: number | null;
  /**
   * What pairing saves: the variance of the difference had both arms met worlds of their own, over that of the paired one. 4 means that
   * an unpaired run needs four times the clusters. Null where there is no interval, or one of no width.
   */
  pairing(): number | null;
  /**
   * The smallest true difference that so many clusters, as noisy as these, show with this power at this level (two-sided): by the t test,
   * played through; of independent pairs of a yes or no, by McNemar's test. Null where there is no interval, or one of no width: that tells nothing of the noise.
   */
  detectable(level: number, power: number): number | null;
}

/** A p-value that leans on no distribution, and by which test. */
export interface Permutation extends SignFlip {
  readonly test: "sign-flip" | "McNemar" | "Fisher";
}

export interface Estimates {
  /** By arm and measure; absent where a measure cannot be had. */
  arm(arm: string, measure: string): Estimated | undefined;
  difference(arm: string, against: string, measure: string): Difference | undefined;
  /** The values of single replicates, in their order; those without one are left out. */
  replicates(arm: string, measure: string): readonly ReplicateValue[];
}

interface ReplicateValue {
  readonly replicate: number;
  readonly value: number;
}

/** One arm's trials of one cluster: added up, and how many. */
interface Cell extends Crossing {
  readonly sum: number;
  readonly n: number;
}

/** Two arms' trials of one cluster, over the same pairs. */
interface PairedCell extends BothSums, Crossing {
  readonly n: number;
}

/** Which differences are wanted: an arm against another. */
export interface Comparison {
  readonly arm: string;
  readonly against: string;
}

/** Which trials are meant, and what of them. */
export interface Scope {
  /** Only trials of this kind; null: all. */
  readonly kind: string | null;
  readonly measures: readonly Measure[];
  /** Whether trials that the infrastructure failed are counted too, without reward (see `setAside.ts`). */
  readonly withFailed?: boolean;
}

const EVERYTHING: Scope = { kind: null, measures: MEASURES };

/**
 * @param comparisons with all measures
 * @param bootstrapped whether each difference gets a bootstrap interval too
 */
export async function estimate(
  reading: Reading,
  experiment: Experiment,
  comparisons: readonly Comparison[],
  bootstrapped: (comparison: Comparison, measure: Measure) => boolean,
  scope: Scope = EVERYTHING,
): Promise<Estimates> {
  const { measures, kind } = scope;
  await makeMeasured(reading, experiment, scope);
  const perReplicate = await cells(reading, experiment, measures, "replicate");
  const { by } = experiment.design;
  const perCluster = by === "replicate" ? perReplicate : await cells(reading, experiment, measures, by);
  const plain = keyed.within(keyed.seeded(experiment.row.seed), "report");
  const seed = kind === null ? plain : keyed.within(plain, kind);
  const tasks = kind === null ? experiment.row.tasks : await tasksMeasured(reading, experiment);

  const arms = new Map<string, Estimated>();
  for (const { row } of experiment.arms) {
    for (const measure of measures) {
      const own = (isOverCalls(measure) ? perReplicate : perCluster).get(at(row.arm, measure));
      if (own !== undefined) arms.set(at(row.arm, measure), mean(own, measure, experiment, tasks));
    }
  }

  const differences = new Map<string, Difference>();
  for (const against of new Set(comparisons.map((comparison) => comparison.against))) {
    const wanted = new Set(comparisons.filter((each) => each.against === against).map(({ arm }) => arm));
    const paired = experiment.design.paired ? await pairedCells(reading, measures, by, against) : null;
    for (const arm of wanted) {
      for (const measure of measures) {
        if (paired === null) {
          const [own, others] = [perCluster.get(at(arm, measure)), perCluster.get(at(against, measure))];
          if (own === undefined || others === undefined || isOverCalls(measure)) continue;
          differences.set(
            `${at(arm, measure)}\0${against}`,
            unpairedDifference(own, others, measure, { arm, against }, tasks),
          );
          continue;
        }
        const both = isOverCalls(measure)
          ? quantileCells(perReplicate.get(at(arm, measure)), perReplicate.get(at(against, measure)))
          : (paired.get(at(arm, measure)) ?? []);
        if (both.length === 0) continue;
        const comparison = { arm, against };
        const luck = [measure.measure, arm, against].reduce<Key>((key, part) => keyed.within(key, part), seed);
        const difference = differenceOf(both, measure, comparison, experiment, {
          luck,
          bootstrapped: bootstrapped(comparison, measure),
          tasks,
        });
        differences.set(`${at(arm, measure)}\0${against}`, difference);
      }
    }
  }

  return {
    arm: (arm, measure) => arms.get(`${arm}\0${measure}`),
    difference: (arm, against, measure) => differences.get(`${arm}\0${measure}\0${against}`),
    replicates: (arm, measure) =>
      (perReplicate.get(`${arm}\0${measure}`) ?? []).map(({ replicate, sum, n }) => ({
        replicate,
        value: (sum / n) * perTrial(MEASURES.find((each) => each.measure === measure)!, tasks),
      })),
  };
}

const at = (arm: string, { measure }: Measure) => `${arm}\0${measure}`;

/** What a mean over trials is multiplied by: the trials of one replicate, where the measure is their sum. */
function perTrial({ kind }: Measure, tasks: number): number {
  return kind === "sum per replicate" ? tasks : 1;
}

const overTrials = (measures: readonly Measure[]) => measures.filter((measure) => !isOverCalls(measure));

/** `measured`: each trial with its measures as whole millionths; `measured_calls`: each foreground call with its time. */
async function makeMeasured(
  reading: Reading,
  { hasCalls }: Experiment,
  { kind, measures, withFailed = false }: Scope,
): Promise<void> {
  const those = [
    ...(kind === null ? [] : [`t.kind::VARCHAR = ${literal(kind)}`]),
    ...(withFailed ? [] : ["t.outcome <> 'infrastructure'"]),
    "true",
  ].join(" AND ");
  // Where nothing is graded, a failure has no reward either.
  const failure = "outcome = 'infrastructure' AND (SELECT count(reward) FROM trials) > 0";
  const all = withFailed
    ? `(SELECT * REPLACE (CASE WHEN ${failure} THEN 0 ELSE reward END AS reward) FROM trials)`
    : "trials";
  const columns = overTrials(measures).map(({ measure, sql }) => `(${sql})::DECIMAL(18, 6) AS ${measure}`);
  await reading.rows(
    `CREATE OR REPLACE TEMP VIEW measured AS SELECT ${["arm::VARCHAR AS arm", "scenario::VARCHAR AS scenario", "replicate", "pair_key", ...columns].join(", ")} FROM ${all} AS t WHERE ${those}`,
  );
  if (!hasCalls) return;
  await reading.rows(
    `CREATE OR REPLACE TEMP VIEW measured_calls AS
     SELECT t.arm::VARCHAR AS arm, t.replicate, background, returned_running, time_to_first_control_seconds::DOUBLE AS seconds
     FROM shell_invocations JOIN trials AS t USING (trial_id) WHERE status <> 'refused' AND ${those}`,
  );
}

/** How many of the trials meant one arm has in a replicate, on average. */
async function tasksMeasured(reading: Reading, { worlds }: Experiment): Promise<number> {
  const [row] = await reading.rows<{ pairs: number }>(
    "SELECT count(DISTINCT pair_key)::INTEGER AS pairs FROM measured",
  );
  return row!.pairs / worlds.length;
}

type By = "replicate" | "scenario" | "both";

const clusterColumns: Readonly<Record<By, string>> = {
  replicate: "'' AS scenario, t.replicate",
  scenario: "t.scenario, 0 AS replicate",
  both: "t.scenario, t.replicate",
};

const REPLICATES_AT_ONCE = 25;

async function cells(
  reading: Reading,
  experiment: Experiment,
  measures: readonly Measure[],
  by: By,
): Promise<ReadonlyMap<string, readonly Cell[]>> {
  const found = new Map<string, Cell[]>();
  const ofTrials = overTrials(measures);
  const sums = ofTrials.map(
    ({ measure }) => `sum(t.${measure})::DOUBLE AS sum_${measure}, count(t.${measure})::INTEGER AS n_${measure}`,
  );
  const rows = await reading.rows<Record<string, number | string | null>>(
    `SELECT ${["t.arm", clusterColumns[by], ...sums].join(", ")} FROM measured AS t GROUP BY ALL ORDER BY ALL`,
  );
  for (const row of rows) {
    for (const measure of ofTrials) {
      const n = row[`n_${measure.measure}`] as number;
      const cell = { ...place(row), sum: row[`sum_${measure.measure}`] as number, n };
      if (n > 0) listAt(found, at(row["arm"] as string, measure)).push(cell);
    }
  }
  if (by === "replicate" && experiment.hasCalls) await addQuantiles(reading, experiment, measures, found);
  return found;
}

/** Quantiles of each arm in each replicate. Those of the same calls are taken at once: each keeps all of them in memory. */
async function addQuantiles(
  reading: Reading,
  { worlds }: Experiment,
  measures: readonly Measure[],
  found: Map<string, Cell[]>,
): Promise<void> {
  const wanted = new Map<string, Measure[]>();
  for (const measure of measures.filter(isOverCalls)) listAt(wanted, measure.sql).push(measure);
  if (wanted.size === 0) return;
  const lists = [...wanted].map(
    ([which, those], index) =>
      `quantile_cont(seconds, [${those.map(({ quantile }) => quantile).join(", ")}]) FILTER (${which}) AS list_${index}`,
  );
  const asked = `SELECT arm, '' AS scenario, replicate, ${lists.join(", ")}
    FROM measured_calls WHERE replicate BETWEEN $first AND $last GROUP BY ALL ORDER BY arm, replicate`;
  // Rows lie in the order of replicates, and calls are kept in memory until the query ends.
  const last = Math.max(...worlds.map(({ replicate }) => replicate));
  for (let first = 1; first <= last; first += REPLICATES_AT_ONCE) {
    const rows = await reading.rows<Record<string, number | string | readonly number[] | null>>(asked, {
      first,
      last: first + REPLICATES_AT_ONCE - 1,
    });
    for (const row of rows) {
      for (const [index, those] of [...wanted.values()].entries()) {
        const values = row[`list_${index}`] as readonly number[] | null;
        if (values === null) continue;
        for (const [place, measure] of those.entries()) {
          const cell = { scenario: "", replicate: row["replicate"] as number, sum: values[place]!, n: 1 };
          listAt(found, at(row["arm"] as string, measure)).push(cell);
        }
      }
    }
  }
}

/** Every arm against one, over pairs in which both have a value. */
async function pairedCells(
  reading: Reading,
  measures: readonly Measure[],
  by: By,
  against: string,
): Promise<ReadonlyMap<string, readonly PairedCell[]>> {
  const ofTrials = overTrials(measures);
  const sums = ofTrials.map(
    ({ measure: m }) =>
      `sum(t.${m}) FILTER (c.${m} IS NOT NULL)::DOUBLE AS treatment_${m}, ` +
      `sum(c.${m}) FILTER (t.${m} IS NOT NULL)::DOUBLE AS control_${m}, count(t.${m} - c.${m})::INTEGER AS n_${m}`,
  );
  const rows = await reading.rows<Record<string, number | string | null>>(
    `SELECT ${["t.arm", clusterColumns[by], ...sums].join(", ")}
     FROM measured AS t JOIN measured AS c ON c.pair_key = t.pair_key AND c.arm = $against
     WHERE t.arm <> $against GROUP BY ALL ORDER BY ALL`,
    { against },
  );
  const found = new Map<string, PairedCell[]>();
  for (const row of rows) {
    for (const measure of ofTrials) {
      const n = row[`n_${measure.measure}`] as number;
      if (n === 0) continue;
      const cell = {
        ...place(row),
        treatmentSum: row[`treatment_${measure.measure}`] as number,
        controlSum: row[`control_${measure.measure}`] as number,
        n,
      };
      listAt(found, at(row["arm"] as string, measure)).push(cell);
    }
  }
  return found;
}

/** The list under this key, a new one if there is none yet. */
function listAt<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const there = lists.get(key);
  if (there !== undefined) return there;
  const fresh: Item[] = [];
  lists.set(key, fresh);
  return fresh;
}

function place(row: Record<string, number | string | null>): Crossing {
  return { scenario: row["scenario"] as string, replicate: row["replicate"] as number };
}

/** Replicates in which both arms have a quantile. */
function quantileCells(treatment: readonly Cell[] = [], control: readonly Cell[] = []): readonly PairedCell[] {
  const others = new Map(control.map((cell) => [cell.replicate, cell.sum]));
  return treatment.flatMap(({ scenario, replicate, sum }) => {
    const controlSum = others.get(replicate);
    return controlSum === undefined ? [] : [{ scenario, replicate, treatmentSum: sum, controlSum, n: 1 }];
  });
}

function mean(own: readonly Cell[], measure: Measure, experiment: Experiment, tasks: number): Estimated {
  const shares = own.map((cell) => ({ ...cell, numerator: cell.sum, denominator: cell.n }));
  const plain = total(own, "sum") / total(own, "n");
  const found = estimated(plain, own.length, () =>
    crossed(measure, experiment) ? twoWayRatio(shares, CONFIDENCE, "a mean") : ratio(shares, CONFIDENCE, "a mean"),
  );
  return times(possible(found, measure), perTrial(measure, tasks));
}

/** The part of an interval that the measure can lie in: hardly one is ever below 0, and no share above 1. */
function possible(estimate: Estimated, { unit, signed }: Measure): Estimated {
  const { low, high } = estimate;
  if (low === null || high === null) return estimate;
  const least = signed ? (unit === "share" ? -1 : Number.NEGATIVE_INFINITY) : 0;
  return { ...estimate, low: Math.max(low, least), high: unit === "share" ? Math.min(high, 1) : high };
}

function differenceOf(
  both: readonly PairedCell[],
  measure: Measure,
  comparison: Comparison,
  experiment: Experiment,
  { luck, bootstrapped, tasks }: { readonly luck: Key; readonly bootstrapped: boolean; readonly tasks: number },
): Difference {
  const clusters = both.map((cell) => ({ ...cell, sum: cell.treatmentSum - cell.controlSum }));
  const plain = total(clusters, "sum") / total(clusters, "n");
  const twoWay = crossed(measure, experiment);
  const factor = perTrial(measure, tasks);
  const refused = { why: null as string | null };
  const pairs = independentPairs(both, measure, experiment);
  const difference = estimated(
    plain,
    clusters.length,
    () => {
      if (pairs !== null) return newcombePaired(pairs, CONFIDENCE);
      return twoWay ? twoWayMeanDifference(clusters, CONFIDENCE) : meanDifference(clusters, CONFIDENCE);
    },
    refused,
  );
  const isCounted = BY_PERMUTATION.has(measure.measure) && difference.low !== null;
  const permutation = !isCounted ? null : pairs === null ? flipped(clusters, twoWay, luck) : discordant(pairs);
  const control = total(both, "controlSum");
  const change =
    control > 0
      ? estimated(total(both, "treatmentSum") / control - 1, both.length, () =>
          twoWay ? twoWayRelativeChange(both, CONFIDENCE) : relativeChange(both, CONFIDENCE),
        )
      : null;
  return {
    ...comparison,
    measure,
    ...times(difference, factor),
    relative: change,
    bootstrap: bootstrapped && !twoWay && difference.low !== null ? bootstrap(clusters, keyed, luck, factor) : null,
    permutation,
    refusal: refused.why,
    p: permutation?.p ?? pOf(difference),
    pairing: () => varianceRatio(both, twoWay),
    detectable: (level, wanted) => {
      if (pairs !== null) {
        const shown = mcnemarDetectable(
          both.length,
          (pairs.onlyTreatment + pairs.onlyControl) / both.length,
          level,
          wanted,
        );
        return shown === null ? null : factor * shown;
      }
      if (difference.low === null || difference.low === difference.high) return null;
      const independent = twoWay ? fewerClusters(clusters) : clusters;
      const key = keyed.within(luck, "power");
      const planned = { clusters: independent, n: independent.length, alpha: level, draws: keyed, key };
      return factor * minimalDetectable(planned, wanted);
    },
  };
}

function pOf({ low, high, ...rest }: Estimated): number | null {
  return low === null || high === null ? null : studentP({ ...rest, low, high, confidence: CONFIDENCE });
}

/** The variance of a difference between sides that are independent is the sum of theirs; widths of intervals stand for errors. */
function varianceRatio(both: readonly PairedCell[], twoWay: boolean): number | null {
  const variance = (sumOf: (cell: PairedCell) => number) => {
    const shares = both.map((cell) => ({ ...cell, numerator: sumOf(cell), denominator: cell.n }));
    const { low, high } = estimated(0, both.length, () =>
      twoWay ? twoWayRatio(shares, CONFIDENCE, "a mean") : ratio(shares, CONFIDENCE, "a mean"),
    );
    return low === null || high === null ? 0 : (high - low) ** 2;
  };
  const paired = variance((cell) => cell.treatmentSum - cell.controlSum);
  if (paired === 0) return null;
  return (variance((cell) => cell.treatmentSum) + variance((cell) => cell.controlSum)) / paired;
}

/** Pairs of a yes or no that are independent of one another, counted by how either side came out; null where they are not. */
function independentPairs(both: readonly PairedCell[], measure: Measure, { design }: Experiment): PairedCounts | null {
  const isYesOrNo = BY_PERMUTATION.has(measure.measure) && design.by === "scenario";
  if (!isYesOrNo || both.length < 2 || both.some(({ n }) => n !== 1)) return null;
  const count = (treatment: number, control: number) =>
    both.filter(({ treatmentSum, controlSum }) => treatmentSum === treatment && controlSum === control).length;
  return { both: count(1, 1), onlyTreatment: count(1, 0), onlyControl: count(0, 1), neither: count(0, 0) };
}

/** Between arms whose trials are no pairs. */
function unpairedDifference(
  own: readonly Cell[],
  others: readonly Cell[],
  measure: Measure,
  comparison: Comparison,
  tasks: number,
): Difference {
  const factor = perTrial(measure, tasks);
  const [treatment, control] = [own, others].map((cells) => ({
    successes: Math.round(total(cells, "sum")),
    n: total(cells, "n"),
    mean: total(cells, "sum") / total(cells, "n"),
  })) as [Group, Group];
  const isYesOrNo = BY_PERMUTATION.has(measure.measure);
  const refused = { why: null as string | null };
  const found = { p: null as number | null };
  const difference = estimated(
    treatment.mean - control.mean,
    own.length + others.length,
    () => {
      if (isYesOrNo) return newcombe(treatment, control, CONFIDENCE);
      const welch = unpairedMeanDifference(own, others, CONFIDENCE);
      found.p = studentP({ ...welch, n: welch.freedom + 1 });
      return welch;
    },
    refused,
  );
  const exact = (): Permutation => {
    const p = fisherExact(treatment, control);
    return { p, method: "exact", n: treatment.n + control.n, test: "Fisher" };
  };
  const change = treatment.mean / control.mean - 1;
  return {
    ...comparison,
    measure,
    ...times(difference, factor),
    relative: control.mean > 0 ? { value: change, low: null, high: null, n: difference.n } : null,
    bootstrap: null,
    permutation: isYesOrNo ? exact() : null,
    refusal: refused.why,
    p: isYesOrNo ? exact().p : found.p,
    // Nothing is known of pairs, so they save nothing, and there is nothing to play through.
    pairing: () => null,
    detectable: () => null,
  };
}

interface Group {
  readonly successes: number;
  readonly n: number;
  readonly mean: number;
}

/** Quantiles have one value for each replicate; everything else one for each cell of the design. */
function crossed(measure: Measure, { design }: Experiment): boolean {
  return design.by === "both" && !isOverCalls(measure);
}

/** Draws in one bootstrap at most: a panel of thousands of replicates needs fewer resamples, not more patience. */
const MOST_DRAWS = 2_000_000;

function bootstrap(clusters: readonly ClusterSum[], draws: Draws, luck: Key, factor: number) {
  const resamples = Math.min(10_000, Math.max(1_000, Math.floor(MOST_DRAWS / clusters.length)));
  const { low, high } = bcaMeanDifference(clusters, draws, keyed.within(luck, "bootstrap"), {
    confidence: CONFIDENCE,
    resamples,
  });
  return { low: low * factor, high: high * factor };
}

/** Where clusters lie crosswise, those of which there are fewer are flipped: with the others they have luck in common. */
function flipped(cells: readonly (ClusterSum & Crossing)[], twoWay: boolean, luck: Key): Permutation {
  const sums = (twoWay ? fewerClusters(cells) : cells).map(({ sum }) => sum);
  return { ...signFlip(sums, keyed, keyed.within(luck, "sign flip")), test: "sign-flip" };
}

/** Of independent pairs every pattern of signs can be counted, however many there are. */
function discordant({ onlyTreatment, onlyControl }: PairedCounts): Permutation {
  return { p: mcnemar(onlyTreatment, onlyControl), method: "exact", n: onlyTreatment + onlyControl, test: "McNemar" };
}

/** Cells that lie crosswise, added up by scenario or by replicate: by whichever there are fewer of. */
function fewerClusters(cells: readonly (ClusterSum & Crossing)[]): readonly ClusterSum[] {
  const added = (key: (cell: Crossing) => string | number) => {
    const found = new Map<string | number, ClusterSum>();
    for (const cell of cells) {
      const { sum, n } = found.get(key(cell)) ?? { sum: 0, n: 0 };
      found.set(key(cell), { sum: sum + cell.sum, n: n + cell.n });
    }
    return [...found.values()];
  };
  const byScenario = added(({ scenario }) => scenario);
  const byReplicate = added(({ replicate }) => replicate);
  return byScenario.length <= byReplicate.length ? byScenario : byReplicate;
}

/** The estimate, or its bare value where the data carry no interval. */
function estimated(
  value: number,
  n: number,
  whole: () => Estimated,
  refused: { why: string | null } = { why: null },
): Estimated {
  try {
    const { low, high, n: clusters } = whole();
    return { value, low, high, n: clusters };
  } catch (error) {
    if (!(error instanceof NotEstimable)) throw error;
    refused.why = error.message;
    return { value, low: null, high: null, n };
  }
}

function times({ value, low, high, n }: Estimated, factor: number): Estimated {
  return {
    value: value * factor,
    low: low === null ? null : low * factor,
    high: high === null ? null : high * factor,
    n,
  };
}

function total<Name extends string>(rows: readonly { readonly [Key in Name]: number }[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
