import { describe, expect, test } from "vitest";
import { settingsOf } from "../../src/policy/settings.ts";
import { milliseconds, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { drawScenario, replicateKey } from "../../src/scenario/draw.ts";
import { loadArm, loadPanel, loadPolicy, loadProfile, loadScenario, toldBudget } from "../../src/scenario/load.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { aPanel, aScenario, folder } from "./files.ts";

const minimal = "policy: mine\nshell_execution: { foreground_auto_await_max_seconds: 5 }\n";

describe("a policy file", () => {
  test("may be a plain fast-agent configuration: what is not shell_execution is none of our business", () => {
    const { path } = folder({
      "fast.yaml":
        "default_model: x\nlogger: { level: info }\nshell_execution: { foreground_auto_await_max_seconds: 240 }\n",
    });
    const { policy, settings, layer } = loadPolicy(path("fast.yaml"));
    expect({ policy, layer }).toEqual({ policy: "fast", layer: { foreground_auto_await_max_seconds: 240 } });
    expect(settings).toEqual(settingsOf({ foreground_auto_await_max_seconds: 240 }));
  });
});

describe("a name", () => {
  test("stands for the file beside, before the file around, before what ships", () => {
    const panel = aPanel({
      factors: "[cap, slice]",
      arms: "[{ arm: a, policy: control, profile: short, budget: untold }]",
    });
    const cap = (seconds: number) =>
      `policy: control\nshell_execution: { foreground_auto_await_max_seconds: ${seconds} }\n`;
    const capOf = (files: Record<string, string>) => {
      const { path } = folder({ "panels/p.yaml": panel, ...files });
      return loadPanel(path("panels/p.yaml")).arms[0]!.factors["cap"];
    };
    expect(capOf({})).toBe("0");
    expect(capOf({ "panels/policies/control.yaml": cap(7) })).toBe("7");
    expect(capOf({ "panels/policies/control.yaml": cap(7), "panels/control.yaml": cap(8) })).toBe("8");
  });

  test("passes over a nearer file of another kind", () => {
    const arm = "[{ arm: a, policy: short, profile: short, budget: untold }]";
    const { path } = folder({
      "p.yaml": aPanel({ factors: "[]", arms: arm }),
      "short.yaml": minimal.replace("mine", "short"),
    });
    const [a] = loadPanel(path("p.yaml")).arms;
    expect(a!.policy).toBe("short");
    expect(a!.profile).toEqual(loadProfile("short"));
  });

  test("of an arm stands for the nearest file of arms that has it", () => {
    const { path } = folder({
      "panels/p.yaml": aPanel({ factors: "[budget, cap, habit, slice]", arms: "[mine, control]" }),
      "panels/arms.yaml":
        "arms: [{ arm: mine, policy: budgeted, profile: long, budget: { run_budget_seconds: 4000 } }]\n",
    });
    expect(loadPanel(path("panels/p.yaml")).arms.map(({ arm, factors }) => [arm, factors["budget"]])).toEqual([
      ["mine", "4000"],
      ["control", "untold"],
    ]);
  });

  test("may be a path", () => {
    const { path } = folder({ "p.yaml": aPanel({ scenarios: "[there/s.yaml]" }), "there/s.yaml": aScenario() });
    const { source, inputs } = loadPanel(path("p.yaml"));
    expect("scenarios" in source && source.scenarios.map(({ scenario }) => scenario)).toEqual(["situation"]);
    expect(inputs.map((input) => input.path)).toContain("there/s.yaml");
  });

  test("is the same inside its file", () => {
    const { path, faults } = folder({ "p.yaml": aPanel({ scenarios: "[s]" }), "s.yaml": aScenario() });
    expect(faults(() => loadPanel(path("p.yaml")))).toEqual([
      's.yaml:1:11: scenario is "situation": expected "s", the name of its file',
    ]);
  });
});

describe("an arm", () => {
  const one = (arm: string, more: Record<string, string> = {}) => {
    const { path } = folder({ "p.yaml": aPanel({ factors: "[]", arms: `[${arm}]`, ...more }) });
    return loadPanel(path("p.yaml")).arms[0]!;
  };
  const limit = seconds(5_400);

  test("that is told is told of the outer limit, or of what it says", () => {
    expect(toldBudget(one("{ arm: a, policy: control, profile: short, budget: untold }"), limit)).toBeNull();
    expect(toldBudget(one("{ arm: a, policy: control, profile: short, budget: told }"), limit)).toEqual({
      runBudget: limit,
    });
    const own = "{ run_budget_seconds: 4000, finalization_reserve_seconds: 300 }";
    expect(toldBudget(one(`{ arm: a, policy: control, profile: short, budget: ${own} }`), limit)).toEqual({
      runBudget: seconds(4_000),
      finalizationReserve: seconds(300),
    });
  });

  test("sets what differs from its policy, and is called by what its policy says", () => {
    const arm = one(
      "{ arm: a, policy: budgeted, profile: long, budget: told, set: { process_wait_slice_seconds: 60 } }",
    );
    expect(arm.settings).toEqual({ ...loadPolicy("budgeted").settings, processWaitSlice: seconds(60) });
    expect(arm.says).toBe("240 s of auto-await, waits in slices, both within the budget");
  });

  test("may give its reserve as a share, where its policy gave a length", () => {
    const arm = one(
      "{ arm: a, policy: budgeted, profile: long, budget: told, set: { finalization_reserve_fraction: 0.1 } }",
    );
    expect(arm.written).toMatchObject({ finalization_reserve_seconds: "none", finalization_reserve_fraction: 0.1 });
  });

  test("by name knows its level of every factor with a word of its own", () => {
    expect(loadArm("budgeted").factors).toEqual({
      cap: "240",
      habit: "long",
      slice: "240",
      budget: "told",
      reserve: "600",
    });
  });
});

describe("arms are compared as resolved:", () => {
  const two = (factors: string, one: string, other: string) => {
    const { path, faults } = folder({
      "p.yaml": aPanel({ factors, arms: `[{ arm: a, ${one} }, { arm: b, ${other} }]` }),
    });
    return faults(() => loadPanel(path("p.yaml")));
  };
  const plain = "policy: control, profile: short, budget: untold";

  test("two names for one thing are no difference", () => {
    const spelled =
      "policy: shipped, profile: short, budget: untold, set: { foreground_auto_await_max_seconds: 0, process_wait_slice_seconds: none }";
    expect(two("[]", plain, spelled)).toEqual([]);
  });

  test("a reserve told with the budget counts as the reserve", () => {
    const told = (reserve: number) =>
      `policy: control, profile: short, budget: { run_budget_seconds: 5400, finalization_reserve_seconds: ${reserve} }`;
    expect(two("[]", told(600), told(600))).toEqual([]);
    expect(two("[reserve]", told(600), told(300))).toEqual([]);
    expect(two("[]", told(600), told(300))).toEqual([
      "p.yaml:5:10: factors leaves out reserve, and arms differ in finalization_reserve_seconds: 600 in a and 300 in b; declare it, or make them equal",
    ]);
  });

  test("any setting is a factor under its own name", () => {
    const grace = `${plain}, set: { kill_grace_seconds: 5 }`;
    expect(two("[kill_grace_seconds]", plain, grace)).toEqual([]);
    expect(two("[]", plain, grace)).toEqual([
      "p.yaml:5:10: factors leaves out kill_grace_seconds, and arms differ in kill_grace_seconds: 2 in a and 5 in b; declare it, or make them equal",
    ]);
  });

  test("what the command line sets counts too", () => {
    const { faults } = folder({});
    const slice = (sets: string[]) =>
      loadPanel("deepswe-headline", { sets }).arms[2]!.written.process_wait_slice_seconds;
    expect(slice(["budgeted.slice=60"])).toBe(60);
    expect(slice(["budgeted.process_wait_slice_seconds=60", "budgeted.slice=none"])).toBe("none");
    expect(slice(["budgeted.policy=treatment"])).toBe("none");
    expect(loadPanel("cap-by-habit", { sets: ["cap-10.habit-long.slice-none.budget-told.cap=20"] }).arms).toHaveLength(
      32,
    );
    expect(
      loadPanel("deepswe-headline", { sets: ["control.budget=told", "control.profile=long"] }).arms[0],
    ).toMatchObject({
      profile: { profile: "long" },
      factors: { budget: "told", habit: "long" },
    });
    expect(faults(() => loadPanel("deepswe-headline", { sets: ["control.kill_grace_seconds=5"] }))).toEqual([
      "panels/deepswe-headline.yaml:9:10: factors leaves out kill_grace_seconds, and arms differ in kill_grace_seconds: 5 in control and 2 in treatment and budgeted; declare it, or make them equal",
    ]);
  });
});

test("seed and replicates can be given instead of the panel's", () => {
  const { seed, replicates } = loadPanel("deepswe-headline", { seed: 7, replicates: 2 });
  expect({ seed, replicates }).toEqual({ seed: 7, replicates: 2 });
});

test("a scenario comes in with lengths in milliseconds, and output in bytes", () => {
  const { path } = folder({
    "durations.csv": "seconds,command\n3,ls\n1.5,cat\n\n2,make\n",
    "s.yaml": aScenario({
      commands: `{ suite: { line: make, on_term: { after_seconds: never }, phases: [
        { run: { seconds: { samples: durations.csv }, output: { every_seconds: 0.25, text: tick, bytes: 8 } } },
        { run: { seconds: 1, output: [{ at_seconds: 0.5, text: done, says: progress }], cpu: 2 } },
        { exit: { code: 3, passes: [1] } }] } }`,
      plan: "[{ think: { seconds: 0.5 } }, { run: { command: suite, background: true, timeout_seconds: 9 } }, { run: suite }, { status: suite }, { commit: {} }, { submit: {} }]",
    }),
  });
  const scenario = loadScenario(path("s.yaml"));
  const line = (text: string) => new TextEncoder().encode(text);
  expect(scenario.commands["suite"]).toEqual({
    line: "make",
    phases: [
      {
        phase: "run",
        seconds: { distribution: "samples", samples: [1.5, 2, 3] },
        output: { output: "every", every: milliseconds(250), line: line("tick...\n") },
      },
      {
        phase: "run",
        seconds: { distribution: "fixed", value: 1 },
        output: { output: "at", lines: [{ at: milliseconds(500), line: line("done\n"), says: "progress" }] },
      },
    ],
    exit: { code: 3, signal: null },
    passes: [1],
    spoils: [],
    onTerm: null,
  });
  expect(scenario.plan).toEqual([
    { step: "think", id: "think-1", seconds: { distribution: "fixed", value: 0.5 } },
    { step: "run", id: "suite", command: "suite", background: true, timeout: seconds(9) },
    { step: "run", id: "suite-2", command: "suite", background: false, timeout: null },
    { step: "status", of: "suite" },
    { step: "commit" },
    { step: "submit" },
  ]);
  const { plan, kind } = drawScenario(scenario, keyed, replicateKey(keyed, 1, 1));
  const drawn = plan.flatMap((step) => (step.step === "run" ? [(step.command as ScriptedCommand).length] : []));
  expect(drawn.every((length) => [2_500, 3_000, 4_000].includes(length!))).toBe(true);
  expect(kind).toBe("quick");
});
