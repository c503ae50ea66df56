/**
 * How fast rows reach a closed, checkpointed file: column by column as a run writes them, and row by row with DuckDB's own
 * writer. Timed from the first row to the closed file; making the data is not timed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DuckDBDataChunkWriter,
  DuckDBDecimalValue,
  DuckDBInstance,
  type DuckDBValue,
  listValue,
} from "@duckdb/node-api";
import { keyed, pick } from "../../src/random.ts";
import { Collector, openStore } from "../../src/telemetry/store.ts";
import {
  type Batch,
  big,
  ddl,
  flag,
  listOf,
  oneOf,
  openBatch,
  orNull,
  type RowOf,
  real,
  seconds,
  table,
  whole,
} from "../../src/telemetry/table.ts";

const kinds = ["quick", "long_finite", "hanging", "server"] as const;
const statuses = ["running", "completed", "cut_off"] as const;
const outcomes = ["exited", "cap", "budget", "not_reached"] as const;
const reasons = ["remaining_run_budget", "client_call_limit"] as const;
const reasonLists = [[], [], [], [reasons[0]], [reasons[0], reasons[1]]];

/** The shape of `shell_invocations`: mostly words, moments and lengths, some of them null. */
const calls = table("calls", "one row for each call", {
  trial_id: whole("trial"),
  call_index: whole("call"),
  replicate: whole("replicate"),
  experiment_id: big("experiment"),
  arm: oneOf("arm", "arm"),
  scenario: oneOf("scenario", "scenario"),
  command: oneOf("command", "command"),
  kind: oneOf(kinds, "kind"),
  status: oneOf(statuses, "status"),
  auto_await_outcome: orNull(oneOf(outcomes, "outcome")),
  auto_await_clamp_reasons: orNull(listOf(reasons, "reasons")),
  background: flag("background"),
  returned_running: flag("running"),
  clamped: orNull(flag("clamped")),
  exit_code: orNull(whole("code")),
  started_seconds: seconds("start"),
  ended_seconds: orNull(seconds("end")),
  foreground_initial_yield_seconds: seconds("yield"),
  configured_auto_await_cap_seconds: seconds("configured"),
  effective_auto_await_cap_seconds: orNull(seconds("effective")),
  foreground_auto_await_elapsed_seconds: orNull(seconds("elapsed")),
  time_to_first_control_seconds: orNull(seconds("control")),
  remaining_run_seconds_before: orNull(seconds("before")),
  remaining_run_seconds_after: orNull(seconds("after")),
  load: real("load"),
});

const dictionaries = {
  arm: ["control", "treatment", "budgeted"],
  scenario: Array.from({ length: 12 }, (_, n) => `scenario-${n}`),
  command: Array.from({ length: 60 }, (_, n) => `pytest -q tests/part_${n}`),
};

type Call = RowOf<typeof calls>;

const CALLS_IN_A_TRIAL = 40;
const CALLS_IN_A_WORLD = 10_000;

/** Worlds through the collector: pushed into a batch, gathered, committed. Rows a second, all on this thread. */
export async function rowsPerSecond(rows: number): Promise<number> {
  const drawn = drawnCalls();
  return perSecond(rows, async (path) => {
    const store = await openStore(path, [calls], dictionaries);
    const began = performance.now();
    const collector = new Collector(store);
    const world = openBatch(calls, dictionaries);
    for (let row = 0; row < rows; row += 1) {
      if (row > 0 && row % CALLS_IN_A_WORLD === 0) {
        await collector.take([world]);
        world.clear();
      }
      push(world, row, drawn[row % drawn.length]!);
    }
    await collector.take([world]);
    await collector.close();
    await store.close();
    return performance.now() - began;
  });
}

/** The same rows through `DuckDBDataChunkWriter`. */
export async function rowByRowPerSecond(rows: number): Promise<number> {
  const drawn = drawnCalls().map(valuesOf);
  return perSecond(rows, async (path) => {
    const instance = await DuckDBInstance.create(path, { threads: "1", memory_limit: "256MB" });
    const connection = await instance.connect();
    await connection.run(ddl(calls, dictionaries));
    const appender = await connection.createAppender(calls.name);
    const began = performance.now();
    const writer = DuckDBDataChunkWriter.forAppender(appender);
    for (let row = 0; row < rows; row += 1) {
      const values = drawn[row % drawn.length]!;
      values[0] = Math.floor(row / CALLS_IN_A_TRIAL);
      writer.appendRow(values);
    }
    writer.flush();
    appender.flushSync();
    appender.closeSync();
    await connection.run("CHECKPOINT");
    connection.closeSync();
    instance.closeSync();
    return performance.now() - began;
  });
}

async function perSecond(rows: number, write: (path: string) => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "yieldpoint-rows-"));
  try {
    return (rows / (await write(join(folder, "rows.duckdb")))) * 1_000;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function push({ columns }: Batch<(typeof calls)["columns"]>, row: number, call: Call): void {
  columns.trial_id.push(Math.floor(row / CALLS_IN_A_TRIAL));
  columns.call_index.push(call.call_index);
  columns.replicate.push(call.replicate);
  columns.experiment_id.push(call.experiment_id);
  columns.arm.push(call.arm);
  columns.scenario.push(call.scenario);
  columns.command.push(call.command);
  columns.kind.push(call.kind);
  columns.status.push(call.status);
  columns.auto_await_outcome.push(call.auto_await_outcome);
  columns.auto_await_clamp_reasons.push(call.auto_await_clamp_reasons);
  columns.background.push(call.background);
  columns.returned_running.push(call.returned_running);
  columns.clamped.push(call.clamped);
  columns.exit_code.push(call.exit_code);
  columns.started_seconds.push(call.started_seconds);
  columns.ended_seconds.push(call.ended_seconds);
  columns.foreground_initial_yield_seconds.push(call.foreground_initial_yield_seconds);
  columns.configured_auto_await_cap_seconds.push(call.configured_auto_await_cap_seconds);
  columns.effective_auto_await_cap_seconds.push(call.effective_auto_await_cap_seconds);
  columns.foreground_auto_await_elapsed_seconds.push(call.foreground_auto_await_elapsed_seconds);
  columns.time_to_first_control_seconds.push(call.time_to_first_control_seconds);
  columns.remaining_run_seconds_before.push(call.remaining_run_seconds_before);
  columns.remaining_run_seconds_after.push(call.remaining_run_seconds_after);
  columns.load.push(call.load);
}

/** Distinct calls to take rows from, in turn; moments and lengths in milliseconds. */
function drawnCalls(): Call[] {
  return Array.from({ length: 1 << 13 }, (_, n) => {
    const key = keyed.within(keyed.seeded(1), n);
    let ordinal = 1;
    const below = (limit: number) => pick(keyed, key, limit, ordinal++);
    const from = <T>(things: readonly T[]) => things[below(things.length)]!;
    const sometimes = <T>(value: T) => (below(4) === 0 ? null : value);
    return {
      trial_id: 0,
      call_index: n % CALLS_IN_A_TRIAL,
      replicate: below(500),
      experiment_id: 4_503_599_627_370_495,
      arm: from(dictionaries.arm),
      scenario: from(dictionaries.scenario),
      command: from(dictionaries.command),
      kind: from(kinds),
      status: from(statuses),
      auto_await_outcome: sometimes(from(outcomes)),
      auto_await_clamp_reasons: sometimes(from(reasonLists)),
      background: below(10) === 0,
      returned_running: below(3) === 0,
      clamped: sometimes(below(2) === 0),
      exit_code: sometimes(below(3)),
      started_seconds: below(5_400_000),
      ended_seconds: sometimes(below(5_400_000)),
      foreground_initial_yield_seconds: below(10_000),
      configured_auto_await_cap_seconds: 240_000,
      effective_auto_await_cap_seconds: sometimes(below(240_000)),
      foreground_auto_await_elapsed_seconds: sometimes(below(240_000)),
      time_to_first_control_seconds: sometimes(below(250_000)),
      remaining_run_seconds_before: sometimes(below(5_400_000)),
      remaining_run_seconds_after: sometimes(below(5_400_000)),
      load: keyed.uniform(key),
    };
  });
}

function valuesOf(call: Call): DuckDBValue[] {
  return Object.entries(calls.columns).map(([name, { kind }]) => {
    const value = call[name as keyof Call];
    if (value === null) return null;
    if (typeof value === "object") return listValue(value);
    if (kind === "seconds") return new DuckDBDecimalValue(BigInt(value as number), 15, 3);
    return kind === "big" ? BigInt(value as number) : (value as DuckDBValue);
  });
}
