/** Several calls in one step, and child jobs. */
import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  awaits,
  callsOf,
  commandOf,
  commits,
  hangs,
  job,
  journalOf,
  lasts,
  only,
  type RunSpec,
  runs,
  submits,
  thinks,
  together,
} from "../aRun.ts";

const named = (line: string, ...phases: Parameters<typeof commandOf>[0]["phases"]) =>
  runs(commandOf({ line, phases }), { id: line });
const step12 = { step: seconds(12) } as const;
const economy = { cache: null, price: { input: 3, output: 15 } };

describe("several calls in one step", () => {
  test("run side by side, and the model has control again when the last of them is done", () => {
    const plan = [thinks(10), together(named("a", lasts(20)), named("b", lasts(5))), thinks(10), submits];
    expect(journalOf({ plan })).toEqual([
      "   10.000  exec     process-1  a",
      "   10.000  exec     process-2  b",
      "   15.000  control  process-2  completed  exit 0",
      "   20.000  held     process-1  until 40.000",
      "   30.000  control  process-1  completed  exit 0",
      "   40.000  finished",
    ]);
  });

  test("are handed back each at its own cap, and dealt with one after the other", () => {
    const stops = { ...step12, stopsAProcess: [{ quietWaits: null, running: null, failureSeen: null }] };
    const plan = [together(named("a", hangs()), named("b", hangs()), named("c", lasts(2))), thinks(10), submits];
    const events = aRun({ plan, profile: stops });
    expect(only(events, "control_returned").map(({ at, process, tool }) => [at / 1_000, process, tool])).toEqual([
      [2, 3, "exec"],
      [30, 1, "exec"],
      [30, 2, "exec"],
      [42, 1, "stop"],
      [54, 2, "stop"],
    ]);
    expect(events.at(-1)).toMatchObject({ event: "submitted", at: seconds(64) });
  });

  test("come back when a child job ends what they hold, having been told that it runs already", () => {
    const plan = [together(named("a", hangs()), job([thinks(20), named("a", hangs())])), submits];
    const stops = { ...step12, stopsAProcess: [{ quietWaits: null, running: null, failureSeen: null }] };
    const settings = { duplicate_start: "refuse", foreground_auto_await_max_seconds: 240 } as const;
    const events = aRun({ plan, settings, profile: stops });
    const [, stopped] = only(events, "control_returned").filter(({ process }) => process === 1);
    expect(only(events, "control_returned").map(({ at, tool, status }) => [at, tool, status])).toContainEqual([
      stopped!.at,
      "exec",
      "terminated",
    ]);
    expect(stopped!.at).toBeLessThan(seconds(60));
  });

  test("are cut off together with their trial: none of them comes back", () => {
    const plan = [together(named("a", hangs()), named("b", lasts(500)), job([thinks(900)])), submits];
    const events = aRun({ plan, settings: { foreground_auto_await_max_seconds: "none" }, outerLimit: 300 });
    expect(only(events, "control_returned")).toEqual([]);
    expect(events.slice(-4)).toEqual([
      { event: "job_ended", at: seconds(300), job: "job", result: "salvaged" },
      { event: "cut_off", at: seconds(300) },
      { event: "left_behind", at: seconds(300), process: 1, end: null, answers: false },
      { event: "left_behind", at: seconds(300), process: 2, end: null, answers: false },
    ]);
  });

  test("may be none at all, or refused", () => {
    expect(aRun({ plan: [together(), submits] }).at(-1)).toMatchObject({ event: "submitted", at: 0 });
    const refused = runs(commandOf({ line: "a", phases: [lasts(4)] }), { timeout: 9_999 });
    const events = aRun({ plan: [together(refused, named("b", lasts(1))), submits], profile: step12 });
    expect(callsOf(events)).toEqual([
      [0, "a"],
      [0, "b"],
      [13, "a"],
    ]);
  });

  test("take one request of the model, not one each", () => {
    const requests = (plan: Plan) => only(aRun({ plan, economy }), "model_asked").length;
    expect(requests([together(named("a", lasts(1)), named("b", lasts(1)), named("c", lasts(1)))])).toBe(1);
    expect(requests([named("a", lasts(1)), named("b", lasts(1)), named("c", lasts(1))])).toBe(3);
  });

  test("may be looked after later, if the plan says so", () => {
    const later = { ...named("a", lasts(200)), background: true, neededLater: true };
    const plan = [together(later, named("b", lasts(20))), thinks(10), awaits("a"), submits];
    expect(callsOf(aRun({ plan, profile: step12 }))).toEqual([
      [0, "a"],
      [0, "b"],
      [42, "wait"],
    ]);
  });
});

describe("a child job", () => {
  const ends = (spec: RunSpec) => only(aRun(spec), "job_ended").map(({ at, job, result }) => [at / 1_000, job, result]);

  test("does its own plan while its parent waits, and is whole once that is done", () => {
    const plan = [thinks(5), job([thinks(50), named("a", lasts(2)), commits, submits]), thinks(10), submits];
    expect(journalOf({ plan })).toEqual([
      "    5.000  job                 job",
      "   55.000  exec     process-1  a",
      "   57.000  control  process-1  completed  exit 0",
      "   57.000  job end             job  whole",
      "   67.000  finished",
    ]);
  });

  test("is done without a submission of its own as well, and with nothing to do at once", () => {
    expect(ends({ plan: [job([thinks(5)]), submits] })).toEqual([[5, "job", "whole"]]);
    expect(ends({ plan: [job([]), submits] })).toEqual([[0, "job", "whole"]]);
  });

  test("runs beside other jobs and calls", () => {
    const both = [job([thinks(50)], { id: "one" }), job([thinks(20)], { id: "other" }), named("a", lasts(30))];
    const plan = [together(...both), submits];
    expect(ends({ plan })).toEqual([
      [20, "other", "whole"],
      [50, "one", "whole"],
    ]);
    expect(aRun({ plan }).at(-1)).toMatchObject({ event: "submitted", at: seconds(50) });
  });

  test("is salvaged when its own time is up, and its parent goes on then", () => {
    const plan = [job([named("a", hangs()), submits], { timeout: 60 }), thinks(10), submits];
    const events = aRun({ plan, settings: { foreground_auto_await_max_seconds: "none" } });
    expect(events.slice(-3)).toEqual([
      { event: "job_ended", at: seconds(60), job: "job", result: "salvaged" },
      { event: "submitted", at: seconds(70), partial: false },
      { event: "left_behind", at: seconds(70), process: 1, end: null, answers: false },
    ]);
  });

  test("that is done at the very moment its time is up is whole", () => {
    expect(ends({ plan: [job([thinks(60), submits], { timeout: 60 }), submits] })).toEqual([[60, "job", "whole"]]);
    expect(ends({ plan: [job([thinks(60.001), submits], { timeout: 60 }), submits] })).toEqual([
      [60, "job", "salvaged"],
    ]);
  });

  test("takes its own children with it", () => {
    const inner = job([thinks(500)], { id: "inner" });
    const plan = [job([together(inner, named("a", lasts(5)))], { id: "outer", timeout: 60 }), submits];
    expect(ends({ plan })).toEqual([
      [60, "inner", "salvaged"],
      [60, "outer", "salvaged"],
    ]);
  });

  test("is partial where it gives up work to finish in time, and so is what its parent submits", () => {
    const spec: RunSpec = {
      told: 900,
      reserve: 600,
      settings: { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: 240 },
      profile: { ...step12, inTheReserve: "finish" },
      plan: [job([named("a", hangs()), thinks(100), submits]), submits],
    };
    expect(ends(spec)).toEqual([[312, "job", "partial"]]);
    expect(aRun(spec).at(-1)).toMatchObject({ event: "submitted", at: seconds(312), partial: true });
  });

  test("has a conversation of its own, and its parent's goes on where it was", () => {
    const context = { context: { ...CONTEXT, start: 10_000, step: 100 } };
    const inner = job([named("a", lasts(1)), named("b", lasts(1)), submits], { startTokens: 2_000 });
    const events = aRun({ plan: [thinks(5), inner, thinks(5), submits], economy, profile: context });
    expect(only(events, "model_asked").map(({ request, prompt }) => [request, prompt])).toEqual([
      [1, 10_000],
      [2, 2_000],
      [3, 2_100],
      [4, 2_200],
      [5, 10_100],
    ]);
  });

  test("begins as its profile says where it says nothing else", () => {
    const context = { context: { ...CONTEXT, start: 10_000, step: 100 } };
    const events = aRun({ plan: [thinks(5), job([submits])], economy, profile: context });
    expect(only(events, "model_asked").map(({ prompt }) => prompt)).toEqual([10_000, 10_000]);
  });

  test("has its own luck, the same whatever its parent has done before", () => {
    const drawn = { step: { distribution: "uniform", from: 5, to: 50 } } as const;
    const steps = (before: Plan) => {
      const events = aRun({ plan: [...before, job([{ step: "think_steps", steps: 2 }]), submits], profile: drawn });
      return only(events, "job_ended")[0]!.at - only(events, "job_began")[0]!.at;
    };
    expect(steps([{ step: "think_steps", steps: 3 }])).toBe(steps([]));
  });

  test("can neither commit nor submit for its parent", () => {
    const events = aRun({ plan: [job([commits, submits]), thinks(5)] });
    expect(events.map(({ event }) => event)).toEqual(["trial_began", "job_began", "job_ended", "gave_up"]);
  });
});

const CONTEXT = {
  start: 0,
  step: 0,
  poll: 0,
  stepOutput: 0,
  pollOutput: 0,
  bytesPerToken: 4,
  window: 1_000_000,
  compactsAt: 1,
  kept: 0,
  summary: 0,
};
