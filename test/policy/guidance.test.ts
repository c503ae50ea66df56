import { describe, expect, test } from "vitest";
import type { RunBudget } from "../../src/policy/budget.ts";
import { guidance, showsRemaining } from "../../src/policy/guidance.ts";
import { settingsOf } from "../../src/policy/settings.ts";
import { moment, seconds } from "../../src/policy/time.ts";

const at = (amount: number) => moment(seconds(amount));
const budget: RunBudget = { deadline: at(5_400), reserve: seconds(600), length: seconds(5_400) };

describe("guidance to finish", () => {
  test("goes with a live process from the first millisecond of the reserve on", () => {
    expect(guidance(budget, at(4_799.999))).toBeNull();
    expect(guidance(budget, at(4_800))).toMatchObject({
      code: "finalization_reserve",
      actions: ["inspect_output", "stop_process", "commit", "finish"],
    });
    expect(guidance(budget, at(9_000))).toEqual(guidance(budget, at(4_800)));
  });

  test("is not given without a budget", () => {
    expect(guidance(null, at(4_900))).toBeNull();
  });

  test("says each of its actions in words", () => {
    expect(guidance(budget, at(4_800))!.text).toMatch(/read the output.*stop the processes.*commit.*finish/is);
  });
});

describe("what remains of the run", () => {
  const shown = (when: "always" | "when_clamped" | "never", clamped: boolean, now: number) =>
    showsRemaining(settingsOf({ remaining_budget_on_results: when }), budget, clamped, at(now));

  test.each([
    ["when_clamped", false, 0, false],
    ["when_clamped", true, 0, true],
    ["when_clamped", false, 4_049.999, false],
    ["when_clamped", false, 4_050, true],
    ["when_clamped", false, 6_000, true],
    ["always", false, 0, true],
    ["never", true, 5_000, false],
  ] as const)("%s, clamped %s, at %d s: %s", (when, clamped, now, shows) => {
    expect(shown(when, clamped, now)).toBe(shows);
  });

  test("is shown, as shipped, when something was clamped and in the last quarter", () => {
    expect(showsRemaining(settingsOf(), budget, true, at(0))).toBe(true);
    expect(showsRemaining(settingsOf(), budget, false, at(0))).toBe(false);
  });
});
