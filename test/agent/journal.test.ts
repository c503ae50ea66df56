import { describe, expect, test } from "vitest";
import type { Command, ProcessId, Service } from "../../src/agent/effects.ts";
import { EVENT_NAMES, type TrialEvent } from "../../src/agent/events.ts";
import { journal, journalLine } from "../../src/agent/journal.ts";
import { type Instant, moment, never, nothing, seconds } from "../../src/policy/time.ts";
import { command, commandOf, hangs, journalOf, lasts, runs, submits, thinks } from "../aRun.ts";

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;

const at = moment(480_000);
const process = 1 as ProcessId;
const it_: Command = { line: "pytest -q", kind: null, passes: [], spoils: [], port: null, usual: null };

const exec = (more: Partial<Of<"exec_called">> = {}): TrialEvent => ({
  event: "exec_called",
  at,
  call: 1,
  process,
  command: it_,
  background: false,
  attempt: 0,
  held: "soft",
  timeout: null,
  timeoutClampReasons: [],
  configuredCap: seconds(30),
  ...more,
});
const autoAwait = (more: Partial<Of<"auto_await_granted">> = {}): TrialEvent => ({
  event: "auto_await_granted",
  at,
  call: 1,
  process,
  startedAt: moment(470_000),
  yieldReason: "idle",
  effectiveCap: seconds(240),
  until: moment(710_000),
  clampReasons: [],
  ...more,
});
const two: readonly ProcessId[] = [process, 2 as ProcessId];
const told = (more: Partial<Of<"told">>): TrialEvent => ({
  event: "told",
  at,
  kind: "notice",
  due: at,
  processes: two,
  bytes: 120,
  woke: false,
  attempts: 1,
  deferred: false,
  ...more,
});
const failed = (again: Instant | null): TrialEvent => ({
  event: "delivery_failed",
  at,
  kind: "notice",
  due: at,
  processes: [process],
  bytes: 120,
  attempts: 1,
  deferred: false,
  again,
});
const called = (more: Partial<Of<"process_called">> = {}): TrialEvent => ({
  event: "process_called",
  at,
  call: 2,
  action: "wait",
  process,
  requested: seconds(3_600),
  raised: false,
  defaulted: false,
  ...more,
});
const wait = (more: Partial<Of<"wait_granted">> = {}): TrialEvent => ({
  event: "wait_granted",
  at,
  call: 2,
  process,
  until: moment(720_000),
  clampReasons: ["process_wait_slice"],
  ...more,
});
const returned = (more: Partial<Of<"control_returned">> = {}): TrialEvent => ({
  event: "control_returned",
  at,
  call: 1,
  tool: "exec",
  process,
  startedAt: moment(0),
  status: "running",
  end: null,
  outcome: "cap_reached",
  clampReasons: [],
  freshOutput: false,
  budgetSignal: false,
  guided: false,
  outputLost: 0,
  ...more,
});
const asked = (more: Partial<Of<"model_asked">>): TrialEvent => ({
  event: "model_asked",
  at,
  request: 7,
  purpose: "work",
  prompt: 245_000,
  cacheRead: 240_000,
  cacheWrite: 5_000,
  uncached: 0,
  output: 214,
  cost: 95_000,
  pauseTax: 0,
  hit: true,
  ...more,
});
const answered = (service: Partial<Service> | null): TrialEvent => ({
  event: "model_answered",
  at,
  request: 7,
  service:
    service === null
      ? null
      : {
          queued: nothing,
          retrying: nothing,
          retries: 0,
          rateLimited: 0,
          firstToken: nothing,
          failed: false,
          ...service,
        },
});
const end = { at, by: "itself", code: 0, signal: null } as const;

const said: readonly (readonly [event: TrialEvent, line: string | null])[] = [
  [{ event: "trial_began", at, budget: null, outerLimit: seconds(5_400), reserveBegins: moment(4_800_000) }, null],

  [exec(), "exec     process-1  pytest -q"],
  [exec({ background: true }), "exec     process-1  pytest -q  in the background"],
  [exec({ timeout: seconds(60.5) }), "exec     process-1  pytest -q  hard timeout 60.5 s"],
  [
    exec({ background: true, timeout: seconds(60), timeoutClampReasons: ["hard_timeout_max"] }),
    "exec     process-1  pytest -q  in the background  hard timeout 60 s  hard_timeout_max",
  ],
  [exec({ process: null }), "exec                pytest -q"],
  [exec({ attempt: 2, timeout: seconds(60) }), "exec     process-1  pytest -q  again  hard timeout 60 s"],

  [autoAwait(), "held     process-1  until 710.000"],
  [autoAwait({ clampReasons: ["remaining_run_budget"] }), "held     process-1  until 710.000  remaining_run_budget"],
  [autoAwait({ until: never }), "held     process-1  until it ends"],
  [autoAwait({ until: at }), null],
  [
    autoAwait({ until: at, clampReasons: ["remaining_run_budget"] }),
    "held     process-1  until 480.000  remaining_run_budget",
  ],

  [{ event: "exit_held", at, until: moment(720_000) }, "held                open until 720.000"],
  [{ event: "exit_awaited", at, process, end }, "awaited  process-1  completed"],
  [{ event: "exit_awaited", at, process, end: null }, "awaited  process-1  still running"],
  [
    called({ action: "wait_for_condition", process: null, requested: seconds(600) }),
    "wait                600 s for a condition",
  ],
  [
    { event: "condition_watched", at, call: 2, outcome: "met", probes: 10, code: null },
    "looked              10 times  met",
  ],
  [
    { event: "condition_watched", at, call: 2, outcome: "cannot_be_met", probes: 1, code: 127 },
    "looked              once  cannot be met",
  ],
  [called(), "wait     process-1  3600 s asked"],
  [called({ requested: seconds(2), raised: true }), "wait     process-1  2 s asked, raised to the floor"],
  [called({ requested: seconds(30), defaulted: true }), "wait     process-1  30 s by default"],
  [called({ action: "status", requested: null }), "status   process-1"],
  [called({ action: "list", process: null, requested: null }), "list"],
  [called({ action: "read_output", requested: null }), "read     process-1"],
  [called({ action: "stop", requested: null }), null],

  [wait(), "held     process-1  until 720.000  process_wait_slice"],
  [
    wait({ until: at, clampReasons: ["process_wait_slice", "remaining_run_budget"] }),
    "held     process-1  until 480.000  process_wait_slice  remaining_run_budget",
  ],
  [wait({ until: moment(480_001), clampReasons: [] }), "held     process-1  until 480.001"],

  [returned(), "control  process-1  running"],
  [returned({ guided: true }), "control  process-1  running  told to finish"],
  [returned({ status: "completed", end }), "control  process-1  completed  exit 0"],
  [returned({ status: "failed", end: { ...end, code: 2 } }), "control  process-1  failed  exit 2"],
  [
    returned({ status: "timed_out", end: { ...end, by: "limit", code: null, signal: "SIGKILL" } }),
    "control  process-1  timed_out  SIGKILL",
  ],
  [returned({ tool: "list", process: null, status: null }), "control"],
  [returned({ tool: "stop", status: "terminated", end: { ...end, by: "stop" } }), "stopped  process-1"],
  [returned({ tool: "stop", status: "already_exited", end }), "stopped  process-1  already_exited"],
  [returned({ tool: "stop", status: "termination_failed" }), "stopped  process-1  termination_failed"],

  [{ event: "call_refused", at, call: 3, why: "timeout_seconds is -1" }, "refused             timeout_seconds is -1"],

  [{ event: "probed", at, call: 3, port: 8_080, answers: true }, "probed              port 8080  answers"],
  [{ event: "probed", at, call: 3, port: 8_080, answers: false }, "probed              port 8080  no answer"],
  [asked({ purpose: "work" }), null],
  [asked({ purpose: "poll" }), null],
  [asked({ purpose: "compaction" }), "compact             245000 tokens"],
  [answered(null), null],
  [answered({ retries: 0, failed: false }), null],
  [answered({ retries: 3, failed: false }), "retried             3 times"],
  [told({}), "told                notice  process-1, process-2"],
  [told({ kind: "hint", hint: "quiet_polls", processes: [process] }), "told                quiet_polls  process-1"],
  [told({ woke: true, attempts: 4 }), "told                notice  process-1, process-2  after 4 tries"],
  [failed(moment(485_000)), "untold              notice  process-1  again at 485.000"],
  [failed(null), "untold              notice  process-1  given up"],
  [{ event: "turn_ended", at }, "idle"],
  [{ event: "woken", at, by: "outside" }, "woken               outside"],
  [{ event: "forgot", at, process }, "forgot   process-1"],
  [{ event: "job_began", at, job: "look into it" }, "job                 look into it"],
  [{ event: "job_ended", at, job: "look", result: "salvaged" }, "job end             look  salvaged"],
  [{ event: "happened", at, what: "user_stop" }, "outside             user_stop"],
  [{ event: "swept", at, process, end: { ...end, by: "stop" } }, "swept    process-1"],
  [{ event: "swept", at, process, end: null }, "swept    process-1  still running"],
  [{ event: "pruned", at, process }, "pruned   process-1"],
  [{ event: "limit_reached", at, limit: "timeout_strikes" }, "cut off             timeout_strikes limit"],
  [{ event: "limit_reached", at, limit: "tokens" }, "cut off             tokens limit"],
  [{ event: "provider_failed", at }, "failed              the provider gave no answer"],

  [{ event: "committed", at }, "committed"],
  [{ event: "submitted", at, partial: false }, "finished"],
  [{ event: "submitted", at, partial: true }, "finished  in part"],
  [{ event: "gave_up", at }, "gave up"],
  [{ event: "session_ended", at }, "ended"],
  [{ event: "cut_off", at }, "cut off"],
  [{ event: "session_ended", at }, "ended"],
  [{ event: "left_behind", at, process, end: null, answers: false }, "left     process-1  still running"],
  [{ event: "left_behind", at, process, end: null, answers: true }, "left     process-1  still serving"],
  [{ event: "left_behind", at, process, end, answers: false }, null],
];

describe("a journal", () => {
  test.each(said)("tells of %j", (event, line) => {
    expect(journalLine(event)).toBe(line);
  });

  test("has a word for every kind of event", () => {
    expect(new Set(said.map(([{ event }]) => event))).toEqual(new Set(EVENT_NAMES));
  });

  test("puts the moment before each line, in seconds, and leaves out what nobody misses", () => {
    expect(journal(said.map(([event]) => event))).toEqual(
      said.flatMap(([, line]) => (line === null ? [] : [`  480.000  ${line}`])),
    );
    expect(journal([{ event: "committed", at: moment(5_400_012) }])).toEqual([" 5400.012  committed"]);
  });

  test("is one line an event, whatever a command holds", () => {
    const line = "printf 'a\nb\tc\u0000\u001b[31m\u007f\u0085\u2028\u2029' # żółw 🐢";
    const printed = "printf 'a\\u000ab\\u0009c\\u0000\\u001b[31m\\u007f\\u0085\\u2028\\u2029' # żółw 🐢";
    expect(journalLine(exec({ command: { ...it_, line } }))).toBe(`exec     process-1  ${printed}`);
    expect(journalLine({ event: "call_refused", at, call: 1, why: line })).toBe(`refused             ${printed}`);
  });

  test("reads from top to bottom", () => {
    expect(
      journalOf({
        settings: { foreground_auto_await_max_seconds: 240 },
        told: 900,
        reserve: 300,
        profile: { step: seconds(12) },
        plan: [
          thinks(30),
          runs(command(hangs())),
          runs(commandOf({ line: "git status", phases: [lasts(0.25)] })),
          submits,
        ],
      }),
    ).toEqual([
      "   30.000  exec     process-1  pytest -q",
      "   40.000  held     process-1  until 270.000",
      "  270.000  control  process-1  running",
      "  282.000  wait     process-1  3600 s asked",
      "  282.000  held     process-1  until 522.000  process_wait_slice",
      "  522.000  control  process-1  running",
      "  534.000  wait     process-1  3600 s asked",
      "  534.000  held     process-1  until 600.000  remaining_run_budget",
      "  600.000  control  process-1  running  told to finish",
      "  612.000  stopped  process-1",
      "  612.000  exec     process-2  git status",
      "  612.250  control  process-2  completed  exit 0",
      "  612.250  finished",
    ]);
  });
});
