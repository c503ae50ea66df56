import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunBudget } from "../../src/policy/budget.ts";
import { autoAwait } from "../../src/policy/hold.ts";
import { riskCap } from "../../src/policy/risk.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import { command, commandOf, every, hangs, lasts, result, session } from "../aRun.ts";
import { length, someSettings } from "../arbitraries.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";

const at = (amount: number) => moment(seconds(amount));

/** 1,000 s told, 100 s in reserve: it begins at 900 s, and late is from 750 s on. */
const budget: RunBudget = { deadline: at(1_000), reserve: seconds(100), length: seconds(1_000) };

const advisory: WrittenSettings = {
  foreground_auto_await_max_seconds: 240,
  auto_await_risk: "advisory",
  risk_cap_full_test_suite_seconds: 60,
  risk_cap_watch_or_server_seconds: 20,
  risk_cap_daemon_seconds: 15,
  risk_cap_late_in_run_seconds: 40,
};

const granted = (
  line: string,
  more: WrittenSettings = {},
  { start = 0, run = null as RunBudget | null, initial = 10 } = {},
) => {
  const stands = { calledAt: at(start), startedAt: at(start), boundary: at(start + initial), lastOutputAt: null, line };
  return autoAwait(stands, settingsOf({ ...advisory, ...more }), run);
};

const until = (moment: number, ...clampReasons: string[]) => ({ until: at(moment), clampReasons });

describe("a risk", () => {
  test.each([
    ["pytest -q", 60],
    ["npm run dev", 20],
    ["vite --watch", 20],
    ["nohup ./serve &", 15],
  ])("that %s shows cuts its auto-await to the cap of that risk, from its start", (line, cap) => {
    expect(granted(line)).toEqual(until(cap, "command_risk"));
    expect(granted(line, {}, { start: 500 })).toEqual(until(500 + cap, "command_risk"));
  });

  test("that a line does not show changes nothing", () => {
    for (const line of ["pytest tests/test_one.py::test_it", "cargo build", "ls", ""]) {
      expect(granted(line)).toEqual(until(240));
    }
  });

  test("of silence cuts the hold of what has printed nothing by the end of its initial hold", () => {
    const quiet = { risk_cap_quiet_seconds: 45 };
    expect(granted("cargo build", quiet)).toEqual(until(45, "command_risk"));
    const stands = { calledAt: at(0), startedAt: at(0), boundary: at(30), lastOutputAt: at(29), line: "cargo build" };
    expect(autoAwait(stands, settingsOf({ ...advisory, ...quiet }), null)).toEqual(until(240));
    const extending = { ...quiet, foreground_auto_await_extends_on_output: true };
    expect(granted("cargo build", extending)).toEqual(until(240));
  });

  test("of being overdue cuts it so far beyond the usual length of the command's class", () => {
    const usual = { risk_cap_overdue_seconds: 5, usual_length_build_seconds: 100 };
    expect(granted("cargo build", usual)).toEqual(until(105, "command_risk"));
    expect(granted("cargo build", { ...usual, usual_length_build_seconds: 600 })).toEqual(until(240));
    expect(granted("ls -R /", usual)).toEqual(until(240));
    const stands = { line: "cargo build", boundary: at(10), lastOutputAt: null };
    expect(riskCap(stands, settingsOf({ ...advisory, ...usual }), null)?.risks).toEqual(["overdue"]);
  });

  test("is off unless it is switched on, and a risk without a cap is none", () => {
    expect(granted("pytest -q", { auto_await_risk: "off" })).toEqual(until(240));
    expect(granted("pytest -q", { risk_cap_full_test_suite_seconds: "none" })).toEqual(until(240));
  });

  test("of two on one line is the one with the shorter cap; of equal ones both are named", () => {
    const line = "pytest & npm run dev";
    expect(riskCap({ line, boundary: at(10), lastOutputAt: null }, settingsOf(advisory), null)).toEqual({
      length: seconds(15),
      risks: ["daemon"],
    });
    const equal = settingsOf({ ...advisory, risk_cap_watch_or_server_seconds: 15 });
    expect(riskCap({ line, boundary: at(10), lastOutputAt: null }, equal, null)?.risks).toEqual([
      "watch_or_server",
      "daemon",
    ]);
  });

  test("never cuts the initial hold, and never lengthens the cap", () => {
    expect(granted("pytest -q", { risk_cap_full_test_suite_seconds: 0 })).toEqual(until(10, "command_risk"));
    expect(granted("pytest -q", { foreground_auto_await_max_seconds: 60 })).toEqual(until(60));
    expect(granted("pytest -q", { foreground_auto_await_max_seconds: 50 })).toEqual(until(50));
    expect(granted("pytest -q", { foreground_auto_await_max_seconds: 0 })).toEqual(until(10));
  });

  test("is named beside the budget where both cut at one moment", () => {
    const run = { start: 840, run: budget };
    expect(granted("pytest -q", { risk_cap_late_in_run_seconds: "none" }, run)).toEqual(
      until(900, "remaining_run_budget", "command_risk"),
    );
  });

  test("of being late in the run counts once less than a quarter remains, where a budget is told and heeded", () => {
    expect(granted("ls", {}, { start: 740, run: budget })).toEqual(until(900, "remaining_run_budget"));
    expect(granted("ls", {}, { start: 740.001, run: budget })).toEqual(until(780.001, "command_risk"));
    expect(granted("ls", { risk_late_in_run_fraction: 0.1 }, { start: 741, run: budget })).toEqual(
      until(900, "remaining_run_budget"),
    );
    expect(granted("ls", {}, { start: 800 })).toEqual(until(1_040));
    const unaware = { foreground_auto_await_budget_aware: false };
    expect(granted("ls", unaware, { start: 800, run: budget })).toEqual(until(1_040));
  });

  test("whatever else holds, only ever shortens, never under the boundary, and says so exactly when it does", () => {
    const line = fc.constantFrom("pytest -q", "npm run dev", "nohup x &", "ls", "pytest & vite");
    const caps = fc.record({
      risk_cap_full_test_suite_seconds: length(0, 300),
      risk_cap_watch_or_server_seconds: length(0, 300),
      risk_cap_daemon_seconds: length(0, 300),
      risk_cap_late_in_run_seconds: length(0, 300),
      risk_late_in_run_fraction: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const run = fc.option(fc.constant(budget));
    fc.assert(
      fc.property(
        line,
        caps,
        someSettings,
        run,
        length(0, 900),
        length(0, 40),
        (line, caps, other, run, start, held) => {
          const spec = { start, run, initial: held };
          const plain = granted(line, { ...other, auto_await_risk: "off" }, spec);
          const risky = granted(line, { ...other, ...caps, auto_await_risk: "advisory" }, spec);
          expect(risky.until).toBeLessThanOrEqual(plain.until);
          expect(risky.until).toBeGreaterThanOrEqual(at(start + held));
          if (risky.until < plain.until) expect(risky.clampReasons).toEqual(["command_risk"]);
          else expect(risky.clampReasons.filter((reason) => reason !== "command_risk")).toEqual(plain.clampReasons);
        },
      ),
    );
  });
});

describe.each(worlds)("in the %s world", (_, perform) => {
  async function made(settings: WrittenSettings, work: Parameters<typeof session>[1], more: object = {}) {
    return rowsOf(await perform(session({ outerLimit: 5_000, settings, ...more }, work)));
  }

  test("a risky command is handed back alive at the cap of its risk, and the result says which risk it was", async () => {
    let shown: unknown = null;
    let later: unknown = null;
    const { trial, invocations } = await made({ ...advisory, foreground_at_cap: "kill" }, function* (hands) {
      shown = result(yield* hands.exec(command(lasts(100, every(3)))));
      yield* hands.pass(100);
      later = result(yield* hands.status(1)).status;
    });
    expect(shown).toMatchObject({
      status: "running",
      elapsed_seconds: 60,
      auto_await_outcome: "cap_reached",
      clamp_reasons: ["command_risk"],
      command_risks: ["full_test_suite"],
    });
    expect(later).toBe("completed");
    expect(invocations[0]).toMatchObject({ auto_await_clamp_reasons: ["command_risk"], returned_running: true });
    expect(trial).toMatchObject({ risk_shortened: 1, auto_await_cap_crossings: 0, processes_stopped: 0 });
  });

  describe("a total timeout", () => {
    const total = (length: number, more: WrittenSettings = {}) => ({ total_timeout_seconds: length, ...more });

    test("never suppresses yielding, is never reset, and ends the command whoever looks", async () => {
      const seen: unknown[] = [];
      const { trial } = await made(total(200), function* (hands) {
        const shown = result(yield* hands.exec(command(hangs(every(5)))));
        seen.push(shown.status, shown.elapsed_seconds, "hard_timeout_seconds" in shown);
        seen.push(result(yield* hands.wait(1, 60)).status);
        yield* hands.pass(500);
        const later = result(yield* hands.status(1));
        seen.push(later.status, later.elapsed_seconds);
      });
      expect(seen).toEqual(["running", 30, false, "running", "timed_out", 200]);
      expect(trial).toMatchObject({ processes_stopped: 1, seconds_wasted: 200, hard_hold_seconds: 0 });
    });

    test("holds in the background, during auto-await, and beside a wait", async () => {
      const seen: unknown[] = [];
      await made(total(100, { foreground_auto_await_max_seconds: 240 }), function* (hands) {
        result(yield* hands.exec(command(hangs()), { background: true }));
        const waited = result(yield* hands.wait(1, 600));
        seen.push(waited.status, waited.elapsed_seconds);
        const held = result(yield* hands.exec(command(hangs())));
        seen.push(held.status, held.elapsed_seconds, held.auto_await_outcome);
      });
      expect(seen).toEqual(["timed_out", 100, "timed_out", 100, "process_finished"]);
    });

    test.each([
      [60, undefined, 60],
      [undefined, undefined, 100],
      [300, undefined, 100],
      [300, "make", 100],
      [undefined, "ls", 30],
      [undefined, "make", 100],
    ])("beside a hard timeout of %s (line %s): the earlier ends it", async (timeout, line, ends) => {
      const seen: unknown[] = [];
      const settings = total(100, line === undefined ? {} : { hard_timeout_by_class: true });
      await made(settings, function* (hands) {
        const what = commandOf({ phases: [hangs()], line: line ?? "pytest -q" });
        yield* hands.exec(what, timeout === undefined ? {} : { timeout });
        yield* hands.pass(500);
        const { status, elapsed_seconds } = result(yield* hands.status(1));
        seen.push(status, elapsed_seconds);
      });
      expect(seen).toEqual(["timed_out", ends]);
    });

    test("has no part in a command that is over before", async () => {
      const { trial, invocations } = await made(total(20), function* (hands) {
        yield* hands.exec(command(lasts(20)));
      });
      expect(invocations[0]).toMatchObject({ status: "completed", hard_timeout_seconds: null });
      expect(trial.processes_stopped).toBe(0);
    });
  });
});
