/**
 * Trials that somebody else has measured, as the tables have them.
 *
 * Columns are called as in `trials`; what was not measured is left out and stays unknown, never 0. Everything that is wrong with the
 * rows is found before anything is written, each fault with its row and column.
 */
import { nearest, shown } from "../scenario/fault.ts";
import type { Measured } from "../scenario/load.ts";
import { addDigests, type Digest, digestOf, hex16, noRows } from "../telemetry/digest.ts";
import type { ForeignTable } from "../telemetry/store.ts";
import { type Batch, type Column, type Dictionaries, openBatch } from "../telemetry/table.ts";
import { arms, experiments, measuredTrials, SCHEMA_VERSION, worlds } from "../telemetry/tables.ts";

/** Of `trials`, what no measurement brings: it is made here, or only a simulation knows it. */
const OURS = new Set([
  ...["trial_id", "experiment_id", "replicate", "pair_key", "ended_seconds"],
  ...["oracle_reward", "oracle_seconds", "realised_concurrency"],
]);

/** How a column of measured trials is called, and what of. `attempt` stands for `replicate`. */
export const IMPORTABLE: Readonly<Record<string, Column>> = Object.fromEntries([
  ...Object.entries(measuredTrials.columns).filter(([name]) => !OURS.has(name)),
  ["attempt", { ...measuredTrials.columns.replicate, says: "which run of the scenario under this arm, from 1" }],
]);

/** The head of a table, as a template. */
export const TEMPLATE =
  "arm,scenario,attempt,outer_timeout,reward,duration_seconds,finalized,tool_calls,provider_calls,cost_usd";

type Value = string | number | boolean | null;

/** One trial: its values in the units of the tables, whole milliseconds and millionths of a dollar among them. */
interface Trial {
  readonly arm: string;
  readonly scenario: string;
  readonly attempt: number;
  readonly values: Readonly<Record<string, Value>>;
}

export interface Imported {
  readonly arms: readonly string[];
  readonly scenarios: readonly string[];
  readonly attempts: number;
  readonly trials: readonly Trial[];
  /** Whether every arm has the same scenarios and attempts, so that trials are pairs. */
  readonly paired: boolean;
}

/** @param file as messages name it */
export function importedFrom(
  { columns, rows }: ForeignTable,
  file: string,
  about: Measured | null,
): { readonly imported: Imported } | { readonly faults: readonly string[] } {
  const faults: string[] = [];
  for (const name of columns) {
    if (Object.hasOwn(IMPORTABLE, name)) continue;
    const near = nearest(name, Object.keys(IMPORTABLE));
    faults.push(
      `${file}: ${shown(name)} is not a column of measured trials${near === null ? "; import --template names some, the README all" : `; did you mean ${near}?`}`,
    );
  }
  for (const name of ["arm", "scenario"])
    if (!columns.includes(name)) faults.push(`${file}: ${name} is missing: expected a column of that name`);
  if (!columns.includes("outer_timeout") && !columns.includes("outcome")) {
    faults.push(`${file}: outer_timeout is missing: expected it, or outcome, which says it too`);
  }
  if (rows.length === 0) faults.push(`${file}: there are no rows: expected a trial in each`);
  if (rows.length === 0 || !columns.includes("arm") || !columns.includes("scenario")) return { faults };

  const seen = new Map<string, number>();
  const trials = rows.map((row, index): Trial => {
    const place = (column: string) => `${file}: row ${index + 2}: ${column}`;
    const values: Record<string, Value> = {};
    for (const [at, name] of columns.entries()) {
      if (!Object.hasOwn(IMPORTABLE, name)) continue;
      const cell = row[at] ?? null;
      const read = cell === null ? { value: null } : readCell(cell, IMPORTABLE[name]!);
      if ("expected" in read) faults.push(`${place(name)} is ${shown(cell)}: expected ${read.expected}`);
      else values[name] = read.value;
    }
    for (const name of ["arm", "scenario"])
      if (values[name] === null) faults.push(`${place(name)} is empty: expected a name`);
    const fault = timeoutFault(values);
    if (fault !== null) faults.push(`${place("outer_timeout")} ${fault}`);
    const [arm, scenario] = [String(values["arm"] ?? ""), String(values["scenario"] ?? "")];
    const key = JSON.stringify([arm, scenario]);
    const attempt = (values["attempt"] as number | null | undefined) ?? (seen.get(key) ?? 0) + 1;
    seen.set(key, Math.max(attempt, seen.get(key) ?? 0));
    return { arm, scenario, attempt, values };
  });
  const twice = new Map<string, number>();
  for (const [index, { arm, scenario, attempt }] of trials.entries()) {
    const key = JSON.stringify([arm, scenario, attempt]);
    const before = twice.get(key);
    if (before !== undefined)
      faults.push(
        `${file}: row ${index + 2}: attempt ${attempt} of ${shown(scenario)} under ${shown(arm)} stands in row ${before} already: number them`,
      );
    else twice.set(key, index + 2);
  }
  const names = [...new Set(trials.map(({ arm }) => arm))];
  faults.push(...armFaults(names, about));
  if (faults.length > 0) return { faults };
  const order = about?.arms?.map(({ arm }) => arm) ?? names;
  const keys = names.map((name) =>
    trials.filter(({ arm }) => arm === name).map(({ scenario, attempt }) => JSON.stringify([scenario, attempt])),
  );
  const first = new Set(keys[0]);
  return {
    imported: {
      arms: order,
      scenarios: [...new Set(trials.map(({ scenario }) => scenario))],
      attempts: Math.max(...trials.map(({ attempt }) => attempt)),
      trials,
      paired:
        about?.pairs !== "unknown" &&
        keys.every((each) => each.length === first.size && each.every((key) => first.has(key))),
    },
  };
}

/** What a cell says, in the units of the tables; or what was expected there. */
export function readCell(
  cell: string,
  { kind, words }: Pick<Column, "kind" | "words">,
): { readonly value: Value } | { readonly expected: string } {
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell.trim()) ? Number(cell) : Number.NaN;
  switch (kind) {
    case "flag": {
      const word = cell.trim().toLowerCase();
      if (["true", "t", "yes", "1"].includes(word)) return { value: true };
      if (["false", "f", "no", "0"].includes(word)) return { value: false };
      return { expected: "true or false" };
    }
    case "whole":
    case "big":
      return Number.isSafeInteger(number) && number >= 0 && (kind === "big" || number < 2 ** 31)
        ? { value: number }
        : { expected: "a whole number, zero or more" };
    case "seconds":
      return number >= 0 && number < 1e11
        ? { value: Math.round(number * 1_000) }
        : { expected: "a length of time in seconds, zero or more" };
    case "dollars":
      return number >= 0 && number < 1e9
        ? { value: Math.round(number * 1e6) }
        : { expected: "US dollars, zero or more" };
    case "real":
      return number >= 0 && number <= 1 ? { value: number } : { expected: "a share, 0 to 1" };
    default: {
      if (Array.isArray(words) && !words.includes(cell))
        return { expected: words.join(", ").replace(/, ([^,]*)$/, " or $1") };
      return { value: cell };
    }
  }
}

/** Why a row's outcome and its timeout cannot both be; null if they can. Fills in what one says of the other. */
function timeoutFault(values: Record<string, Value>): string | null {
  const outcome = values["outcome"] ?? null;
  const cut = values["outer_timeout"] ?? null;
  if (outcome === null && cut === null) return "is empty: expected true or false, or an outcome";
  const isCut = outcome === null ? cut === true : outcome === "outer_timeout";
  if (cut !== null && cut !== isCut) return `is ${cut} beside the outcome ${String(outcome)}: expected them to agree`;
  values["outer_timeout"] = isCut;
  values["outcome"] = outcome ?? (isCut ? "outer_timeout" : values["finalized"] === true ? "submitted" : "ended");
  return null;
}

function armFaults(names: readonly string[], about: Measured | null): readonly string[] {
  if (about === null) return [];
  const told = about.arms?.map(({ arm }) => arm) ?? names;
  const refers = (about.hypotheses ?? []).flatMap(({ arm, against }) =>
    against === undefined ? [arm] : [arm, against],
  );
  return [
    ...told
      .filter((arm) => !names.includes(arm))
      .map((arm) => `${about.file}: arms: ${shown(arm)} has no trial: expected one of ${names.map(shown).join(", ")}`),
    ...names
      .filter((arm) => !told.includes(arm))
      .map((arm) => `${about.file}: arms: ${shown(arm)} is missing: it has trials`),
    ...[...new Set(refers)]
      .filter((arm) => !names.includes(arm))
      .map(
        (arm) =>
          `${about.file}: hypotheses: ${shown(arm)} has no trial: expected one of ${names.map(shown).join(", ")}`,
      ),
  ];
}

/** All about an import that its trials do not say. Texts are as they go into the database. */
export interface ImportFacts {
  readonly experimentId: string;
  readonly name: string;
  readonly inputs: readonly { readonly path: string; readonly sha256: string }[];
  readonly inputDigest: string;
  readonly versions: string;
  readonly git: string;
  readonly host: string;
  readonly command: string;
  readonly at: string;
}

const QUESTION = "How do the measured arms differ?";

export function dictionariesOf({ arms: names, scenarios }: Imported, experimentId: string): Dictionaries {
  return { experiment: [experimentId], arm: names, scenario: scenarios, command: [] };
}

/** Everything there is to write, world by world: an attempt at every scenario is one. */
export function importedRows(imported: Imported, about: Measured | null, facts: ImportFacts): readonly Batch[] {
  const dictionaries = dictionariesOf(imported, facts.experimentId);
  const attempts = [...new Set(imported.trials.map(({ attempt }) => attempt))].sort((a, b) => a - b);
  let last = 0;
  const perAttempt = attempts.flatMap((attempt): readonly Batch[] => {
    const batch = openBatch(measuredTrials, dictionaries);
    for (const trial of imported.trials) {
      if (trial.attempt !== attempt) continue;
      last += 1;
      push(batch as Batch, {
        ...Object.fromEntries(Object.keys(measuredTrials.columns).map((name) => [name, trial.values[name] ?? null])),
        ...placed(trial, last, imported, facts),
      });
    }
    return [batch as Batch, worldRow(batch as Batch, attempt, imported, dictionaries)];
  });
  return [
    experimentRow(imported, about, attempts.length, facts, dictionaries),
    armRows(imported, about, dictionaries),
    ...perAttempt,
  ];
}

function placed(
  { arm, scenario, attempt }: Trial,
  id: number,
  { scenarios }: Imported,
  { experimentId }: ImportFacts,
): Record<string, Value> {
  const pair = (attempt - 1) * scenarios.length + scenarios.indexOf(scenario) + 1;
  return { trial_id: id, experiment_id: experimentId, arm, scenario, replicate: attempt, pair_key: pair };
}

function push(batch: Batch, values: Readonly<Record<string, Value>>): void {
  for (const [name, column] of Object.entries(batch.columns)) column.push((values[name] ?? null) as never);
}

function experimentRow(
  imported: Imported,
  about: Measured | null,
  attempts: number,
  facts: ImportFacts,
  dictionaries: Dictionaries,
): Batch {
  const { inferred, trials_in_a_run: run } = about ?? {};
  const batch = openBatch(experiments, dictionaries) as Batch;
  push(batch, {
    experiment_id: facts.experimentId,
    schema_version: SCHEMA_VERSION,
    source: "measured",
    panel: facts.name,
    question: about?.question ?? QUESTION,
    input_digest: facts.inputDigest,
    inputs: JSON.stringify(facts.inputs),
    seed: 0,
    replicates: attempts,
    concurrency_per_arm: 0,
    cut_grace_seconds: 0,
    detail: "trials",
    paired: imported.paired,
    population: false,
    tasks: imported.scenarios.length,
    declared_factors: "[]",
    crossed: false,
    hypotheses: JSON.stringify(about?.hypotheses ?? []),
    caveats: JSON.stringify(about?.caveats ?? []),
    inferred:
      inferred === undefined && run === undefined
        ? null
        : JSON.stringify({ says: inferred ?? [], trials_in_a_run: run ?? null }),
    overrides: "[]",
    lock: null,
    versions: facts.versions,
    git: facts.git,
    host: facts.host,
    command: facts.command,
    started_at: facts.at,
    finished_at: facts.at,
  });
  return batch;
}

function armRows({ arms: names }: Imported, about: Measured | null, dictionaries: Dictionaries): Batch {
  const batch = openBatch(arms, dictionaries) as Batch;
  for (const [index, arm] of names.entries()) {
    const told = about?.arms?.find((each) => each.arm === arm);
    push(batch, {
      position: index + 1,
      arm,
      says: told?.says ?? "",
      policy: told?.policy ?? "not told",
      profile: told?.profile ?? "not told",
      budget: "untold",
      settings: "{}",
      habits: "{}",
      provider: null,
      host: null,
      cut_reaches: "agent",
      factors: "{}",
      of_case: null,
      cell: null,
    });
  }
  return batch;
}

function worldRow(trials: Batch, attempt: number, { arms: names }: Imported, dictionaries: Dictionaries): Batch {
  const digest = addDigests(noRows, digestOf(trials)) as Digest;
  const batch = openBatch(worlds, dictionaries) as Batch;
  push(batch, {
    replicate: attempt,
    digest: hex16(digest),
    rows: digest.rows,
    delivered_events: 0,
    ended_seconds: 0,
    first_queue_empty_seconds: 0,
    mean_concurrency: JSON.stringify(Object.fromEntries(names.map((name) => [name, 0]))),
    concurrency_gap: 0,
    occupancy: JSON.stringify(Object.fromEntries(names.map((name) => [name, []]))),
  });
  return batch;
}
