/** A wait for a condition: one call for the model, whatever it is that is looked at, in the simulated and in the fake-timers world. */
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import {
  aRun,
  awaits,
  callsOf,
  command,
  commandOf,
  type Hands,
  hangs,
  lasts,
  lines,
  only,
  refusal,
  result,
  runs,
  type SessionSpec,
  serves,
  session,
  submits,
  thinks,
} from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";
import { served } from "../serve/inMemory.ts";

const on: WrittenSettings = { condition_wait_max_seconds: 600 };
const server = commandOf({ phases: [serves(95)], port: 5_173 });
const PORT = { answersAt: 5_173 } as const;

/** A command that says yes once nobody holds the lock, and no until then; it takes so long. */
const free = (takes: number) => commandOf({ phases: [lasts(takes)], lock: "it", line: "test ! -e it.lock" });
const holds = (length: number) => commandOf({ phases: [lasts(length)], lock: "it", line: "make" });
const exits = (code: number, takes = 0) =>
  commandOf({ phases: [lasts(takes, lines([0, `exit ${code}\n`]))], exit: { code, signal: null }, line: "test" });

describe.each(worlds)("a condition that is waited for in one call (%s)", (_, perform) => {
  async function made<Value>(
    work: (hands: Hands) => Agent<Value>,
    spec: SessionSpec = {},
  ): Promise<{ readonly is: Value; readonly rows: ReturnType<typeof rowsOf> }> {
    let value: { readonly is: Value } | null = null;
    const settings = { ...on, ...spec.settings };
    const ended = await perform(
      session({ outerLimit: 2_000, ...spec, settings }, function* (hands) {
        value = { is: yield* work(hands) };
      }),
    );
    return { is: (value as unknown as { readonly is: Value }).is, rows: rowsOf(ended) };
  }

  const background = function* (hands: Hands, what: ReturnType<typeof command>) {
    result(yield* hands.exec(what, { background: true }));
  };

  test("is looked at once at the start, and comes back with the look at which it holds", async () => {
    const { is } = await made(function* (hands) {
      yield* background(hands, server);
      yield* hands.pass(5);
      return [result(yield* hands.waitFor(PORT, { every: 10, timeout: 600 })), result(yield* hands.waitFor(PORT))];
    });
    expect(is).toMatchObject([
      { outcome: "met", probes: 10, elapsed_seconds: 90, effective_wait_seconds: 600, wait_clamped: false },
      { outcome: "met", probes: 1, elapsed_seconds: 0, requested_wait_seconds: 120, every_seconds: 5 },
    ]);
  });

  test("is one call and one row, however often it is looked at", async () => {
    const { rows } = await made(function* (hands) {
      yield* background(hands, server);
      result(yield* hands.waitFor(PORT, { every: 10, timeout: 600 }));
    });
    expect(rows.waits).toMatchObject([
      {
        action: "wait_for_condition",
        requested_wait_seconds: 600,
        effective_wait_seconds: 600,
        actual_wait_seconds: 100,
        condition_outcome: "met",
        condition_probes: 11,
        process_id: null,
      },
    ]);
    expect(rows.trial).toMatchObject({ tool_calls: 2, probes: 0, other_tool_seconds: 100, process_wait_seconds: 0 });
  });

  test("that does not hold in time is told as timed out, at the deadline, after a last look", async () => {
    const { is } = await made(function* (hands) {
      yield* background(hands, server);
      return result(yield* hands.waitFor(PORT, { timeout: 92, every: 60 }));
    });
    expect(is).toMatchObject({ outcome: "timed_out", probes: 3, elapsed_seconds: 92, last_exit_code: null });
  });

  test("that holds at the very deadline holds", async () => {
    const { is } = await made(function* (hands) {
      yield* background(hands, server);
      return result(yield* hands.waitFor(PORT, { timeout: 95, every: 60 }));
    });
    expect(is).toMatchObject({ outcome: "met", elapsed_seconds: 95 });
  });

  test.each([
    [{ timeout: 601 }, "timeout_seconds is 601: expected more than 0, up to 600"],
    [{ timeout: 0 }, "timeout_seconds is 0: expected more than 0, up to 600"],
    [{ every: 4.9 }, "every_seconds is 4.9: expected 5 to 60"],
    [{ every: 61 }, "every_seconds is 61: expected 5 to 60"],
  ])("out of range is refused, never moved: %j", async (asked, why) => {
    const { is, rows } = await made(function* (hands) {
      return [refusal(yield* hands.waitFor(PORT, asked)), hands.now];
    });
    expect(is).toEqual([why, 0]);
    expect(rows.waits).toMatchObject([{ action: "wait_for_condition", process_status_after_wait: "refused" }]);
  });

  test("is refused where the policy has no such call, and of a process that is none", async () => {
    const none = await made(
      function* (hands) {
        return refusal(yield* hands.waitFor(PORT));
      },
      { settings: { condition_wait_max_seconds: 0, condition_wait_default_seconds: 120 } },
    );
    expect(none.is).toBe("there is no wait for a condition here: look again with a call of your own");
    const unknown = await made(function* (hands) {
      return refusal(yield* hands.waitFor({ succeeded: 7 as never }));
    });
    expect(unknown.is).toBe('process-7 is no process of this session; process(action: "list") names them');
  });

  test("ends where the reserve begins, and says why; inside the reserve it is looked at once", async () => {
    const { is, rows } = await made(
      function* (hands) {
        yield* background(hands, command(hangs()));
        yield* hands.pass(300);
        return [
          result(yield* hands.waitFor(PORT, { timeout: 600, every: 60 })),
          result(yield* hands.waitFor(PORT, { timeout: 600 })),
        ];
      },
      { told: 1_000, reserve: 600, outerLimit: 1_000 },
    );
    expect(is).toMatchObject([
      { outcome: "timed_out", probes: 3, elapsed_seconds: 100, clamp_reasons: ["remaining_run_budget"] },
      { outcome: "timed_out", probes: 1, effective_wait_seconds: 0, remaining_run_seconds: 600 },
    ]);
    expect(rows.trial).toMatchObject({ held_in_reserve_seconds: 0, budget_clamped_process_wait_count: 2 });
  });

  test("lasts no longer than a call may", async () => {
    const { is } = await made(
      function* (hands) {
        return result(yield* hands.waitFor(PORT, { timeout: 600, every: 60 }));
      },
      { settings: { max_hold_seconds: 100 } },
    );
    expect(is).toMatchObject({ outcome: "timed_out", elapsed_seconds: 100, clamp_reasons: ["client_call_limit"] });
  });

  test("is given up where the client gives up, between two looks and in the middle of one", async () => {
    const between = await made(
      function* (hands) {
        return result(yield* hands.waitFor(PORT, { timeout: 600, every: 60 }));
      },
      { cancels: [90] },
    );
    expect(between.is).toMatchObject({ outcome: "cancelled", probes: 2, elapsed_seconds: 90 });
    const within = await made(
      function* (hands) {
        const given = result(yield* hands.waitFor({ command: command(hangs()) }, { timeout: 600, every: 60 }));
        return [given, result(yield* hands.list())];
      },
      { cancels: [20] },
    );
    expect(within.is).toMatchObject([{ outcome: "cancelled", probes: 1, elapsed_seconds: 20 }, { processes: [] }]);
    expect(within.rows.trial).toMatchObject({ processes_left_running: 0 });
  });

  test("that a process has succeeded: it may, or may not any more", async () => {
    const waits = (length: number, code: number) =>
      made(function* (hands) {
        yield* background(hands, commandOf({ phases: [lasts(length)], exit: { code, signal: null } }));
        const watched = result(yield* hands.waitFor({ succeeded: 1 as never }, { timeout: 600, every: 60 }));
        return [watched, result(yield* hands.list()).processes[0]];
      });
    expect((await waits(100, 0)).is).toMatchObject([
      { outcome: "met", probes: 3, elapsed_seconds: 120, last_exit_code: 0 },
      { status: "completed", elapsed_seconds: 100 },
    ]);
    expect((await waits(100, 3)).is).toMatchObject([
      { outcome: "cannot_be_met", probes: 3, elapsed_seconds: 120, last_exit_code: 3 },
      { status: "failed" },
    ]);
  });

  test("that a command says: exit code 0 means yes, and what the looks ran is no process of the session", async () => {
    const { is } = await made(function* (hands) {
      yield* background(hands, holds(33));
      const waited = result(yield* hands.waitFor({ command: free(1) }, { timeout: 600, every: 10 }));
      return [waited, result(yield* hands.list()).processes.length];
    });
    expect(is).toMatchObject([{ outcome: "met", probes: 5, elapsed_seconds: 41, last_exit_code: 0 }, 1]);
  });

  test.each([126, 127])("that cannot be looked at ends the wait at once: exit code %i", async (code) => {
    const { is } = await made(function* (hands) {
      return result(yield* hands.waitFor({ command: exits(code) }, { timeout: 600 }));
    });
    expect(is).toMatchObject({ outcome: "cannot_be_met", probes: 1, elapsed_seconds: 0, last_exit_code: code });
    expect(is.output).toBe(`exit ${code}\n`);
  });

  test("a look that runs a command has 30 s, or whole seconds of what is left, and one at least", async () => {
    const waits = (timeout: number, spec: SessionSpec = {}) =>
      made(function* (hands) {
        return result(yield* hands.waitFor({ command: command(hangs()) }, { timeout, every: 60 }));
      }, spec);
    expect((await waits(70)).is).toMatchObject({ outcome: "timed_out", probes: 2, elapsed_seconds: 70 });
    expect((await waits(62.5)).is).toMatchObject({ outcome: "timed_out", probes: 2, elapsed_seconds: 62.5 });
    expect((await waits(60.5)).is).toMatchObject({ outcome: "timed_out", probes: 1, elapsed_seconds: 60.5 });
    expect((await waits(0.5)).is).toMatchObject({ outcome: "timed_out", probes: 1, elapsed_seconds: 1 });
    const inTheReserve = { told: 100, reserve: 100, outerLimit: 100 };
    expect((await waits(60, inTheReserve)).is).toMatchObject({ probes: 1, elapsed_seconds: 1 });
  });

  test("one that takes longer than looks are apart is looked at again at once; the last is ended with the wait", async () => {
    const { is } = await made(function* (hands) {
      return result(yield* hands.waitFor({ command: exits(1, 8) }, { timeout: 30, every: 5 }));
    });
    expect(is).toMatchObject({ outcome: "timed_out", probes: 4, elapsed_seconds: 30, last_exit_code: null });
  });
});

describe("a model that waits for conditions", () => {
  const profile = { conditions: { timeout: null, every: null } };
  const starts = runs(server, { background: true, id: "server" });
  const until = { step: "until_answers", of: "server", atMost: 100 } as const;

  test("makes one call where one that does not makes twenty", () => {
    const calls = (habit: object, settings = on) =>
      callsOf(aRun({ plan: [starts, until, submits], profile: habit, settings })).slice(1);
    expect(calls(profile)).toEqual([[0, "wait_for_condition"]]);
    expect(calls({})).toHaveLength(20);
    expect(calls(profile, {})).toEqual(calls({}));
  });

  test("looks call by call where what it asks for is refused", () => {
    const asked = { conditions: { timeout: 9_000_000 as never, every: null } };
    const calls = callsOf(aRun({ plan: [starts, until, submits], profile: asked, settings: on }));
    expect(calls[1]).toEqual([0, "wait_for_condition"]);
    expect(calls).toHaveLength(1 + 1 + 19);
  });

  test("waits so for what it needs to have succeeded, and then looks at it", () => {
    const job = runs(command(lasts(62)), { background: true, neededLater: true });
    const events = aRun({ plan: [job, thinks(10), awaits(), submits], profile, settings: on });
    expect(callsOf(events).slice(1)).toEqual([
      [10, "wait_for_condition"],
      [70, "status"],
    ]);
    expect(only(events, "control_returned").at(-1)).toMatchObject({ tool: "status", status: "completed" });
  });

  test("waits as it usually does once the wait for the condition has run out", () => {
    const job = runs(command(lasts(300)), { background: true, neededLater: true });
    const events = aRun({ plan: [job, awaits(), submits], profile, settings: on });
    expect(callsOf(events).slice(1)).toEqual([
      [0, "wait_for_condition"],
      [125, "wait"],
    ]);
  });
});

describe("served", () => {
  test("there is a third tool where the policy has it, and only there", async () => {
    const names = async (settings: WrittenSettings) => {
      const { client } = await served({ settings });
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    expect(await names({})).toEqual(["exec", "process"]);
    expect(await names(on)).toEqual(["exec", "process", "wait_for_condition"]);
    const { done } = await served();
    expect(await done("wait_for_condition", { command: "test" })).toMatchObject({ isError: true });
  });

  test("a command is run until it exits with 0; the answer says how often", async () => {
    const { done } = await served({ settings: on, commands: { make: holds(33), "test ! -e it.lock": free(0) } });
    await done("exec", { command: "make", background: true });
    const asked = { command: "test ! -e it.lock", timeout_seconds: 600, every_seconds: 10 };
    const { result: met, text } = await done("wait_for_condition", asked);
    expect(met).toMatchObject({ outcome: "met", probes: 5, elapsed_seconds: 40 });
    expect(text).toBe("[The condition holds, after 5 looks in 40 s.]");
  });

  test("what has not come true, or cannot be run, is told in words", async () => {
    const { done } = await served({ settings: on, commands: { no: exits(1), gone: exits(127) } });
    const no = await done("wait_for_condition", { command: "no", timeout_seconds: 10 });
    expect(no.text).toBe(
      "exit 1\n[The condition does not hold after 2 looks in 10 s; the last ended with exit code 1.]",
    );
    const gone = await done("wait_for_condition", { command: "gone" });
    expect(gone.text).toContain("cannot be looked at: the last ended with exit code 127 (one look in 0 s).");
  });

  test("every fault of a call is said at once, and what is out of range is refused", async () => {
    const { done } = await served({ settings: on });
    const wrong = await done("wait_for_condition", { command: " ", every_seconds: -1, port: 80 });
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.text.split("\n")).toHaveLength(3);
    const far = await done("wait_for_condition", { command: "x", timeout_seconds: 601 });
    expect(far.text).toBe("timeout_seconds is 601: expected more than 0, up to 600");
  });
});
