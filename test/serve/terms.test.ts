/** By what a session is served: flags, environment, policy file, which of them wins, and what is refused. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Terms, termsOf } from "../../src/cli/serveTerms.ts";
import { seconds } from "../../src/policy/time.ts";
import { FileFaults } from "../../src/scenario/fault.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { yieldpoint } from "../program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "yieldpoint-terms-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Words = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string>>;

function terms(flags: Words = {}, environment: Environment = {}): Terms {
  const { stdout, stderr } = process;
  return termsOf({ _: ["serve"], $0: "yieldpoint", ...flags }, { stdout, stderr, environment, words: [] });
}

function faultsOf(flags: Words, environment: Environment = {}): readonly string[] {
  try {
    terms(flags, environment);
  } catch (error) {
    if (error instanceof FileFaults) return error.faults;
    throw error;
  }
  return [];
}

function policyFile(text: string): string {
  const file = join(folder, "mine.yaml");
  writeFileSync(file, `policy: mine\n${text}\n`);
  return file;
}

describe("a budget", () => {
  test("is told by the command line before the environment, and by that before the policy's file; each wins whole", () => {
    const policy = policyFile(
      "shell_execution: {}\nbudget: { run_budget_seconds: 700, finalization_reserve_seconds: 70 }",
    );
    const environment = { YIELDPOINT_RUN_BUDGET_SECONDS: "800", YIELDPOINT_FINALIZATION_RESERVE_SECONDS: "80" };
    expect(terms({ policy, "run-budget-seconds": "5400" }, environment).told).toEqual({ runBudget: seconds(5_400) });
    expect(terms({ policy }, environment).told).toEqual({ runBudget: seconds(800), finalizationReserve: seconds(80) });
    expect(terms({ policy }).told).toEqual({ runBudget: seconds(700), finalizationReserve: seconds(70) });
    expect(terms().told).toBeNull();
  });

  test("may be told as a moment on the wall clock, from any of them", () => {
    const told = { runDeadlineEpoch: 1_796_005_400_250 };
    expect(terms({ "run-deadline-epoch-seconds": "1796005400.25" }).told).toEqual(told);
    expect(terms({}, { YIELDPOINT_RUN_DEADLINE_EPOCH_SECONDS: "1796005400.25" }).told).toEqual(told);
    const policy = policyFile("shell_execution: {}\nbudget: { run_deadline_epoch_seconds: 1796005400.25 }");
    expect(terms({ policy }).told).toEqual(told);
  });
});

describe("the longest hold", () => {
  const ofThese = (flags: Words) => {
    const { settings, quietHold, overrides } = terms(flags);
    return [settings.maxHold, quietHold, overrides];
  };

  test("is 50 s where no progress is asked for, unless the flag or the policy's file say otherwise", () => {
    expect(ofThese({})).toEqual([null, seconds(50), []]);
    expect(ofThese({ "max-hold-seconds": "90" })).toEqual([seconds(90), null, ["max_hold_seconds=90"]]);
    const policy = policyFile("shell_execution: { max_hold_seconds: 40 }");
    expect(ofThese({ policy })).toEqual([seconds(40), null, []]);
    expect(ofThese({ policy, "max-hold-seconds": "90" })).toEqual([seconds(90), null, ["max_hold_seconds=90"]]);
  });

  test("may be none, said by either", () => {
    expect(ofThese({ "max-hold-seconds": "none" })).toEqual([null, null, ["max_hold_seconds=none"]]);
    const policy = policyFile("shell_execution: { max_hold_seconds: none }");
    expect(ofThese({ policy })).toEqual([null, null, []]);
  });
});

describe("a session is refused", () => {
  test("for every fault of flags, environment, policy and folder at once", () => {
    const policy = policyFile("shell_execution: { foreground_auto_await_max_second: 3 }");
    const faults = faultsOf({
      policy,
      outt: "x",
      out: policy,
      "run-budget-seconds": "soon",
      "run-deadline-epoch-seconds": "9",
      "max-hold-seconds": "-1",
    });
    expect(faults).toEqual([
      "--outt is not a flag of this command; did you mean --out?",
      `${policy}:2:20: shell_execution.foreground_auto_await_max_second is not a key of a policy's shell_execution; did you mean foreground_auto_await_max_seconds?`,
      'command line: run_budget_seconds is "soon": expected seconds, zero or more',
      "command line: run_budget_seconds and run_deadline_epoch_seconds are both given: give one",
      "--max-hold-seconds is -1: expected a length of time in seconds, 1 or more, or none",
      `${policy} is a file: expected a folder to write into`,
    ]);
  });

  test.each<[string, Words, Environment, string]>([
    [
      "both forms from the environment",
      {},
      { YIELDPOINT_RUN_BUDGET_SECONDS: "9", YIELDPOINT_RUN_DEADLINE_EPOCH_SECONDS: "9" },
      "environment: run_budget_seconds and run_deadline_epoch_seconds are both given: give one",
    ],
    [
      "a budget that is not finite",
      { "run-budget-seconds": "Infinity" },
      {},
      'command line: run_budget_seconds is "Infinity": expected seconds, zero or more',
    ],
    [
      "a negative budget",
      { "run-budget-seconds": "-5" },
      {},
      'command line: run_budget_seconds is "-5": expected seconds, zero or more',
    ],
    [
      "an empty variable",
      {},
      { YIELDPOINT_RUN_BUDGET_SECONDS: "" },
      'environment: run_budget_seconds is "": expected seconds, zero or more',
    ],
    [
      "a reserve without a budget",
      { "finalization-reserve-seconds": "60" },
      {},
      "command line: finalization_reserve_seconds is given without a budget: add run_budget_seconds or run_deadline_epoch_seconds",
    ],
    [
      "a flag given twice",
      { "run-budget-seconds": ["1", "2"] },
      {},
      "--run-budget-seconds is given 2 times: give it once",
    ],
    [
      "a hold that would cut the initial one",
      { "max-hold-seconds": "20" },
      {},
      "--max-hold-seconds is 20: it must be at least foreground_total_yield_seconds (30), so that no initial hold is cut; give --max-hold-seconds another value, or none",
    ],
  ])("for %s", (_, flags, environment, says) => {
    expect(faultsOf(flags, environment)).toEqual([says]);
  });

  test("for a policy that there is not", () => {
    expect(faultsOf({ policy: "budgetd" })[0]).toContain("did you mean budgeted?");
  });

  test("for a policy whose initial hold is longer than a client without progress waits", () => {
    const policy = policyFile("shell_execution: { foreground_total_yield_seconds: 60 }");
    expect(faultsOf({ policy })).toEqual([
      "--max-hold-seconds, where the client asks for no progress, is 50: it must be at least foreground_total_yield_seconds (60), so that no initial hold is cut; give --max-hold-seconds another value, or none",
    ]);
    expect(terms({ policy, "max-hold-seconds": "none" }).quietHold).toBeNull();
  });

  test("for both forms of a budget in the policy's file", () => {
    const policy = policyFile("shell_execution: {}\nbudget: { run_budget_seconds: 9, run_deadline_epoch_seconds: 9 }");
    expect(faultsOf({ policy })).toEqual([
      `${policy}: run_budget_seconds and run_deadline_epoch_seconds are both given: give one`,
    ]);
  });

  test("for a folder that holds something else", () => {
    const out = join(folder, "taken");
    mkdirSync(out);
    writeFileSync(join(out, "thesis.tex"), "");
    expect(faultsOf({ out })).toEqual([
      `${out} holds files of something else: name another folder with --out, or empty this one`,
    ]);
  });
});

describe("the program", () => {
  const serve = (words: readonly string[]) =>
    yieldpoint(["serve", "--out", join(folder, "out"), ...words], { cwd: folder, input: "" });

  test("tells people on stderr what it was told, and writes its manifest before anything else", () => {
    const { code, stdout, stderr } = serve(["--run-budget-seconds", "1000"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("warning  a reserve of 600 s is half of the run of 1000 s or more");
    expect(stderr).toContain("policy shipped, told of a run of 1000 s, 600 s of them kept for finishing");
    const manifest = JSON.parse(readFileSync(join(folder, "out/manifest.json"), "utf8"));
    expect(manifest).toMatchObject({
      made_by: "yieldpoint",
      source: "measured",
      policy: "shipped",
      run_budget_seconds: 1_000,
      overrides: ["max_hold_seconds=50 where no progress is asked for"],
    });
  });

  test("begins in its reserve where the deadline is past", () => {
    const { code, stderr } = serve(["--run-deadline-epoch-seconds", "1"]);
    expect(code).toBe(0);
    expect(stderr).toContain("told of a run of 0 s");
  });

  test("refuses with 2, and nothing is written", () => {
    const { code, stdout, stderr } = serve(["--run-budget-seconds", "-5", "--max-hold-seconds", "soon"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trimEnd().split("\n")).toEqual([
      'error  command line: run_budget_seconds is "-5": expected seconds, zero or more',
      "error  --max-hold-seconds is soon: expected a length of time in seconds, 1 or more, or none",
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("a policy with a budget of its own has no place in a panel, where the arm says what it is told", () => {
  policyFile("shell_execution: {}\nbudget: { run_budget_seconds: 700 }");
  const panel = join(folder, "panel.yaml");
  const written = (arms: string) =>
    writeFileSync(
      panel,
      `panel: panel\nquestion: q?\nscenarios: [hung-test-run]\nreplicates: 1\nfactors: [habit]\narms: ${arms}\n`,
    );
  written("[{ arm: a, policy: mine, profile: long, budget: told }]");
  const says = "a policy with a budget of its own: here the arm says what its policy is told";
  expect(() => loadPanel(panel)).toThrow(`arms[0].policy is "mine", ${says}`);
  written("[{ arm: a, policy: shipped, profile: long, budget: told }]");
  expect(() => loadPanel(panel, { sets: ["a.policy=mine"] })).not.toThrow(says);
  expect(() => loadPanel(panel, { sets: [`a.policy=${join(folder, "mine.yaml")}`] })).toThrow(says);
});
