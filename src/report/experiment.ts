/**
 * What a file holds, before anything is estimated: the experiment, its arms, its worlds, and whether it is whole.
 *
 * Texts that are JSON are read here and nowhere else. Arms get their short label, their series (what has one colour) and their
 * tag, so that panels of three arms and of thirty-two can be drawn by the same specs.
 */
import { addDigests, type Digest, hex16, noRows } from "../telemetry/digest.ts";
import type { Reading } from "../telemetry/store.ts";
import type { RowOf } from "../telemetry/table.ts";
import {
  type arms,
  type cases,
  type experiments,
  type published,
  SCHEMA_VERSION,
  type worlds,
} from "../telemetry/tables.ts";
import { printable } from "./html.ts";

/** A file or a definition that no report can be made of. The message needs no stack. */
export class ReportError extends Error {
  override readonly name = "ReportError";
}

type ExperimentRow = RowOf<typeof experiments>;
type ArmRow = RowOf<typeof arms>;
type CaseRow = RowOf<typeof cases>;
type WorldRow = RowOf<typeof worlds>;
export type PublishedRow = RowOf<typeof published>;

export interface Arm {
  readonly row: ArmRow;
  /** Its own name, or in a crossed panel its levels; short, printable, and no other arm's. */
  readonly label: string;
  /** Arms of one series share a colour: each its own, or in a large crossed panel those that differ only in `path`. */
  readonly series: string;
  /** What tells arms of one series apart: the level of `path`, or the label. */
  readonly tag: string;
  readonly factors: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly habits: Readonly<Record<string, unknown>>;
  /** Where the panel varies what is around its arms: the arm that it is there, and at which levels; null elsewhere. */
  readonly cell: ArmCell | null;
  /** Null: nobody counts its tokens. */
  readonly provider: Readonly<Record<string, unknown>> | null;
  /** Null: each of its commands runs as if alone. */
  readonly host: Readonly<Record<string, unknown>> | null;
}

interface ArmCell {
  /** As the panel names it. */
  readonly arm: string;
  readonly levels: Readonly<Record<string, string>>;
  /** Whether nothing is changed there. */
  readonly own: boolean;
}

/** As the panel declares it. */
export interface Hypothesis {
  readonly measure: string;
  readonly arm: string;
  /** Left out where it expects a zero: that is held against nothing. */
  readonly against?: string;
  readonly expect: "lower" | "higher" | "not_lower" | "not_higher" | "zero";
  /** So much lower or higher at least, as a share of the other arm's value. */
  readonly by?: number;
  /** So much worse at most, as a share of the other arm's value; left out: nothing. */
  readonly margin?: number;
  /** The same in the measure's own unit. */
  readonly margin_absolute?: number;
  /** Only among trials of this kind; left out: all. */
  readonly kind?: string;
}

/** Of a lock, what a page shows. */
interface Frozen {
  readonly frozen_at: string;
  readonly engine: string;
  readonly seed: number;
  readonly replicates: number;
  readonly hypotheses: readonly Hypothesis[];
  readonly analysis: Readonly<Record<string, string | number>>;
  readonly files: readonly Input[];
}

interface Input {
  readonly path: string;
  readonly sha256: string;
}

/** Which trials are independent of one another, and so what is counted. */
interface Design {
  readonly by: "replicate" | "scenario" | "both";
  /** Whether trials under two arms are pairs; otherwise arms are compared as groups. */
  readonly paired: boolean;
  readonly says: string;
}

/** What nobody measured or published: sentences, and how many trials one run may have had. */
export interface Inferred {
  readonly says: readonly string[];
  readonly trials_in_a_run: { readonly from: number; readonly to: number } | null;
}

export interface Experiment {
  readonly row: ExperimentRow;
  /** Whether a real agent was at work; files from before there were any do not say, and are simulated. */
  readonly measured: boolean;
  readonly arms: readonly Arm[];
  /** The factor along which series are drawn; null where each arm is a series of its own. */
  readonly path: string | null;
  readonly worlds: readonly WorldRow[];
  /** Of a gallery, each scenario of each case; empty elsewhere. */
  readonly cases: readonly CaseRow[];
  readonly published: readonly PublishedRow[];
  /** What is judged as one family: where the panel varies what is around its arms, in the cell in which nothing is changed. */
  readonly hypotheses: readonly Hypothesis[];
  /** The same with the arms as the panel names them. */
  readonly asked: readonly Hypothesis[];
  readonly caveats: readonly string[];
  readonly inferred: Inferred;
  readonly declaredFactors: readonly string[];
  readonly inputs: readonly Input[];
  readonly overrides: readonly string[];
  /** What the panel was checked against before it ran; null: it was not frozen. */
  readonly lock: Frozen | null;
  readonly versions: Readonly<Record<string, unknown>>;
  readonly host: Readonly<Record<string, unknown>>;
  readonly git: { readonly commit?: string; readonly changed?: boolean } | null;
  /** Kinds of trials and scenarios that occur. */
  readonly kinds: readonly string[];
  readonly scenarios: number;
  /** How many trials there are, of all arms. */
  readonly trials: number;
  /** Whether single calls were kept. */
  readonly hasCalls: boolean;
  /** Whether requests to the model were counted. */
  readonly hasRequests: boolean;
  /** Whether trials can be held against the oracle's. */
  readonly hasOracle: boolean;
  readonly design: Design;
  readonly digest: string;
  /** Whether every world that was asked for is there. */
  readonly complete: boolean;
  /** Why no verdict is given; null: one is. */
  readonly withheld: string | null;
}

/** Two arms' mean concurrency may differ by so much. */
export const MATCHED_WITHIN = 0.05;

export async function readExperiment(reading: Reading): Promise<Experiment> {
  const [row] = await reading.rows<ExperimentRow>("SELECT * FROM experiments");
  if (row === undefined) throw new ReportError("the file holds no experiment: run the panel again");
  if (row.schema_version !== SCHEMA_VERSION) {
    throw new ReportError(
      `the file has tables of version ${row.schema_version}, and this is a report on version ${SCHEMA_VERSION}: run the panel again, or use the engine it was made with`,
    );
  }
  const armRows = await reading.rows<ArmRow>("SELECT * REPLACE (arm::VARCHAR AS arm) FROM arms ORDER BY position");
  const worldRows = await reading.rows<WorldRow>("SELECT * FROM worlds ORDER BY replicate");
  const caseRows = await reading.rows<CaseRow>(
    "SELECT * REPLACE (scenario::VARCHAR AS scenario) FROM cases ORDER BY position",
  );
  const publishedRows = await reading.rows<PublishedRow>(
    "SELECT * REPLACE (arm::VARCHAR AS arm, against::VARCHAR AS against) FROM published",
  );
  const kinds = await reading.rows<{ kind: string }>(
    "SELECT DISTINCT kind::VARCHAR AS kind FROM trials WHERE kind IS NOT NULL ORDER BY list_position(['quick', 'long_finite', 'server', 'hanging'], kind::VARCHAR)",
  );
  const [counted] = await reading.rows<{ scenarios: number; trials: number; paid: number; bounded: number }>(
    "SELECT count(DISTINCT scenario)::INTEGER AS scenarios, count(*)::INTEGER AS trials, count(cost_usd)::INTEGER AS paid, count(oracle_seconds)::INTEGER AS bounded FROM trials",
  );
  const { scenarios, trials, paid, bounded } = counted!;
  const declaredFactors = json<string[]>(row.declared_factors, []);
  const path = pathOf(row.crossed, armRows);
  const arms = labelled(armRows, declaredFactors, row.crossed, path);
  const asked = json<Hypothesis[]>(row.hypotheses, []);
  return {
    row,
    measured: row.source === "measured",
    arms,
    path,
    worlds: worldRows,
    cases: caseRows,
    published: publishedRows,
    hypotheses: inOwnCell(asked, arms),
    asked,
    caveats: json<string[]>(row.caveats, []),
    inferred: row.inferred === null ? NOTHING_INFERRED : json(row.inferred, NOTHING_INFERRED),
    declaredFactors,
    inputs: json<Input[]>(row.inputs, []),
    overrides: json<string[]>(row.overrides, []),
    lock: row.lock === null ? null : json<Frozen | null>(row.lock, null),
    versions: json(row.versions, {}),
    host: json(row.host, {}),
    git: json(row.git, null),
    kinds: kinds.map(({ kind }) => kind),
    scenarios,
    trials,
    hasCalls: row.detail !== "trials",
    hasRequests: paid > 0,
    hasOracle: bounded > 0,
    design: designOf(row, worldRows.length, scenarios),
    digest: hex16(worldRows.reduce((sum, world) => addDigests(sum, digestFrom(world)), noRows)),
    complete: worldRows.length >= row.replicates && row.finished_at !== null,
    withheld: withheldBecause(row, worldRows),
  };
}

/** Hypotheses as they stand in the cell in which nothing is changed; as they are where there are no cells. */
function inOwnCell(asked: readonly Hypothesis[], arms: readonly Arm[]): readonly Hypothesis[] {
  if (arms.every(({ cell }) => cell === null)) return asked;
  const own = new Map(arms.flatMap(({ cell, row }) => (cell?.own ? [[cell.arm, row.arm] as const] : [])));
  return asked.flatMap((hypothesis) => {
    const arm = own.get(hypothesis.arm);
    const against = own.get(hypothesis.against ?? "");
    return arm === undefined || against === undefined ? [] : [{ ...hypothesis, arm, against }];
  });
}

function withheldBecause(row: ExperimentRow, worldRows: readonly WorldRow[]): string | null {
  if (worldRows.length < row.replicates) {
    return `incomplete: ${worldRows.length} of ${row.replicates} replicates are in the file`;
  }
  if (row.finished_at === null) return "incomplete: the run never came to its end";
  const apart = worldRows.filter((world) => world.concurrency_gap > MATCHED_WITHIN);
  if (apart.length > 0) {
    const most = Math.max(...apart.map((world) => world.concurrency_gap));
    const where = apart.length === 1 ? `in replicate ${apart[0]!.replicate}` : `in ${apart.length} replicates`;
    return `arms did not run at the same concurrency: it differs by up to ${(most * 100).toFixed(0)} % ${where}, where ${MATCHED_WITHIN * 100} % is allowed`;
  }
  return null;
}

const NOTHING_INFERRED: Inferred = { says: [], trials_in_a_run: null };

function designOf({ population, paired, source }: ExperimentRow, replicates: number, scenarios: number): Design {
  if (!paired) {
    return {
      by: "scenario",
      paired: false,
      says: "Trials of two arms are no pairs here, so arms are compared as groups: Fisher's exact test for outer timeouts, with Newcombe's interval; Welch's t interval over scenarios for means. What the arms have in common is not taken off the noise.",
    };
  }
  if (source === "measured" && scenarios > 1) {
    return {
      by: "scenario",
      paired: true,
      says: "Every arm met the same scenarios, so trials are pairs, and scenarios are what is independent, however often each was tried: intervals are over scenarios, and n counts them.",
    };
  }
  if (replicates < 2) {
    return {
      by: "scenario",
      paired: true,
      says: "There is one replicate, so intervals are over scenarios: they say how much these scenarios vary, and not what another world would give.",
    };
  }
  if (population) {
    return {
      by: "replicate",
      paired: true,
      says: "Tasks are redrawn in each replicate, so replicates are what is independent: intervals are over replicates, and n counts them.",
    };
  }
  if (scenarios < 2) {
    return {
      by: "replicate",
      paired: true,
      says: "One scenario recurs in every replicate: intervals are over replicates, and say nothing of other scenarios.",
    };
  }
  return {
    by: "both",
    paired: true,
    says: "The same scenarios recur in every replicate, so trials hang together both ways: intervals are clustered by scenario and by replicate, and n is the smaller number.",
  };
}

function digestFrom({ digest, rows }: WorldRow): Digest {
  if (!/^[0-9a-f]{16}$/.test(digest))
    throw new ReportError(`a world's digest is sixteen hexadecimal digits, not ${digest}`);
  return { rows, high: Number.parseInt(digest.slice(0, 8), 16), low: Number.parseInt(digest.slice(8), 16) };
}

/** Up to so many arms have a colour each. */
const COLOURED_SINGLY = 8;

/** In a large crossed panel, the factor with the most levels; never the policy, whose levels stand in no order. */
function pathOf(crossed: boolean, rows: readonly ArmRow[]): string | null {
  if (!crossed || rows.length <= COLOURED_SINGLY) return null;
  const levels = new Map<string, Set<string>>();
  for (const row of rows) {
    for (const [factor, level] of Object.entries(json<Record<string, string>>(row.factors, {}))) {
      if (factor === "policy") continue;
      levels.set(factor, (levels.get(factor) ?? new Set()).add(level));
    }
  }
  const [first] = [...levels].toSorted(([, a], [, b]) => b.size - a.size);
  return first?.[0] ?? null;
}

const LABEL_LENGTH = 40;

function labelled(
  rows: readonly ArmRow[],
  declared: readonly string[],
  crossed: boolean,
  path: string | null,
): readonly Arm[] {
  const taken = new Set<string>();
  return rows.map((row) => {
    const factors = json<Record<string, string>>(row.factors, {});
    const levels = (names: readonly string[]) => names.map((name) => factors[name] ?? "–").join(" · ");
    const cell = row.cell === null ? null : json<ArmCell | null>(row.cell, null);
    const name = cell?.own ? cell.arm : row.arm;
    const label = unique(short(crossed && declared.length > 0 && cell === null ? levels(declared) : name), taken);
    const others = declared.filter((name) => name !== path);
    return {
      row,
      label,
      cell,
      series: path === null ? label : short(levels(others) || "all arms"),
      tag: path === null ? label : short(factors[path] ?? "–"),
      factors,
      settings: json(row.settings, {}),
      habits: json(row.habits, {}),
      provider: row.provider === null ? null : json(row.provider, {}),
      host: row.host === null ? null : json(row.host, {}),
    };
  });
}

/** A name for an axis or a column: one line, and not longer than there is room for. */
export function short(name: string, length = LABEL_LENGTH): string {
  const line = printable(name).replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

function unique(label: string, taken: Set<string>): string {
  let name = label;
  for (let again = 2; taken.has(name); again += 1) name = `${label} (${again})`;
  taken.add(name);
  return name;
}

/** What a text holds as JSON; `otherwise` if it is none, since a report is no place to fail over a note on the host. */
function json<T>(text: string, otherwise: T): T {
  try {
    return (JSON.parse(text) as T | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}
