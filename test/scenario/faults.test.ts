import { describe, expect, test } from "vitest";
import { nearest } from "../../src/scenario/fault.ts";
import { loadPanel, loadPolicy, loadProfile, loadScenario } from "../../src/scenario/load.ts";
import { aPanel, aProfile, aScenario, expectedOf, faultsOf, folder, shippedText } from "./files.ts";

const phases = (list: string) => aScenario({ commands: `{ pytest: { line: pytest -q, phases: [${list}] } }` });
const silent = "{ run: { seconds: 1, output: none } }";
const serving = "{ server: { ready_seconds: 1, output: none } }";
const command = (keys: string) => aScenario({ commands: `{ pytest: { line: pytest -q, ${keys} } }` });
const plan = (...steps: readonly string[]) =>
  aScenario({
    commands: `{ pytest: { line: pytest, phases: [${silent}] }, dev: { line: dev, port: 80, phases: [${serving}] } }`,
    plan: `[${steps.join(", ")}, { run: pytest }, { run: { command: dev, id: last } }]`,
  });
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
      "a phase of two kinds",
      phases("▸{ hang: { output: none }, exit: { code: 0 } }"),
      [
        "commands.pytest.phases[0] says hang and exit at once: a phase is one of run, hang, server, prompt, child or exit",
      ],
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
      "what comes after a server",
      phases(`${serving}, ▸${silent}`),
      ["commands.pytest.phases[1] is never reached: the phase before it serves for ever"],
    ],
    [
      "what comes after a question",
      phases(
        `{ prompt: { text: "Sure?", on_eof: hang } }, ▸${silent}, ▸{ prompt: { text: "Sure?", on_eof: { exit: 1 } } }`,
      ),
      [
        "commands.pytest.phases[1] is never reached: the phase before it waits for an answer for ever",
        "commands.pytest.phases[2] is never reached: the phase before it waits for an answer for ever",
      ],
    ],
    [
      "an end after a question that ends it already",
      phases('{ prompt: { text: "Sure?", on_eof: { exit: 1 } } }, ▸{ exit: { code: 2 } }'),
      ["commands.pytest.phases[1] is never reached: the phase before it exits, as nobody answers"],
    ],
    [
      "a question without words, and with an end in words",
      phases('{ prompt: { text: ▸"", on_eof: ▸exit 1 } }'),
      [
        'commands.pytest.phases[0].prompt.text is "": expected the text of a question',
        'commands.pytest.phases[0].prompt.on_eof is "exit 1": expected hang, or { exit } with a code',
      ],
    ],
    [
      "a child that lives in no known way",
      phases("{ child: ▸{ seconds: ▸forever, group: ▸others } }"),
      [
        "commands.pytest.phases[0].child.holds_output is missing: expected true or false",
        'commands.pytest.phases[0].child.seconds is "forever": expected a length of time in seconds, a distribution, or never',
        'commands.pytest.phases[0].child.group is "others": expected same or own',
      ],
    ],
    [
      "a port or a lost signal among the phases, and where they belong",
      phases("{ ▸signal_loss: 0.1 }, { server: { ready_seconds: 1, output: none, ▸port: 80 } }"),
      [
        "commands.pytest.phases[0].signal_loss is not a key of a phase: it is a key of the command, beside its phases",
        "commands.pytest.phases[1].server.port is not a key of a server: it is a key of the command, beside its phases",
      ],
    ],
    [
      "a port out of range, a probability above 1, a nameless lock, and a usual length of nothing",
      command(`port: ▸70000, signal_loss: ▸2, lock: ▸"", usual_seconds: ▸0, phases: [${serving}]`),
      [
        "commands.pytest.port is 70000: expected a port, a whole number from 1 to 65535",
        "commands.pytest.signal_loss is 2: expected a probability from 0 to 1",
        'commands.pytest.lock is "": expected the name of a lock',
        "commands.pytest.usual_seconds is 0: expected a length of time in seconds, 0.001 or more",
      ],
    ],
    [
      "a port at which nothing answers",
      command(`port: ▸80, phases: [${silent}]`),
      ["commands.pytest.port is 80, and nothing answers there: expected a server among the phases"],
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
      "a run that says neither yes nor no",
      aScenario({ plan: "[{ run: { command: pytest, persist: ▸always, optional: ▸1 } }]" }),
      ['plan[0].run.persist is "always": expected true or false', "plan[0].run.optional is 1: expected true or false"],
    ],
    [
      "no time at all before a timeout",
      aScenario({ plan: "[{ run: { command: pytest, timeout_seconds: ▸0 } }]" }),
      ["plan[0].run.timeout_seconds is 0: expected a length of time in seconds, 0.001 or more"],
    ],
    [
      "a thought that is given in two ways, or in none",
      plan("{ think: ▸{ seconds: 1, steps: 2 } }", "{ think: ▸{} }", "{ think: { steps: ▸0.5 } }"),
      [
        "plan[0].think says seconds and steps at once: think is one of seconds or steps",
        "plan[1].think says nothing: think is one of seconds or steps",
        "plan[2].think.steps is 0.5: expected a number of steps, a whole number from 1 to 1000000",
      ],
    ],
    [
      "waiting for what does not run yet",
      plan("{ await: ▸pytset }", "{ run: { command: pytest, id: tests } }", "{ await: ▸test }"),
      [
        'plan[0].await is "pytset": expected the id of an earlier run',
        'plan[2].await is "test": expected the id of an earlier run; did you mean tests?',
      ],
    ],
    [
      "a probe of what does not serve",
      plan("{ run: pytest }", "{ probe: ▸pytest }", "{ until: { answers: ▸dev, at_most: 3 } }"),
      [
        'plan[1].probe is "pytest": expected a run whose command serves; commands.pytest has no port',
        'plan[2].until.answers is "dev": expected the id of an earlier run; there is pytest',
      ],
    ],
    [
      "an until of both kinds, of neither, or of half a kind",
      plan(
        "{ run: dev }",
        "{ until: ▸{ answers: dev, succeeds: pytest, at_most: 2 } }",
        "{ until: ▸{ at_most: 2 } }",
        "{ until: ▸{ succeeds: pytest, at_most: 2 } }",
        "{ until: ▸{ answers: dev, id: a, at_most: 2 } }",
        "{ until: { answers: dev, at_most: ▸0 } }",
      ),
      [
        "plan[1].until says answers and succeeds at once: until is one of answers or succeeds",
        "plan[2].until says nothing: until is one of answers or succeeds",
        "plan[3].until gives no think_seconds: expected how long the model thinks after an attempt that failed",
        "plan[4].until gives an id beside answers: expected it beside succeeds only",
        "plan[5].until.at_most is 0: expected a number of attempts, a whole number from 1 to 1000",
      ],
    ],
    [
      "a repair of commands that are not there",
      plan(
        "{ until: { succeeds: ▸pytst, think_seconds: 3, at_most: 2 } }",
        "{ repair: { run: ▸pytets, then: ▸div, think_seconds: 3, at_most: 2 } }",
      ),
      [
        'plan[0].until.succeeds is "pytst": expected one of the scenario\'s commands; did you mean pytest?',
        'plan[1].repair.run is "pytets": expected one of the scenario\'s commands; did you mean pytest?',
        'plan[1].repair.then is "div": expected one of the scenario\'s commands; did you mean dev?',
      ],
    ],
    [
      "a chance to mend that leads to nothing",
      plan("{ repair: ▸{ run: pytest, mends_with: 0.5, think_seconds: 3, at_most: 2 } }"),
      ["plan[0].repair gives mends_with without then: expected the command that is run once the work is mended"],
    ],
    [
      "calls side by side that are one, or no calls",
      plan("{ together: ▸[{ run: dev }] }", "{ together: [{ ▸think: { seconds: 1 } }, { run: pytest }] }"),
      [
        "plan[0].together is a list: expected two calls or more",
        "plan[1].together[0].think is not a key of a call; there are run and job",
      ],
    ],
    [
      "a job that submits",
      plan("{ job: { plan: [{ ▸commit: {} }, { ▸submit: {} }] } }"),
      [
        "plan[0].job.plan[0].commit is not a key of a step of a job: a job ends with its plan, and only the trial itself commits and submits",
        "plan[0].job.plan[1].submit is not a key of a step of a job: a job ends with its plan, and only the trial itself commits and submits",
      ],
    ],
    [
      "a look at a process of the parent's, out of a job",
      plan(
        "{ run: { command: dev, id: d } }",
        "{ job: { plan: [{ status: ▸d }, { run: { command: pytest, id: e } }] } }",
      ),
      ['plan[1].job.plan[0].status is "d": expected the id of an earlier run of the job\'s own plan'],
    ],
    [
      "jobs three deep",
      plan("{ job: { plan: [{ job: { plan: [{ ▸job: { plan: [{ run: dev }] } }] } }] } }"),
      ["plan[0].job.plan[0].job.plan[0].job is not a key of a step of a job's own job: jobs are two deep at most"],
    ],
    [
      "an id that stands in a job too",
      plan(
        "{ run: { command: dev, id: a } }",
        "{ job: { id: ▸a, plan: [{ repair: { run: pytest, think_seconds: 1, at_most: 2, id: ▸a } }] } }",
      ),
      [
        'plan[1].job.id is "a": expected an id that no other step has',
        'plan[1].job.plan[0].repair.id is "a": expected an id that no other step has',
      ],
    ],
    [
      "something from outside among the steps",
      plan("{ ▸user_stop: {} }"),
      [
        "plan[0].user_stop is not a key of a step: what happens from outside stands in the scenario's list called outside",
      ],
    ],
    [
      "things from outside out of order, and after the end",
      aScenario({
        outside:
          "[{ at_seconds: 9, event: clear }, { at_seconds: ▸8, event: clear }, { at_seconds: ▸5400, event: switch }]",
      }),
      [
        "outside[1].at_seconds is 8: expected 9 or more, as events come in order",
        "outside[2].at_seconds is 5400: expected less than 5400, as the outer limit ends the trial then",
      ],
    ],
    [
      "things from outside that cannot happen, and an outer limit that cannot be: not one for the other",
      aScenario({ outer_limit_seconds: "▸0", outside: "[{ at_seconds: 60, event: ▸user_stops }]" }),
      [
        "outer_limit_seconds is 0: expected a length of time in seconds, 0.001 or more",
        'outside[0].event is "user_stops": expected user_stop, clear, switch, user_background, headless_exit or restart',
      ],
    ],
    [
      "deliveries that say nothing, or fail beyond certainty",
      aScenario({ deliveries: "▸{}" }),
      ["deliveries says nothing: expected fail_first or fail_with"],
    ],
    [
      "deliveries out of range",
      aScenario({ deliveries: "{ fail_first: ▸-1, fail_with: ▸1.5 }" }),
      [
        "deliveries.fail_first is -1: expected a number of deliveries, a whole number from 0 to 1000000",
        "deliveries.fail_with is 1.5: expected a probability from 0 to 1",
      ],
    ],
    ["limits on nothing", aScenario({ limits: "▸{}" }), ["limits says nothing: expected steps, tokens or cost_usd"]],
    [
      "limits that leave nothing",
      aScenario({ limits: "{ steps: ▸0, tokens: ▸1.5, cost_usd: ▸0, ▸usd: 3 }" }),
      [
        "limits.steps is 0: expected a number of requests, a whole number from 1 to 1000000000",
        "limits.tokens is 1.5: expected a number of tokens, a whole number from 1 to 1000000000000",
        "limits.cost_usd is 0: expected a number of US dollars, 0.000001 or more",
        "limits.usd is not a key of limits; there are steps, tokens and cost_usd",
      ],
    ],
    [
      "a service that no command gives, where none gives any",
      aScenario({ grading: "{ tests: 1, reward: share, credit: submitted, service_must_answer_at_grading: ▸80 }" }),
      ["grading.service_must_answer_at_grading is 80: expected the port of a command, and none has one"],
    ],
    [
      "a service that no command gives, where others give others",
      plan("{ run: dev }").replace("credit: submitted", "credit: submitted, service_must_answer_at_grading: ▸8080"),
      ["grading.service_must_answer_at_grading is 8080: expected the port of a command; there is 80"],
    ],
    [
      "changes of a model that no profile could have either",
      aScenario({ model: "{ any: { waits: [{ from: 1, seconds: ▸cadence }], context: ▸{ start_tokens: 300000 } } }" }),
      [
        'model.any.waits[0].seconds is "cadence": expected cadence_seconds beside waits, to say how long that is',
        "model.any.context begins with 300000 tokens: expected 244800 at most, where the conversation is compacted",
      ],
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
      [
        "stops_a_process.any_of[0] says nothing: expected quiet_waits, running_seconds, failure_seen, cpu_idle or probability",
      ],
    ],
    [
      "messages that it neither obeys nor ignores, of kinds that there are not",
      `${long}obeys: { hint: ▸2, ▸nudge: 1 }\nends_its_turn: ▸often\n`,
      [
        "obeys.hint is 2: expected a probability from 0 to 1",
        "obeys.nudge is not a key of what is obeyed; there are notice, reminder, hint, heartbeat, deadline_notice and wrap_up",
        'ends_its_turn is "often": expected a probability from 0 to 1',
      ],
    ],
    [
      "nothing to obey",
      `${long}obeys: ▸{}\n`,
      ["obeys says nothing: expected notice, reminder, hint, heartbeat, deadline_notice or wrap_up"],
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

describe("a habit is refused for", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      "a step that is a word",
      { step_seconds: "▸12s" },
      ['step_seconds is "12s": expected a length of time in seconds, 0.001 or more, or a distribution; write 12'],
    ],
    [
      "lengths to ask for that say nothing, too much or half of it",
      {
        waits: `[{ from: 1, seconds: ▸cadens }, { from: 2, seconds: ▸{} }, { from: 3, seconds: ▸{ choice: [{ value: 1, p: 1 }], ladder: [1] } },
          { from: 4, seconds: ▸{ share_of_remaining: 0.5 } }, { from: 5, seconds: ▸{ otherwise: 5 } },
          { from: 6, seconds: { ladder: ▸[] } }, { from: 7, seconds: { ladder: [▸0] } },
          { from: 8, seconds: { share_of_remaining: ▸2, otherwise: 3 } }, { from: 9, seconds: { exponential: { mean: ▸0 } } }]`,
      },
      [
        'waits[0].seconds is "cadens": expected a length of time in seconds, 0.001 or more, cadence, or a mapping like { choice: [{ value, p }] }',
        "waits[1].seconds says nothing: a length to ask for is one of lognormal, uniform, exponential, poisson_gamma, choice, histogram, samples, ladder or share_of_remaining",
        "waits[2].seconds says choice and ladder at once: a length to ask for is one of lognormal, uniform, exponential, poisson_gamma, choice, histogram, samples, ladder or share_of_remaining",
        "waits[3].seconds gives share_of_remaining alone: expected otherwise beside it, for where nothing is known of the run",
        "waits[4].seconds gives otherwise alone: expected it beside share_of_remaining",
        "waits[5].seconds.ladder is a list: expected a list of lengths of time in seconds, at least one",
        "waits[6].seconds.ladder[0] is 0: expected a length of time in seconds, 0.001 or more",
        "waits[7].seconds.share_of_remaining is 2: expected a share above 0, 1 at most",
        "waits[8].seconds.exponential.mean is 0: expected a number above 0",
      ],
    ],
    [
      "a cadence that nobody has named",
      { waits: "[{ from: 1, seconds: ▸cadence }]" },
      ['waits[0].seconds is "cadence": expected cadence_seconds beside waits, to say how long that is'],
    ],
    [
      "a cadence that is at fault itself, and no other",
      { cadence_seconds: "▸0", waits: "[{ from: 1, seconds: cadence }]" },
      ["cadence_seconds is 0: expected a length of time in seconds, 0.001 or more"],
    ],
    [
      "rules for late control that come first, or out of order",
      {
        waits:
          "[{ from: 1, late_seconds: ▸10, seconds: 1 }, { from: 1, late_seconds: ▸5, seconds: 1 }, { from: ▸1, seconds: 1 }]",
      },
      [
        "waits[0].late_seconds stands in the first rule: expected one before it that always holds",
        "waits[1].late_seconds is 5: expected more than 10, as rules come in order",
        "waits[2].from is 1: expected more than 1, as rules come in order",
      ],
    ],
    [
      "something to do that is nothing, or not certain to be done",
      { between: "[{ do: wait, p: 0.5 }, { do: ▸sleep, p: 0.5 }]", in_the_reserve: "▸[{ do: finish, p: 0.4 }]" },
      [
        "in_the_reserve has probabilities that add up to 0.4: expected 1",
        'between[1].do is "sleep": expected wait, status, read_output, probe or work',
      ],
    ],
    [
      "words that are none of the choices",
      { in_the_reserve: "▸finsh", between: "▸wait", on_ready: "▸wait" },
      [
        'in_the_reserve is "finsh": expected stop_and_go_on, finish or ignore, or a list of { do, p }',
        'between is "wait": expected a list of { do, p }',
        'on_ready is "wait": expected go_on or keep_waiting',
      ],
    ],
    [
      "a reason to stop with a probability that is none",
      { stops_a_process: "{ any_of: [{ probability: ▸3 }] }" },
      ["stops_a_process.any_of[0].probability is 3: expected a probability from 0 to 1"],
    ],
    [
      "arguments that say nothing",
      { arguments: "▸{}" },
      ["arguments says nothing: expected background_share, or timeout_share and timeout_seconds"],
    ],
    [
      "timeouts of unknown length",
      { arguments: "▸{ timeout_share: 0.5 }" },
      ["arguments gives timeout_share without timeout_seconds: expected both"],
    ],
    [
      "timeouts of unknown frequency",
      { arguments: "▸{ timeout_seconds: 5 }" },
      ["arguments gives timeout_seconds without timeout_share: expected both"],
    ],
    [
      "reruns without end",
      { reruns: "▸{ running: 0.5 }" },
      ["reruns.at_most is missing: expected a number of reruns, a whole number from 1 to 1000"],
    ],
    [
      "reruns after nothing",
      { reruns: "▸{ at_most: 2 }" },
      ["reruns says nothing of when: expected running or timed_out"],
    ],
    [
      "waits for conditions that take no time",
      { waits_for_conditions: "{ timeout_seconds: ▸0, every_seconds: ▸10s }" },
      [
        "waits_for_conditions.timeout_seconds is 0: expected a length of time in seconds, 0.001 or more",
        'waits_for_conditions.every_seconds is "10s": expected a length of time in seconds, 0.001 or more; write 10',
      ],
    ],
    [
      "tools that there are not",
      {
        tools: "[{ from: 1, has: [▸wiat] }, { from: ▸0, has: ▸all }]",
        stops_a_process: "{ any_of: [{ cpu_idle: ▸0 }] }",
      },
      [
        "stops_a_process.any_of[0].cpu_idle is 0: expected true or false",
        'tools[0].has[0] is "wiat": expected wait, status, stop, list or read_output',
        "tools[1].from is 0: expected the number of a tool call, a whole number from 1 to 1000000",
        'tools[1].has is "all": expected a list of tools',
      ],
    ],
    [
      "tools that begin too late, and out of order",
      { tools: "[{ from: ▸2, has: [wait] }, { from: ▸2, has: [] }]" },
      [
        "tools[0].from is 2: expected 1, as the first call needs tools",
        "tools[1].from is 2: expected more than 2, as rules come in order",
      ],
    ],
    [
      "an expectation from which nothing follows",
      { expects: "▸{ sigma: 1 }" },
      ["expects says nothing of what follows: expected background_over_seconds or timeout_factor"],
    ],
    [
      "an expectation in minutes",
      { expects: "{ sigma: ▸-1, background_over_seconds: ▸2m, timeout_factor: ▸0 }" },
      [
        "expects.sigma is -1: expected the standard deviation of the estimate's logarithm, 0 or more",
        'expects.background_over_seconds is "2m": expected a length of time in seconds, zero or more; write 120',
        "expects.timeout_factor is 0: expected a number above 0",
      ],
    ],
    [
      "a memory in words",
      { forgets_after_compaction: "▸often" },
      ['forgets_after_compaction is "often": expected a probability from 0 to 1'],
    ],
    [
      "a context in which nothing has room",
      { context: "{ ▸start: 3, window_tokens: ▸0, compacts_at: ▸2, bytes_per_token: ▸0, kept_tokens: ▸-1 }" },
      [
        "context.start is not a key of a context; did you mean start_tokens?",
        "context.window_tokens is 0: expected a number of tokens, a whole number from 1 to 1000000000",
        "context.compacts_at is 2: expected a share above 0, 1 at most",
        "context.bytes_per_token is 0: expected a number above 0",
        "context.kept_tokens is -1: expected a number of tokens, a whole number from 0 to 1000000000",
      ],
    ],
    [
      "a context that is full before it begins, and after each compaction",
      { context: "▸▸{ window_tokens: 10000 }" },
      [
        "context begins with 38000 tokens: expected 9000 at most, where the conversation is compacted",
        "context keeps 24000 tokens, summary included: expected 9000 at most, where the conversation is compacted",
      ],
    ],
    ["an oracle that is half one", { oracle: "▸perhaps" }, ['oracle is "perhaps": expected true or false']],
  ])("%s", (_, changes, faults) => {
    const text = aProfile(changes);
    expect(faultsOf(text, loadProfile)).toEqual(expectedOf(text, faults));
  });

  test("an oracle's, which has none", () => {
    const text = "profile: oracle\noracle: true\n▸waits: [{ from: 1, seconds: 3 }]\n▸in_the_reserve: finish\n";
    const says = "is not a key of an oracle: an oracle has no habits: it waits for as long as it pays";
    expect(faultsOf(text, loadProfile)).toEqual(expectedOf(text, [`waits ${says}`, `in_the_reserve ${says}`]));
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
      "a choice that there is not",
      policy("foreground_at_cap: ▸detach"),
      ['shell_execution.foreground_at_cap is "detach": expected yield or background or kill'],
    ],
    [
      "a risk of being overdue where nothing has a usual length",
      policy("auto_await_risk: advisory, risk_cap_overdue_seconds: ▸9"),
      [
        "shell_execution.risk_cap_overdue_seconds is 9 where no class has a usual length: give usual_length_test_seconds, usual_length_build_seconds, usual_length_network_seconds, usual_length_other_seconds, or one of them",
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
      "a heartbeat where no class has a usual length",
      policy("heartbeat: ▸true"),
      [
        "shell_execution.heartbeat is true where no class has a usual length: give usual_length_test_seconds, usual_length_build_seconds, usual_length_network_seconds, usual_length_other_seconds, or one of them",
      ],
    ],
    [
      "notices that are none of the three kinds, and too small for one command",
      policy("completion_notice: ▸always, notice_batch_bytes: ▸900"),
      [
        'shell_execution.completion_notice is "always": expected none or next_step or wake',
        "shell_execution.notice_batch_bytes is 900: expected a whole number of bytes, 1024 to 1048576",
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
        'scenarios[0] is "hung-test-rum": there is no scenario of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; did you mean hung-test-run?',
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
      "hypotheses whose keys do not go together",
      aPanel({
        hypotheses: `[▸{ measure: reward, arm: control, expect: lower },
          ▸{ measure: reward, arm: control, against: treatment, expect: zero },
          ▸{ measure: reward, arm: control, against: treatment, expect: not_lower, by: 0.5 },
          ▸{ measure: reward, arm: control, against: treatment, expect: lower, margin: 0.5 },
          ▸{ measure: reward, arm: control, against: treatment, expect: not_lower, margin: 0, margin_absolute: 1 },
          { measure: reward, arm: control, against: treatment, expect: ▸no_lower, kind: ▸quik }]`,
      }),
      [
        "hypotheses[0] gives no against: expected the arm that lower is held against",
        "hypotheses[1] gives against: expected none, as zero is held against nothing",
        "hypotheses[2] gives by beside not_lower: expected it beside lower or higher only",
        "hypotheses[3] gives a margin beside lower: expected it beside not_lower or not_higher only",
        "hypotheses[4] gives both margin and margin_absolute: expected one of them",
        'hypotheses[5].expect is "no_lower": expected lower, higher, not_lower, not_higher or zero',
        'hypotheses[5].kind is "quik": expected quick, long_finite, server or hanging',
      ],
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
        'factors.habit[0] is "lomg": there is no profile of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; did you mean long?',
        'factors.budget[1] is "later": expected told, untold or { run_budget_seconds }',
      ],
    ],
    [
      "a base without a policy, where none is crossed",
      aPanel({ arms: "", base: "▸{ profile: short, budget: told }", factors: "{ cap: [10, 60] }" }),
      ["base has no policy: expected one, or levels of the factor policy"],
    ],
    [
      "policies that are none",
      aPanel({
        arms: "",
        base: "{ profile: short, budget: told }",
        factors: "{ policy: [▸240, ▸controll, control, ▸control] }",
      }),
      [
        "factors.policy[0] is 240: expected the name of a policy",
        'factors.policy[1] is "controll": there is no policy of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; did you mean control?',
        "factors.policy[3] is control again: expected each level once",
      ],
    ],
    [
      "a policy under which what the base sets is impossible",
      aPanel({
        arms: "",
        base: "{ profile: short, budget: told, set: { max_hold_seconds: 40 } }",
        factors: "▸{ policy: [shipped, gaia] }",
      }),
      [
        "factors is impossible for policy-gaia: max_hold_seconds is 40: it must be at least foreground_total_yield_seconds (none), so that no initial hold is cut",
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
      'panels/p.yaml:6:41: arms[0].profile is "gone": there is no profile of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; there are codex-code-mode, codex-empty-polls, fixed-two-minutes, helper-default, helper-guided, long, looks-while-it-waits, oracle, reads-and-rests and short',
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

describe("the nearest name", () => {
  test.each([
    ["outer_limit_minutes", ["outer_limit_seconds", "outer_ring"], "outer_limit_seconds"],
    ["habti", ["habit", "budget"], "habit"],
    ["cap", ["slice", "budget"], null],
    ["timeouts", ["outer_timeouts", "timed"], "outer_timeouts"],
    ["gone", ["long", "short"], null],
    ["five-minuts", ["half-hour", "five-minutes"], "five-minutes"],
    ["lifetime_seconds", ["retries", "cache"], null],
  ])("to %s among %j is %s", (word, names, near) => {
    expect(nearest(word, names)).toBe(near);
  });
});
