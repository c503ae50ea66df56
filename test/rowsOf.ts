/** A trial's rows as objects, to be compared whole. */
import type { Grade } from "../src/agent/grading.ts";
import {
  foldTrial,
  openInvocations,
  openNotices,
  openRequests,
  openTrials,
  openWaits,
  type TrialFacts,
} from "../src/telemetry/rows.ts";
import { type Batch, type Cells, type Columns, isValid, type RowOf, type Table } from "../src/telemetry/table.ts";
import type { notices, processWaits, providerRequests, shellInvocations, trials } from "../src/telemetry/tables.ts";
import type { EndedTrial } from "../src/world/simulated.ts";

export interface Rows {
  readonly trial: RowOf<typeof trials>;
  readonly invocations: readonly RowOf<typeof shellInvocations>[];
  readonly waits: readonly RowOf<typeof processWaits>[];
  readonly requests: readonly RowOf<typeof providerRequests>[];
  readonly notices: readonly RowOf<typeof notices>[];
}

export function rowsOf(
  { events, afterCut, startedAt, endedAt, concurrency }: EndedTrial,
  grade: Grade | null = null,
  more: Pick<TrialFacts, "service" | "oracle"> = {},
): Rows {
  const commands = events.flatMap((event) => (event.event === "exec_called" ? [event.command.line] : []));
  const { into, calls } = opened([...new Set(commands)]);
  const facts = {
    trialId: 1,
    experimentId: "it",
    arm: "arm",
    scenario: "scenario",
    kind: "quick",
    replicate: 1,
    pairKey: 1,
    startedAt,
    endedAt,
    concurrency,
    grade,
    afterCut,
    ...more,
  } as const;
  foldTrial(events, facts, into, calls);
  return {
    trial: rows(into)[0]!,
    invocations: rows(calls.invocations),
    waits: rows(calls.waits),
    requests: rows(calls.requests),
    notices: rows(calls.notices),
  };
}

const known = new Map<string, ReturnType<typeof open>>();

/** Empty batches for these commands; the same ones again, since opening them costs more than a trial does. */
function opened(commands: readonly string[]): ReturnType<typeof open> {
  const key = JSON.stringify(commands);
  const batches = known.get(key) ?? open(commands);
  known.set(key, batches);
  for (const batch of [batches.into, ...Object.values(batches.calls)]) batch.clear();
  return batches;
}

function open(command: readonly string[]) {
  const dictionaries = { experiment: ["it"], arm: ["arm"], scenario: ["scenario"], command };
  return {
    into: openTrials(dictionaries),
    calls: {
      invocations: openInvocations(dictionaries),
      waits: openWaits(dictionaries),
      requests: openRequests(dictionaries),
      notices: openNotices(dictionaries),
    },
  };
}

/** Whatever was pushed into a batch. Sealed first, so that a column that was forgotten is a failure. */
export function rows<C extends Columns>(batch: Batch<C>): RowOf<Table<C>>[] {
  batch.seal();
  const names = Object.keys(batch.table.columns);
  return Array.from(
    { length: batch.rows },
    (_, row) => Object.fromEntries(names.map((name, at) => [name, cell(batch.cells[at]!, row)])) as RowOf<Table<C>>,
  );
}

function cell(cells: Cells, row: number): unknown {
  if (!isValid(cells, row)) return null;
  switch (cells.kind) {
    case "whole":
    case "real":
    case "text":
      return cells.values[row]!;
    case "flag":
      return cells.values[row] === 1;
    case "big":
    case "seconds":
    case "dollars": {
      const long = cells.values[2 * row + 1]! * 2 ** 32 + (cells.values[2 * row]! >>> 0);
      return cells.kind === "seconds" ? long / 1_000 : cells.kind === "dollars" ? long / 1e6 : long;
    }
    case "oneOf":
      return cells.words.stored[cells.values[row]!]!;
    case "listOf":
      return cells.lists[cells.values[row]!]!.map((code) => cells.words.stored[code]!);
  }
}
