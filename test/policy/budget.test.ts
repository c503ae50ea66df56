import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BUDGET_ENVIRONMENT,
  type BudgetSource,
  inLastQuarter,
  inReserve,
  type RunBudget,
  readBudget,
  remaining,
  reserveBegins,
  reserveOf,
  runBudget,
  usable,
} from "../../src/policy/budget.ts";
import { settingsOf, shipped } from "../../src/policy/settings.ts";
import { milliseconds, moment, seconds } from "../../src/policy/time.ts";

const at = (amount: number) => moment(seconds(amount));
const commandLine = (said: Omit<BudgetSource, "place">): BudgetSource => ({ place: "command line", ...said });
const environment = (said: Omit<BudgetSource, "place">): BudgetSource => ({ place: "environment", ...said });

describe("a run budget", () => {
  test("of 5,400 s ends at 5,400 s, and its last 600 s are in reserve", () => {
    const budget = runBudget({ runBudget: seconds(5_400) }, shipped);
    expect(budget).toEqual({ deadline: at(5_400), reserve: seconds(600), length: seconds(5_400) });
    expect(reserveBegins(budget)).toBe(at(4_800));
    expect([remaining(budget, at(4_690)), usable(budget, at(4_690))]).toEqual([seconds(710), seconds(110)]);
    expect([remaining(budget, at(6_000)), usable(budget, at(6_000))]).toEqual([0, 0]);
  });

  test("given as a deadline is converted once, from the wall clock at the start", () => {
    const startedEpoch = 1_796_000_000_000;
    const told = { runDeadlineEpoch: startedEpoch + 5_400_000 };
    expect(runBudget(told, shipped, startedEpoch)).toEqual(runBudget({ runBudget: seconds(5_400) }, shipped));
  });

  test("whose deadline has passed is no fault: the run starts inside its reserve", () => {
    const budget = runBudget({ runDeadlineEpoch: 1_000 }, shipped, 1_796_000_000_000);
    expect(budget).toEqual({ deadline: at(0), reserve: seconds(600), length: 0 });
    expect([inReserve(budget, at(0)), remaining(budget, at(0)), inLastQuarter(budget, at(0))]).toEqual([true, 0, true]);
  });

  test("loses its margin at the end, reserve and all", () => {
    const budget = runBudget({ runBudget: seconds(1_800) }, settingsOf({ budget_margin_seconds: 120 }));
    expect([budget.deadline, reserveBegins(budget)]).toEqual([at(1_680), at(1_080)]);
    const none = runBudget({ runBudget: seconds(60) }, settingsOf({ budget_margin_seconds: 120 }));
    expect(remaining(none, at(0))).toBe(0);
  });

  test("keeps the reserve given with it, over that of the settings", () => {
    const told = { runBudget: seconds(5_400), finalizationReserve: seconds(900) };
    expect(runBudget(told, settingsOf({ finalization_reserve_seconds: 60 })).reserve).toBe(seconds(900));
    expect(runBudget(told, settingsOf({ finalization_reserve_fraction: 0.5 })).reserve).toBe(seconds(900));
    expect(runBudget({ ...told, finalizationReserve: milliseconds(0) }, shipped).reserve).toBe(0);
  });

  test("that says nothing of a length lasts no time", () => {
    expect(runBudget({}, shipped)).toMatchObject({ deadline: at(0), length: 0 });
  });
});

describe("a reserve given as a share", () => {
  const tenth = settingsOf({ finalization_reserve_fraction: 0.1 });

  test.each([
    [5_400, 540, "the share itself"],
    [900, 300, "at least 300 s"],
    [500, 250, "but at most half the run"],
    [86_400, 1_800, "at most 1,800 s"],
    [0, 0, "nothing of nothing"],
  ])("of a run of %d s is %d s: %s", (length, reserve) => {
    expect(reserveOf(tenth, seconds(length))).toBe(seconds(reserve));
  });

  test("of none at all is no reserve", () => {
    expect(reserveOf(settingsOf({ finalization_reserve_seconds: "none" }), seconds(5_400))).toBe(0);
  });

  test("begins no earlier in a longer run", () => {
    const run = fc.integer({ min: 0, max: 1e8 });
    fc.assert(
      fc.property(run, run, fc.constantFrom(0, 0.1, 0.33, 0.5), (a, b, share) => {
        const settings = settingsOf({ finalization_reserve_fraction: share });
        const [shorter, longer] = [Math.min(a, b), Math.max(a, b)].map((length) =>
          reserveBegins(runBudget({ runBudget: milliseconds(length) }, settings)),
        );
        expect(shorter!).toBeLessThanOrEqual(longer!);
      }),
    );
  });
});

describe("the reserve", () => {
  const budget: RunBudget = runBudget({ runBudget: seconds(5_400) }, shipped);

  test("begins with its first millisecond", () => {
    expect([4_799.999, 4_800, 5_400, 9_000].map((second) => inReserve(budget, at(second)))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test("is nowhere without a budget", () => {
    expect(inReserve(null, at(1e9))).toBe(false);
  });

  test("is not the last quarter, in which results say what remains", () => {
    expect([4_049.999, 4_050, 5_400].map((second) => inLastQuarter(budget, at(second)))).toEqual([false, true, true]);
  });
});

describe("a budget as a harness tells it", () => {
  test("is not told where no source says anything", () => {
    expect(readBudget([])).toEqual({ told: null });
    expect(readBudget([commandLine({}), environment({ run_budget_seconds: undefined })])).toEqual({ told: null });
  });

  test("comes in either form, as text or as a number", () => {
    expect(readBudget([commandLine({ run_budget_seconds: "5400", finalization_reserve_seconds: "900" })])).toEqual({
      told: { runBudget: seconds(5_400), finalizationReserve: seconds(900) },
    });
    expect(readBudget([{ place: "run.yaml", run_deadline_epoch_seconds: 1_796_005_400.25 }])).toEqual({
      told: { runDeadlineEpoch: 1_796_005_400_250 },
    });
    expect(readBudget([commandLine({ run_budget_seconds: 0 })])).toEqual({ told: { runBudget: 0 } });
  });

  test("is that of the first source that says anything, whole: sources are not mixed", () => {
    const reading = readBudget([
      commandLine({}),
      environment({ run_budget_seconds: "900" }),
      { place: "run.yaml", run_deadline_epoch_seconds: 1, finalization_reserve_seconds: 60 },
    ]);
    expect(reading).toEqual({ told: { runBudget: seconds(900) } });
  });

  test("is refused in both forms at once from one source, but not from two", () => {
    const both = { run_budget_seconds: 900, run_deadline_epoch_seconds: 1_796_000_000 };
    expect(readBudget([commandLine(both)])).toEqual({
      faults: ["command line: run_budget_seconds and run_deadline_epoch_seconds are both given: give one"],
    });
    const apart = [
      commandLine({ run_budget_seconds: 900 }),
      environment({ run_deadline_epoch_seconds: 1_796_000_000 }),
    ];
    expect(readBudget(apart)).toEqual({ told: { runBudget: seconds(900) } });
  });

  test.each([
    ["-1", '"-1"'],
    ["soon", '"soon"'],
    ["", '""'],
    [" ", '" "'],
    ["Infinity", '"Infinity"'],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [-0.5, "-0.5"],
    [true, "true"],
    [null, "null"],
    [[900], "[900]"],
  ])("is refused as %j, with name and value", (value, shown) => {
    expect(readBudget([environment({ run_budget_seconds: value })])).toEqual({
      faults: [`environment: run_budget_seconds is ${shown}: expected seconds, zero or more`],
    });
  });

  test("is refused for all its faults at once, and not passed over for the next source", () => {
    const wrong = {
      run_budget_seconds: "a while",
      run_deadline_epoch_seconds: -3,
      finalization_reserve_seconds: "some",
    };
    expect(readBudget([commandLine(wrong), environment({ run_budget_seconds: 900 })])).toEqual({
      faults: [
        'command line: run_budget_seconds is "a while": expected seconds, zero or more',
        "command line: run_deadline_epoch_seconds is -3: expected seconds, zero or more",
        'command line: finalization_reserve_seconds is "some": expected seconds, zero or more',
        "command line: run_budget_seconds and run_deadline_epoch_seconds are both given: give one",
      ],
    });
  });

  test("is refused as a reserve of nothing", () => {
    expect(readBudget([environment({ finalization_reserve_seconds: 600 })])).toEqual({
      faults: [
        "environment: finalization_reserve_seconds is given without a budget: add run_budget_seconds or run_deadline_epoch_seconds",
      ],
    });
  });

  test("goes by these names in an environment", () => {
    expect(BUDGET_ENVIRONMENT).toEqual({
      run_budget_seconds: "YIELDPOINT_RUN_BUDGET_SECONDS",
      run_deadline_epoch_seconds: "YIELDPOINT_RUN_DEADLINE_EPOCH_SECONDS",
      finalization_reserve_seconds: "YIELDPOINT_FINALIZATION_RESERVE_SECONDS",
    });
  });
});

test("a deadline in milliseconds since the epoch is refused as one that is not in seconds", () => {
  expect(readBudget([{ place: "command line", run_deadline_epoch_seconds: 1_790_000_000_000 }])).toEqual({
    faults: ["command line: run_deadline_epoch_seconds is 1790000000000: expected seconds, 100000000000 at most"],
  });
});
