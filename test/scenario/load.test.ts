import { describe, expect, test } from "vitest";
import { PLAIN_HABITS, USUAL_CONTEXT } from "../../src/agent/model.ts";
import { UNLIMITED } from "../../src/agent/plan.ts";
import { settingsOf } from "../../src/policy/settings.ts";
import { milliseconds, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { drawScenario, replicateKey } from "../../src/scenario/draw.ts";
import {
  loadArm,
  loadPanel,
  loadPolicy,
  loadPopulation,
  loadProfile,
  loadProvider,
  loadScenario,
  toldBudget,
} from "../../src/scenario/load.ts";
import { profileIn } from "../../src/scenario/situation.ts";
import type { ScriptedCommand } from "../../src/world/script.ts";
import { PROFILE, PROVIDER, SCENARIO } from "./everything.ts";
import { aPanel, aProfile, aProvider, aScenario, folder } from "./files.ts";

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
      policy: "budgeted",
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

  test("a whole policy is a factor, and what is set upon it is another", () => {
    const treated = "policy: treatment, profile: short, budget: untold";
    expect(two("[policy]", plain, treated)).toEqual([]);
    expect(two("[policy]", `${plain}, set: { finalization_reserve_seconds: 600 }`, treated)).toEqual([]);
    expect(two("[policy]", `${plain}, set: { kill_grace_seconds: 5 }`, treated)).toEqual([
      "p.yaml:5:10: factors leaves out kill_grace_seconds, and arms differ in kill_grace_seconds: 5 in a and 2 in b; declare it, or make them equal",
    ]);
    expect(two("[policy, kill_grace_seconds]", `${plain}, set: { kill_grace_seconds: 5 }`, treated)).toEqual([]);
    expect(two("[policy]", plain, "policy: treatment, profile: long, budget: untold")).toEqual([
      "p.yaml:5:10: factors leaves out habit, and arms differ in profile: short in a and long in b; declare it, or make them equal",
    ]);
  });

  test("policies are crossed like any factor, and what the base sets lies upon each of them", () => {
    const crossed = (base: string, factors: string) => {
      const { path } = folder({ "p.yaml": aPanel({ arms: "", base, factors }) });
      return loadPanel(path("p.yaml")).arms.map(({ arm, policy, factors: levels, written }) => [
        ...[arm, policy, levels["policy"]],
        written.foreground_auto_await_max_seconds,
        written.kill_grace_seconds,
      ]);
    };
    const upon = "{ profile: short, budget: told, set: { kill_grace_seconds: 5 } }";
    expect(crossed(upon, "{ policy: [control, budgeted] }")).toEqual([
      ["policy-control", "control", "control", 0, 5],
      ["policy-budgeted", "budgeted", "budgeted", 240, 5],
    ]);
    // A cap of its own stays, whichever of the two stands first.
    const base = "{ policy: shipped, profile: short, budget: told }";
    for (const factors of ["{ policy: [control, budgeted], cap: [60] }", "{ cap: [60], policy: [control, budgeted] }"])
      expect(crossed(base, factors).map(([, policy, , cap]) => [policy, cap])).toEqual([
        ["control", 60],
        ["budgeted", 60],
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
        cpu: 0,
      },
      {
        phase: "run",
        seconds: { distribution: "fixed", value: 1 },
        output: { output: "at", lines: [{ at: milliseconds(500), line: line("done\n"), says: "progress" }] },
        cpu: 2,
      },
    ],
    exit: { code: 3, signal: null },
    passes: [1],
    spoils: [],
    onTerm: null,
    port: null,
    lock: null,
    signalLoss: 0,
    usual: null,
  });
  expect(scenario.plan).toEqual([
    { step: "think", id: "think-1", seconds: { distribution: "fixed", value: 0.5 } },
    { step: "run", id: "suite", command: "suite", background: true, timeout: seconds(9), neededLater: false },
    { step: "run", id: "suite-2", command: "suite", background: false, timeout: null, neededLater: false },
    { step: "status", of: "suite" },
    { step: "commit" },
    { step: "submit" },
  ]);
  const { plan, kind } = drawScenario(scenario, keyed, replicateKey(keyed, 1, 1));
  const drawn = plan.flatMap((step) => (step.step === "run" ? [(step.command as ScriptedCommand).length] : []));
  expect(drawn.every((length) => [2_500, 3_000, 4_000].includes(length!))).toBe(true);
  expect(kind).toBe("quick");
});

describe("a scenario that says everything", () => {
  const everything = () => {
    const { path } = folder({ "everything.yaml": SCENARIO });
    return loadScenario(path("everything.yaml"));
  };
  const fixed = (value: number) => ({ distribution: "fixed", value });
  const uniform = (from: number, to: number) => ({ distribution: "uniform", from, to });

  test("has commands that serve, ask, leave children and locks, and are not always heard of again", () => {
    const plain = { exit: null, passes: [], spoils: [], onTerm: 0, port: null, lock: null, signalLoss: 0, usual: null };
    const { commands } = everything();
    const ready = { at: seconds(3), line: new TextEncoder().encode("ready on 5173\n"), says: "ready" };
    expect(commands["dev"]).toEqual({
      ...plain,
      line: "npm run dev",
      port: 5173,
      phases: [
        { phase: "run", seconds: fixed(1), output: { output: "none" }, cpu: 2 },
        { phase: "server", readyAfter: uniform(2, 4), output: { output: "at", lines: [ready] } },
      ],
    });
    expect(commands["install"]).toMatchObject({
      lock: "node_modules",
      signalLoss: 0.25,
      usual: seconds(40),
      phases: [
        { phase: "child", seconds: { distribution: "exponential", mean: 60 }, group: "own", holdsOutput: true },
        { phase: "child", seconds: null, group: "same", holdsOutput: false },
        { phase: "run", cpu: 0 },
      ],
    });
    const question = new TextEncoder().encode("Username: ");
    expect(commands["login"]!.phases).toEqual([{ phase: "prompt", question, onEndOfInput: { code: 3, signal: null } }]);
    expect(commands["ask"]!.phases).toMatchObject([{ onEndOfInput: "hang" }]);
    expect(commands["suite-mended"]).toMatchObject({ passes: [1, 2], spoils: ["style"] });
  });

  test("has a plan in which every id is there once, and whoever is awaited knows it", () => {
    const run = (id: string, command: string, more = {}) => {
      return { step: "run", id, command, background: false, timeout: null, neededLater: false, ...more };
    };
    expect(everything().plan).toEqual([
      { step: "think_steps", steps: 3 },
      run("dev", "dev", { background: true, persist: true }),
      {
        step: "until_succeeds",
        id: "install",
        run: run("install", "install"),
        mended: null,
        mendsWith: 0,
        thought: fixed(10),
        atMost: 3,
      },
      { step: "until_answers", of: "dev", atMost: 20 },
      {
        step: "together",
        of: [
          run("login", "login"),
          run("asked", "ask", { timeout: seconds(20) }),
          {
            step: "job",
            id: "job",
            timeout: null,
            startTokens: null,
            plan: [
              { step: "think", id: "job/think-1", seconds: fixed(30) },
              run("inner", "suite", { background: true, neededLater: true }),
              { step: "await", of: "inner" },
            ],
          },
        ],
      },
      {
        step: "job",
        id: "research",
        timeout: seconds(1_200),
        startTokens: 9_000,
        plan: [
          { step: "think", id: "research/think-1", seconds: uniform(5, 50) },
          run("suite", "suite"),
          {
            step: "job",
            id: "job-2",
            timeout: null,
            startTokens: null,
            plan: [
              { step: "think_steps", steps: 2 },
              { step: "together", of: [run("login-2", "login"), run("ask", "ask")] },
            ],
          },
          {
            step: "together",
            of: [
              run("login-3", "login"),
              { step: "job", id: "job-3", timeout: null, startTokens: null, plan: [run("login-4", "login")] },
            ],
          },
        ],
      },
      {
        step: "until_succeeds",
        id: "mending",
        run: run("mending", "suite"),
        mended: "suite-mended",
        mendsWith: 0.5,
        thought: uniform(20, 200),
        atMost: 5,
      },
      { step: "probe", of: "dev" },
      { step: "think", id: "think-1", seconds: fixed(60) },
      run("last", "suite", { background: true, neededLater: true, optional: true }),
      { step: "await", of: "last" },
      { step: "status", of: "dev" },
      { step: "commit" },
      { step: "submit" },
    ]);
  });

  test("is limited in steps, tokens and millionths of a dollar, and broken into from outside", () => {
    const scenario = everything();
    expect(scenario.limits).toEqual({ steps: 400, tokens: 20_000_000, cost: 12_500_000 });
    expect(scenario.outside).toEqual([
      { at: seconds(900), what: "switch" },
      { at: seconds(900), what: "user_background" },
      { at: milliseconds(1_800_500), what: "clear" },
    ]);
    expect(scenario.grading).toEqual({ tests: 3, reward: "share", credit: "worktree", service: 5173 });
  });

  test("changes what it says of a model, and nothing else; a context whole", () => {
    const long = loadProfile("long");
    expect(profileIn(everything().model, long)).toEqual({
      ...long,
      cadence: seconds(20),
      waits: [{ from: 1, length: { cadence: true } }],
      context: { ...USUAL_CONTEXT, start: 1_000 },
      onReady: "keep_waiting",
    });
  });
});

test("what a situation says nothing of is not limited, and nothing happens to it from outside", () => {
  const { limits, outside, grading } = loadScenario("hung-test-run");
  expect(limits).toBe(UNLIMITED);
  expect(outside).toEqual([]);
  expect(grading.service).toBeNull();
  expect(loadPopulation("deepswe-like").limits).toBe(UNLIMITED);
});

describe("a profile", () => {
  const loaded = (text: string, name: string) => {
    const { path } = folder({ [`${name}.yaml`]: text });
    return loadProfile(path(`${name}.yaml`));
  };

  test("that says everything comes in with all of its habits", () => {
    expect(loaded(PROFILE, "everything")).toEqual({
      profile: "everything",
      says: "whatever a profile can say",
      step: { distribution: "lognormal", mu: 1.74, sigma: 1.1 },
      cadence: seconds(45),
      waits: [
        { from: 1, length: { ladder: [seconds(5), seconds(10), seconds(30.5)] } },
        { from: 1, late: seconds(120), length: seconds(3_600) },
        {
          from: 1,
          late: seconds(240),
          length: [
            { length: seconds(3_600), p: 0.9 },
            { length: seconds(60), p: 0.1 },
          ],
        },
        { from: 4, length: { cadence: true } },
        { from: 6, length: { shareOfRemaining: 0.25, otherwise: seconds(600) } },
        {
          from: 8,
          late: seconds(60),
          length: {
            drawn: {
              distribution: "histogram",
              bins: [
                { from: 1, to: 1, p: 0.8 },
                { from: 2, to: 9, p: 0.2 },
              ],
            },
          },
        },
      ],
      stopsAProcess: [
        { quietWaits: null, running: null, failureSeen: null, probability: 0.05 },
        { quietWaits: 2, running: seconds(900), failureSeen: false, cpuIdle: true, probability: 0.5 },
      ],
      inTheReserve: [
        { does: "finish", p: 0.75 },
        { does: "ignore", p: 0.25 },
      ],
      between: [
        { does: "wait", p: 0.6 },
        { does: "status", p: 0.1 },
        { does: "read_output", p: 0.1 },
        { does: "probe", p: 0.1 },
        { does: "work", p: 0.1 },
      ],
      onReady: "keep_waiting",
      arguments: { backgroundShare: 0.1, timeoutShare: 0.3, timeout: { distribution: "exponential", mean: 90 } },
      reruns: { running: 0.05, timedOut: 0.5, atMost: 2 },
      conditions: { timeout: seconds(600), every: seconds(10) },
      obeys: { notice: 1, reminder: 0, hint: 0.9, heartbeat: 0.5, deadline_notice: 1, wrap_up: 1 },
      endsItsTurn: 0.7,
      expects: { sigma: 0.8, backgroundOver: seconds(120), timeoutFactor: 3 },
      tools: [
        { from: 1, has: [] },
        { from: 20, has: ["wait", "status", "stop", "list", "read_output"] },
      ],
      forgets: 0.2,
      context: {
        start: 30_000,
        step: 1_500,
        poll: 70,
        stepOutput: 200,
        pollOutput: 40,
        bytesPerToken: 3.5,
        window: 200_000,
        compactsAt: 0.8,
        kept: 10_000,
        summary: 2_000,
      },
      oracle: false,
    });
  });

  test("that says no more than it must has plain habits", () => {
    const { step, between, onReady, expects, context, oracle } = loaded(aProfile(), "patient");
    expect({ step, between, onReady, expects, context, oracle }).toEqual({
      step: seconds(12),
      between: PLAIN_HABITS.between,
      onReady: "go_on",
      expects: null,
      context: USUAL_CONTEXT,
      oracle: false,
    });
  });

  test("keeps the order in which a choice is given", () => {
    const text = aProfile({
      waits: "[{ from: 1, seconds: { choice: [{ value: 9, p: 0.5 }, { value: 1, p: 0.5 }] } }]",
    });
    const [rule] = loaded(text, "patient").waits;
    expect(rule!.length).toEqual([
      { length: seconds(9), p: 0.5 },
      { length: seconds(1), p: 0.5 },
    ]);
  });

  test("of an oracle says so, and needs no habits", () => {
    const { profile, oracle, waits, context } = loaded("profile: seer\nsays: sees\noracle: true\n", "seer");
    expect({ profile, oracle, waits, context }).toEqual({
      profile: "seer",
      oracle: true,
      waits: [],
      context: USUAL_CONTEXT,
    });
    expect(loadProfile("oracle").oracle).toBe(true);
  });
});

describe("a provider", () => {
  const loaded = (text: string, name: string) => {
    const { path } = folder({ [`${name}.yaml`]: text });
    return loadProvider(path(`${name}.yaml`));
  };

  test("that says everything comes in with terms, economy and scope", () => {
    const { terms, ...rest } = loaded(PROVIDER, "everything");
    expect(rest).toEqual({
      provider: "everything",
      says: "whatever a provider can say",
      economy: {
        cache: { lifetime: seconds(300), mode: "decay", gone: seconds(1_200), write: 1.25, read: 0.1, least: 0 },
        price: { input: 5, output: 25 },
      },
      scope: "world",
    });
    expect(terms).toMatchObject({
      provider: "everything",
      latency: {
        firstToken: { distribution: "lognormal", mu: Math.log(3.1) },
        uncachedTokensPerSecond: 4_000,
        outputTokensPerSecond: { distribution: "fixed", value: 40.7 },
      },
      speed: 2,
      inFlight: 16,
      requestsPerMinute: 600,
      tokensPerMinute: null,
      retryAfter: seconds(5),
      errors: { calm: 0.003, storm: 0.2, stormLasts: seconds(300), calmLasts: seconds(86_100) },
      retries: { attempts: 4, firstWait: seconds(2), longestWait: seconds(8), jitter: 0 },
    });
  });

  test("that says no more than it must serves at once, keeps a hard cache, and charges", () => {
    expect(loaded(aProvider(), "somebody")).toEqual({
      provider: "somebody",
      says: "",
      terms: {
        provider: "somebody",
        latency: null,
        speed: 1,
        inFlight: null,
        requestsPerMinute: null,
        tokensPerMinute: null,
        retryAfter: seconds(1),
        errors: null,
        retries: { attempts: 10, firstWait: seconds(1), longestWait: seconds(32), jitter: 0.25 },
      },
      economy: {
        cache: { lifetime: seconds(300), mode: "hard", gone: seconds(300), write: 1.25, read: 0.1, least: 1_024 },
        price: { input: 5, output: 25 },
      },
      scope: "arm",
    });
    expect(loaded(aProvider({ cache: "none" }), "somebody").economy.cache).toBeNull();
    expect(loaded(aProvider({ cache: "" }), "somebody").economy.cache).toBeNull();
  });

  test.each([
    ["five-minutes", 300, 1.25],
    ["half-hour", 1_800, 1.25],
    ["one-hour", 3_600, 2],
  ])("%s ships with the lifetime and the price of writing that its pages state", (name, lifetime, write) => {
    const { economy } = loadProvider(name);
    expect(economy.cache).toMatchObject({ mode: "hard", lifetime: seconds(lifetime), write, read: 0.1 });
  });
});

describe("the world around an arm", () => {
  const panel = (changes: Readonly<Record<string, string>>, sets: readonly string[] = []) => {
    const { path } = folder({ "p.yaml": aPanel({ provider: "five-minutes", host: "{ cores: 4 }", ...changes }) });
    return loadPanel(path("p.yaml"), { sets }).arms;
  };
  const arm = (name: string, more = "") => `{ arm: ${name}, policy: control, profile: short, budget: told${more} }`;

  test("is nothing, unless somebody says so", () => {
    const [control] = loadPanel("deepswe-headline").arms;
    expect(control).toMatchObject({ provider: null, host: null });
  });

  test("is the panel's, for arms by name and arms in full; what an arm says of its own wins", () => {
    const own = ", provider: one-hour, host: { speed: 2 }";
    const arms = panel({
      arms: `[control, ${arm("a")}, ${arm("b", own)}]`,
      factors: "[provider, cores, command_speed, budget]",
    });
    expect(arms.map(({ provider, host }) => ({ provider: provider?.provider, host }))).toEqual([
      { provider: "five-minutes", host: { speed: 1, cores: 4 } },
      { provider: "five-minutes", host: { speed: 1, cores: 4 } },
      { provider: "one-hour", host: { speed: 2, cores: null } },
    ]);
    expect(arms[2]!.factors).toEqual({ provider: "one-hour", cores: "none", command_speed: "2", budget: "told" });
  });

  test("is a harness whose cut reaches the agent, unless the panel, an arm or a factor says that it does not", () => {
    const factors = "[cut_reaches, budget]";
    const reached = (changes: Parameters<typeof panel>[0]) => panel(changes).map(({ cutReaches }) => cutReaches);
    expect(reached({ arms: `[${arm("a")}, ${arm("b", ", cut_reaches: client")}]`, factors })).toEqual([
      "agent",
      "client",
    ]);
    const around = { cut_reaches: "client", factors };
    expect(reached({ ...around, arms: `[${arm("a")}, ${arm("b", ", cut_reaches: agent")}]` })).toEqual([
      "client",
      "agent",
    ]);
    const base = "{ policy: control, profile: short, budget: told }";
    const crossed = panel({ arms: "", base, factors: "{ cut_reaches: [agent, client] }" });
    expect(crossed.map(({ arm, cutReaches }) => [arm, cutReaches])).toEqual([
      ["cut_reaches-agent", "agent"],
      ["cut_reaches-client", "client"],
    ]);
  });

  test("is changed by factors: speed and lifetime are replaced, prices multiplied", () => {
    const arms = panel({
      arms: "",
      base: "{ policy: control, profile: short, budget: told, provider: one-hour }",
      factors:
        "{ price: [1, 0.5], cache_lifetime: [60, 600.5], provider_speed: [1, 4], command_speed: [0.5], cores: [none] }",
    });
    expect(arms).toHaveLength(8);
    const last = arms.at(-1)!;
    expect(last.arm).toBe("price-0.5.cache_lifetime-600.5.provider_speed-4.command_speed-0.5.cores-none");
    expect(last.host).toEqual({ speed: 0.5, cores: null });
    const asFiled = loadProvider("one-hour");
    const lifetime = milliseconds(600_500);
    expect(last.provider).toEqual({
      ...asFiled,
      terms: { ...asFiled.terms, speed: 4 },
      economy: {
        price: { input: 2.5, output: 12.5 },
        cache: { ...asFiled.economy.cache, lifetime, gone: lifetime },
      },
    });
    expect(last.factors).toEqual({
      price: "0.5",
      cache_lifetime: "600.5",
      provider_speed: "4",
      command_speed: "0.5",
      cores: "none",
    });
  });

  test("has a level of each factor as it is, where nothing changes it", () => {
    const factors = "[provider, provider_speed, price, cache_lifetime, command_speed, cores]";
    const [only] = panel({ arms: `[${arm("a")}]`, factors, host: "" });
    expect(only!.factors).toEqual({
      provider: "five-minutes",
      provider_speed: "1",
      price: "1",
      cache_lifetime: "300",
      command_speed: "1",
      cores: "none",
    });
  });

  test("that is declared as its provider may differ in all that providers differ in", () => {
    const arms = panel({ arms: `[${arm("a")}, ${arm("b", ", provider: one-hour")}]`, factors: "[provider]" });
    expect(arms.map(({ factors }) => factors["provider"])).toEqual(["five-minutes", "one-hour"]);
  });

  test("can be set from the command line, one after the other", () => {
    const factors = "[provider, cache_lifetime, cores]";
    const arms = panel({ arms: `[${arm("a")}, ${arm("b")}]`, factors }, [
      "a.provider=one-hour",
      "a.cache_lifetime=60",
      "b.cores=none",
    ]);
    expect(arms.map(({ provider, host }) => [provider!.economy.cache!.lifetime, host!.cores])).toEqual([
      [seconds(60), 4],
      [seconds(300), null],
    ]);
  });
});

test("a panel takes in hypotheses of every kind, as they stand", () => {
  const hypotheses = [
    { measure: "reward", arm: "budgeted", against: "control", expect: "not_lower", margin: 0.05 },
    { measure: "wait_actions", arm: "budgeted", against: "control", expect: "lower", by: 0.8, kind: "quick" },
    { measure: "held_in_reserve_seconds", arm: "budgeted", expect: "zero" },
  ];
  const { path } = folder({ "p.yaml": aPanel({ hypotheses: JSON.stringify(hypotheses) }) });
  expect(loadPanel(path("p.yaml")).hypotheses).toEqual(hypotheses);
});
