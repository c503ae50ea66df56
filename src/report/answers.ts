/**
 * What was estimated, as tables that a report's SQL can ask.
 *
 * A report is data: queries, specs and words. Intervals are worked out in TypeScript, so they are put where queries can reach
 * them: temporary tables beside those of the file, which stays as it is. reports/default/report.yaml lists them.
 */
import { kaplanMeier, restrictedMean, type SurvivalStep } from "../stats/survival.ts";
import { wilson } from "../stats/wilson.ts";
import type { Reading } from "../telemetry/store.ts";
import { literal } from "../telemetry/table.ts";
import { CONFIDENCE, type Comparison, type Estimates } from "./estimates.ts";
import type { Experiment } from "./experiment.ts";
import type { JudgedFigure } from "./judged.ts";
import { MEASURES } from "./measures.ts";
import type { Tradeoffs } from "./tradeoffs.ts";
import { listed } from "./words.ts";

export type Value = string | number | null;

export async function tellAnswers(
  reading: Reading,
  experiment: Experiment,
  comparisons: readonly Comparison[],
  estimates: Estimates,
  figures: readonly JudgedFigure[],
  tradeoffs: Tradeoffs | null,
): Promise<void> {
  const labels = new Map(experiment.arms.map(({ row, label }) => [row.arm, label]));
  await make(
    reading,
    "arm_order",
    "position INTEGER, name VARCHAR, arm VARCHAR, series VARCHAR, tag VARCHAR, told BOOLEAN, reserve_seconds DOUBLE",
    experiment.arms.map(({ row, label, series, tag, settings }) => [
      row.position,
      row.arm,
      label,
      series,
      tag,
      row.budget === "untold" ? 0 : 1,
      numberOrNull(settings["finalization_reserve_seconds"]),
    ]),
  );
  await make(
    reading,
    "measures",
    "measure VARCHAR, title VARCHAR, unit VARCHAR, better VARCHAR, says VARCHAR",
    MEASURES.map(({ measure, title, unit, better, says }) => [measure, title, unit, better, says]),
  );
  await make(
    reading,
    "estimates",
    "position INTEGER, arm VARCHAR, measure VARCHAR, value DOUBLE, low DOUBLE, high DOUBLE, n INTEGER",
    experiment.arms.flatMap(({ row, label }) =>
      MEASURES.flatMap(({ measure }) => {
        const found = estimates.arm(row.arm, measure);
        return found === undefined
          ? []
          : [[row.position, label, measure, found.value, found.low, found.high, found.n] as Value[]];
      }),
    ),
  );
  await make(
    reading,
    "differences",
    "position INTEGER, arm VARCHAR, against VARCHAR, measure VARCHAR, value DOUBLE, low DOUBLE, high DOUBLE, relative DOUBLE, relative_low DOUBLE, relative_high DOUBLE, n INTEGER",
    comparisons.flatMap(({ arm, against }) =>
      MEASURES.flatMap(({ measure }) => {
        const found = estimates.difference(arm, against, measure);
        if (found === undefined) return [];
        const { value, low, high, relative, n } = found;
        const change = [relative?.value ?? null, relative?.low ?? null, relative?.high ?? null];
        const position = experiment.arms.find(({ row }) => row.arm === arm)!.row.position;
        return [[position, labels.get(arm)!, labels.get(against)!, measure, value, low, high, ...change, n] as Value[]];
      }),
    ),
  );
  await make(
    reading,
    "published_figures",
    "position INTEGER, arm VARCHAR, against VARCHAR, measure VARCHAR, title VARCHAR, unit VARCHAR, published_low DOUBLE, published_high DOUBLE, mean DOUBLE, low DOUBLE, high DOUBLE, reproduced BOOLEAN",
    figures.map(({ row, measure, mean, low, high, reproduced }, index) => [
      index + 1,
      labels.get(row.arm) ?? row.arm,
      row.against === null ? null : (labels.get(row.against) ?? row.against),
      row.measure,
      measure?.title ?? row.measure,
      measure?.unit ?? "count",
      row.low,
      row.high,
      mean,
      low,
      high,
      reproduced ? 1 : 0,
    ]),
  );
  await make(
    reading,
    "objectives",
    "position INTEGER, measure VARCHAR",
    (tradeoffs?.objectives ?? []).map(({ measure }, at) => [at + 1, measure]),
  );
  await make(
    reading,
    "standings",
    "position INTEGER, arm VARCHAR, on_front BOOLEAN, dominated_by VARCHAR, fronts INTEGER, replicates INTEGER",
    (tradeoffs?.arms ?? []).map(({ arm, onFront, dominatedBy, fronts }, at) => [
      ...[experiment.arms[at]!.row.position, labels.get(arm)!, onFront ? 1 : 0],
      dominatedBy.length === 0 ? null : someOf(dominatedBy.map((other) => labels.get(other)!)),
      ...[fronts, tradeoffs!.replicates],
    ]),
  );
  await tellShares(reading, labels);
  await tellSurvival(reading, experiment);
  if (experiment.hasCalls) await tellFirstControl(reading);
}

/**
 * `first_control`: how many foreground calls gave control back after just so many seconds, and how many by then. Times are whole
 * milliseconds, so a few thousand rows stand for millions of calls, and `counted_quantile` of them is `quantile_cont` of those.
 */
async function tellFirstControl(reading: Reading): Promise<void> {
  await reading.rows(
    `CREATE OR REPLACE TEMP TABLE first_control AS
     WITH counted AS (
       SELECT t.arm, s.kind, s.time_to_first_control_seconds AS time, count(*) AS calls
       FROM shell_invocations AS s JOIN trials AS t USING (trial_id)
       WHERE NOT s.background AND s.status <> 'refused' AND s.kind IS NOT NULL GROUP BY ALL
     )
     SELECT o.position, kind::VARCHAR AS kind, time::DOUBLE AS seconds, calls,
       (sum(calls) OVER (PARTITION BY c.arm, kind ORDER BY time NULLS LAST))::BIGINT AS reached,
       (coalesce(sum(calls) FILTER (time IS NOT NULL) OVER (PARTITION BY c.arm, kind), 0))::BIGINT AS returned,
       (sum(calls) OVER (PARTITION BY c.arm, kind))::BIGINT AS members
     FROM counted AS c JOIN arm_order AS o ON o.name = c.arm::VARCHAR`,
  );
  const place = "(n - 1) * p::DOUBLE";
  const value = (at: string) => `min(value) FILTER (reached > ${at}(${place}))`;
  await reading.rows(
    `CREATE OR REPLACE TEMP MACRO counted_quantile(value, reached, n, p) AS
     ${value("floor")} + (${value("ceil")} - ${value("floor")}) * any_value(${place} - floor(${place}))`,
  );
}

/** Steps of all curves of a chart together. */
const MOST_STEPS = 900;

/**
 * `survival`: which share of each arm's trials is not submitted yet, by Kaplan and Meier; `restricted`: the mean time until they are,
 * up to the longest trial. Who was cut off counts for as long as it was seen; who gave up, or ran into a limit of its own, never
 * submits. Trials that the infrastructure failed are left out.
 */
async function tellSurvival(reading: Reading, { arms }: Experiment): Promise<void> {
  const counts = await reading.rows<{ arm: string; at: number; ending: "done" | "cut" | "never"; trials: number }>(
    `SELECT arm::VARCHAR AS arm, duration_seconds::DOUBLE AS at, count(*)::INTEGER AS trials,
       CASE WHEN outer_timeout THEN 'cut' WHEN outcome IN ('submitted', 'partial', 'ended') THEN 'done' ELSE 'never' END AS ending
     FROM trials WHERE outcome <> 'infrastructure' AND duration_seconds IS NOT NULL GROUP BY ALL ORDER BY ALL`,
  );
  const horizon = Math.max(0, ...counts.map(({ at }) => at));
  const curves: Value[][] = [];
  const means: Value[][] = [];
  for (const { row, label } of arms) {
    const own = counts.filter(({ arm }) => arm === row.arm);
    if (own.length === 0 || horizon === 0) continue;
    const each = own.flatMap(({ at, ending, trials }) =>
      new Array<(typeof own)[number]>(trials).fill({
        arm: row.arm,
        at: ending === "never" ? horizon : at,
        ending,
        trials,
      }),
    );
    const lifetimes = { times: each.map(({ at }) => at), cutOff: each.map(({ ending }) => ending !== "done") };
    const steps = thinned(kaplanMeier(lifetimes, CONFIDENCE), Math.floor(MOST_STEPS / arms.length));
    const last = steps.at(-1) ?? { share: 1, low: 1, high: 1 };
    const start = { x: 0, share: 1, low: 1, high: 1, atRisk: each.length };
    const stillAt = each.filter(({ at }) => at >= horizon).length;
    for (const { x, share, low, high, atRisk } of [start, ...steps, { ...last, x: horizon, atRisk: stillAt }]) {
      curves.push([row.position, label, x, share, low, high, atRisk]);
    }
    const mean = restrictedMean(lifetimes, horizon, CONFIDENCE);
    means.push([row.position, label, mean.value, mean.low, mean.high, horizon, each.length]);
  }
  await make(
    reading,
    "survival",
    "position INTEGER, arm VARCHAR, seconds DOUBLE, share DOUBLE, low DOUBLE, high DOUBLE, at_risk INTEGER",
    curves,
  );
  await make(
    reading,
    "restricted",
    "position INTEGER, arm VARCHAR, value DOUBLE, low DOUBLE, high DOUBLE, horizon DOUBLE, trials INTEGER",
    means,
  );
}

/** So many steps or a few more, the last among them: wherever the share has lost another part of what it loses in all. */
function thinned(steps: readonly SurvivalStep[], atMost: number): readonly SurvivalStep[] {
  let level = -1;
  return steps.filter(({ share }, at) => {
    const reached = Math.floor((1 - share) * atMost);
    const isKept = reached > level || at === steps.length - 1;
    if (isKept) level = reached;
    return isKept;
  });
}

/** `shares`: how many trials of each arm and kind had an outcome, with Wilson's interval. */
async function tellShares(reading: Reading, labels: ReadonlyMap<string, string>): Promise<void> {
  const counts = await reading.rows<{
    position: number;
    arm: string;
    kind: string;
    trials: number;
    cut: number;
    graded: number;
    rewarded: number;
    whole: boolean;
  }>(
    `SELECT a.position, t.arm::VARCHAR AS arm, CASE WHEN grouping(t.kind) = 1 THEN 'all' ELSE t.kind::VARCHAR END AS kind,
            count(*)::INTEGER AS trials, count(*) FILTER (outer_timeout)::INTEGER AS cut,
            count(reward)::INTEGER AS graded, sum(reward::DECIMAL(18, 6))::DOUBLE AS rewarded,
            coalesce(bool_and(reward IN (0, 1)), false) AS "whole"
     FROM trials AS t JOIN arms AS a USING (arm) GROUP BY GROUPING SETS ((a.position, t.arm), (a.position, t.arm, t.kind))
     HAVING grouping(t.kind) = 1 OR t.kind IS NOT NULL ORDER BY ALL`,
  );
  const rows = counts.flatMap(({ position, arm, kind, trials, cut, graded, rewarded, whole }) => {
    const share = (outcome: string, successes: number, of: number): Value[][] => {
      if (of === 0) return [];
      const { value, low, high } = wilson(successes, of, CONFIDENCE);
      return [[position, labels.get(arm)!, kind, outcome, successes, of, value, low, high]];
    };
    // Where rewards are shares of tests, Wilson's interval does not apply: the mean stands without one.
    const mean: Value[][] =
      graded > 0 ? [[position, labels.get(arm)!, kind, "reward", rewarded, graded, rewarded / graded, null, null]] : [];
    return [...share("outer_timeout", cut, trials), ...(whole ? share("reward", rewarded, graded) : mean)];
  });
  await make(
    reading,
    "shares",
    "position INTEGER, arm VARCHAR, kind VARCHAR, outcome VARCHAR, successes DOUBLE, tries INTEGER, value DOUBLE, low DOUBLE, high DOUBLE",
    rows,
  );
}

/** Two of some names at most, and how many more there are. */
function someOf(names: readonly string[]): string {
  return names.length <= 2 ? listed(names) : `${names[0]} and ${names.length - 1} more`;
}

/** A temporary table of these rows, instead of what was there by its name. */
export async function make(
  reading: Reading,
  name: string,
  columns: string,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  await reading.rows(`CREATE OR REPLACE TEMP TABLE ${name} (${columns})`);
  if (rows.length === 0) return;
  const values = rows.map((row) => `(${row.map(spelled).join(", ")})`);
  await reading.rows(`INSERT INTO ${name} VALUES ${values.join(", ")}`);
}

function spelled(value: Value): string {
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "NULL";
  return typeof value === "number" ? String(value) : literal(value);
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
