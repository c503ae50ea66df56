/** The steps of a plan that are more than a thought or a command. */
import { describe, expect, test } from "vitest";
import type { Plan, Step } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  awaits,
  callsOf,
  commandOf,
  commits,
  hangs,
  lasts,
  lines,
  only,
  prompts,
  type RunSpec,
  runs,
  serves,
  submits,
  thinks,
} from "../aRun.ts";

const off = { foreground_auto_await_max_seconds: 0 } as const;
const step12 = { step: seconds(12) } as const;
const named = (line: string, ...phases: Parameters<typeof commandOf>[0]["phases"]) => commandOf({ line, phases });
const calls = (spec: RunSpec) => callsOf(aRun(spec));

test("thinking by steps takes as many as it says, each as long as the model's", () => {
  const plan: Plan = [{ step: "think_steps", steps: 3 }, submits];
  expect(aRun({ plan, profile: step12 }).at(-1)).toMatchObject({ event: "submitted", at: seconds(36) });
  const drawn = { step: { distribution: "uniform", from: 10, to: 20 } } as const;
  const { at } = aRun({ plan, profile: drawn }).at(-1)!;
  expect(at).toBeGreaterThan(seconds(30));
  expect(at).toBeLessThan(seconds(60));
  expect(aRun({ plan, profile: drawn }).at(-1)!.at).toBe(at);
});

describe("a server", () => {
  const server = commandOf({ line: "npm start", phases: [serves(40)], port: 80 });
  const started = runs(server, { background: true, id: "server" });
  const until = (atMost: number): Step => ({ step: "until_answers", of: "server", atMost });

  test("is looked at until it answers, one step after each look that found nobody", () => {
    const events = aRun({ plan: [started, until(10), commits, submits], profile: step12 });
    expect(callsOf(events)).toEqual([
      [0, "npm start"],
      [0, "no answer"],
      [12, "no answer"],
      [24, "no answer"],
      [36, "no answer"],
      [48, "answers"],
    ]);
    expect(events.slice(-2)).toEqual([
      { event: "submitted", at: seconds(48), partial: false },
      { event: "left_behind", at: seconds(48), process: 1, end: null, answers: true },
    ]);
  });

  test("is looked at so many times at most", () => {
    const events = aRun({ plan: [started, until(3), submits], profile: step12 });
    expect(only(events, "probed").map(({ at }) => at / 1_000)).toEqual([0, 12, 24]);
    expect(events.at(-1)).toMatchObject({ event: "left_behind", at: seconds(36), answers: false });
  });

  test("may be looked at just once, and a step follows in any case", () => {
    const probe: Step = { step: "probe", of: "server" };
    expect(calls({ plan: [started, thinks(50), probe, probe, submits], profile: step12 })).toEqual([
      [0, "npm start"],
      [50, "answers"],
      [62, "answers"],
    ]);
  });

  test("is not looked at before it was started, nor where it serves nothing", () => {
    const plan = [until(2), runs(named("make", hangs()), { background: true, id: "server" }), until(2), submits];
    expect(calls({ plan, profile: step12 })).toEqual([[24, "make"]]);
  });

  test("in the foreground is left running once its output says that it is ready, and the plan goes on", () => {
    const ready = named("npm start", serves(3, lines([3, "listening\n", "ready"])));
    const plan = [runs(ready), thinks(30), submits];
    const events = aRun({ settings: off, plan, profile: step12 });
    expect(callsOf(events)).toEqual([[0, "npm start"]]);
    // Silent from 3 s on, so handed back at 13 s; a step, and the thought.
    expect(events.slice(-2)).toMatchObject([
      { event: "submitted", at: seconds(55) },
      { event: "left_behind", end: null },
    ]);
  });

  test("is waited for all the same by a model that keeps waiting", () => {
    const ready = named("npm start", serves(3, lines([3, "listening\n", "ready"])));
    const spec: RunSpec = { settings: off, plan: [runs(ready), submits], outerLimit: 1_000 };
    expect(calls({ ...spec, profile: { ...step12, onReady: "keep_waiting" } })).toEqual([
      [0, "npm start"],
      [25, "wait"],
    ]);
  });

  test("whose port is taken fails, and nobody else serves in its place", () => {
    const plan = [started, runs(server, { id: "again" }), thinks(60), submits];
    const events = aRun({ plan });
    expect(only(events, "control_returned").map(({ status, end }) => [status, end?.code])).toEqual([
      ["running", undefined],
      ["failed", 1],
    ]);
    expect(only(events, "left_behind")).toEqual([
      { event: "left_behind", at: seconds(60), process: 1, end: null, answers: true },
    ]);
  });
});

describe("a command that asks something", () => {
  test("finds its input closed, and fails or hangs", () => {
    const asks = (on: Parameters<typeof prompts>[1]) => named("npm init", lasts(2), prompts("name? ", on));
    const back = (on: Parameters<typeof prompts>[1]) =>
      only(aRun({ plan: [runs(asks(on)), submits], outerLimit: 100 }), "control_returned")[0];
    expect(back({ code: 1, signal: null })).toMatchObject({ at: seconds(2), status: "failed", freshOutput: true });
    expect(back("hang")).toMatchObject({ at: seconds(30), status: "running", freshOutput: true });
  });
});

describe("a repair loop", () => {
  const attempt = (code: number, length = 5, id = "it") =>
    runs(commandOf({ line: `exit ${code}`, phases: [lasts(length)], exit: { code, signal: null } }), { id });
  const loop = (...attempts: ReturnType<typeof attempt>[]): Step => ({
    step: "until_succeeds",
    attempts,
    thoughts: attempts.slice(1).map((_, at) => seconds(30 + at)),
  });

  test("ends with the first attempt that succeeds, with a thought after each that does not", () => {
    const events = aRun({ plan: [loop(attempt(1), attempt(2), attempt(0), attempt(0)), submits] });
    expect(callsOf(events)).toEqual([
      [0, "exit 1"],
      [35, "exit 2"],
      [71, "exit 0"],
    ]);
    expect(events.at(-1)).toMatchObject({ event: "submitted", at: seconds(76) });
  });

  test("ends with its last attempt, whatever that comes to", () => {
    expect(aRun({ plan: [loop(attempt(1), attempt(1)), submits] }).at(-1)).toMatchObject({
      event: "submitted",
      at: seconds(40),
      partial: false,
    });
  });

  test("takes an attempt that came back running as it ends in the end", () => {
    const plan = [loop(attempt(0, 50), attempt(0)), submits];
    expect(calls({ settings: off, plan, profile: step12 })).toEqual([
      [0, "exit 0"],
      [22, "wait"],
    ]);
  });

  test("waits for an attempt that the model has put into the background itself", () => {
    const habit = { ...step12, arguments: { backgroundShare: 1, timeoutShare: 0, timeout: null } };
    const plan = [loop(attempt(1, 50), attempt(0, 50)), submits];
    expect(calls({ plan, profile: habit })).toEqual([
      [0, "exit 1"],
      [12, "wait"],
      [80, "exit 0"],
      [92, "wait"],
    ]);
  });

  test("is given up by a model that is finishing", () => {
    const finishing: RunSpec = {
      told: 900,
      reserve: 600,
      settings: { foreground_auto_await_max_seconds: 240, process_wait_slice_seconds: 240 },
      profile: { ...step12, inTheReserve: "finish" },
      plan: [loop(runs(named("pytest", hangs())), attempt(0)), submits],
    };
    const events = aRun(finishing);
    expect(callsOf(events)).toEqual([
      [0, "pytest"],
      [252, "wait"],
      [312, "stop"],
    ]);
    expect(events.at(-1)).toMatchObject({ event: "submitted", partial: true });
  });
});

describe("work while a process runs", () => {
  const works = { ...step12, between: [{ does: "work", p: 1 }] } as const;
  const test100 = (neededLater: boolean) => runs(named("pytest", lasts(100)), { id: "tests", neededLater });

  test("goes on where the plan has any, until the result is needed", () => {
    const plan = [test100(true), thinks(30), awaits("tests"), commits, submits];
    const events = aRun({ settings: off, plan, profile: works });
    expect(callsOf(events)).toEqual([
      [0, "pytest"],
      [64, "wait"],
    ]);
    // 10 s until it is handed back, a step, 30 s of work, a step, and the wait until it is over.
    expect(events.at(-1)).toMatchObject({ event: "submitted", at: seconds(100) });
  });

  test("is no choice where the plan needs the result at once", () => {
    const plan = [test100(false), thinks(30), submits];
    expect(calls({ settings: off, plan, profile: works })).toEqual([
      [0, "pytest"],
      [22, "wait"],
    ]);
  });

  test("takes no wait where it never began, and one that comes back at once where it was done by then", () => {
    const plan = [runs(named("pytest", lasts(20)), { background: true, id: "tests", neededLater: true })];
    const wait = calls({ plan: [...plan, thinks(60), awaits("tests"), submits], profile: step12 });
    expect(wait).toEqual([
      [0, "pytest"],
      [72, "wait"],
    ]);
    expect(calls({ plan: [awaits("tests"), submits] })).toEqual([]);
  });

  test("of a background job is waited for where the plan says so, and nowhere else", () => {
    const job = (neededLater: boolean) => runs(named("make", lasts(200)), { background: true, id: "job", neededLater });
    expect(calls({ plan: [job(true), thinks(30), awaits("job"), submits], profile: step12 })).toEqual([
      [0, "make"],
      [42, "wait"],
    ]);
    expect(calls({ plan: [job(false), thinks(30), awaits("job"), submits], profile: step12 })).toEqual([[0, "make"]]);
  });

  test("keeps what was seen: a model that was out of patience still is", () => {
    const impatient = { ...works, stopsAProcess: [{ quietWaits: null, running: seconds(9), failureSeen: null }] };
    const plan = [test100(true), awaits("tests"), submits];
    expect(calls({ settings: off, plan, profile: impatient })).toEqual([
      [0, "pytest"],
      [22, "stop"],
    ]);
  });
});
