import { describe, expect, test } from "vitest";
import { nearest } from "../../src/scenario/fault.ts";
import { lintFile } from "../../src/scenario/lint.ts";
import { loadPanel, loadPolicy, loadProfile, loadScenario } from "../../src/scenario/load.ts";
import { packageRoot } from "../../src/scenario/names.ts";
import { aPanel, aScenario, folder, marked, shippedText } from "./files.ts";

/** The faults of one file, which may hold marks. */
function faultsOf(content: string | Uint8Array | null, load: (file: string) => unknown): readonly string[] {
  const { path, faults } = folder({ "f.yaml": typeof content === "string" ? marked(content).text : content });
  return faults(() => load(path("f.yaml"))).map((fault) => fault.replace(`${packageRoot}/`, ""));
}

/** What is said at each mark of a file; of the file as a whole, if there is none. */
function expectedOf(content: string | Uint8Array | null, says: readonly string[]): readonly string[] {
  const marks = typeof content === "string" ? marked(content).marks : [];
  return says.map((said, at) => (marks.length === 0 ? `f.yaml: ${said}` : `f.yaml:${marks[at]}: ${said}`));
}

const phases = (list: string) => aScenario({ commands: `{ pytest: { line: pytest -q, phases: [${list}] } }` });
const run = (seconds: string) => phases(`{ run: { seconds: ${seconds}, output: none } }`);

describe("a scenario is refused, and the message says what to write, for", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "an unknown key, with the nearest right one",
      aScenario({ outer_limit_seconds: "", "▸outer_limit": "5400" }),
      ["outer_limit is not a key of a scenario; did you mean outer_limit_seconds?"],
    ],
    [
      "a key in the wrong unit",
      aScenario({ outer_limit_seconds: "", "▸outer_limit_minutes": "90" }),
      ["outer_limit_minutes is not a key of a scenario; did you mean outer_limit_seconds?"],
    ],
    [
      "a length with a unit of its own",
      aScenario({ outer_limit_seconds: "▸90m" }),
      ['outer_limit_seconds is "90m": expected a length of time in seconds, 0.001 or more; write 5400'],
    ],
    [
      "a number with separators, which YAML takes for a word",
      aScenario({ outer_limit_seconds: "▸5_400" }),
      [
        'outer_limit_seconds is "5_400": expected a length of time in seconds, 0.001 or more; write 5400, without quotes or separators',
      ],
    ],
    [
      "a key that is missing",
      `▸${aScenario({ outer_limit_seconds: "" })}`,
      ["outer_limit_seconds is missing: expected a length of time in seconds, 0.001 or more"],
    ],
    [
      "a key that says nothing",
      aScenario({ outer_limit_seconds: "▸~" }),
      ["outer_limit_seconds is empty: expected a length of time in seconds, 0.001 or more"],
    ],
    [
      "a negative length",
      run("▸-8"),
      ["commands.pytest.phases[0].run.seconds is -8: expected a length of time in seconds, zero or more"],
    ],
    [
      "an infinite length",
      aScenario({ outer_limit_seconds: "▸.inf" }),
      ["outer_limit_seconds is .inf: expected a length of time in seconds, 0.001 or more, and finite"],
    ],
    [
      "a length that is no number, where a distribution could stand too",
      run("▸.nan"),
      ["commands.pytest.phases[0].run.seconds is .nan: expected a length of time in seconds, zero or more, and finite"],
    ],
    [
      "a word in place of a length",
      run("▸30s"),
      [
        'commands.pytest.phases[0].run.seconds is "30s": expected a length of time in seconds, or a distribution; write 30',
      ],
    ],
    [
      "an unknown distribution",
      run("{ ▸lognorml: { mu: 1, sigma: 2 } }"),
      ["commands.pytest.phases[0].run.seconds.lognorml is not a key of a distribution; did you mean lognormal?"],
    ],
    [
      "a log-normal that is given half by one form and half by another",
      run("{ lognormal: ▸{ mu: 1, p99: 2 } }"),
      [
        "commands.pytest.phases[0].run.seconds.lognormal gives mu and p99: expected mu and sigma, mean and sigma, or median and p99",
      ],
    ],
    [
      "probabilities that do not add up",
      run("{ choice: ▸[{ value: 1, p: 0.5 }, { value: 2, p: 0.4 }] }"),
      ["commands.pytest.phases[0].run.seconds.choice has probabilities that add up to 0.9: expected 1"],
    ],
    [
      "a uniform that runs backwards",
      run("{ uniform: ▸[2, 1] }"),
      ["commands.pytest.phases[0].run.seconds.uniform ends before it begins: expected [from, to]"],
    ],
    [
      "bins that overlap",
      run("{ histogram: ▸[{ from: 0, to: 2, p: 0.5 }, { from: 1, to: 3, p: 0.5 }] }"),
      [
        "commands.pytest.phases[0].run.seconds.histogram has bins that overlap or run backwards: expected them in ascending order",
      ],
    ],
    [
      "samples from a file that is not there",
      run("{ samples: ▸durations.csv }"),
      ['commands.pytest.phases[0].run.seconds.samples is "durations.csv": durations.csv does not exist'],
    ],
    [
      "a phase that a later stage brings",
      phases("{ ▸server: { port: 80 } }"),
      ["commands.pytest.phases[0].server is not yet a key of a phase: it comes with a later stage"],
    ],
    [
      "a phase of two kinds",
      phases("▸{ hang: { output: none }, exit: { code: 0 } }"),
      ["commands.pytest.phases[0] says hang and exit at once: a phase is one of run, hang or exit"],
    ],
    [
      "an end after a phase that never ends",
      phases("{ hang: { output: none } }, ▸{ exit: { code: 1 } }"),
      ["commands.pytest.phases[1] is never reached: the phase before it hangs"],
    ],
    [
      "an end before the end",
      phases("▸{ exit: { code: 1 } }, { hang: { output: none } }"),
      ["commands.pytest.phases[0] is an exit before the end: expected it last"],
    ],
    [
      "an end by code and by signal",
      phases("{ exit: ▸{ code: 1, signal: SIGKILL } }"),
      ["commands.pytest.phases[0].exit gives both code and signal: expected one of them"],
    ],
    [
      "a signal that is none",
      phases("{ exit: { signal: ▸kill } }"),
      ['commands.pytest.phases[0].exit.signal is "kill": expected a signal, like SIGSEGV; did you mean SIGKILL?'],
    ],
    [
      "output out of order, and after its phase",
      phases(
        "{ run: { seconds: 5, output: [{ at_seconds: 3, text: a }, { at_seconds: ▸2, text: b }, { at_seconds: ▸9, text: c }] } }",
      ),
      [
        "commands.pytest.phases[0].run.output[1].at_seconds is 2: expected 3 or more, as lines come in order",
        "commands.pytest.phases[0].run.output[2].at_seconds is 9: expected 5 at most, as the phase ends then",
      ],
    ],
    [
      "more tests than are graded",
      phases("{ exit: { code: 0, passes: [1, ▸2], spoils: [style] } }").replace("tests: 1", "tests: ▸1"),
      [
        "commands.pytest.phases[0].exit.passes[1] is 2: expected a test from 1 to 1, as grading.tests says",
        "grading.tests is 1: expected 2 or more, as so many are named (1 and style)",
      ],
    ],
    [
      "a command that is not there",
      aScenario({ plan: "[{ run: ▸pytset }, { submit: {} }]" }),
      ['plan[0].run is "pytset": expected one of the scenario\'s commands; did you mean pytest?'],
    ],
    [
      "a look at what does not run yet",
      aScenario({ plan: "[{ status: ▸tests }, { run: { command: pytest, id: tests } }, { submit: {} }]" }),
      ['plan[0].status is "tests": expected the id of an earlier run'],
    ],
    [
      "an id given twice",
      aScenario({ plan: "[{ run: { command: pytest, id: a } }, { run: { command: pytest, id: ▸a } }]" }),
      ['plan[1].run.id is "a": expected an id that no other step has'],
    ],
    [
      "no time at all before a timeout",
      aScenario({ plan: "[{ run: { command: pytest, timeout_seconds: ▸0 } }]" }),
      ["plan[0].run.timeout_seconds is 0: expected a length of time in seconds, 0.001 or more"],
    ],
    [
      "work after the submission",
      aScenario({ plan: "[{ submit: ▸{} }, { run: pytest }]" }),
      ["plan[0].submit comes before other steps: expected it last, and once"],
    ],
    [
      "a model of a profile that there is not",
      aScenario({ model: "{ lonh: ▸{ step_seconds: 3 } }" }),
      ["model.lonh is not the name of a profile, nor any; did you mean long?"],
    ],
    [
      "a word that is none of the choices",
      aScenario({ grading: "{ tests: 1, reward: ▸all_test, credit: submitted }" }),
      ['grading.reward is "all_test": expected all_tests or share'],
    ],
    [
      "several things at once, in one go",
      aScenario({
        outer_limit_seconds: "▸0",
        plan: "[{ run: ▸pytset }]",
        grading: "▸{ tests: ▸0, credit: submitted }",
      }),
      [
        "outer_limit_seconds is 0: expected a length of time in seconds, 0.001 or more",
        'plan[0].run is "pytset": expected one of the scenario\'s commands; did you mean pytest?',
        "grading.reward is missing: expected all_tests or share",
        "grading.tests is 0: expected a number of tests, a whole number from 1 to 1000000",
      ],
    ],
  ])("%s", (_, text, faults) => {
    expect(faultsOf(text, loadScenario)).toEqual(expectedOf(text, faults));
  });
});

describe("a file that is no YAML of ours is refused:", () => {
  const tenfold = [..."bcdefg"].map(
    (name, at) => `${name}: &${name} [${Array(10).fill(`*${"abcdef"[at]}`).join(", ")}]\n`,
  );
  const bomb = `a: &a [x]\n${tenfold.join("")}`.replace("*a", "▸*a");
  test.each<[string, string | Uint8Array | null, readonly string[]]>([
    ["an empty one", "▸", ["the file is empty: expected keys and values"]],
    ["one of comments", "▸# nothing yet\n", ["the file is empty: expected keys and values"]],
    ["a folder", null, ["is a folder: expected a file"]],
    ["binary noise", Uint8Array.from({ length: 512 }, (_, at) => at & 255), ["is not text: it is not UTF-8"]],
    ["text with zeros in it", "scenario: a\0b\n", ["is not text: it holds control characters"]],
    ["one too large to have been written", "#".repeat(5_000_000), ["is 5000000 bytes long: expected 4194304 at most"]],
    ["aliases that multiply", bomb, ["aliases stand for more than 100 parts of the file: write them out"]],
    [
      "an alias that stands for nothing",
      aScenario({ plan: "[{ run: ▸*test }]" }),
      ["*test stands for nothing: no &test comes before it"],
    ],
    ["a key twice", `${aScenario()}▸question: Again?\n`, ['"question" is a key twice: expected it once']],
    [
      "two documents",
      "scenario: a\n▸---\nscenario: b\n",
      ["a second document begins here: expected one document to a file"],
    ],
    ["a tab", "scenario: a\ncommands:\n▸\tpytest: b\n", ["a tab indents this line: expected spaces"]],
    [
      "a bracket left open",
      "scenario: a\nplan: [{ run: b }\n▸grading: c\n",
      [
        "the structure breaks here: expected every bracket above to be closed, and lines of one level to begin in one column",
      ],
    ],
    [
      "a quote left open",
      'scenario: "a\n▸',
      ["something is left open before this: expected a closing quote, bracket, brace, comma or colon"],
    ],
    [
      "an abyss of brackets",
      `▸plan: ${"[".repeat(20_000)}\n`,
      ["the file is nested too deeply: expected a few levels"],
    ],
    ["JavaScript's own key", aScenario({ model: "{ ▸__proto__: {} }" }), ["__proto__ is not a key of anything"]],
    [
      "a list",
      "▸- a\n",
      ["the file is a list: expected a scenario, with keys like scenario, question, source and outer_limit_seconds"],
    ],
    ["another kind of file", "▸profile: a\n", ["the file is a profile: expected a scenario"]],
  ])("%s", (_, content, faults) => {
    expect(faultsOf(content, loadScenario)).toEqual(expectedOf(content, faults));
  });

  test("one that is not there", () => {
    const { path, faults } = folder({});
    expect(faults(() => loadScenario(path("s.yaml")))).toEqual(["s.yaml: does not exist"]);
  });
});

describe("a profile is refused for", () => {
  const long = shippedText("panels/profiles/long.yaml");
  test.each<[string, string, readonly string[]]>([
    [
      "a reason to stop that gives no reason",
      long.replace("{ quiet_waits: 4 }", "▸{}"),
      ["stops_a_process.any_of[0] says nothing: expected quiet_waits, running_seconds or failure_seen"],
    ],
    [
      "waits out of order",
      long.replace("from: 1", "from: ▸3").replace("from: 2", "from: ▸2"),
      [
        "waits[0].from is 3: expected 1, as the first wait needs a rule",
        "waits[1].from is 2: expected more than 3, as rules come in order",
      ],
    ],
  ])("%s", (_, text, faults) => {
    expect(faultsOf(text, loadProfile)).toEqual(expectedOf(text, faults));
  });
});

describe("a policy is refused for", () => {
  const policy = (settings: string) => `policy: p\nshell_execution: { ${settings} }\n`;
  test.each<[string, string, readonly string[]]>([
    [
      "a setting without its unit",
      policy("▸foreground_auto_await_max: 20"),
      [
        "shell_execution.foreground_auto_await_max is not a key of a policy's shell_execution; did you mean foreground_auto_await_max_seconds?",
      ],
    ],
    [
      "a setting out of its range",
      policy("foreground_auto_await_max_seconds: ▸3601"),
      [
        "shell_execution.foreground_auto_await_max_seconds is 3601: expected a length of time in seconds, 0 to 3600, or none",
      ],
    ],
    [
      "a choice that a later stage brings",
      policy("foreground_at_cap: ▸background"),
      [
        'shell_execution.foreground_at_cap is "background": expected yield or kill; background comes with a later stage',
      ],
    ],
    [
      "a setting that a later stage brings",
      policy("▸total_timeout_seconds: 9"),
      [
        "shell_execution.total_timeout_seconds is not yet a key of a policy's shell_execution: it comes with a later stage",
      ],
    ],
    [
      "a reserve given in two ways",
      policy("finalization_reserve_seconds: 600, finalization_reserve_fraction: ▸0.1"),
      [
        "shell_execution.finalization_reserve_fraction is 0.1 beside finalization_reserve_seconds 600: a reserve is a length or a share, give one",
      ],
    ],
    [
      "a longest hold that would cut the initial one",
      policy("max_hold_seconds: ▸20"),
      [
        "shell_execution.max_hold_seconds is 20: it must be at least foreground_total_yield_seconds (30), so that no initial hold is cut",
      ],
    ],
    [
      "a setting that fast-agent does not have either",
      "logger: { level: info }\nshell_execution: { ▸process_wait_slice: 240 }\n",
      [
        "shell_execution.process_wait_slice is not a key of a policy's shell_execution; did you mean process_wait_slice_seconds?",
      ],
    ],
  ])("%s", (_, text, faults) => {
    expect(faultsOf(text, loadPolicy)).toEqual(expectedOf(text, faults));
  });
});

describe("a panel is refused for", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "arms that differ in a factor it does not declare",
      aPanel({ factors: "▸▸[cap, budget]" }),
      [
        "factors leaves out slice, and arms differ in process_wait_slice_seconds: none in control and treatment and 240 in budgeted; declare it, or make them equal",
        "factors leaves out habit, and arms differ in profile: short in control and long in treatment and budgeted; declare it, or make them equal",
      ],
    ],
    [
      "a factor that is none, without blaming the arms for it too",
      aPanel({ factors: "[cap, ▸habbit, slice, budget]" }),
      ['factors[1] is "habbit", which is not a factor; did you mean habit?'],
    ],
    [
      "both forms of a budget: one fault",
      aPanel({
        arms: "[{ arm: a, policy: control, profile: short, budget: ▸{ run_budget_seconds: 9, run_deadline_epoch_seconds: 9 } }]",
      }),
      ["arms[0].budget gives run_budget_seconds and run_deadline_epoch_seconds: expected one of them"],
    ],
    [
      "a deadline on a wall clock",
      aPanel({ arms: "[{ arm: a, policy: control, profile: short, budget: { run_deadline_epoch_seconds: ▸9 } }]" }),
      [
        "arms[0].budget.run_deadline_epoch_seconds is 9: a simulation has no wall clock; expected run_budget_seconds instead",
      ],
    ],
    [
      "a name that stands for nothing, and where it was looked for",
      aPanel({ scenarios: "[▸hung-test-rum]" }),
      [
        'scenarios[0] is "hung-test-rum": there is no scenario of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, or among what ships; did you mean hung-test-run?',
      ],
    ],
    [
      "a name that stands for another kind of file",
      aPanel({ scenarios: "", population: "▸hung-test-run" }),
      ['population is "hung-test-run": expected a population, but scenarios/hung-test-run.yaml is a scenario'],
    ],
    [
      "an arm that there is not, without blaming whoever refers to the right one",
      aPanel({
        arms: "[control, ▸treatmnt, budgeted]",
        hypotheses: "[{ measure: outer_timeout, arm: budgeted, against: treatment, expect: lower }]",
      }),
      ['arms[1] is "treatmnt": expected an arm of the nearest arms.yaml, or one in full; did you mean treatment?'],
    ],
    [
      "a hypothesis about an arm it does not have",
      aPanel({ hypotheses: "[{ measure: outer_timeout, arm: ▸budgetd, against: control, expect: lower }]" }),
      ['hypotheses[0].arm is "budgetd": expected an arm of the panel; did you mean budgeted?'],
    ],
    [
      "a measure that there is not",
      aPanel({ hypotheses: "[{ measure: ▸timeouts, arm: budgeted, against: control, expect: lower }]" }),
      ['hypotheses[0].measure is "timeouts": expected a measure; did you mean outer_timeouts?'],
    ],
    [
      "neither tasks nor arms",
      `▸▸${aPanel({ scenarios: "", arms: "", factors: "" })}`,
      [
        "the file names neither population nor scenarios: expected one of them",
        "the file names neither arms nor base: expected arms with a list of factors, or a base with levels of factors",
      ],
    ],
    [
      "what a later stage brings",
      aPanel({ "▸provider": "{ scope: arm }" }),
      ["provider is not yet a key of a panel: it comes with a later stage"],
    ],
    [
      "an arm that is in it twice",
      aPanel({ arms: "[control, ▸control]" }),
      ['arms[1] is "control" again: expected each arm once'],
    ],
    [
      "levels that no policy can have",
      aPanel({
        arms: "",
        base: "{ policy: control }",
        factors: "{ cap: [10, ▸-5, ▸10], habit: [▸lomg], budget: [told, ▸later] }",
      }),
      [
        "factors.cap[1] is -5: expected a length of time in seconds, 0 to 3600, or none",
        "factors.cap[2] is 10 again: expected each level once",
        'factors.habit[0] is "lomg": there is no profile of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, or among what ships; did you mean long?',
        'factors.budget[1] is "later": expected told, untold or { run_budget_seconds }',
      ],
    ],
    [
      "levels that are impossible together",
      aPanel({
        arms: "",
        base: "{ policy: control, profile: short, budget: told }",
        factors: "▸{ max_hold_seconds: [none, 20] }",
      }),
      [
        "factors is impossible for max_hold_seconds-20: max_hold_seconds is 20: it must be at least foreground_total_yield_seconds (30), so that no initial hold is cut",
      ],
    ],
    [
      "a published figure with both a value and a range",
      aPanel({ published: '[▸{ arm: control, measure: reward, value: 1, range: [0, 1], source: "s" }]' }),
      ["published[0] gives both value and range: expected one of them"],
    ],
  ])("%s", (_, text, faults) => {
    expect(faultsOf(text, loadPanel)).toEqual(expectedOf(text, faults));
  });

  test("everything that is wrong in all of its files, file by file in the order they were met", () => {
    const { path, faults } = folder({
      "panels/p.yaml": aPanel({
        replicates: "0",
        scenarios: "[here]",
        arms: "[{ arm: a, policy: mine, profile: gone, budget: told }]",
      }),
      "scenarios/here.yaml": aScenario({ scenario: "here", outer_limit_seconds: "-1" }),
      "panels/policies/mine.yaml": "policy: mine\nshell_execution: { kill_grace_seconds: 2s }\n",
    });
    expect(faults(() => loadPanel(path("panels/p.yaml")))).toEqual([
      "panels/p.yaml:4:13: replicates is 0: expected a number of replicates, a whole number from 1 to 1000000",
      'panels/p.yaml:6:41: arms[0].profile is "gone": there is no profile of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, or among what ships; there are long and short',
      "scenarios/here.yaml:3:22: outer_limit_seconds is -1: expected a length of time in seconds, 0.001 or more",
      'panels/policies/mine.yaml:2:40: shell_execution.kill_grace_seconds is "2s": expected a length of time in seconds, 0 to 3600; write 2',
    ]);
  });

  test.each([
    ["budgeted", "--set budgeted: expected arm.key=value"],
    ["bugdeted.slice=3", "--set bugdeted.slice=3: bugdeted is not an arm of the panel; did you mean budgeted?"],
    ["budgeted.slices=3", "--set budgeted.slices=3: slices is nothing that an arm can be set to; did you mean slice?"],
    [
      "budgeted.kill_grace_seconds=soon",
      '--set budgeted.kill_grace_seconds=soon: kill_grace_seconds is "soon": expected a length of time in seconds, 0 to 3600',
    ],
    ["budgeted.slice=[1]", '--set budgeted.slice=[1]: "[1]" is no value: expected a number, a word, or true or false'],
  ])("--set %s on the command line", (set, fault) => {
    const { faults } = folder({});
    expect(faults(() => loadPanel("deepswe-headline", { sets: [set] }))).toEqual([fault]);
  });
});

describe("lint warns of", () => {
  test.each([
    [
      "a reserve that takes half of the budget",
      aPanel({ arms: "[▸{ arm: a, policy: budgeted, profile: long, budget: { run_budget_seconds: 1200 } }]" }),
      "arms[0] keeps a reserve of 600 s in a run of 1200 s (a): half of it or more",
    ],
    [
      "a command that is never run",
      aScenario({ plan: "[{ submit: {} }]" }).replace("{ line", "▸{ line"),
      "commands.pytest is never run: no step of the plan names it",
    ],
  ])("%s", (_, text, says) => {
    const { path } = folder({ "f.yaml": marked(text).text });
    const { faults, warnings } = lintFile(path("f.yaml"));
    expect(faults).toEqual([]);
    expect(warnings).toEqual([`${path("f.yaml")}:${marked(text).marks[0]}: ${says}`]);
  });
});

describe("the nearest name", () => {
  test.each([
    ["outer_limit_minutes", ["outer_limit_seconds", "outer_ring"], "outer_limit_seconds"],
    ["habti", ["habit", "budget"], "habit"],
    ["cap", ["slice", "budget"], null],
    ["timeouts", ["outer_timeouts", "timed"], "outer_timeouts"],
    ["gone", ["long", "short"], null],
  ])("to %s among %j is %s", (word, names, near) => {
    expect(nearest(word, names)).toBe(near);
  });
});
