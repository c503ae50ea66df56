/** The runtime that the design note is about, from release to release, and GAIA's hard timeouts by class. */
import {
  command,
  commandOf,
  every,
  type Hands,
  hangs,
  lasts,
  leaves,
  lines,
  refusal,
  result,
  serves,
} from "../aRun.ts";
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
];

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
    defaultWait(30),
  ],
  "fast-agent-240": [
    ...fastAgent,
    ...unaware,
    ["a silent command is handed back at 240 s", runs("make", hangs()), handedBack(240, "cap_reached")],
    ["output does not extend that", runs("make", hangs(every(5))), handedBack(240, "cap_reached")],
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
