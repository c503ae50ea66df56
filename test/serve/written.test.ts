/** A session as the tables have it. */
import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import { type SessionFacts, sessionRows } from "../../src/serve/written.ts";
import type { Batch, RowOf } from "../../src/telemetry/table.ts";
import type { arms, experiments, processWaits, shellInvocations, trials } from "../../src/telemetry/tables.ts";
import { command, lasts } from "../aRun.ts";
import { rows } from "../rowsOf.ts";
import { type Served, type ServedSpec, served } from "./inMemory.ts";

interface Tables {
  readonly experiments: readonly RowOf<typeof experiments>[];
  readonly arms: readonly RowOf<typeof arms>[];
  readonly trials: readonly RowOf<typeof trials>[];
  readonly shell_invocations: readonly RowOf<typeof shellInvocations>[];
  readonly process_waits: readonly RowOf<typeof processWaits>[];
  readonly events: readonly { readonly event: string; readonly journal: string | null }[];
}

function written({ session }: Served): Tables {
  const endedAt = session.end();
  const facts: SessionFacts = {
    session: "serve-test",
    policy: { policy: "mine", says: "a policy of a test" },
    settings: session.settings,
    budget: session.budget,
    client: "test 0",
    inputs: [{ path: "mine.yaml", sha256: "ab" }],
    inputDigest: "cd",
    overrides: [],
    versions: "{}",
    git: "null",
    host: "{}",
    command: "yieldpoint serve",
    startedAt: "2026-11-30T12:00:00.000Z",
    finishedAt: "2026-11-30T13:00:00.000Z",
  };
  const { batches } = sessionRows(session.events, endedAt, facts);
  return Object.fromEntries(batches.map((batch) => [batch.table.name, rows(batch as Batch)])) as unknown as Tables;
}

/** A session in which a test does something, and what was written of it. */
async function after(spec: ServedSpec, work: (served: Served) => Promise<unknown>): Promise<Tables> {
  const whole = await served(spec);
  await work(whole);
  return written(whole);
}

describe("a session", () => {
  test("is an experiment of one arm and one trial, measured", async () => {
    const tables = await after({ told: 5_400 }, ({ to }) => to(60));
    expect(tables.experiments).toMatchObject([
      {
        experiment_id: "serve-test",
        source: "measured",
        panel: "served session",
        replicates: 1,
        tasks: 1,
        detail: "events",
      },
    ]);
    expect(tables.arms).toMatchObject([{ arm: "mine", policy: "mine", profile: "test 0", budget: "5400" }]);
    expect(JSON.parse(tables.arms[0]!.settings)).toMatchObject({ foreground_auto_await_max_seconds: 30 });
    expect(tables.trials).toMatchObject([
      {
        arm: "mine",
        duration_seconds: 60,
        outcome: "ended",
        outer_timeout: false,
        reward: null,
        finalized: null,
        committed: null,
        tool_calls: 0,
        model_seconds: 60,
      },
    ]);
    expect(tables.events.map(({ event, journal }) => [event, journal])).toEqual([
      ["trial_began", null],
      ["session_ended", "ended"],
    ]);
  });

  test("that lasts to the end of its run was cut off, and so was the wait that it ended in", async () => {
    const tables = await after({ told: 100, reserve: 0 }, async ({ call, done, to }) => {
      await done("exec", { command: "x", background: true });
      await to(90);
      call("process", { action: "wait", process_id: "process-1" }).catch(() => {});
      await to(100);
      call("exec", { command: "y" }).catch(() => {});
      await to(103);
    });
    expect(tables.trials).toMatchObject([{ outcome: "outer_timeout", outer_timeout: true, processes_left_running: 2 }]);
    expect(tables.process_waits).toMatchObject([{ actual_wait_seconds: 10, process_status_after_wait: "running" }]);
    expect(tables.shell_invocations.at(-1)).toMatchObject({ command: "y", status: "cut_off", returned_seconds: null });
  });

  test("has a row for every call, those that were turned down included", async () => {
    const tables = await after({ commands: { quick: command(lasts(2)) } }, async ({ done }) => {
      await done("exec", { command: "quick" });
      await done("exec", {});
      await done("process", { action: "wait", process_id: "process-1", wait_sec: -1 });
      await done("process", { action: "wait", process_id: "process-9" });
      await done("process", { action: "dance" });
    });
    expect(tables.shell_invocations.map(({ call_index, command, status }) => [call_index, command, status])).toEqual([
      [1, "quick", "completed"],
      [2, "", "refused"],
    ]);
    expect(
      tables.process_waits.map(({ call_index, action, process_status_after_wait: status }) => [
        call_index,
        action,
        status,
      ]),
    ).toEqual([
      [3, "wait", "refused"],
      [4, "wait", "refused"],
    ]);
    expect(tables.events.at(-2)?.journal).toMatch(/^refused .*action is "dance"/);
  });

  test("knows the kind of a command from what became of it", async () => {
    const commands = {
      quick: command(lasts(2)),
      long: command(lasts(15)),
      late: command(lasts(40)),
      job: command(lasts(12)),
    };
    const tables = await after({ commands }, async ({ done, to }) => {
      for (const line of ["quick", "long", "late", "never"]) await done("exec", { command: line });
      await done("exec", { command: "server", background: true });
      await done("exec", { command: "job", background: true });
      await to(200);
    });
    expect(Object.fromEntries(tables.shell_invocations.map(({ command: line, kind }) => [line, kind]))).toEqual({
      quick: "quick",
      long: "long_finite",
      late: "long_finite",
      never: "hanging",
      server: null,
      job: "long_finite",
    });
    expect(tables.trials).toMatchObject([{ kind: "hanging", processes_left_running: 2 }]);
  });

  test("stops remembering once it has ended", async () => {
    const whole = await served();
    const pending = whole.call("exec", { command: "x" });
    await whole.to(5);
    written(whole);
    const count = whole.session.events.length;
    await whole.to(60);
    await pending;
    expect(whole.session.events).toHaveLength(count);
    expect(await whole.call("exec", { command: "y" })).toMatchObject({ isError: true, text: "the session has ended" });
  });
});

describe("calls side by side", () => {
  test("each have a row of their own, with what they were granted and when they returned", async () => {
    const settings = { foreground_auto_await_max_seconds: 20 } as const;
    const { shell_invocations, process_waits } = await after(
      { settings, told: 1_000, reserve: 500 },
      async ({ call, done, to }) => {
        await done("exec", { command: "server", background: true });
        const both = [call("exec", { command: "x" })];
        await to(3);
        both.push(call("process", { action: "wait", process_id: "process-1", wait_sec: 60 }));
        await to(5);
        both.push(call("exec", { command: "y", timeout: 30 }));
        await to(100);
        await Promise.all(both);
      },
    );
    const told = shell_invocations.map((row) => [
      row.command,
      row.called_seconds,
      row.returned_seconds,
      row.status,
      row.foreground_auto_await_elapsed_seconds,
    ]);
    expect(told).toEqual([
      ["server", 0, 0, "running", null],
      ["x", 0, 20, "running", 10],
      ["y", 5, 35, "timed_out", null],
    ]);
    expect(process_waits).toMatchObject([
      { called_seconds: 3, returned_seconds: 63, effective_wait_seconds: 60, actual_wait_seconds: 60 },
    ]);
  });

  test("count once in the ledger, as the hold that ends last, and in full in the totals", async () => {
    const settings = { foreground_auto_await_max_seconds: 20 } as const;
    const [trial] = (
      await after({ settings }, async ({ call, done, to }) => {
        await done("exec", { command: "server", background: true });
        await to(10);
        const both = [call("exec", { command: "x" })];
        await to(15);
        both.push(call("process", { action: "wait", process_id: "process-1", wait_sec: 60 }));
        await to(100);
        await Promise.all(both);
      })
    ).trials;
    expect(trial).toMatchObject({
      duration_seconds: 100,
      initial_hold_seconds: 5,
      auto_await_seconds: 0,
      process_wait_seconds: 60,
      other_tool_seconds: 0,
      model_seconds: 35,
      total_foreground_auto_await_seconds: 10,
      total_process_wait_seconds: 60,
      longest_control_gap_seconds: 60,
    });
  });

  test("add up, however they lie", async () => {
    const commands = Object.fromEntries(
      [1, 2, 3, 5, 8, 13, 21, 34].map((length) => [`${length}`, command(lasts(length))]),
    );
    const { trials } = await after({ commands }, async ({ call, done, to }) => {
      await done("exec", { command: "server", background: true });
      const all: Promise<unknown>[] = [];
      for (const [at, line] of Object.keys(commands).entries()) {
        all.push(call("exec", { command: line, ...(at % 3 === 2 ? { timeout: 15 } : {}) }));
        if (at % 2 === 0) all.push(call("process", { action: "wait", process_id: "process-1", wait_sec: 10 + at }));
        await to(3 * (at + 1));
      }
      await to(200);
      await Promise.all(all);
    });
    const [trial] = trials;
    const {
      model_seconds,
      initial_hold_seconds,
      auto_await_seconds,
      hard_hold_seconds,
      process_wait_seconds,
      other_tool_seconds,
    } = trial!;
    const parts = [
      model_seconds,
      initial_hold_seconds,
      auto_await_seconds,
      hard_hold_seconds,
      process_wait_seconds,
      other_tool_seconds,
    ];
    expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
    expect(parts.reduce((sum, part) => sum + Math.round(part * 1_000), 0)).toBe(200_000);
    // From the first call to the end of the last hold somebody is held all the time: the last command begins at 21 s and is handed back at 51 s.
    expect(model_seconds).toBe(200 - 51);
  });

  test("that are open when the session ends are all cut off", async () => {
    const { shell_invocations, process_waits, trials } = await after({}, async ({ call, done, to }) => {
      await done("exec", { command: "server", background: true });
      for (const line of ["x", "y"]) call("exec", { command: line }).catch(() => {});
      call("process", { action: "wait", process_id: "process-1", wait_sec: 60 }).catch(() => {});
      await to(7);
    });
    expect(
      shell_invocations
        .slice(1)
        .map(({ command: line, status }) => [line, status])
        .sort(),
    ).toEqual([
      ["x", "cut_off"],
      ["y", "cut_off"],
    ]);
    expect(process_waits).toMatchObject([{ actual_wait_seconds: 7, process_status_after_wait: "cut_off" }]);
    expect(trials).toMatchObject([{ outcome: "ended", processes_left_running: 3, model_seconds: 0 }]);
  });
});

test("an end that nobody saw counts as neither stopped nor left running", () => {
  const at = moment(seconds(1));
  const end = { at: moment(0), by: "nobody", code: null, signal: null } as const;
  const events: readonly TrialEvent[] = [
    { event: "trial_began", at: moment(0), budget: null, outerLimit: seconds(1), reserveBegins: at },
    {
      event: "process_called",
      at,
      call: 1,
      action: "status",
      process: 3 as never,
      requested: null,
      raised: false,
      defaulted: false,
    },
    {
      event: "control_returned",
      at,
      call: 1,
      tool: "status",
      process: 3 as never,
      startedAt: moment(0),
      status: "lost",
      end,
      outcome: null,
      clampReasons: [],
      freshOutput: false,
      budgetSignal: false,
      guided: false,
      outputLost: 0,
    },
    { event: "session_ended", at },
  ];
  const facts = {
    session: "s",
    policy: { policy: "p", says: "" },
    settings: {},
    budget: null,
    inputs: [],
    overrides: [],
  };
  const texts = {
    client: "",
    inputDigest: "",
    versions: "",
    git: "",
    host: "",
    command: "",
    startedAt: "",
    finishedAt: "",
  };
  const { batches } = sessionRows(events, at, { ...facts, ...texts } as unknown as SessionFacts);
  const trial = rows(batches.find(({ table }) => table.name === "trials")!)[0];
  expect(trial).toMatchObject({ processes_stopped: 0, processes_left_running: 0, tool_calls: 1 });
});
