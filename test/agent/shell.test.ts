import { describe, expect, test } from "vitest";
import { type Agent, type Answer, type Effect, KILL_REACHES, type ProcessId } from "../../src/agent/effects.ts";
import type { TrialEvent } from "../../src/agent/events.ts";
import { processId, processName, statusAfter } from "../../src/agent/processes.ts";
import { type ExecResult, type Returned, Shell } from "../../src/agent/shell.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { beginning, moment, seconds } from "../../src/policy/time.ts";
import {
  alone,
  command,
  commandOf,
  every,
  type Hands,
  hangs,
  inSession,
  lasts,
  leaves,
  lines,
  refusal,
  result,
  type SessionSpec,
  serves,
  session,
} from "../aRun.ts";
import { type Rows, rowsOf } from "../rowsOf.ts";

type Commandlike = ReturnType<typeof command>;

/** What one foreground command comes to. */
function execOf(spec: SessionSpec, what: Commandlike, options?: Parameters<Hands["exec"]>[1]): ExecResult {
  return inSession(spec, function* (hands) {
    return result(yield* hands.exec(what, options));
  });
}

/** The rows that one foreground command leaves. */
function rowsOfExec(spec: SessionSpec, what: Commandlike): Rows {
  return rowsOf(
    alone(
      session(spec, function* (hands) {
        result(yield* hands.exec(what));
      }),
    ),
  );
}

const cap = (amount: number | "none", more: WrittenSettings = {}): SessionSpec => ({
  settings: { foreground_auto_await_max_seconds: amount, ...more },
});
const killing = (amount: number, more: WrittenSettings = {}) => cap(amount, { foreground_at_cap: "kill", ...more });
const stubborn = commandOf({ phases: [hangs()], onTerm: null });

describe("a foreground command", () => {
  test("comes back with everything a result says of it", () => {
    const what = commandOf({ phases: [lasts(2, lines([1, "two failed\n"]))], exit: { code: 1, signal: null } });
    expect(execOf({}, what)).toEqual({
      status: "failed",
      process_id: "process-1",
      exit_code: 1,
      signal: null,
      elapsed_seconds: 2,
      auto_await_outcome: "not_needed",
      configured_auto_await_cap_seconds: 30,
      effective_auto_await_cap_seconds: 30,
      clamp_reasons: [],
      output: "two failed\n",
      next_offset: 11,
      output_complete: true,
    });
  });

  test("ended by a signal of its own has failed", () => {
    const crash = commandOf({ phases: [lasts(1)], exit: { code: null, signal: "SIGSEGV" } });
    expect(execOf({}, crash)).toMatchObject({ status: "failed", exit_code: null, signal: "SIGSEGV" });
  });

  test("has its initial hold ended by silence after the last output, or by the total bound; a tie is silence", () => {
    const reason = (what: Commandlike, settings: WrittenSettings = {}) => {
      const row = rowsOfExec(cap(0, settings), what).invocations[0]!;
      return [row.foreground_initial_yield_seconds, row.initial_yield_reason];
    };
    expect(reason(command(hangs()))).toEqual([10, "idle"]);
    expect(reason(command(hangs(lines([3, "a"], [12, "b"]))))).toEqual([22, "idle"]);
    expect(reason(command(hangs(every(9))))).toEqual([30, "total"]);
    expect(reason(command(hangs(lines([8, "a"], [16, "b"], [20, "c"]))))).toEqual([30, "idle"]);
    expect(reason(command(hangs()), { foreground_idle_yield_seconds: "none" })).toEqual([30, "total"]);
    const unbounded = { foreground_total_yield_seconds: "none" } as const;
    expect(reason(command(lasts(600, every(9)), hangs()), unbounded)).toEqual([604, "idle"]);
    expect(reason(command(hangs()), { foreground_idle_yield_seconds: 0 })).toEqual([0, "idle"]);
  });

  test("is held without end where nothing bounds it", () => {
    expect(execOf(cap("none"), command(lasts(4_000)))).toMatchObject({
      status: "completed",
      elapsed_seconds: 4_000,
      auto_await_outcome: "process_finished",
      configured_auto_await_cap_seconds: null,
      effective_auto_await_cap_seconds: null,
    });
  });

  test("goes on where it was handed back: the same process, its output and its end still to come", () => {
    const { first, last, again } = inSession(cap(0), function* (hands) {
      const first = result(yield* hands.exec(command(lasts(60, lines([5, "early\n"], [50, "late\n"])))));
      return { first, last: result(yield* hands.wait(1, 100)), again: result(yield* hands.status(1)) };
    });
    expect(first).toMatchObject({ status: "running", process_id: "process-1", output: "early\n", exit_code: null });
    expect(last).toMatchObject({ status: "completed", process_id: "process-1", output: "late\n", exit_code: 0 });
    expect(again).toMatchObject({ status: "completed", elapsed_seconds: 60, output: "" });
  });
});

describe("a cap that kills", () => {
  test("ends the tree at the configured cap", () => {
    expect(execOf(killing(60), command(hangs(every(25, "x\n"))))).toMatchObject({
      status: "timed_out",
      auto_await_outcome: "terminated",
      exit_code: null,
      signal: "SIGTERM",
      elapsed_seconds: 60,
      clamp_reasons: [],
      output: "x\nx\n",
    });
  });

  test("gives whoever ignores TERM the grace, which counts as held", () => {
    const { invocations, trial } = rowsOfExec(killing(60), stubborn);
    expect(invocations[0]).toMatchObject({
      returned_seconds: 62,
      foreground_auto_await_elapsed_seconds: 52,
      auto_await_outcome: "terminated",
      status: "timed_out",
      signal: "SIGKILL",
      returned_running: false,
    });
    expect(trial).toMatchObject({ auto_await_cap_crossings: 1, processes_stopped: 1, processes_left_running: 0 });
  });

  test("leaves a process that has timed out, whoever looks later, and totals that count the grace", () => {
    const { status, listed } = inSession(killing(60), function* (hands) {
      yield* hands.exec(stubborn);
      return { status: result(yield* hands.status(1)), listed: result(yield* hands.list()) };
    });
    expect(status).toMatchObject({ status: "timed_out", signal: "SIGKILL", elapsed_seconds: 62 });
    expect(listed.processes).toMatchObject([{ status: "timed_out", elapsed_seconds: 62 }]);
    expect(listed.totals).toMatchObject({ total_foreground_auto_await_seconds: 52, auto_await_cap_crossings: 1 });
  });

  test("acts at the boundary where the cap lies at or under it", () => {
    expect(execOf(killing(5), command(hangs()))).toMatchObject({
      elapsed_seconds: 10,
      auto_await_outcome: "terminated",
    });
  });

  test("lets a command that just then comes to its own end keep its exit code", () => {
    const slow = commandOf({ phases: [lasts(61)], exit: { code: 4, signal: null }, onTerm: null });
    expect(execOf(killing(60), slow)).toMatchObject({ status: "timed_out", exit_code: 4, elapsed_seconds: 61 });
  });

  test("never acts at a hold that something else shortened, nor where auto-await is off", () => {
    const live = { status: "running", auto_await_outcome: "cap_reached" };
    const budget = { told: 100, reserve: 60 };
    expect(execOf({ ...killing(60), ...budget }, command(hangs()))).toMatchObject({ ...live, elapsed_seconds: 40 });
    expect(execOf(killing(60, { max_hold_seconds: 45 }), command(hangs()))).toMatchObject({
      ...live,
      elapsed_seconds: 45,
    });
    expect(execOf(killing(0), command(hangs()))).toMatchObject({ status: "running", auto_await_outcome: "disabled" });
  });

  test("acts where the reserve begins at the very cap: nothing was shortened", () => {
    expect(execOf({ ...killing(60), told: 120, reserve: 60 }, command(hangs()))).toMatchObject({
      auto_await_outcome: "terminated",
      clamp_reasons: [],
    });
  });
});

describe("a cap that output extends", () => {
  const extending = (amount: number, more: WrittenSettings = {}) =>
    cap(amount, { foreground_auto_await_extends_on_output: true, ...more });

  test("ends so long after the last output", () => {
    const what = command(hangs(lines([5, "a"], [40, "b"], [90, "c"], [151, "too late"])));
    expect(execOf(extending(60), what)).toMatchObject({
      elapsed_seconds: 150,
      auto_await_outcome: "cap_reached",
      output: "abc",
    });
  });

  test("is pushed on by a line in its last millisecond", () => {
    expect(execOf(extending(60), command(hangs(lines([60, "a"]))))).toMatchObject({ elapsed_seconds: 120 });
    expect(execOf(extending(60), command(hangs(lines([60.001, "a"]))))).toMatchObject({ elapsed_seconds: 60 });
  });

  test("ends at its absolute maximum, which is never under the cap", () => {
    const chatty = command(hangs(every(10)));
    const reached = { auto_await_outcome: "cap_reached", clamp_reasons: [] };
    expect(execOf(extending(60), chatty)).toMatchObject({ elapsed_seconds: 600, ...reached });
    const most = (amount: number) => extending(60, { foreground_auto_await_absolute_max_seconds: amount });
    expect(execOf(most(300), chatty)).toMatchObject({ elapsed_seconds: 300, ...reached });
    expect(execOf(most(45), chatty)).toMatchObject({ elapsed_seconds: 60, ...reached });
  });

  test("has the reasons of its last grant, not of its first", () => {
    const { invocations, trial } = rowsOfExec({ ...extending(60), told: 800, reserve: 600 }, command(hangs(every(10))));
    expect(invocations[0]).toMatchObject({
      returned_seconds: 200,
      auto_await_outcome: "cap_reached",
      auto_await_clamp_reasons: ["remaining_run_budget"],
    });
    expect(trial).toMatchObject({ budget_clamped_auto_await_count: 1, auto_await_cap_crossings: 0 });
    const granted = alone(
      session({ ...extending(60), told: 800, reserve: 600 }, function* (hands) {
        yield* hands.exec(command(hangs(every(10))));
      }),
    ).events.find(({ event }) => event === "auto_await_granted");
    expect(granted).toMatchObject({ at: seconds(30), until: seconds(90), clampReasons: [] });
  });

  test("brings the result of a command that ends in the meantime", () => {
    expect(execOf(extending(60), command(lasts(200, every(10))))).toMatchObject({
      status: "completed",
      elapsed_seconds: 200,
      auto_await_outcome: "process_finished",
    });
  });

  test("may kill, so long after the last output", () => {
    const what = command(hangs(lines([5, "a"], [40, "b"])));
    expect(execOf(extending(60, { foreground_at_cap: "kill" }), what)).toMatchObject({
      elapsed_seconds: 100,
      auto_await_outcome: "terminated",
      status: "timed_out",
    });
  });

  test("has no part in it where auto-await is off", () => {
    expect(execOf(extending(0), command(hangs(every(3))))).toMatchObject({
      elapsed_seconds: 30,
      auto_await_outcome: "disabled",
    });
  });
});

describe("a client that gives up on long calls", () => {
  const limited: WrittenSettings = { max_hold_seconds: 60 };

  test("has a command handed back, alive, before that", () => {
    expect(execOf(cap(240, limited), command(hangs()))).toMatchObject({
      status: "running",
      elapsed_seconds: 60,
      auto_await_outcome: "cap_reached",
      clamp_reasons: ["client_call_limit"],
    });
  });

  test("has a wait cut to it", () => {
    const waited = inSession({ settings: limited }, function* (hands) {
      yield* hands.exec(command(hangs()), { background: true });
      return result(yield* hands.wait(1, 3_600));
    });
    expect(waited).toMatchObject({ effective_wait_seconds: 60, clamp_reasons: ["client_call_limit"] });
  });

  test("has a command under a hard timeout handed back too, and its limit stays", () => {
    const { first, later } = inSession({ settings: limited }, function* (hands) {
      const first = result(yield* hands.exec(command(hangs()), { timeout: 100 }));
      return { first, later: result(yield* hands.wait(1, 3_600)) };
    });
    expect(first).toMatchObject({
      status: "running",
      elapsed_seconds: 60,
      hard_timeout_seconds: 100,
      auto_await_outcome: null,
      clamp_reasons: ["client_call_limit"],
    });
    expect(later).toMatchObject({ status: "timed_out", elapsed_seconds: 100, signal: "SIGTERM" });
  });
});

describe("a hard timeout", () => {
  test("holds the command until it ends or is ended, with what it has printed", () => {
    expect(execOf({}, command(hangs(every(25, "x\n"))), { timeout: 60 })).toEqual({
      status: "timed_out",
      process_id: "process-1",
      exit_code: null,
      signal: "SIGTERM",
      elapsed_seconds: 60,
      auto_await_outcome: null,
      configured_auto_await_cap_seconds: 30,
      effective_auto_await_cap_seconds: null,
      clamp_reasons: [],
      output: "x\nx\n",
      next_offset: 4,
      output_complete: true,
      hard_timeout_seconds: 60,
    });
    expect(execOf({}, command(lasts(50)), { timeout: 60 })).toMatchObject({ status: "completed", elapsed_seconds: 50 });
  });

  test("takes its grace with whoever ignores TERM", () => {
    expect(execOf({}, stubborn, { timeout: 60 })).toMatchObject({ elapsed_seconds: 62, signal: "SIGKILL" });
    const graceless = { settings: { kill_grace_seconds: 0 } };
    expect(execOf(graceless, stubborn, { timeout: 60 })).toMatchObject({ elapsed_seconds: 60, signal: "SIGKILL" });
  });

  test("that does not suppress yielding leaves the command to the yield rules, and still ends it", () => {
    const soft = (amount: number) => cap(amount, { hard_timeout_suppresses_yield: false });
    const { first, later } = inSession(soft(30), function* (hands) {
      const first = result(yield* hands.exec(command(hangs()), { timeout: 60 }));
      return { first, later: result(yield* hands.wait(1, 3_600)) };
    });
    expect(first).toMatchObject({ status: "running", elapsed_seconds: 30, auto_await_outcome: "cap_reached" });
    expect(later).toMatchObject({ status: "timed_out", elapsed_seconds: 60 });
    expect(execOf(soft(240), command(hangs()), { timeout: 60 })).toMatchObject({
      status: "timed_out",
      elapsed_seconds: 60,
      auto_await_outcome: "process_finished",
    });
  });

  test("may be the default of those that name none, but not of those in the background", () => {
    const usual = { settings: { hard_timeout_default_seconds: 20 } };
    expect(execOf(usual, command(hangs()))).toMatchObject({
      status: "timed_out",
      elapsed_seconds: 20,
      hard_timeout_seconds: 20,
    });
    const background = inSession(usual, function* (hands) {
      yield* hands.exec(command(hangs()), { background: true });
      return result(yield* hands.wait(1, 60));
    });
    expect(background).toMatchObject({ status: "running", elapsed_seconds: 60 });
  });

  test("ends a background command from its start, whoever is looking", () => {
    const { first, later } = inSession({}, function* (hands) {
      const first = result(yield* hands.exec(command(hangs()), { background: true, timeout: 60 }));
      yield* hands.pass(500);
      return { first, later: result(yield* hands.status(1)) };
    });
    expect(first).toMatchObject({ status: "running", elapsed_seconds: 0, hard_timeout_seconds: 60 });
    expect(later).toMatchObject({ status: "timed_out", elapsed_seconds: 60 });
  });

  test("out of range is refused before anything starts, and takes no process id", () => {
    const { refused, next } = inSession({}, function* (hands) {
      const refused = refusal(yield* hands.exec(command(lasts(1)), { timeout: 4_000 }));
      return { refused, next: result(yield* hands.exec(command(lasts(1)))) };
    });
    expect(refused).toBe("timeout_seconds is 4000: expected more than 0, up to 3600");
    expect(next).toMatchObject({ process_id: "process-1" });
  });

  test("that was clamped says so, in front of the reasons of the hold", () => {
    const clamping: SessionSpec = {
      settings: { hard_timeout_out_of_range: "clamp", hard_timeout_max_seconds: 100, max_hold_seconds: 60 },
    };
    expect(execOf(clamping, command(hangs()), { timeout: 4_000 })).toMatchObject({
      hard_timeout_seconds: 100,
      clamp_reasons: ["hard_timeout_max", "client_call_limit"],
    });
  });
});

describe("a background command", () => {
  test("comes back once it has started, with what it has said by then", () => {
    const { shown, now } = inSession({}, function* (hands) {
      yield* hands.pass(3);
      const shown = result(yield* hands.exec(command(hangs(lines([0, "starting\n"]))), { background: true }));
      return { shown, now: hands.now };
    });
    expect(shown).toMatchObject({ status: "running", output: "starting\n", auto_await_outcome: null });
    expect(now).toBe(seconds(3));
  });

  test("that is over at once is over", () => {
    expect(execOf({}, command(lasts(0)), { background: true })).toMatchObject({ status: "completed", exit_code: 0 });
  });
});

describe("a wait", () => {
  const waited = (length: number | undefined, settings: WrittenSettings = {}, what = command(hangs())) =>
    inSession({ settings }, function* (hands) {
      yield* hands.exec(what, { background: true });
      return yield* hands.wait(1, length);
    });

  test("comes back with everything a result says of it", () => {
    const what = command(hangs(lines([7, "seven\n"], [11, "eleven\n"])));
    expect(result(waited(10, {}, what))).toEqual({
      status: "running",
      process_id: "process-1",
      exit_code: null,
      signal: null,
      elapsed_seconds: 10,
      output: "seven\n",
      offset: 0,
      next_offset: 6,
      output_complete: true,
      requested_wait_seconds: 10,
      effective_wait_seconds: 10,
      wait_clamped: false,
      clamp_reasons: [],
      wait_raised: false,
      wait_defaulted: false,
    });
  });

  test("shorter than the floor is raised, and one without a length gets the default; the result says so", () => {
    expect(result(waited(1))).toMatchObject({
      requested_wait_seconds: 1,
      effective_wait_seconds: 10,
      wait_raised: true,
    });
    expect(result(waited(undefined))).toMatchObject({
      requested_wait_seconds: 30,
      effective_wait_seconds: 30,
      wait_defaulted: true,
      wait_clamped: false,
    });
  });

  test("beyond the ceiling is refused where it is not to be cut, and the error names the ceiling", () => {
    const refused = waited(7_200, { process_poll_over_max: "refuse" });
    expect(refusal(refused)).toBe("wait_sec is 7200: a wait is at most 3600 s");
    expect(result(waited(7_200))).toMatchObject({
      effective_wait_seconds: 3_600,
      clamp_reasons: ["process_poll_max_wait"],
    });
  });

  test("for a process that is over comes back at once, with its end", () => {
    const { again, now } = inSession({}, function* (hands) {
      yield* hands.exec(command(lasts(2)));
      const again = result(yield* hands.wait(1, 600));
      return { again, now: hands.now };
    });
    expect(again).toMatchObject({ status: "completed", effective_wait_seconds: 600, elapsed_seconds: 2 });
    expect(now).toBe(seconds(2));
  });

  test("at the model's own cadence is sliced to it, where it has one", () => {
    const paced = (cadence: number | null) =>
      inSession(
        {
          settings: { process_wait_slice_seconds: "model_cadence" },
          ...(cadence === null ? {} : { cadence }),
        },
        function* (hands) {
          yield* hands.exec(command(hangs()), { background: true });
          return result(yield* hands.wait(1, 3_600));
        },
      );
    expect(paced(20)).toMatchObject({ effective_wait_seconds: 20, clamp_reasons: ["process_wait_slice"] });
    expect(paced(null)).toMatchObject({ effective_wait_seconds: 3_600, clamp_reasons: [] });
  });
});

describe("a shell that has exited and left a child of an hour behind", () => {
  const forms = [
    ["in its own group", { group: "same" }],
    ["in another group", { group: "own" }],
    ["with its output elsewhere", { holdsOutput: false }],
  ] as const;

  /** When the call comes back, under a timeout of 120 s, and how; null if it never does. */
  const returns = (form: Parameters<typeof leaves>[1], settings: WrittenSettings) => {
    let shown: ExecResult | null = null;
    const { events } = alone(
      session({ settings, outerLimit: 3_000 }, function* (hands) {
        shown = result(yield* hands.exec(commandOf({ phases: [leaves(3_600, form)] }), { timeout: 120 }));
      }),
    );
    const back = events.find(({ event }) => event === "control_returned");
    return back === undefined ? null : { at: back.at / 1_000, ...(shown as unknown as ExecResult) };
  };

  test.each(KILL_REACHES)("is over once that is seen, whatever a kill reaches: %s", (kill_reaches) => {
    const back = forms.map(([, form]) => returns(form, { completion: "exit", kill_reaches }));
    for (const one of back)
      expect(one).toMatchObject({
        status: "completed",
        exit_code: 0,
        output_complete: true,
        surviving_processes: 1,
      });
    expect(back.map((one) => [one?.at, one?.output_held_open])).toEqual([
      [0.25, true],
      [0.25, true],
      [0, undefined],
    ]);
  });

  test.each([
    ["tree", [120, 120, 0]],
    ["group", [120, null, 0]],
    ["process", [null, null, 0]],
  ] as const)(
    "is waited for where the end of its output is what counts, as far as a kill reaches: %s",
    (reach, ends) => {
      const settings = { completion: "end_of_output", kill_reaches: reach } as const;
      const back = forms.map(([, form]) => returns(form, settings));
      expect(back.map((one) => one?.at ?? null)).toEqual(ends);
      for (const one of back.slice(0, 2)) {
        if (one !== null) expect(one).toMatchObject({ status: "timed_out", exit_code: 0, signal: null });
        expect(one ?? {}).not.toHaveProperty("surviving_processes");
      }
      expect(back[2]).toMatchObject({ status: "completed", surviving_processes: 1 });
    },
  );

  test("can be stopped only as far as that reaches, and a stop never comes back from what it does not", () => {
    const what = commandOf({ phases: [leaves(null, { group: "own" })] });
    const stopping = (kill_reaches: "tree" | "group") =>
      alone(
        session({ settings: { completion: "end_of_output", kill_reaches }, outerLimit: 300 }, function* (hands) {
          yield* hands.exec(what, { background: true });
          yield* hands.pass(60);
          yield* hands.stop(1);
        }),
      ).events.at(-1);
    expect(stopping("tree")).toEqual({ event: "submitted", at: seconds(60), partial: false });
    expect(stopping("group")).toMatchObject({ event: "left_behind", at: seconds(300), end: null });
  });
});

describe("what a kill leaves behind", () => {
  test("is a lock that stops the next run at once", () => {
    const build = commandOf({ line: "make", phases: [lasts(210)], lock: "build.lock" });
    const [killed, again] = inSession({}, function* (hands) {
      return [result(yield* hands.exec(build, { timeout: 60 })), result(yield* hands.exec(build))] as const;
    });
    expect(killed).toMatchObject({ status: "timed_out", elapsed_seconds: 60 });
    expect(again).toMatchObject({
      status: "failed",
      exit_code: 1,
      elapsed_seconds: 0,
      output: "cannot get the lock build.lock: it is taken\n",
    });
  });

  test("is nothing where the command came to its own end", () => {
    const build = commandOf({ line: "make", phases: [lasts(9)], lock: "build.lock" });
    const again = inSession({}, function* (hands) {
      yield* hands.exec(build);
      return result(yield* hands.exec(build));
    });
    expect(again).toMatchObject({ status: "completed", exit_code: 0 });
  });

  test.each([
    ["process", { status: "failed", exit_code: 1, output: "cannot listen on port 80: it is taken\n" }, 1],
    ["tree", { status: "running", exit_code: null, output: "http://localhost\n" }, undefined],
  ] as const)("is a server on its port, if the kill ends only its %s", (kill_reaches, second, survivors) => {
    const server = commandOf({ phases: [serves(3, lines([3, "http://localhost\n"]))], port: 80 });
    const [killed, again] = inSession({ settings: { kill_reaches } }, function* (hands) {
      return [result(yield* hands.exec(server, { timeout: 10 })), result(yield* hands.exec(server))] as const;
    });
    expect(killed).toMatchObject({ status: "timed_out", output: "http://localhost\n" });
    expect(killed.surviving_processes).toBe(survivors);
    expect(again).toMatchObject(second);
  });
});

describe("the output of a command that a timeout ended", () => {
  const chatty = command(hangs(every(25, "x\n")));
  const lost = { settings: { output_on_timeout: "lost" } } as const;
  const lostBytes = (spec: SessionSpec, work: (hands: Hands) => Agent<void>) =>
    alone(session(spec, work)).events.flatMap((event) =>
      event.event === "control_returned" ? [event.outputLost] : [],
    );

  test("may be lost with it, whoever looks", () => {
    expect(execOf(lost, chatty, { timeout: 60 })).toMatchObject({
      status: "timed_out",
      output: "",
      next_offset: 4,
      output_complete: false,
    });
    const later = inSession(lost, function* (hands) {
      yield* hands.exec(chatty, { background: true, timeout: 60 });
      yield* hands.pass(70);
      return result(yield* hands.status(1));
    });
    expect(later).toMatchObject({ status: "timed_out", output: "", output_complete: false });
    expect(
      lostBytes(lost, function* (hands) {
        yield* hands.exec(chatty, { timeout: 60 });
        yield* hands.exec(command(lasts(5, every(1, "x\n"))), { timeout: 60 });
      }),
    ).toEqual([4, 0]);
  });

  test("is kept as shipped, and so is what a command says that ends by itself or is stopped", () => {
    expect(execOf({}, chatty, { timeout: 60 })).toMatchObject({ output: "x\nx\n" });
    const stopped = inSession(lost, function* (hands) {
      yield* hands.exec(chatty, { background: true });
      yield* hands.pass(60);
      return result(yield* hands.stop(1));
    });
    expect(stopped).toMatchObject({ status: "terminated", output: "x\nx\n" });
  });

  test("counts as lost where it is no longer kept, and only then", () => {
    const said = command(lasts(5, lines([1, "first\n"], [2, "second\n"], [3, "third\n"])));
    const bytes = (settings: WrittenSettings) =>
      lostBytes({ settings }, function* (hands) {
        yield* hands.exec(said);
      });
    expect(bytes({ output_retained_bytes: 9 })).toEqual([10]);
    expect(bytes({ output_budget_bytes: 4 })).toEqual([0]);
  });
});

describe("a probe", () => {
  const server = commandOf({ phases: [serves(40)], port: 80 });

  test("finds whoever serves there, from the ready moment on, and takes no time", () => {
    const seen = inSession({}, function* (hands) {
      const seen = [yield* hands.probe(80)];
      yield* hands.exec(server, { background: true });
      for (const pause of [39.999, 0.001, 500]) {
        yield* hands.pass(pause);
        seen.push(yield* hands.probe(80), yield* hands.probe(81));
      }
      yield* hands.stop(1);
      return [...seen, yield* hands.probe(80), hands.now];
    });
    expect(seen).toEqual([false, false, false, true, false, true, false, false, seconds(540)]);
  });

  test("is a call like any other", () => {
    const { events } = alone(
      session({}, function* (hands) {
        yield* hands.exec(server, { background: true });
        yield* hands.probe(80);
        yield* hands.list();
      }),
    );
    expect(events.find(({ event }) => event === "probed")).toEqual({
      event: "probed",
      at: 0,
      call: 2,
      port: 80,
      answers: false,
    });
    expect(events.at(-3)).toMatchObject({ event: "control_returned", tool: "list", call: 3 });
  });
});

describe("a wait that wakes on output", () => {
  /** When a wait of 240 s comes back, made 20 s after the start of a command that prints then. */
  const wokenAt = (what: Commandlike, wakes = true) =>
    inSession({ settings: { process_wait_wake_on_output: wakes } }, function* (hands) {
      yield* hands.exec(what, { background: true });
      yield* hands.pass(20);
      const { output, status } = result(yield* hands.wait(1, 240));
      return { at: hands.now / 1_000, output, status };
    });

  test("comes back 2 s after output that nothing followed", () => {
    expect(wokenAt(command(hangs(lines([50, "a"], [51, "b"], [52.999, "c"], [100, "d"]))))).toEqual({
      at: 54.999,
      output: "abc",
      status: "running",
    });
  });

  test("lasts as long as it was granted where there is no output, or no quiet after it", () => {
    expect(wokenAt(command(hangs()))).toMatchObject({ at: 260, output: "" });
    expect(wokenAt(command(hangs(every(1, ""))))).toMatchObject({ at: 260 });
    expect(wokenAt(command(lasts(30), hangs(every(1.5, "x"))))).toMatchObject({ at: 260 });
  });

  test("comes back at once for output that was not shown yet and has been quiet since", () => {
    expect(wokenAt(command(hangs(lines([5, "a"]))))).toMatchObject({ at: 20, output: "a" });
    expect(wokenAt(command(hangs(lines([19, "a"]))))).toMatchObject({ at: 21, output: "a" });
  });

  test("takes no notice of output where it is not told to", () => {
    expect(wokenAt(command(hangs(lines([50, "a"]))), false)).toMatchObject({ at: 260, output: "a" });
  });

  test("still sees the process end first", () => {
    expect(wokenAt(command(lasts(51, lines([50, "done\n"]))))).toEqual({
      at: 51,
      output: "done\n",
      status: "completed",
    });
  });
});

describe("what a result says of the run's budget", () => {
  const shownBy = (when: "always" | "when_clamped" | "never", start: number, asked: number) =>
    inSession({ settings: { remaining_budget_on_results: when }, told: 5_400 }, function* (hands) {
      yield* hands.exec(command(hangs()), { background: true });
      yield* hands.pass(start);
      const { remaining_run_seconds, finalization_reserve_seconds, guidance } = result(yield* hands.wait(1, asked));
      return [remaining_run_seconds, finalization_reserve_seconds, guidance?.code];
    });

  test.each([
    ["when_clamped", 0, 30, [undefined, undefined, undefined]],
    ["when_clamped", 0, 3_600, [5_160, 600, undefined]],
    ["when_clamped", 4_040, 30, [1_330, 600, undefined]],
    ["always", 0, 30, [5_370, 600, undefined]],
    ["never", 0, 3_600, [undefined, undefined, undefined]],
    ["never", 4_900, 30, [undefined, undefined, "finalization_reserve"]],
    ["when_clamped", 4_900, 30, [500, 600, "finalization_reserve"]],
  ] as const)("%s, at %d s, asked for %d s", (when, start, asked, shown) => {
    expect(shownBy(when, start, asked)).toEqual(shown);
  });

  test("is no advice about a process that is over", () => {
    const over = inSession({ told: 5_400 }, function* (hands) {
      yield* hands.pass(4_900);
      return result(yield* hands.exec(command(lasts(1))));
    });
    expect(over).toMatchObject({ status: "completed", remaining_run_seconds: 499 });
    expect(over).not.toHaveProperty("guidance");
  });

  test("is nothing where no budget was told", () => {
    const untold = execOf({ settings: { remaining_budget_on_results: "always" } }, command(hangs()));
    expect(untold).not.toHaveProperty("remaining_run_seconds");
    expect(untold).not.toHaveProperty("finalization_reserve_seconds");
  });

  test("comes with a list as well", () => {
    const listed = inSession({ told: 5_400, settings: { remaining_budget_on_results: "always" } }, function* (hands) {
      return result(yield* hands.list());
    });
    expect(listed).toMatchObject({ processes: [], remaining_run_seconds: 5_400 });
  });
});

describe("the other actions", () => {
  test("status looks without a hold, and shows what was not shown", () => {
    const { shown, again, now } = inSession({}, function* (hands) {
      yield* hands.exec(command(hangs(lines([4, "four\n"]))), { background: true });
      yield* hands.pass(5);
      const shown = result(yield* hands.status(1));
      return { shown, again: result(yield* hands.status(1)), now: hands.now };
    });
    expect(shown).toEqual({
      status: "running",
      process_id: "process-1",
      exit_code: null,
      signal: null,
      elapsed_seconds: 5,
      output: "four\n",
      offset: 0,
      next_offset: 5,
      output_complete: true,
    });
    expect(again).toMatchObject({ output: "", offset: 5, next_offset: 5 });
    expect(now).toBe(seconds(5));
  });

  test("stop ends a process, and of one that is over it says so, once and again", () => {
    const { first, second, status } = inSession({}, function* (hands) {
      yield* hands.exec(command(hangs(every(3, "x"))), { background: true });
      yield* hands.pass(10);
      const first = result(yield* hands.stop(1));
      yield* hands.pass(10);
      return { first, second: result(yield* hands.stop(1)), status: result(yield* hands.status(1)) };
    });
    expect(first).toMatchObject({ status: "terminated", signal: "SIGTERM", elapsed_seconds: 10, output: "xxx" });
    expect(second).toMatchObject({ status: "already_exited", signal: "SIGTERM", elapsed_seconds: 10, output: "" });
    expect(status).toMatchObject({ status: "terminated" });
  });

  test("stop of a process that came to its own end in the meantime finds it so", () => {
    const { stopped, status } = inSession({}, function* (hands) {
      yield* hands.exec(command(lasts(5)), { background: true });
      yield* hands.pass(10);
      return { stopped: result(yield* hands.stop(1)), status: result(yield* hands.status(1)) };
    });
    expect(stopped).toMatchObject({ status: "already_exited", exit_code: 0, elapsed_seconds: 5 });
    expect(status).toMatchObject({ status: "completed" });
  });

  test("stop takes the grace with whoever ignores TERM, and shows what was printed meanwhile", () => {
    const stopped = inSession({}, function* (hands) {
      yield* hands.exec(commandOf({ phases: [hangs(every(1, "x"))], onTerm: null }), { background: true });
      yield* hands.pass(5);
      return result(yield* hands.stop(1));
    });
    expect(stopped).toMatchObject({ status: "terminated", signal: "SIGKILL", elapsed_seconds: 7, output: "xxxxxxx" });
  });

  test("list names every process there was, and the totals so far", () => {
    const listed = inSession(
      { settings: { foreground_auto_await_max_seconds: 30 }, told: 5_400, reserve: 600 },
      function* (hands) {
        yield* hands.exec(commandOf({ line: "make", phases: [hangs()] }));
        yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] }));
        yield* hands.exec(commandOf({ line: "sleep 7", phases: [lasts(7)] }), { background: true });
        yield* hands.wait(1, 3_600);
        yield* hands.stop(1);
        return result(yield* hands.list());
      },
    );
    expect(listed).toEqual({
      processes: [
        { process_id: "process-1", command: "make", status: "terminated", elapsed_seconds: 271 },
        { process_id: "process-2", command: "ls", status: "completed", elapsed_seconds: 1 },
        { process_id: "process-3", command: "sleep 7", status: "completed", elapsed_seconds: 7 },
      ],
      totals: {
        total_foreground_auto_await_seconds: 20,
        auto_await_cap_crossings: 1,
        budget_clamped_auto_await_count: 0,
        total_process_wait_seconds: 240,
        budget_clamped_process_wait_count: 0,
        wait_slice_count: 1,
      },
    });
  });

  test("of a process that never was is refused, whatever it is", () => {
    const refused = inSession({}, function* (hands) {
      const all: Returned<unknown>[] = [yield* hands.wait(7, 30), yield* hands.status(7), yield* hands.stop(7)];
      return [...all, yield* hands.read(7, 0)].map(refusal);
    });
    const why = 'process-7 is no process of this session; process(action: "list") names them';
    expect(refused).toEqual([why, why, why, why]);
  });

  test("that are refused take no time and leave their rows", () => {
    const ended = alone(
      session({ told: 5_400 }, function* (hands) {
        yield* hands.pass(10);
        yield* hands.wait(7, 30);
        yield* hands.exec(command(lasts(1)), { timeout: -1 });
      }),
    );
    const { waits, invocations } = rowsOf(ended);
    expect(waits).toMatchObject([
      {
        call_index: 1,
        process_id: null,
        requested_wait_seconds: 30,
        effective_wait_seconds: null,
        actual_wait_seconds: 0,
        wait_clamped: null,
        process_status_after_wait: "refused",
      },
    ]);
    expect(invocations).toMatchObject([
      { call_index: 2, process_id: null, status: "refused", auto_await_outcome: null, returned_running: false },
    ]);
  });
});

describe("a world in which not even KILL ends a process", () => {
  test("has a stop that failed, and the process lives on", () => {
    const events: TrialEvent[] = [];
    const shell = new Shell({
      settings: settingsOf(),
      budget: null,
      cadence: null,
      record: (event) => events.push(event),
    });
    const held = { at: moment(2_000), why: "until", end: null, written: 0, lastOutputAt: null } as const;
    const answers = (effect: Effect): Answer => (effect.effect === "stop" ? { at: moment(2_000), end: null } : held);
    const carriedOut = <Result>(agent: Generator<Effect, Result, Answer>): Result => {
      let step = agent.next(held);
      while (step.done !== true) step = agent.next(answers(step.value));
      return step.value;
    };
    carriedOut(shell.exec({ command: command(hangs()), background: true, timeout: null }, beginning));
    const id = 1 as ProcessId;
    expect(result(carriedOut(shell.stop(id, moment(2_000))))).toMatchObject({
      status: "termination_failed",
      exit_code: null,
    });
    expect(shell.isLive(id)).toBe(true);
    expect(events.at(-1)).toMatchObject({ event: "control_returned", tool: "stop", status: "termination_failed" });
    expect(result(carriedOut(shell.status(id, moment(2_000))))).toMatchObject({ status: "running" });
  });
});

describe("a process id", () => {
  test("is a name for life", () => {
    expect(processName(8 as ProcessId)).toBe("process-8");
    expect(processId("process-8")).toBe(8);
    for (const name of ["process-0", "process-08", "process-", "process-1x", "8", "Process-8", "process-1234567890"])
      expect([name, processId(name)]).toEqual([name, null]);
  });

  test("stands for a process that counts as what ended it", () => {
    const end = { at: moment(1), code: 0, signal: null } as const;
    expect(statusAfter({ ...end, by: "itself" })).toBe("completed");
    expect(statusAfter({ ...end, by: "itself", code: 2 })).toBe("failed");
    expect(statusAfter({ ...end, by: "itself", code: null, signal: "SIGSEGV" })).toBe("failed");
    expect(statusAfter({ ...end, by: "limit" })).toBe("timed_out");
    expect(statusAfter({ ...end, by: "stop" })).toBe("terminated");
    expect(statusAfter({ ...end, by: "nobody", code: null })).toBe("lost");
  });

  test("is live from its start until its end was seen", () => {
    const live = inSession({}, function* (hands) {
      const id = 1 as ProcessId;
      const before = hands.shell.isLive(id);
      yield* hands.exec(command(lasts(5)), { background: true });
      yield* hands.pass(10);
      const unseen = hands.shell.isLive(id);
      yield* hands.list();
      return [before, unseen, hands.shell.isLive(id)];
    });
    expect(live).toEqual([false, true, false]);
  });
});
