/**
 * Trials one by one: pairs by how differently the arms came out, and some of them moment by moment.
 *
 * The page carries every pair up to a bound, as figures in columns, and its script makes a table of them that sorts and filters. Without
 * the script the most different ones stand as a plain table. A trial has an address of its own, `#trial-` and its number, whether
 * or not its events were kept: where they were not, the page says which command shows them.
 */
import type { Reading } from "../telemetry/store.ts";
import { ARMS_ACROSS } from "./armsSection.ts";
import { type JournalLine, journalsOf, LINE, outerLimit } from "./exhibits.ts";
import type { Arm, Experiment } from "./experiment.ts";
import { type Html, html, inlineJson, printable } from "./html.ts";
import { fixed } from "./numbers.ts";
import { traceOf } from "./trace.ts";
import { counted, type Names, scrolling, table } from "./words.ts";

/** What of a trial is told in the table, how it is rounded, and which way is more. */
const TOLD = [
  { measure: "duration_seconds", title: "duration (s)", decimals: 1 },
  { measure: "outer_timeout", title: "outer timeout", decimals: 0 },
  { measure: "longest_control_gap_seconds", title: "longest stretch without control (s)", decimals: 1 },
  { measure: "reward", title: "reward", decimals: 3 },
  { measure: "tool_calls", title: "tool calls", decimals: 0 },
  { measure: "cost_usd", title: "cost (USD)", decimals: 4 },
] as const;

/** Trials that a page carries as figures, pairs that stand in it without a script, and pairs that it goes into. */
const MOST_TRIALS = 30_000;
const MOST_STATIC = 30;
const MOST_DRILLED = 8;

interface TrialRow {
  readonly pair_key: number;
  readonly trial_id: number;
  readonly position: number;
  readonly replicate: number;
  readonly scenario: string;
  readonly kind: string | null;
  readonly outcome: string;
  readonly [measure: string]: number | string | null;
}

/**
 * @param figure draws the timeline of a pair: its number, its outer limit if that is known, a name for the chart
 * @returns null where there are no pairs
 */
export async function trialsBlock(
  reading: Reading,
  experiment: Experiment,
  names: Names,
  figure: (pair: number, limit: number | null, name: string) => Promise<Html>,
): Promise<Html | null> {
  const { arms } = experiment;
  if (arms.length < 2) return null;
  const most = Math.floor(MOST_TRIALS / arms.length);
  await rankPairs(reading);
  const rows = await reading.rows<TrialRow>(
    `SELECT t.pair_key, t.trial_id, a.position, t.replicate, t.scenario::VARCHAR AS scenario, t.kind::VARCHAR AS kind, t.outcome::VARCHAR AS outcome,
       ${TOLD.map(({ measure }) => `t.${measure}::DOUBLE AS ${measure}`).join(", ")}
     FROM trials AS t JOIN arms AS a USING (arm) JOIN ranked_pairs AS r USING (pair_key)
     WHERE r.rank <= ${most} ORDER BY r.rank, a.position`,
  );
  const [all] = await reading.rows<{ pairs: number }>("SELECT count(*)::INTEGER AS pairs FROM ranked_pairs");
  const pairs = inPairs(rows);
  if (pairs.length === 0) return null;
  const drilled = await reading.rows<{ pair_key: number }>(
    `SELECT pair_key FROM ranked_pairs WHERE pair_key IN (SELECT t.pair_key FROM events AS e JOIN trials AS t USING (trial_id))
     ORDER BY rank LIMIT ${MOST_DRILLED}`,
  );
  const shownPairs = new Set(drilled.map(({ pair_key }) => pair_key));
  const blocks: Html[] = [];
  for (const { pair_key: pair } of drilled) {
    const own = pairs.find(([first]) => first!.pair_key === pair)!;
    blocks.push(await drilledPair(reading, experiment, names, own, figure));
  }
  const kept =
    all!.pairs > pairs.length
      ? `The page carries the ${counted(pairs.length, "pair")} that differ most, of ${fixed(all!.pairs, 0)}. `
      : "";
  return html`<p class="note">A pair is one scenario in one replicate under every arm. ${kept}Pairs stand by how differently the arms came out: in being cut off, in reward, in duration. ${
    drilled.length > 0 && `Of ${counted(drilled.length, "pair")} every moment was kept; they stand below the table.`
  }</p>
<div id="trial-table" class="trials" data-static>${staticTable(experiment, names, pairs, shownPairs)}</div>
<div id="trial-shown" role="region" aria-label="The trial that was asked for" tabindex="-1" hidden></div>
<script type="application/json" id="trial-data">${inlineJson(dataOf(experiment, pairs, shownPairs))}</script>
${blocks}`;
}

/** `ranked_pairs`: every pair by how differently its arms came out; equal ones in their own order. */
async function rankPairs(reading: Reading): Promise<void> {
  await reading.rows(
    `CREATE OR REPLACE TEMP TABLE ranked_pairs AS
     SELECT pair_key, row_number() OVER (ORDER BY cut DESC, earned DESC, lasted DESC, pair_key)::INTEGER AS rank FROM (
       SELECT pair_key, max(outer_timeout::INTEGER) - min(outer_timeout::INTEGER) AS cut, coalesce(max(reward) - min(reward), 0) AS earned,
         coalesce(max(duration_seconds) - min(duration_seconds), 0) AS lasted FROM trials GROUP BY pair_key)`,
  );
}

function inPairs(rows: readonly TrialRow[]): readonly (readonly TrialRow[])[] {
  const found = new Map<number, TrialRow[]>();
  for (const row of rows) {
    const own = found.get(row.pair_key);
    if (own === undefined) found.set(row.pair_key, [row]);
    else own.push(row);
  }
  return [...found.values()];
}

/** The arms that the first hypothesis holds against each other; where there is none, the first two. Their places, from 0. */
function compared({ arms, hypotheses }: Experiment): { readonly one: number; readonly other: number } {
  const place = (name: string | undefined) => arms.findIndex(({ row }) => row.arm === name);
  const pairs = hypotheses.map(({ arm, against }) => ({ one: place(against), other: place(arm) }));
  return pairs.find(({ one, other }) => one >= 0 && other >= 0 && one !== other) ?? { one: 0, other: 1 };
}

/** Why no replay shows a trial of this run; null: one does. */
function notReplayed({ measured, overrides }: Experiment): string | null {
  if (measured) return "The page does not show it moment by moment, and what was measured cannot be replayed.";
  if (overrides.length === 0) return null;
  return "The page does not show it moment by moment, and neither does a replay, for this run changed settings on the command line. A run at --detail events writes it down.";
}

/** What the script makes its table of: names once, then numbers. */
function dataOf(experiment: Experiment, pairs: readonly (readonly TrialRow[])[], drilled: ReadonlySet<number>) {
  const { arms, row, inputs } = experiment;
  const list = (key: "scenario" | "kind" | "outcome") => [...new Set(pairs.flat().map((each) => each[key] ?? "–"))];
  const [scenarios, kinds, outcomes] = [list("scenario"), list("kind"), list("outcome")];
  const told = TOLD.filter(({ measure }) => pairs.some((pair) => pair.some((each) => each[measure] !== null)));
  return {
    arms: arms.map(({ label }) => label),
    panel: inputs.find(({ path }) => path.endsWith(`${row.panel}.yaml`))?.path ?? `${row.panel}.yaml`,
    called: arms.map(({ row: { arm } }) => printable(arm)),
    ...compared(experiment),
    not_replayed: notReplayed(experiment),
    tasks: row.tasks,
    seed: row.seed,
    scenarios: scenarios.map(printable),
    kinds,
    outcomes,
    measures: told.map(({ measure, title, decimals }) => ({ measure, title, decimals })),
    pairs: pairs.map((pair) => {
      const [first] = pair;
      return [
        ...[first!.pair_key, first!.replicate, scenarios.indexOf(first!.scenario), kinds.indexOf(first!.kind ?? "–")],
        drilled.has(first!.pair_key) ? 1 : 0,
        pair.map((trial) => [
          ...[trial.position - 1, trial.trial_id, outcomes.indexOf(trial.outcome)],
          ...told.map(({ measure, decimals }) => rounded(trial[measure] as number | null, decimals)),
        ]),
      ];
    }),
  };
}

function rounded(value: number | null, decimals: number): number | null {
  return value === null ? null : Number(value.toFixed(decimals));
}

/** The most different pairs, for a page without a script: all arms where they are few, or those that are compared first. */
function staticTable(
  experiment: Experiment,
  names: Names,
  pairs: readonly (readonly TrialRow[])[],
  drilled: ReadonlySet<number>,
): Html {
  const { arms } = experiment;
  const { one, other } = compared(experiment);
  const across = arms.length <= ARMS_ACROSS ? arms : [arms[one]!, arms[other]!];
  const rows = pairs.slice(0, MOST_STATIC).map((pair) => {
    const told = ({ row: { position } }: Arm) => {
      const trial = pair.find((each) => each.position === position);
      return trial === undefined ? "–" : html`${words(trial.outcome)} <small>${seconds(lasted(trial))}</small>`;
    };
    const { pair_key: key, scenario, replicate, kind } = pair[0]!;
    const all = pair.flatMap((trial) => lasted(trial) ?? []);
    return [
      drilled.has(key) ? html`<a href="#pair-${key}"><bdi>${scenario}</bdi></a>` : html`<bdi>${scenario}</bdi>`,
      String(replicate),
      words(kind),
      ...across.map(told),
      all.length < 2 ? "–" : seconds(Math.max(...all) - Math.min(...all)),
    ];
  });
  const caption = `The ${counted(rows.length, "pair")} that differ most`;
  return scrolling(
    caption,
    table(
      caption,
      [
        ...[{ head: "scenario" }, { head: "replicate", number: true }, { head: "kind" }],
        ...across.map(({ row }) => ({ head: names.chip(row.arm) })),
        { head: "durations apart by", number: true },
      ],
      rows,
    ),
  );
}

const lasted = (trial: TrialRow) => trial["duration_seconds"] as number | null;
const words = (name: string | null) => name?.replaceAll("_", " ") ?? "–";
const seconds = (value: number | null) => (value === null ? "–" : `${fixed(value, 1)} s`);

/** One pair moment by moment: the arms stacked on one axis, their journals, and a trace to take along. */
async function drilledPair(
  reading: Reading,
  { arms, row }: Experiment,
  names: Names,
  pair: readonly TrialRow[],
  figure: (pair: number, limit: number | null, name: string) => Promise<Html>,
): Promise<Html> {
  const { pair_key: key, scenario, replicate } = pair[0]!;
  const lines = await reading.rows<JournalLine>(
    `SELECT ${LINE} FROM events WHERE trial_id IN (SELECT trial_id FROM trials WHERE pair_key = $key) ORDER BY trial_id, event_index`,
    { key },
  );
  const order = arms.map(({ row: { arm } }) => arm);
  const trace = JSON.stringify(traceOf(lines, order));
  const came = pair.map(
    (trial) =>
      html`<li id="trial-${trial.trial_id}">${names.chip(order[trial.position - 1]!)}: ${words(trial.outcome)} after ${seconds(lasted(trial))}</li>`,
  );
  return html`<details class="fold pair" id="pair-${key}"><summary><bdi>${scenario}</bdi>, replicate ${replicate}</summary>
<ul class="came">${came}</ul>
${await figure(key, outerLimit(lines), `pair-${key}`)}
<p class="note">Seed ${row.seed}, replicate ${replicate}, amid the other trials of its world. <a download="trial-${key}.trace.json" href="data:application/json;base64,${Buffer.from(trace).toString("base64")}">Take it along as a trace</a> for Perfetto or chrome://tracing.</p>
${journalsOf(lines, arms, names, `pair ${key}`)}</details>`;
}
