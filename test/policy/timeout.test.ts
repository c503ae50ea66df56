import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunBudget } from "../../src/policy/budget.ts";
import { CLASS_LIMITS } from "../../src/policy/command.ts";
import { settingsOf, shipped, type WrittenSettings } from "../../src/policy/settings.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import { classTimeouts, endsAfter, hardTimeout, silenceLimits } from "../../src/policy/timeout.ts";
import { length, someSettings } from "../arbitraries.ts";

const at = (amount: number) => moment(seconds(amount));

/** 1,000 s told, 600 s in reserve: it begins at 400 s. */
const budget: RunBudget = { deadline: at(1_000), reserve: seconds(600), length: seconds(1_000) };

function decided(
  requested: number | null,
  settings: WrittenSettings = {},
  { start = 0, background = false, run = null as RunBudget | null, line = "pytest -q" } = {},
) {
  const call = { requested: requested === null ? null : seconds(requested), background, startedAt: at(start), line };
  return hardTimeout(call, settingsOf(settings), run);
}

const granted = (length: number, more: object = {}) => ({
  timeout: { length: seconds(length), suppressesYield: true, clampReasons: [], ...more },
});

describe("a hard timeout", () => {
  test("is none unless it is named", () => {
    expect(decided(null)).toEqual({ timeout: null });
  });

  test("is what the caller names, from the start", () => {
    expect(decided(60, {}, { start: 980, run: budget })).toEqual(granted(60));
    expect(decided(3_600)).toEqual(granted(3_600));
    expect(decided(0.001)).toEqual(granted(0.001));
  });

  test("has a default for commands that name none, but not in the background", () => {
    const usual = { hard_timeout_default_seconds: 120 };
    expect(decided(null, usual)).toEqual(granted(120));
    expect(decided(60, usual)).toEqual(granted(60));
    expect(decided(null, usual, { background: true })).toEqual({ timeout: null });
  });

  test("holds the command unless it is told not to, and holds nothing in the background", () => {
    expect(decided(60, { hard_timeout_suppresses_yield: false })).toEqual(granted(60, { suppressesYield: false }));
    expect(decided(60, {}, { background: true })).toEqual(granted(60, { suppressesYield: false }));
  });

  test.each([
    [3_600.001, {}, "timeout_seconds is 3600.001: expected more than 0, up to 3600"],
    [0, {}, "timeout_seconds is 0: expected more than 0, up to 3600"],
    [-1, {}, "timeout_seconds is -1: expected more than 0, up to 3600"],
    [-1, { hard_timeout_out_of_range: "clamp" }, "timeout_seconds is -1: expected more than 0, up to 3600"],
    [0, { hard_timeout_max_seconds: "none" }, "timeout_seconds is 0: expected more than 0"],
  ] as const)("of %d s under %j is refused, with what was expected", (requested, settings, refused) => {
    expect(decided(requested, settings)).toEqual({ refused });
  });

  test("beyond the maximum is cut to it where it is not refused", () => {
    expect(decided(9_000, { hard_timeout_out_of_range: "clamp" })).toEqual(
      granted(3_600, { clampReasons: ["hard_timeout_max"] }),
    );
    expect(decided(9_000, { hard_timeout_max_seconds: "none" })).toEqual(granted(9_000));
  });

  describe("that is aware of the budget", () => {
    const aware = { hard_timeout_budget_aware: true };

    test("ends where the reserve begins", () => {
      expect(decided(600, aware, { run: budget })).toEqual(granted(400, { clampReasons: ["remaining_run_budget"] }));
      expect(decided(400, aware, { run: budget })).toEqual(granted(400));
      expect(decided(600, aware)).toEqual(granted(600));
      expect(decided(600, {}, { run: budget })).toEqual(granted(600));
    });

    test("never ends before the initial hold could", () => {
      const late = { start: 380, run: budget };
      expect(decided(600, aware, late)).toEqual(granted(30, { clampReasons: ["remaining_run_budget"] }));
      expect(decided(20, aware, late)).toEqual(granted(20));
      expect(decided(600, aware, { start: 900, run: budget })).toEqual(
        granted(30, { clampReasons: ["remaining_run_budget"] }),
      );
    });

    test("names both bounds where two cut it at one moment", () => {
      const clamping = { ...aware, hard_timeout_out_of_range: "clamp", hard_timeout_max_seconds: 100 } as const;
      const reasons = (start: number) => {
        const decision = decided(600, clamping, { start, run: budget });
        return "timeout" in decision ? decision.timeout?.clampReasons : null;
      };
      expect(reasons(0)).toEqual(["hard_timeout_max"]);
      expect(reasons(300)).toEqual(["hard_timeout_max", "remaining_run_budget"]);
      expect(reasons(301)).toEqual(["remaining_run_budget"]);
    });
  });

  describe("by class", () => {
    const byClass = (more: WrittenSettings = {}): WrittenSettings => ({ hard_timeout_by_class: true, ...more });

    test.each([
      ["pytest -q", "test", 900],
      ["make", "build", 1_800],
      ["curl x", "network", 300],
      ["ls", "default", 30],
      ["git pull && npm ci && npm test", "build", 1_800],
      ["", "default", 30],
    ] as const)("of %j is that of class %s, %d s", (line, commandClass, length) => {
      expect(decided(null, byClass(), { line })).toEqual(granted(length, { commandClass }));
      expect(decided(null, {}, { line })).toEqual({ timeout: null });
    });

    test("has the lengths of the classifier as its defaults", () => {
      expect(classTimeouts(shipped)).toEqual(CLASS_LIMITS);
    });

    test("stands behind what the caller names, and before the default", () => {
      expect(decided(60, byClass())).toEqual(granted(60));
      expect(decided(null, byClass({ hard_timeout_default_seconds: 120 }))).toEqual(
        granted(900, { commandClass: "test" }),
      );
      expect(decided(null, byClass(), { background: true })).toEqual({ timeout: null });
    });

    test("of none leaves a class to the default, if there is one", () => {
      const none = byClass({ hard_timeout_test_seconds: "none" });
      expect(decided(null, none)).toEqual({ timeout: null });
      expect(decided(null, { ...none, hard_timeout_default_seconds: 120 })).toEqual(granted(120));
      expect(decided(null, none, { line: "make && pytest" })).toEqual({ timeout: null });
    });

    test("is the longest by the lengths in force, whichever those are", () => {
      const odd = byClass({ hard_timeout_network_seconds: 3_000 });
      expect(decided(null, odd, { line: "git pull && make" })).toEqual(granted(3_000, { commandClass: "network" }));
    });

    test("suppresses yielding as any other does", () => {
      expect(decided(null, byClass({ hard_timeout_suppresses_yield: false }))).toEqual(
        granted(900, { commandClass: "test", suppressesYield: false }),
      );
    });

    test("beyond the maximum is refused or cut, as any other is", () => {
      const short = byClass({ hard_timeout_max_seconds: 600 });
      expect(decided(null, short)).toEqual({
        refused: "hard_timeout_test_seconds, the hard timeout of class test, is 900: expected more than 0, up to 600",
      });
      expect(decided(null, { ...short, hard_timeout_out_of_range: "clamp" })).toEqual(
        granted(600, { commandClass: "test", clampReasons: ["hard_timeout_max"] }),
      );
      expect(decided(601, short)).toEqual({ refused: "timeout_seconds is 601: expected more than 0, up to 600" });
      expect(decided(601, short, { line: "curl x" })).toEqual({
        refused: "timeout_seconds is 601: expected more than 0, up to 600; left out, it is 300, as of class network",
      });
    });

    test("is aware of the budget where hard timeouts are", () => {
      expect(decided(null, byClass({ hard_timeout_budget_aware: true }), { run: budget })).toEqual(
        granted(400, { commandClass: "test", clampReasons: ["remaining_run_budget"] }),
      );
    });
  });

  test("and a total timeout: a command ends at the earlier of the two", () => {
    const hard = { length: seconds(60), suppressesYield: true, clampReasons: [] };
    const total = (length: number | "none") => settingsOf({ total_timeout_seconds: length });
    expect(endsAfter(hard, total("none"))).toBe(seconds(60));
    expect(endsAfter(hard, total(100))).toBe(seconds(60));
    expect(endsAfter(hard, total(10))).toBe(seconds(10));
    expect(endsAfter(null, total(10))).toBe(seconds(10));
    expect(endsAfter(null, total("none"))).toBeNull();
  });

  test("that waits for silence ends a command once it is over and silent, or so long past it", () => {
    const hard = { length: seconds(120), suppressesYield: true, clampReasons: [] };
    const stall = { hard_timeout_stall_seconds: 60 };
    expect(endsAfter(hard, settingsOf(stall))).toBe(seconds(720));
    expect(endsAfter(hard, settingsOf({ ...stall, total_timeout_seconds: 200 }))).toBe(seconds(200));
    expect(endsAfter(null, settingsOf(stall))).toBeNull();
    expect(silenceLimits(hard, settingsOf(stall))).toEqual([{ from: seconds(120), length: seconds(60) }]);
    expect(silenceLimits(null, settingsOf(stall))).toEqual([]);
    expect(silenceLimits(hard, settingsOf())).toEqual([]);
    expect(silenceLimits(hard, settingsOf({ ...stall, inactivity_kill_seconds: 300 }))).toEqual([
      { from: 0, length: seconds(300) },
      { from: seconds(120), length: seconds(60) },
    ]);
  });

  test("whatever is asked, is never longer than asked, and has reasons exactly when it is shorter", () => {
    const run = fc.option(
      fc
        .tuple(length(0, 1_500), length(0, 600))
        .map(([told, reserve]) => ({ deadline: at(told), reserve: seconds(reserve), length: seconds(told) })),
    );
    fc.assert(
      fc.property(length(-10, 5_000), someSettings, run, length(0, 1_500), (asked, settings, run, start) => {
        const decision = decided(asked, settings, { start, run });
        if ("refused" in decision) return;
        const { length, clampReasons } = decision.timeout!;
        expect(length).toBeLessThanOrEqual(seconds(asked));
        expect(clampReasons.length === 0).toBe(length === seconds(asked));
      }),
    );
  });
});
