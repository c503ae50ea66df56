import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  command,
  commandOf,
  commits,
  hangs,
  journalOf,
  lasts,
  lines,
  only,
  type RunSpec,
  runs,
  submits,
  thinks,
} from "../aRun.ts";

const names = (events: readonly TrialEvent[]) => events.map(({ event }) => event);

/** When each event happened, in seconds. */
const moments = (spec: RunSpec) => aRun(spec).map(({ event, at }) => [event, at / 1_000]);

describe("a plan", () => {
  test("is done step by step: thinking takes its time, commit and submission take none", () => {
    expect(moments({ plan: [thinks(20), commits, thinks(0.5), runs(command(lasts(3))), submits, thinks(99)] })).toEqual(
      [
        ["trial_began", 0],
        ["committed", 20],
        ["exec_called", 20.5],
        ["control_returned", 23.5],
        ["submitted", 23.5],
      ],
    );
  });

  test("without a submission ends in giving up", () => {
    expect(names(aRun({ plan: [thinks(1), commits] }))).toEqual(["trial_began", "committed", "gave_up"]);
    expect(names(aRun({ plan: [] }))).toEqual(["trial_began", "gave_up"]);
  });

  test("has a step of the model after a call where it says so, whatever came back", () => {
    const step = { ...runs(command(lasts(3))), thenStep: true } as Plan[number];
    expect(aRun({ plan: [step, submits], profile: { step: seconds(12) } }).at(-1)).toMatchObject({ at: seconds(15) });
  });

  test("looks at a background job by its name, once it has one", () => {
    const look = (of: string, thenStep = false): Plan[number] => ({ step: "status", of, thenStep });
    const job = runs(command(lasts(30)), { background: true, id: "job" });
    const plan = [look("job"), job, thinks(10), look("job"), look("nobody"), thinks(30), look("job", true), submits];
    const events = aRun({ plan, profile: { step: seconds(12) } });
    expect(only(events, "process_called").map(({ action, at }) => [action, at / 1_000])).toEqual([
      ["status", 10],
      ["status", 40],
    ]);
    expect(only(events, "control_returned").map(({ status }) => status)).toEqual(["running", "running", "completed"]);
    expect(events.at(-1)).toMatchObject({ event: "submitted", at: seconds(52) });
  });

  test("does not attend to a background job by itself", () => {
    const job = runs(command(hangs()), { background: true });
    expect(only(aRun({ plan: [job, thinks(100), submits] }), "process_called")).toEqual([]);
  });
});

describe("a process that came back running", () => {
  const off = { foreground_auto_await_max_seconds: 0 } as const;

  test("is attended to, one step before each move, until it is over", () => {
    const spec: RunSpec = {
      settings: off,
      profile: { step: seconds(12), waits: [{ from: 1, length: seconds(30) }] },
      plan: [runs(command(lasts(80))), submits],
    };
    expect(journalOf(spec)).toEqual([
      "    0.000  exec     process-1  pytest -q",
      "   10.000  control  process-1  running",
      "   22.000  wait     process-1  30 s asked",
      "   22.000  held     process-1  until 52.000",
      "   52.000  control  process-1  running",
      "   64.000  wait     process-1  30 s asked",
      "   64.000  held     process-1  until 94.000",
      "   80.000  control  process-1  completed  exit 0",
      "   80.000  finished",
    ]);
  });

  test("is stopped by the model's own rules, and the plan goes on", () => {
    const spec: RunSpec = {
      settings: off,
      profile: {
        step: seconds(12),
        waits: [{ from: 1, length: seconds(30) }],
        stopsAProcess: [{ quietWaits: 2, running: null, failureSeen: null }],
      },
      plan: [runs(command(hangs())), thinks(5), submits],
    };
    const events = aRun(spec);
    expect(only(events, "process_called").map(({ action }) => action)).toEqual(["wait", "wait", "stop"]);
    expect(events.at(-1)).toEqual({ event: "submitted", at: seconds(10 + 3 * 12 + 2 * 30 + 5), partial: false });
  });

  test("is stopped for a failure that was shown", () => {
    const failing = commandOf({
      phases: [hangs({ output: "at", lines: [{ at: seconds(4), line: new Uint8Array([70, 10]), says: "failure" }] })],
    });
    const stopping = { stopsAProcess: [{ quietWaits: null, running: null, failureSeen: true }] };
    const actions = (profile: RunSpec["profile"], what = failing) =>
      only(
        aRun({ settings: off, profile: profile!, plan: [runs(what), submits], outerLimit: 500 }),
        "process_called",
      ).map(({ action }) => action);
    expect(actions(stopping)).toEqual(["stop"]);
    expect(actions(stopping, command(hangs(lines([4, "F\n"]))))).toEqual(["wait"]);
  });
});

describe("a call that is refused", () => {
  test("for its timeout is made again without one", () => {
    const spec: RunSpec = {
      plan: [runs(command(lasts(4)), { timeout: 9_999 }), submits],
      profile: { step: seconds(12) },
    };
    expect(journalOf(spec)).toEqual([
      "    0.000  exec                pytest -q",
      "    0.000  refused             timeout_seconds is 9999: expected more than 0, up to 3600",
      "   12.000  exec     process-1  pytest -q",
      "   16.000  control  process-1  completed  exit 0",
      "   16.000  finished",
    ]);
  });

  test("for too long a wait is made again without a length", () => {
    const spec: RunSpec = {
      settings: {
        process_poll_over_max: "refuse",
        process_poll_max_wait_seconds: 600,
        foreground_auto_await_max_seconds: 0,
      },
      plan: [runs(command(lasts(40))), submits],
      profile: { step: seconds(12) },
    };
    expect(journalOf(spec)).toEqual([
      "    0.000  exec     process-1  pytest -q",
      "   10.000  control  process-1  running",
      "   22.000  wait     process-1  3600 s asked",
      "   22.000  refused             wait_sec is 3600: a wait is at most 600 s",
      "   34.000  wait     process-1  30 s by default",
      "   34.000  held     process-1  until 64.000",
      "   40.000  control  process-1  completed  exit 0",
      "   40.000  finished",
    ]);
  });
});

describe("in the reserve, a model", () => {
  const run = (inTheReserve: "stop_and_go_on" | "finish" | "ignore"): RunSpec => ({
    settings: { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: 240 },
    told: 900,
    reserve: 600,
    outerLimit: 900,
    profile: { step: seconds(12), inTheReserve },
    plan: [runs(command(hangs())), thinks(100), runs(command(lasts(5)), { id: "next" }), commits, submits],
  });

  test("that stops and goes on has done its whole plan", () => {
    const events = aRun(run("stop_and_go_on"));
    expect(events.at(-1)).toEqual({ event: "submitted", at: seconds(300 + 12 + 100 + 5), partial: false });
    expect(only(events, "exec_called")).toHaveLength(2);
  });

  test("that finishes gives up the rest of its plan but commit and submission, and has submitted in part", () => {
    const events = aRun(run("finish"));
    expect(events.slice(-2)).toEqual([
      { event: "committed", at: seconds(312) },
      { event: "submitted", at: seconds(312), partial: true },
    ]);
    expect(only(events, "exec_called")).toHaveLength(1);
  });

  test("that has nothing left to give up has submitted whole", () => {
    const { plan, ...rest } = run("finish");
    const events = aRun({ ...rest, plan: [plan[0]!, commits, submits] });
    expect(events.at(-1)).toEqual({ event: "submitted", at: seconds(312), partial: false });
  });

  test("that ignores it asks again and again, gets nothing for it, and is cut off", () => {
    const events = aRun(run("ignore"));
    const waits = only(events, "wait_granted").filter(({ at }) => at >= seconds(300));
    expect(waits.length).toBe(50);
    for (const { at, until, clampReasons } of waits) {
      expect(until).toBe(at);
      expect(clampReasons).toEqual(["remaining_run_budget"]);
    }
    expect(events.slice(-2).map(({ event }) => event)).toEqual(["cut_off", "left_behind"]);
  });

  test("that was never told of it goes by nothing but its own rules", () => {
    const { told: _, reserve: __, ...untold } = run("finish");
    expect(aRun(untold).at(-2)).toEqual({ event: "cut_off", at: seconds(900) });
  });

  test("knows of it from a look at a background job as well", () => {
    const plan: Plan = [
      runs(command(hangs()), { background: true, id: "job" }),
      thinks(400),
      { step: "status", of: "job", thenStep: false },
      runs(command(hangs()), { id: "next" }),
      submits,
    ];
    const { profile, ...rest } = run("stop_and_go_on");
    const told = aRun({ ...rest, profile: profile!, settings: { foreground_auto_await_max_seconds: 0 }, plan });
    expect(only(told, "process_called").map(({ action }) => action)).toEqual(["status", "stop"]);
  });
});

describe("a trial begins", () => {
  const began = (spec: Partial<RunSpec>) => aRun({ plan: [submits], ...spec })[0];

  test("with what the policy was told, and where the reserve begins", () => {
    expect(began({ told: 5_400, reserve: 900 })).toEqual({
      event: "trial_began",
      at: 0,
      budget: { deadline: seconds(5_400), reserve: seconds(900), length: seconds(5_400) },
      outerLimit: seconds(5_400),
      reserveBegins: seconds(4_500),
    });
  });

  test("where it was told nothing, with the reserve that it would have had", () => {
    expect(began({ outerLimit: 2_000, settings: { finalization_reserve_seconds: 300 } })).toEqual({
      event: "trial_began",
      at: 0,
      budget: null,
      outerLimit: seconds(2_000),
      reserveBegins: seconds(1_700),
    });
  });
});
