/** Which commands a shell takes on, what it says of those that it does not, and what it ends: in both worlds. */
import { describe, expect, test } from "vitest";
import type { Agent, ProcessId } from "../../src/agent/effects.ts";
import type { ExecResult, Returned } from "../../src/agent/shell.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import type { Phase } from "../../src/world/script.ts";
import {
  aRun,
  callsOf,
  command,
  commandOf,
  type Hands,
  hangs,
  journalOf,
  lasts,
  only,
  refusal,
  result,
  runs,
  submits,
  thinks,
  together,
} from "../aRun.ts";
import { holds, type Row } from "../presets/preset.ts";

/** What a call came to, briefly: the reason it was refused for, or status and time. */
const brief = (returned: Returned<ExecResult>) =>
  "refused" in returned ? returned.refused : [returned.result.status, returned.result.elapsed_seconds];

/** Commands one after the other, each so many seconds after the one before has come back. */
const inTurn = (gap: number, ...lines: readonly (readonly [line: string, length: number | null])[]) =>
  function* (hands: Hands): Agent<unknown> {
    const came: unknown[] = [];
    for (const [line, length] of lines) {
      const phases = [length === null ? hangs() : lasts(length)];
      came.push(brief(yield* hands.exec(commandOf({ line, phases }))));
      yield* hands.pass(gap);
    }
    return came;
  };

const table: readonly (readonly [heading: string, settings: WrittenSettings, rows: readonly Row[]])[] = [
  [
    "too many calls",
    { shell_calls_per_minute: 10, shell_calls_per_ten_seconds: 3 },
    [
      [
        "the fourth in ten seconds is refused, and told when to come back; then it is taken on",
        function* (hands) {
          const came = yield* inTurn(1, ["a", 0], ["b", 0], ["c", 0], ["d", 0])(hands);
          yield* hands.pass(6);
          return [came, brief(yield* hands.exec(command(lasts(0))))];
        },
        [
          [
            ["completed", 0],
            ["completed", 0],
            ["completed", 0],
            "too many commands in too short a time: come back in 7 s",
          ],
          ["completed", 0],
        ],
      ],
    ],
  ],
  [
    "too many calls, of which some wait for a condition",
    { shell_calls_per_ten_seconds: 2, condition_wait_max_seconds: 600 },
    [
      [
        "such a wait counts as one, however often it looks",
        function* (hands) {
          result(yield* hands.exec(command(lasts(7)), { background: true }));
          const once = yield* hands.waitFor({ succeeded: 1 as ProcessId }, { timeout: 8, every: 5 });
          return [result(once).outcome, refusal(yield* hands.exec(command(lasts(0))))];
        },
        ["met", "too many commands in too short a time: come back in 2 s"],
      ],
    ],
  ],
  [
    "a leading sleep",
    { leading_sleep_refused_seconds: 2 },
    [
      [
        "of two seconds is refused, a shorter one is not",
        inTurn(0, ["sleep 2", 2], ["sleep 1.9", 1.9], ["make; sleep 60", 5]),
        [
          "a command may not begin by sleeping for 2 s or more: wait for a process instead",
          ["completed", 1.9],
          ["completed", 5],
        ],
      ],
    ],
  ],
  [
    "the same command again",
    { duplicate_start: "refuse" },
    [
      [
        "is not started while it lives, and its name and age are told",
        inTurn(60, ["make", null], ["make", null], ["make -j", 1]),
        [
          ["running", 30],
          "the same command is running already: process-1, 90 s after its start, is the same process, still at work; it was not started again",
          ["completed", 1],
        ],
      ],
      [
        "is, once it has ended",
        inTurn(60, ["make", 40], ["make", 5]),
        [
          ["running", 30],
          ["completed", 5],
        ],
      ],
    ],
  ],
  [
    "the same command again, flagged",
    { duplicate_start: "flag" },
    [
      [
        "is started, and the result tells of the other one",
        function* (hands) {
          yield* hands.exec(command(hangs()), { background: true });
          yield* hands.pass(20);
          return result(yield* hands.exec(command(lasts(3))));
        },
        { process_id: "process-2", status: "completed", duplicate_of: "process-1", duplicate_elapsed_seconds: 20 },
      ],
    ],
  ],
  [
    "a shell of its own",
    { exclusive_shell: true, foreground_auto_await_max_seconds: 0 },
    [
      [
        "is kept by what was handed back, until that is stopped",
        function* (hands) {
          const came = yield* inTurn(0, ["make", null], ["ls", 1])(hands);
          result(yield* hands.stop(1));
          return [came, brief(yield* hands.exec(command(lasts(1))))];
        },
        [
          [["running", 10], "process-1, 10 s after its start, keeps the shell: wait until it has ended, or stop it"],
          ["completed", 1],
        ],
      ],
      [
        "or until it has ended",
        inTurn(30, ["make", 15], ["ls", 1]),
        [
          ["running", 10],
          ["completed", 1],
        ],
      ],
      [
        "what runs in the background does not keep it",
        function* (hands) {
          yield* hands.exec(command(hangs()), { background: true });
          return brief(yield* hands.exec(command(lasts(1))));
        },
        ["completed", 1],
      ],
    ],
  ],
  [
    "two slots",
    { process_slots: 2, foreground_auto_await_max_seconds: 0 },
    [
      [
        "taken by live processes: a third is refused, and taken on once one has ended",
        function* (hands) {
          const came = yield* inTurn(0, ["a", null], ["b", null], ["c", 1])(hands);
          result(yield* hands.stop(1));
          const then = brief(yield* hands.exec(command(lasts(1))));
          return [came, then, refusal(yield* hands.status(1)), result(yield* hands.list()).processes.length];
        },
        [
          [["running", 10], ["running", 10], "all 2 slots are taken by live processes: stop one that is not needed"],
          ["completed", 1],
          'process-1 is no process of this session; process(action: "list") names them',
          2,
        ],
      ],
    ],
  ],
  [
    "two slots that are pruned",
    { process_slots: 2, process_slots_full: "prune", process_slots_protected: 1, foreground_auto_await_max_seconds: 0 },
    [
      [
        "the process used longest ago is ended and forgotten, however young",
        function* (hands) {
          const came = yield* inTurn(0, ["a", null], ["b", null])(hands);
          result(yield* hands.status(1));
          const third = brief(yield* hands.exec(command(lasts(1))));
          return [
            came,
            third,
            result(yield* hands.list()).processes.map(({ process_id, status }) => [process_id, status]),
          ];
        },
        [
          [
            ["running", 10],
            ["running", 10],
          ],
          ["completed", 1],
          [
            ["process-1", "running"],
            ["process-3", "completed"],
          ],
        ],
      ],
    ],
  ],
  [
    "three timeouts",
    { timeout_strikes: 3, hard_timeout_default_seconds: 30 },
    [
      [
        "in a row end the run: nothing more is taken on",
        inTurn(0, ["a", null], ["b", null], ["c", null], ["d", 1]),
        [
          ["timed_out", 30],
          ["timed_out", 30],
          ["timed_out", 30],
          "this run is over: too many commands in a row were ended by a timeout",
        ],
      ],
      [
        "with a success between them do not",
        inTurn(0, ["a", null], ["b", null], ["c", 1], ["d", null], ["e", 1]),
        [
          ["timed_out", 30],
          ["timed_out", 30],
          ["completed", 1],
          ["timed_out", 30],
          ["completed", 1],
        ],
      ],
    ],
  ],
  [
    "a time for all commands",
    { command_time_max_seconds: 100, foreground_auto_await_max_seconds: 3_600 },
    [
      [
        "is looked at between them: the one that exceeds it is not cut short, and was the last",
        inTurn(500, ["a", 60], ["b", 300], ["c", 1]),
        [
          ["completed", 60],
          ["completed", 300],
          "this run is over: its commands have taken all the time that they may take",
        ],
      ],
    ],
  ],
  [
    "a model without a tool to read results",
    { without_reader: "foreground_only" },
    [
      [
        "has no background",
        function* (hands) {
          return refusal(yield* hands.exec(command(hangs()), { background: true, canRead: false }));
        },
        "there is no background here: nothing could read what comes of it",
      ],
      [
        "has its commands ended at 120 s",
        function* (hands) {
          return result(yield* hands.exec(command(hangs()), { canRead: false }));
        },
        { status: "timed_out", elapsed_seconds: 120, hard_timeout_seconds: 120, auto_await_outcome: null },
      ],
      [
        "has a longer timeout cut to 300 s, and is told so",
        function* (hands) {
          return result(yield* hands.exec(command(hangs()), { canRead: false, timeout: 900 }));
        },
        { status: "timed_out", elapsed_seconds: 300, hard_timeout_seconds: 300, clamp_reasons: ["hard_timeout_max"] },
      ],
      [
        "is told apart from one that has such a tool",
        function* (hands) {
          return result(yield* hands.exec(command(hangs())));
        },
        { status: "running", elapsed_seconds: 30 },
      ],
    ],
  ],
  [
    "a timeout that hands over",
    {
      timeout_hands_over: true,
      hard_timeout_max_seconds: 600,
      hard_timeout_out_of_range: "clamp",
      hand_over_exempts: "sleep_and_git",
    },
    [
      [
        "is the cap of the hold: the live process comes back then, and goes on",
        function* (hands) {
          const shown = result(yield* hands.exec(command(lasts(200)), { timeout: 90 }));
          return [shown, result(yield* hands.wait(1, 200))];
        },
        [
          {
            status: "running",
            elapsed_seconds: 90,
            auto_await_outcome: "cap_reached",
            configured_auto_await_cap_seconds: 90,
          },
          { status: "completed", elapsed_seconds: 200 },
        ],
      ],
      [
        "is cut to its maximum, and the result says why",
        function* (hands) {
          return result(yield* hands.exec(command(hangs()), { timeout: 900 }));
        },
        { status: "running", elapsed_seconds: 600, clamp_reasons: ["hard_timeout_max"] },
      ],
      [
        "ends what is never handed over",
        function* (hands) {
          return result(yield* hands.exec(commandOf({ line: "git push", phases: [hangs()] }), { timeout: 90 }));
        },
        { status: "timed_out", elapsed_seconds: 90, auto_await_outcome: "terminated" },
      ],
      [
        "in the background ends the command as ever",
        function* (hands) {
          result(yield* hands.exec(command(hangs()), { background: true, timeout: 90 }));
          return result(yield* hands.wait(1, 200));
        },
        { status: "timed_out", elapsed_seconds: 90 },
      ],
    ],
  ],
  [
    "a total timeout that begins anew at the hand-over",
    { total_timeout_seconds: 100, total_timeout_rearms_seconds: 600, foreground_auto_await_max_seconds: 60 },
    [
      [
        "ends the command 600 s after that",
        function* (hands) {
          result(yield* hands.exec(command(hangs())));
          return result(yield* hands.wait(1, 2_000));
        },
        { status: "timed_out", elapsed_seconds: 660 },
      ],
      [
        "is what it was for one that is never handed over",
        function* (hands) {
          result(yield* hands.exec(command(hangs()), { background: true }));
          return result(yield* hands.wait(1, 2_000));
        },
        { status: "timed_out", elapsed_seconds: 100 },
      ],
    ],
  ],
  [
    "CPU on results",
    { cpu_on_results: true },
    [
      [
        "tells a silent computation from a silent hang",
        function* (hands) {
          const busy = result(yield* hands.exec(command(lasts(3), lasts(690, undefined, 2))));
          const idle = result(yield* hands.exec(command(lasts(3, undefined, 1), hangs())));
          const later = [result(yield* hands.wait(1, 60)), result(yield* hands.wait(2, 60))];
          return [busy, idle, ...later].map(({ status, cpu_seconds }) => [status, cpu_seconds]);
        },
        [
          ["running", 54],
          ["running", 3],
          ["running", 234],
          ["running", 3],
        ],
      ],
      [
        "is left out of what has ended",
        function* (hands) {
          return Object.keys(result(yield* hands.exec(command(lasts(3, undefined, 1)))));
        },
        expect.not.arrayContaining(["cpu_seconds"]),
      ],
    ],
  ],
];

describe.each(table)("%s", (_, settings, rows) => holds(rows, settings));

describe("a model that is refused", () => {
  const plan = [runs(commandOf({ line: "make", phases: [hangs()] }), { id: "it" })];
  const step = { step: seconds(12) };

  test("comes back when it is told to", () => {
    const settings = { shell_calls_per_ten_seconds: 1 };
    const quick = (id: string) => runs(commandOf({ line: id, phases: [lasts(0)] }), { id });
    expect(journalOf({ settings, profile: { step: seconds(2) }, plan: [quick("a"), quick("b"), submits] })).toEqual([
      "    0.000  exec     process-1  a",
      "    0.000  control  process-1  completed  exit 0",
      "    0.000  exec                b",
      "    0.000  refused             too many commands in too short a time: come back in 10 s",
      "   10.000  exec     process-2  b",
      "   10.000  control  process-2  completed  exit 0",
      "   10.000  finished",
    ]);
  });

  test("looks after the process that is there instead of starting it again", () => {
    const again = {
      ...step,
      reruns: { running: 1, timedOut: 0, atMost: 10 },
      waits: [{ from: 1, length: seconds(600) }],
    };
    const suite = [runs(commandOf({ line: "pytest", phases: [lasts(600)] })), submits];
    const starts = (settings: WrittenSettings) =>
      only(aRun({ settings, profile: again, plan: suite }), "exec_called").filter(({ process }) => process !== null);
    expect(starts({})).toHaveLength(11);
    expect(starts({ duplicate_start: "flag" })).toHaveLength(2);
    expect(starts({ duplicate_start: "refuse" })).toHaveLength(1);
  });

  test("waits until the shell is free, and calls again", () => {
    const settings = { exclusive_shell: true, foreground_auto_await_max_seconds: 0 };
    const quick = runs(commandOf({ line: "ls", phases: [lasts(1)] }), { id: "ls" });
    const suite = runs(commandOf({ line: "pytest", phases: [lasts(100)] }), { id: "suite", neededLater: true });
    const goesOn = { ...step, between: [{ does: "work" as const, p: 1 }], waits: [{ from: 1, length: seconds(600) }] };
    expect(callsOf(aRun({ settings, profile: goesOn, plan: [suite, quick, submits] }))).toEqual([
      [0, "pytest"],
      [22, "ls"],
      [34, "wait"],
      [112, "ls"],
    ]);
  });

  test("runs in the foreground what it may not run in the background, and has it ended", () => {
    const settings: WrittenSettings = { without_reader: "foreground_only" };
    const profile = { ...step, tools: [{ from: 1, has: ["stop" as const] }] };
    const background = [runs(commandOf({ phases: [hangs()] }), { background: true }), submits];
    const events = aRun({ settings, profile, plan: background });
    expect(only(events, "call_refused")).toHaveLength(1);
    expect(only(events, "control_returned")).toMatchObject([{ at: 132_000, status: "timed_out" }]);
  });

  test("of the same settings, but with the tools to read results from its third call on, hands over from there", () => {
    const settings: WrittenSettings = { without_reader: "foreground_only" };
    const has = ["wait", "stop"] as const;
    const profile = {
      ...step,
      tools: [
        { from: 1, has: [] },
        { from: 3, has },
      ],
      stopsAProcess: [STOPS],
    };
    const one = (id: string) => runs(commandOf({ line: id, phases: [hangs()] }), { id });
    const events = aRun({ settings, profile, plan: [one("a"), one("b"), one("c"), submits] });
    expect(only(events, "control_returned").map(({ tool, status }) => [tool, status])).toEqual([
      ["exec", "timed_out"],
      ["exec", "timed_out"],
      ["exec", "running"],
      ["stop", "terminated"],
    ]);
  });

  test("three strikes end the trial where it stands, and the ending says so", () => {
    const settings = { timeout_strikes: 3, hard_timeout_default_seconds: 30 };
    const one = (id: string) => runs(commandOf({ line: id, phases: [hangs()] }), { id });
    const events = aRun({ settings, profile: step, plan: [one("a"), one("b"), one("c"), one("d"), submits] });
    expect(events.at(-1)).toEqual({ event: "limit_reached", at: 90_000, limit: "timeout_strikes" });
    const beside = aRun({ settings, plan: [together(one("a"), one("b"), one("c")), thinks(10), submits] });
    expect(beside.at(-1)).toEqual({ event: "limit_reached", at: 30_000, limit: "timeout_strikes" });
  });

  test("stops a process whose CPU idles, and leaves one that computes alone", () => {
    const settings = { cpu_on_results: true, foreground_auto_await_max_seconds: 0 };
    const stops = { ...step, waits: [{ from: 1, length: seconds(60) }], stopsAProcess: [{ ...STOPS, cpuIdle: true }] };
    const stoppedAt = (...phases: readonly Phase[]) =>
      callsOf(aRun({ settings, profile: stops, plan: [runs(commandOf({ phases })), submits] })).flatMap(
        ([when, what]) => (what === "stop" ? [when] : []),
      );
    expect(stoppedAt(lasts(3, undefined, 1), hangs())).toEqual([94]);
    expect(stoppedAt(lasts(690, undefined, 1))).toEqual([]);
    expect(callsOf(aRun({ profile: stops, plan })).some(([, what]) => what === "stop")).toBe(false);
  });
});

const STOPS = { quietWaits: null, running: null, failureSeen: null } as const;
