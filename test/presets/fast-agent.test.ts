/** The runtime that the design note is about, from release to release, and GAIA's hard timeouts by class. */
import { describe, expect, test } from "vitest";
import { PLAIN_HABITS } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import {
  awaits,
  callsOf,
  candidate,
  command,
  commandOf,
  commits,
  every,
  type Hands,
  hangs,
  job,
  lasts,
  leaves,
  lines,
  only,
  type RunSpec,
  refusal,
  result,
  runs as runsStep,
  serves,
  submits,
  thinks,
  together,
} from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";
import {
  goesOn,
  handedBack,
  isRefused,
  preset,
  type Row,
  runs,
  stopsStubborn,
  waitRefused,
  waits,
  wentOn,
} from "./preset.ts";

const never = Number.POSITIVE_INFINITY;

/** A wait for something that answers after so long. */
const waitsFor = (readyAfter: number, asked: { readonly timeout?: number; readonly every?: number } = {}) =>
  function* (hands: Hands) {
    if (readyAfter !== never) {
      const server = commandOf({ phases: [serves(readyAfter)], port: 80 });
      result(yield* hands.exec(server, { background: true }));
    }
    return result(yield* hands.waitFor({ answersAt: 80 }, asked));
  };

const conditionRefused = (asked: { readonly timeout?: number; readonly every?: number }) =>
  function* (hands: Hands) {
    return refusal(yield* hands.waitFor({ answersAt: 80 }, asked));
  };

const ofClass = (name: string, length: number) => ({
  status: "timed_out",
  command_class: name,
  hard_timeout_seconds: length,
  elapsed_seconds: length,
  auto_await_outcome: null,
  clamp_reasons: [],
});

/** The same in every fast-agent: waits, timeouts, stops. */
const fastAgent: readonly Row[] = [
  [
    "a quick command comes back with its result",
    runs("ls", lasts(2)),
    { status: "completed", elapsed_seconds: 2, auto_await_outcome: "not_needed" },
  ],
  ["a command that is handed back goes on under its id, and loses no output", goesOn, wentOn],
  [
    "a hard timeout of 600 s suppresses yielding, and kills",
    runs("pytest -q", hangs(every(5)), 600),
    { status: "timed_out", elapsed_seconds: 600, auto_await_outcome: null, hard_timeout_seconds: 600 },
  ],
  [
    "a hard timeout above 600 s is refused, not clamped",
    isRefused("pytest -q", 601),
    "timeout_seconds is 601: expected more than 0, up to 600",
  ],
  [
    "a wait of less than 10 s is raised to 10 s",
    waits(3),
    { status: "running", requested_wait_seconds: 3, effective_wait_seconds: 10, wait_raised: true },
  ],
  [
    "a wait comes back with the result as soon as there is one",
    waits(100, { phase: lasts(40) }),
    { status: "completed", elapsed_seconds: 40 },
  ],
  ["a stop sends TERM, and KILL 2 s later", stopsStubborn, { status: "terminated", signal: "SIGKILL", took: 2 }],
  [
    "a command that fails comes back in its call, with its exit code",
    function* (hands) {
      const failing = commandOf({ phases: [lasts(5, every(5, "E\n"))], exit: { code: 2, signal: null }, line: "make" });
      return result(yield* hands.exec(failing));
    },
    { status: "failed", exit_code: 2, elapsed_seconds: 5, output: "E\n" },
  ],
  [
    "a command with a hard timeout that ends before it comes back with its result, past every other boundary",
    runs("pytest -q", lasts(500), 600),
    { status: "completed", elapsed_seconds: 500, auto_await_outcome: null },
  ],
  [
    "a command started in the background comes back at once, and has no part in auto-await",
    function* (hands) {
      return result(yield* hands.exec(command(hangs()), { background: true }));
    },
    { status: "running", process_id: "process-1", elapsed_seconds: 0, auto_await_outcome: null, clamp_reasons: [] },
  ],
  [
    "a wait that runs out is no failure, and ends nothing",
    function* (hands) {
      const waited = yield* waits(30)(hands);
      yield* hands.pass(1_000);
      return [waited, result(yield* hands.status(1))];
    },
    [
      { status: "running", exit_code: null, signal: null, elapsed_seconds: 30 },
      { status: "running", elapsed_seconds: 1_030 },
    ],
  ],
  [
    "a wait does not come back for output",
    waits(100, { phase: hangs(every(5)) }),
    { status: "running", elapsed_seconds: 100, output: "x\n".repeat(20) },
  ],
  [
    "a look at a process takes no time, and says how it stands",
    function* (hands) {
      yield* waits(20, { phase: lasts(60) })(hands);
      const early = result(yield* hands.status(1));
      yield* hands.pass(100);
      return [early, result(yield* hands.status(1))];
    },
    [
      { status: "running", elapsed_seconds: 20 },
      { status: "completed", exit_code: 0, elapsed_seconds: 60 },
    ],
  ],
  [
    "a call shows what is new, and what was shown can be read again",
    function* (hands) {
      const said = lines([1, "a\n"], [300, "b\n"]);
      const shown = result(yield* hands.exec(command(hangs(said)))).output;
      yield* hands.pass(300);
      const waited = result(yield* hands.wait(1, 10)).output;
      return [shown, waited, result(yield* hands.read(1, 0)).output];
    },
    ["a\n", "b\n", "a\nb\n"],
  ],
  [
    "of a long output 16,000 bytes are shown, half of them its beginning and half its end, and 33,000 can be read at once",
    function* (hands) {
      const said = lines([1, `${"<".repeat(20_000)}${">".repeat(20_000)}`]);
      const { output } = result(yield* hands.exec(command(lasts(2, said))));
      const whole = result(yield* hands.read(1, 0));
      return [output.split("<").length - 1, output.split(">").length - 1, whole.next_offset, whole.output_complete];
    },
    [8_000, 8_000, 33_000, true],
  ],
  [
    "a stop ends what heeds TERM at once",
    function* (hands) {
      result(yield* hands.exec(command(hangs()), { background: true }));
      yield* hands.pass(5);
      return result(yield* hands.stop(1));
    },
    { status: "terminated", signal: "SIGTERM", elapsed_seconds: 5 },
  ],
  [
    "a stop of what is over finds it over",
    function* (hands) {
      result(yield* hands.exec(command(lasts(5)), { background: true }));
      yield* hands.pass(10);
      return result(yield* hands.stop(1));
    },
    { status: "already_exited", exit_code: 0, elapsed_seconds: 5 },
  ],
  [
    "a list names every process, how it stands and for how long it has run",
    function* (hands) {
      result(yield* hands.exec(commandOf({ phases: [hangs()], line: "npm start" }), { background: true }));
      result(yield* hands.exec(commandOf({ phases: [lasts(2)], line: "ls" })));
      return result(yield* hands.list()).processes;
    },
    [
      { process_id: "process-1", command: "npm start", status: "running", elapsed_seconds: 2 },
      { process_id: "process-2", command: "ls", status: "completed", elapsed_seconds: 2 },
    ],
  ],
  [
    "a process that is none is refused",
    function* (hands) {
      return refusal(yield* hands.wait(7, 30));
    },
    'process-7 is no process of this session; process(action: "list") names them',
  ],
  [
    "of 32 processes one that is over makes room for the next",
    function* (hands) {
      for (let nth = 0; nth < 31; nth += 1) result(yield* hands.exec(command(hangs()), { background: true }));
      result(yield* hands.exec(command(lasts(1))));
      const next = result(yield* hands.exec(command(hangs()), { background: true }));
      return [next.process_id, refusal(yield* hands.status(32))];
    },
    ["process-33", 'process-32 is no process of this session; process(action: "list") names them'],
  ],
  [
    "where all 32 live, another is an error, and none of them is ended for it",
    function* (hands) {
      for (let nth = 0; nth < 32; nth += 1) result(yield* hands.exec(command(hangs()), { background: true }));
      const why = refusal(yield* hands.exec(command(lasts(1))));
      const { processes } = result(yield* hands.list());
      return [why, processes.filter(({ status }) => status === "running").length];
    },
    ["all 32 slots are taken by live processes: stop one that is not needed", 32],
  ],
  [
    "a client that gives up its call ends the hold and no process",
    function* (hands) {
      const given = result(yield* hands.exec(command(hangs())));
      yield* hands.pass(100);
      return [given, result(yield* hands.status(1))];
    },
    [
      { status: "running", elapsed_seconds: 5, auto_await_outcome: "cancelled" },
      { status: "running", elapsed_seconds: 105 },
    ],
    { cancels: [5] },
  ],
];

/** The same in every fast-agent that there is: nothing is known of a budget, and long waits are refused. */
const unaware: readonly Row[] = [
  [
    "a wait above 3,600 s is refused with an error, not clamped",
    waitRefused(3_601),
    "wait_sec is 3601: a wait is at most 3600 s",
  ],
  [
    "a wait of 3,600 s is granted in full, whatever is left of the run, and nothing is said of that",
    function* (hands) {
      const waited: object = yield* waits(3_600)(hands);
      return { waited, told: "remaining_run_seconds" in waited };
    },
    {
      waited: { status: "running", effective_wait_seconds: 3_600, wait_clamped: false, clamp_reasons: [] },
      told: false,
    },
    { told: 5_400, reserve: 600 },
  ],
  [
    "the ceiling is one of a call: an hour may follow an hour",
    function* (hands) {
      yield* waits(3_600)(hands);
      return result(yield* hands.wait(1, 3_600));
    },
    { status: "running", effective_wait_seconds: 3_600, elapsed_seconds: 7_200 },
  ],
  [
    "a hard timeout runs into the reserve, and nothing is said of the run's end",
    function* (hands) {
      const shown: object = yield* runs("pytest -q", hangs(), 600)(hands);
      return { shown, told: "remaining_run_seconds" in shown };
    },
    { shown: { status: "timed_out", elapsed_seconds: 600 }, told: false },
    { told: 700, reserve: 600 },
  ],
];

/** The design note's own trace, on a test run that never ends: what each call came to, and when the model has it stopped. */
const trace = (wait: number): Row[1] =>
  function* (hands) {
    const ran = result(yield* hands.exec(command(hangs())));
    const waited = result(yield* hands.wait(1, wait));
    const stopped = result(yield* hands.stop(1));
    return [ran.elapsed_seconds, waited.elapsed_seconds, stopped.status, hands.now / 1_000];
  };

const defaultWait = (length: number): Row => [
  `a wait without a length lasts ${length} s`,
  waits(undefined),
  { requested_wait_seconds: length, effective_wait_seconds: length, wait_defaulted: true, wait_clamped: false },
];

const presets: Readonly<Record<string, readonly Row[]>> = {
  gaia: [
    ["tests are killed at 900 s, and the result says so", runs("pytest -q", hangs()), ofClass("test", 900)],
    ["builds are killed at 1,800 s", runs("make -j8", hangs()), ofClass("build", 1_800)],
    ["what uses the network is killed at 300 s", runs("git clone https://x/y", hangs()), ofClass("network", 300)],
    ["anything else is killed at 30 s", runs("git status", hangs()), ofClass("default", 30)],
    ["a wrapper is transparent", runs("sudo CI=1 python -m pytest", hangs()), ofClass("test", 900)],
    ["basename and case are folded", runs("C:/tools/PyTest.EXE", hangs()), ofClass("test", 900)],
    ["a pipeline has the class of its longest part", runs("pytest | tee log", hangs()), ofClass("test", 900)],
    [
      "output extends nothing, and nothing is handed back: the result of 800 s comes in its own call, with its class",
      runs("pytest -q", lasts(800, every(5, "."))),
      { status: "completed", elapsed_seconds: 800, command_class: "test", hard_timeout_seconds: 900 },
    ],
    [
      "an explicit timeout wins over the class",
      function* (hands) {
        const shown: object = yield* runs("pytest -q", hangs(), 3_600)(hands);
        return { shown, classed: "command_class" in shown };
      },
      { shown: { status: "timed_out", hard_timeout_seconds: 3_600, elapsed_seconds: 3_600 }, classed: false },
    ],
    [
      "a timeout above 3,600 s is refused, and the refusal names the default of the class",
      isRefused("pytest -q", 3_601),
      "timeout_seconds is 3601: expected more than 0, up to 3600; left out, it is 900, as of class test",
    ],
    [
      "so is one of nothing",
      isRefused("ls", 0),
      "timeout_seconds is 0: expected more than 0, up to 3600; left out, it is 30, as of class default",
    ],
    [
      "of four calls in ten seconds the last is refused, and told when to come back",
      function* (hands) {
        for (let nth = 0; nth < 3; nth += 1) {
          result(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })));
        }
        return refusal(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })));
      },
      "too many commands in too short a time: come back in 7 s",
    ],
    [
      "a wait for a condition is one call to that limit, however often it looks",
      function* (hands) {
        const { probes } = result(yield* hands.waitFor({ answersAt: 80 }, { timeout: 55, every: 5 }));
        return [probes, result(yield* hands.exec(commandOf({ phases: [lasts(1)], line: "ls" }))).status];
      },
      [12, "completed"],
    ],
    [
      "and it is a call: three commands may not follow it at once",
      function* (hands) {
        const holds = commandOf({ phases: [lasts(0)], line: "ls" });
        const { outcome } = result(yield* hands.waitFor({ command: holds }));
        for (let nth = 0; nth < 2; nth += 1) result(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })));
        return [outcome, refusal(yield* hands.exec(commandOf({ line: "ls", phases: [lasts(1)] })))];
      },
      ["met", "too many commands in too short a time: come back in 8 s"],
    ],
    [
      "a timeout kills at once, without a grace",
      function* (hands) {
        return result(yield* hands.exec(commandOf({ phases: [hangs()], line: "ls", onTerm: null })));
      },
      { ...ofClass("default", 30), signal: "SIGKILL" },
    ],
    [
      "what was printed before the kill is kept: the first 10,000 bytes",
      function* (hands) {
        const said = lines([1, `first${"x".repeat(9_995)}`], [2, `last${"y".repeat(5_000)}`]);
        const { output } = result(yield* hands.exec(commandOf({ phases: [hangs(said)], line: "ls" })));
        return [output.startsWith("first"), output.includes("last"), output.length < 10_200];
      },
      [true, false, true],
    ],
    [
      "a timeout reaches what the command has started, and what holds its output open does not delay the result",
      function* (hands) {
        const held = commandOf({ phases: [lasts(4, every(1, "line\n")), leaves(null), hangs()], line: "ls" });
        return result(yield* hands.exec(held, { timeout: 5 }));
      },
      { status: "timed_out", elapsed_seconds: 5, output: "line\n".repeat(4) },
    ],
    [
      "a condition is waited for in one call, looked at once and then every 5 s, for 120 s unless asked",
      waitsFor(never),
      { outcome: "timed_out", probes: 25, requested_wait_seconds: 120, every_seconds: 5, elapsed_seconds: 120 },
    ],
    [
      "it comes back with the look at which it holds",
      waitsFor(90, { timeout: 600, every: 10 }),
      { outcome: "met", probes: 10, elapsed_seconds: 90 },
    ],
    [
      "a predicate that cannot be run ends the wait at once",
      function* (hands) {
        const missing = commandOf({ phases: [lasts(0)], exit: { code: 127, signal: null }, line: "no-such-command" });
        return result(yield* hands.waitFor({ command: missing }));
      },
      { outcome: "cannot_be_met", probes: 1, elapsed_seconds: 0, last_exit_code: 127 },
    ],
    [
      "a wait for a condition above 600 s is refused, not clamped",
      conditionRefused({ timeout: 601 }),
      "timeout_seconds is 601: expected more than 0, up to 600",
    ],
    [
      "so is a look more often than every 5 s, or more rarely than every 60",
      function* (hands) {
        return [yield* conditionRefused({ every: 4 })(hands), yield* conditionRefused({ every: 61 })(hands)];
      },
      ["every_seconds is 4: expected 5 to 60", "every_seconds is 61: expected 5 to 60"],
    ],
    [
      "a look has 30 s at most",
      function* (hands) {
        return result(yield* hands.waitFor({ command: command(hangs()) }, { timeout: 100, every: 60 }));
      },
      { outcome: "timed_out", probes: 2, elapsed_seconds: 100, last_exit_code: null },
    ],
    [
      "a stop lands at once, in the middle of a wait for a condition",
      waitsFor(never, { timeout: 600, every: 60 }),
      { outcome: "cancelled", probes: 2, elapsed_seconds: 70 },
      { cancels: [70] },
    ],
    [
      "a wait for a condition knows of no budget, either",
      waitsFor(never, { timeout: 600, every: 60 }),
      { outcome: "timed_out", elapsed_seconds: 600, wait_clamped: false },
      { told: 1_000, reserve: 600 },
    ],
    [
      "nothing is known of a budget: tests run their 900 s into the reserve",
      runs("pytest -q", hangs()),
      ofClass("test", 900),
      { told: 1_000, reserve: 600 },
    ],
  ],
  "fast-agent-0.10.4": [
    ...fastAgent,
    ...unaware,
    ["a silent command is handed back at 10 s", runs("make", hangs()), handedBack(10, "disabled")],
    ["a chatty one at 30 s", runs("make", hangs(every(5))), handedBack(30, "disabled")],
    ["10 s after its last output", runs("make", hangs(lines([7, "x\n"]))), handedBack(17, "disabled")],
    [
      "one of 12 s that is silent is handed back before it is over, and its result takes another call",
      function* (hands) {
        const { status } = result(yield* hands.exec(command(lasts(12))));
        return [status, result(yield* hands.wait(1, 30))];
      },
      ["running", { status: "completed", elapsed_seconds: 12, effective_wait_seconds: 30 }],
    ],
    [
      "from then on the model may look, wait and stop: in the note's older trace it has stopped a hung run after 70 s",
      trace(60),
      [10, 70, "terminated", 70],
      { told: 5_400, reserve: 600 },
    ],
    defaultWait(30),
  ],
  "fast-agent-240": [
    ...fastAgent,
    ...unaware,
    ["a silent command is handed back at 240 s", runs("make", hangs()), handedBack(240, "cap_reached")],
    ["output does not extend that", runs("make", hangs(every(5))), handedBack(240, "cap_reached")],
    [
      "they count from its start, not from its initial boundary",
      runs("make", hangs(lines([7, "x\n"]))),
      { ...handedBack(240, "cap_reached"), configured_auto_await_cap_seconds: 240 },
    ],
    [
      "one that ends before that comes back in its own call",
      runs("make", lasts(239)),
      { status: "completed", elapsed_seconds: 239, auto_await_outcome: "process_finished" },
    ],
    [
      "the note's trace: after an hour's wait a hung run is stopped at 3,840 s of 5,400, and nothing has said so",
      trace(3_600),
      [240, 3_840, "terminated", 3_840],
      { told: 5_400, reserve: 600 },
    ],
    [
      "one that ends at the very cap has finished",
      runs("make", lasts(240)),
      { status: "completed", elapsed_seconds: 240, auto_await_outcome: "process_finished" },
    ],
    [
      "the reserve shortens nothing",
      runs("make", hangs()),
      handedBack(240, "cap_reached"),
      { told: 700, reserve: 600 },
    ],
    defaultWait(240),
  ],
  "fast-agent-30": [
    ...fastAgent,
    ...unaware,
    ["a silent command stays until 30 s, not 10", runs("make", hangs()), handedBack(30, "cap_reached")],
    [
      "the cap adds nothing to the total boundary: both end at 30 s, whatever came last",
      runs("make", hangs(lines([25, "x\n"]))),
      handedBack(30, "cap_reached"),
    ],
    ["a chatty one is handed back at 30 s", runs("make", hangs(every(5))), handedBack(30, "cap_reached")],
    [
      "a result at 20 s comes in the call",
      runs("make", lasts(20)),
      { status: "completed", elapsed_seconds: 20, auto_await_outcome: "process_finished" },
    ],
    defaultWait(240),
  ],
  "fast-agent-budgeted": [
    ...fastAgent,
    ["a silent command is handed back at 240 s", runs("make", hangs()), handedBack(240, "cap_reached")],
    [
      "a cap that is shortened ends no process, and keeps its id and all its output",
      goesOn,
      wentOn,
      { told: 660, reserve: 600 },
    ],
    [
      "a hard timeout stays what was asked for, into the reserve",
      runs("pytest -q", hangs(), 300),
      { status: "timed_out", elapsed_seconds: 300, hard_timeout_seconds: 300 },
      { told: 660, reserve: 600 },
    ],
    [
      "the background stays what it was: at once, inside the reserve too",
      function* (hands) {
        return result(yield* hands.exec(command(hangs()), { background: true }));
      },
      { status: "running", elapsed_seconds: 0, clamp_reasons: [] },
      { told: 500, reserve: 500 },
    ],
    [
      "the note's trace: a hung run is stopped after one slice, at 480 s of 5,400",
      trace(3_600),
      [240, 480, "terminated", 480],
      { told: 5_400, reserve: 600 },
    ],
    [
      "without a budget what is held and waited for is the same, and nothing is said of one",
      function* (hands) {
        const [ran, waited] = [yield* runs("make", hangs())(hands), result(yield* hands.wait(1, 3_600))];
        return { ran, waited, told: "remaining_run_seconds" in waited };
      },
      {
        ran: handedBack(240, "cap_reached"),
        waited: { effective_wait_seconds: 240, clamp_reasons: ["process_wait_slice"] },
        told: false,
      },
    ],
    [
      "where the reserve begins 60 s after the start, at 60 s",
      runs("make", hangs()),
      { ...handedBack(60, "cap_reached", ["remaining_run_budget"]), remaining_run_seconds: 600 },
      { told: 660, reserve: 600 },
    ],
    [
      "inside the reserve, at its initial boundary",
      runs("make", hangs()),
      { ...handedBack(10, "cap_reached", ["remaining_run_budget"]), guidance: { code: "finalization_reserve" } },
      { told: 500, reserve: 500 },
    ],
    [
      "a wait of an hour gives control back after a slice of 240 s, and says why",
      waits(3_600),
      { status: "running", effective_wait_seconds: 240, wait_clamped: true, clamp_reasons: ["process_wait_slice"] },
      { told: 5_400, reserve: 600 },
    ],
    [
      "above 3,600 s it is clamped rather than refused",
      waits(3_601),
      { effective_wait_seconds: 240, clamp_reasons: ["process_wait_slice"] },
    ],
    [
      "a wait 110 s before the reserve lasts 110 s",
      waits(3_600, { before: 290 }),
      { effective_wait_seconds: 110, clamp_reasons: ["remaining_run_budget"], remaining_run_seconds: 600 },
      { told: 1_000, reserve: 600 },
    ],
    [
      "inside the reserve a wait does not begin: there is guidance, and nothing is stopped",
      waits(3_600, { before: 500 }),
      {
        status: "running",
        effective_wait_seconds: 0,
        clamp_reasons: ["remaining_run_budget"],
        guidance: { code: "finalization_reserve" },
      },
      { told: 1_000, reserve: 600 },
    ],
    defaultWait(240),
  ],
};

for (const [name, rows] of Object.entries(presets)) preset(name, rows);

/** What takes a model and its turns to be seen. */
describe.each(worlds)("a model under fast-agent (%s)", (_, perform) => {
  const ran = async (name: string, plan: Plan, spec: Partial<RunSpec> = {}) =>
    (await perform(candidate({ plan, settings: loadPolicy(name).written, ...spec }))).events;
  const minutes = (length: number) => runsStep(command(lasts(length)));

  test("while a command is auto-awaited there is no turn of the model: it can neither look, nor stop, nor do other work", async () => {
    const events = await ran("fast-agent-240", [minutes(200), submits]);
    expect(callsOf(events)).toEqual([[0, "pytest -q"]]);
    expect(only(events, "control_returned").map(({ at }) => at / 1_000)).toEqual([200]);
  });

  test("without auto-await the same command costs it a second call, to wait", async () => {
    const events = await ran("fast-agent-0.10.4", [minutes(200), submits]);
    expect(callsOf(events)).toEqual([
      [0, "pytest -q"],
      [15, "wait"],
    ]);
  });

  test("while a command is auto-awaited the outer limit comes nearer, and cuts the call off", async () => {
    const events = await ran("fast-agent-240", [minutes(200), submits], { outerLimit: 100 });
    expect(only(events, "cut_off")).toMatchObject([{ at: 100_000 }]);
    expect(only(events, "control_returned")).toEqual([]);
  });

  test("an outer limit that nobody told of is the first to say that time is up: an hour's wait is cut off in the middle", async () => {
    const hung = [runsStep(command(hangs())), commits, submits];
    const events = await ran("fast-agent-240", hung, { outerLimit: 3_000 });
    expect(callsOf(events)).toEqual([
      [0, "pytest -q"],
      [245, "wait"],
    ]);
    expect(only(events, "cut_off")).toMatchObject([{ at: 3_000_000 }]);
    expect(only(events, "committed")).toEqual([]);
  });

  test("calls side by side have each its own clock", async () => {
    const [one, other] = ["one", "other"].map((id) => runsStep(command(hangs()), { id }));
    const later = runsStep(command(lasts(100)), { id: "later" });
    const events = await ran("fast-agent-240", [together(one!, job([later, other!])), submits], { outerLimit: 360 });
    const granted = only(events, "auto_await_granted").map(({ startedAt, until }) => (until - startedAt) / 1_000);
    expect(granted).toEqual([240, 240, 240]);
    expect(new Set(only(events, "auto_await_granted").map(({ until }) => until)).size).toBe(2);
  });

  test("nobody is told that a background command is over", async () => {
    const built = runsStep(command(lasts(60)), { background: true });
    for (const name of ["fast-agent-0.10.4", "fast-agent-240", "fast-agent-30", "fast-agent-budgeted"]) {
      const events = await ran(name, [built, thinks(600), submits]);
      expect(only(events, "told")).toEqual([]);
      expect(events.at(-1)).toMatchObject({ event: "left_behind", end: { by: "itself", at: 60_000 } });
    }
  });

  test("looks in a row that find nothing new are folded into one", async () => {
    const plan: Plan = [runsStep(command(hangs()), { background: true, neededLater: true }), awaits(), submits];
    const context = { ...PLAIN_HABITS.context, start: 10_000, step: 1_000, poll: 50 };
    const events = await ran("fast-agent-240", plan, {
      profile: { step: seconds(10), between: [{ does: "status", p: 1 }], context },
      economy: { cache: null, price: { input: 3, output: 15 } },
      outerLimit: 45,
    });
    const prompts = only(events, "model_asked").filter(({ purpose }) => purpose === "poll");
    expect(prompts.map(({ prompt }) => prompt)).toEqual([11_000, 11_050, 11_050, 11_050, 11_050]);
  });
});
