/** What happens from outside: to a thought, a held command, a wait, a request on its way, and calls side by side. */
import { describe, expect, test } from "vitest";
import { OUTSIDE_EVENTS, type OutsideEvent } from "../../src/agent/plan.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import {
  aRun,
  commandOf,
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

type What = OutsideEvent["what"];

const step12 = { step: seconds(12) } as const;
const held = { foreground_auto_await_max_seconds: "none" } as const;
const off = { foreground_auto_await_max_seconds: 0 } as const;
const named = (line: string, ...phases: Parameters<typeof commandOf>[0]["phases"]) => commandOf({ line, phases });
const hung = named("pytest", hangs());
const economy = { cache: null, price: { input: 3, output: 15 } };

/** The journal of a trial to which this happens then. */
const told = (spec: RunSpec, what: What, at: number) =>
  journalOf({ ...spec, outside: [[at, what]], outerLimit: 1_000 });

const left = "left     process-1  still running";

/** Lines without their moments, from where something happens on. */
const since = (lines: readonly string[]) => {
  const at = lines.findIndex((line) => line.includes("outside"));
  return lines.slice(at).map((line) => line.trim().replace(/^([\d.]+) {2}/, (_, moment) => `${Number(moment)} `));
};

describe("a thought goes on", () => {
  test.each(OUTSIDE_EVENTS.filter((what) => what !== "headless_exit"))("and ends when it would have: %s", (what) => {
    for (const counted of [{}, { economy }, { limits: { steps: 1_000 } }]) {
      const events = aRun({ plan: [thinks(100), submits], outside: [[40, what]], ...counted });
      expect(only(events, "happened")).toEqual([{ event: "happened", at: seconds(40), what }]);
      expect(events.at(-1)).toEqual({ event: "submitted", at: seconds(100), partial: false });
    }
  });

  test("but not where nobody would start the runtime again", () => {
    expect(told({ plan: [thinks(100), submits] }, "headless_exit", 40)).toEqual([
      "   40.000  outside             headless_exit",
      "   40.000  gave up",
    ]);
  });

  test("through everything that happens, and each is taken in once", () => {
    const outside = OUTSIDE_EVENTS.filter((what) => what !== "headless_exit").map(
      (what, at) => [at * 10, what] as const,
    );
    const events = aRun({ plan: [thinks(100), submits], outside: [...outside, [50, "clear"], [50, "switch"]] });
    expect(only(events, "happened").map(({ at }) => at / 1_000)).toEqual([0, 10, 20, 30, 40, 50, 50]);
    expect(events.at(-1)).toMatchObject({ event: "submitted", at: seconds(100) });
  });
});

describe("a command that is held, at 60 s,", () => {
  const plan = [runs(hung), thinks(20), submits];

  test.each<[What, string[]]>([
    ["user_stop", ["60 outside             user_stop", "60 swept    process-1", "80 finished"]],
    ["headless_exit", ["60 outside             headless_exit", "60 swept    process-1", "60 gave up"]],
    ["restart", ["60 outside             restart", "80 finished", `80 ${left}`]],
    ["clear", ["60 outside             clear", "80 finished", `80 ${left}`]],
    // It is looked after once all else is done, or at once by whoever has taken over.
    [
      "user_background",
      [
        "60 outside             user_background",
        "92 wait     process-1  3600 s asked",
        "92 held     process-1  until 3692",
      ],
    ],
    [
      "switch",
      ["60 outside             switch", "72 wait     process-1  3600 s asked", "72 held     process-1  until 3672"],
    ],
  ])("is handed back at once, and then: %s", (what, lines) => {
    const journal = told({ settings: held, profile: step12, plan }, what, 60);
    expect(journal.slice(0, 3)).toEqual([
      "    0.000  exec     process-1  pytest",
      "   10.000  held     process-1  until it ends",
      "   60.000  control  process-1  running",
    ]);
    expect(
      since(journal)
        .slice(0, 3)
        .map((line) => line.replace(".000", "")),
    ).toEqual(lines);
  });

  test("that is swept takes its grace", () => {
    const stubborn = runs(commandOf({ line: "pytest", phases: [hangs()], onTerm: null }));
    expect(since(told({ settings: held, plan: [stubborn, submits] }, "user_stop", 60))).toEqual([
      "60 outside             user_stop",
      "62 swept    process-1",
      "62 finished",
    ]);
  });

  test("is over, if that is when it ends", () => {
    const plan = [runs(named("make", lasts(60))), thinks(20), submits];
    const events = aRun({ settings: held, plan, outside: [[60, "user_stop"]] });
    expect(only(events, "control_returned")).toMatchObject([{ at: seconds(60), outcome: "process_finished" }]);
    expect(events.slice(-2).map(({ event }) => event)).toEqual(["happened", "submitted"]);
  });

  test("is not run again by a model that would take it not to have run", () => {
    const reruns = { ...step12, reruns: { running: 1, timedOut: 1, atMost: 3 } };
    const events = aRun({ settings: held, plan, profile: reruns, outside: [[60, "clear"]] });
    expect(only(events, "exec_called")).toHaveLength(1);
  });
});

describe("a process that is waited for, at 60 s,", () => {
  const plan = [runs(hung), thinks(20), submits];

  test.each<[What, string[]]>([
    ["user_stop", ["60 outside             user_stop", "60 swept    process-1", "80 finished"]],
    ["clear", ["60 outside             clear", "80 finished", `80 ${left}`]],
    // Nothing is held in the foreground that could be moved; whoever takes over knows of the process.
    ["user_background", ["60 outside             user_background", "72 wait     process-1  3600 s asked"]],
    ["switch", ["60 outside             switch", "72 wait     process-1  3600 s asked"]],
  ])("is so no longer, and then: %s", (what, lines) => {
    const journal = told({ settings: off, profile: step12, plan }, what, 60);
    expect(journal[4]).toBe("   60.000  control  process-1  running");
    expect(
      since(journal)
        .slice(0, lines.length)
        .map((line) => line.replace(".000", "")),
    ).toEqual(lines);
  });
});

describe("a request that is on its way, at 15 s of 22,", () => {
  const plan = [runs(hung), thinks(20), submits];

  test.each<[What, string[]]>([
    ["user_stop", ["15 outside             user_stop", "15 swept    process-1", "35 finished"]],
    ["clear", ["15 outside             clear", "35 finished", `35 ${left}`]],
    ["restart", ["15 outside             restart", "35 finished", `35 ${left}`]],
    ["switch", ["15 outside             switch", "22 wait     process-1  3600 s asked"]],
    ["user_background", ["15 outside             user_background", "22 wait     process-1  3600 s asked"]],
  ])("is of use only to whoever still knows what it was about: %s", (what, lines) => {
    const journal = told({ settings: off, profile: step12, plan }, what, 15);
    expect(
      since(journal)
        .slice(0, lines.length)
        .map((line) => line.replace(".000", "")),
    ).toEqual(lines);
  });

  test("is sent again to the model that takes over, and billed again", () => {
    const events = aRun({ settings: off, profile: step12, plan, economy, outside: [[15, "switch"]], outerLimit: 100 });
    expect(only(events, "model_asked").map(({ at, purpose }) => [at / 1_000, purpose])).toEqual([
      [0, "work"],
      [10, "poll"],
      [15, "poll"],
    ]);
    expect(only(events, "model_answered").map(({ at }) => at / 1_000)).toEqual([0, 15, 22]);
  });

  test("is sent again to a provider, which takes its time again", () => {
    const provider = {
      latency: {
        firstToken: { distribution: "fixed", value: 8 },
        uncachedTokensPerSecond: null,
        outputTokensPerSecond: { distribution: "fixed", value: 1_000_000 },
      },
    } as const;
    const spec: RunSpec = { settings: off, profile: step12, plan, economy, provider, outerLimit: 100 };
    const waitAt = (outside: NonNullable<RunSpec["outside"]>) =>
      only(aRun({ ...spec, outside }), "process_called").map(({ at }) => at / 1_000);
    // The first request takes 8 s, the command 10 s; then 8 s from 18 s on, or from where it is sent again.
    expect(waitAt([])).toEqual([26]);
    expect(waitAt([[20, "switch"]])).toEqual([28]);
  });
});

describe("calls side by side, at 30 s,", () => {
  const both = together(runs(hung), job([thinks(100), submits]));
  const plan = [both, thinks(20), submits];

  test.each<What>(["user_stop", "clear", "restart"])("end with the turn, and so does a child job: %s", (what) => {
    const events = aRun({ settings: held, profile: step12, plan, outside: [[30, what]] });
    expect(
      events
        .filter(({ at }) => at === moment(30_000))
        .map(({ event }) => event)
        .slice(0, 3),
    ).toEqual(["control_returned", "job_ended", "happened"]);
    expect(only(events, "job_ended")).toMatchObject([{ result: "salvaged" }]);
    expect(only(events, "process_called")).toEqual([]);
    expect(only(events, "submitted")).toMatchObject([{ at: seconds(50) }]);
  });

  test("end with the runtime", () => {
    const journal = told({ settings: held, plan }, "headless_exit", 30);
    expect(journal.slice(-5)).toEqual([
      "   30.000  control  process-1  running",
      "   30.000  job end             job  salvaged",
      "   30.000  outside             headless_exit",
      "   30.000  swept    process-1",
      "   30.000  gave up",
    ]);
  });

  test.each<[What, number]>([
    ["switch", 112],
    ["user_background", 132],
  ])("are handed back if they are held; a job goes on, and its parent hears when it is done: %s", (what, wait) => {
    const events = aRun({ settings: held, profile: step12, plan, outside: [[30, what]], outerLimit: 1_000 });
    expect(only(events, "control_returned")[0]).toMatchObject({ at: seconds(30), outcome: "cancelled" });
    expect(only(events, "job_ended")).toMatchObject([{ at: seconds(100), result: "whole" }]);
    expect(only(events, "happened")).toMatchObject([{ at: seconds(100) }]);
    expect(only(events, "process_called")[0]).toMatchObject({ action: "wait", at: seconds(wait) });
  });
});

describe("what happens in the middle of something else", () => {
  const stubborn = commandOf({ line: "pytest", phases: [hangs()], onTerm: null });

  test("is heard once a process has been stopped, which nothing breaks into", () => {
    const stops = { ...step12, stopsAProcess: [{ quietWaits: null, running: null, failureSeen: null }] };
    const events = aRun({
      settings: off,
      plan: [runs(stubborn), thinks(50), submits],
      profile: stops,
      outside: [[23, "switch"]],
    });
    expect(events.slice(-4)).toMatchObject([
      { event: "process_called", at: seconds(22) },
      { event: "control_returned", at: seconds(24), status: "terminated" },
      { event: "happened", at: seconds(24) },
      { event: "submitted", at: seconds(74) },
    ]);
  });

  test("is heard before anything is submitted, however short a while before", () => {
    const background = { arguments: { backgroundShare: 1, timeoutShare: 0, timeout: null } };
    const plan = [runs(named("make", lasts(30))), submits];
    expect(aRun({ plan, profile: { ...step12, ...background }, outside: [[30, "user_stop"]] }).slice(-2)).toMatchObject(
      [
        { event: "happened", at: seconds(30) },
        { event: "submitted", at: seconds(30) },
      ],
    );
  });

  test("takes nothing from a thought: while the runtime sweeps, a model thinks on", () => {
    const plan = [runs(stubborn, { background: true }), thinks(100), submits];
    // The sweep takes its grace, from the middle of a step to beyond its end, or from a step's very end on.
    for (const at of [35.5, 36, 99]) {
      for (const counted of [{}, { economy }]) {
        const events = aRun({ plan, profile: step12, outside: [[at, "user_stop"]], ...counted });
        expect(only(events, "swept")).toMatchObject([{ at: seconds(at + 2) }]);
        expect(only(events, "submitted")).toMatchObject([{ at: seconds(Math.max(100, at + 2)) }]);
      }
    }
  });
});

describe("what the runtime no longer knows", () => {
  const status = { step: "status", of: "it", thenStep: false } as const;

  test("after a restart is lost, whatever becomes of it", () => {
    const plan = [runs(named("make", lasts(50)), { background: true }), thinks(100), status, submits];
    const events = aRun({ plan, outside: [[20, "restart"]] });
    const end = { at: seconds(20), by: "nobody", code: null, signal: null };
    expect(only(events, "control_returned")[1]).toMatchObject({ tool: "status", status: "lost", end });
  });

  test("is not ended when its user stops everything", () => {
    const plan = [runs(hung, { background: true }), thinks(100), submits];
    const outside = [
      [20, "restart"],
      [40, "user_stop"],
    ] as const;
    const events = aRun({ plan, outside });
    expect(only(events, "swept")).toEqual([]);
    expect(only(events, "left_behind")).toMatchObject([{ end: null }]);
  });

  test("a model whose conversation was cleared starts from its first tokens", () => {
    const context = { ...step12, context: { ...CONTEXT, start: 5_000, step: 100 } };
    const plan = [thinks(48), submits];
    const prompts = (outside: NonNullable<RunSpec["outside"]>) =>
      only(aRun({ plan, economy, profile: context, outside }), "model_asked").map(({ prompt }) => prompt);
    expect(prompts([])).toEqual([5_000, 5_100, 5_200, 5_300]);
    expect(prompts([[24, "clear"]])).toEqual([5_000, 5_100, 5_000, 5_100]);
  });

  test("nothing of its cache is left for the model that takes over", () => {
    const cache = {
      lifetime: seconds(300),
      mode: "hard",
      gone: seconds(300),
      write: 1.25,
      read: 0.1,
      least: 0,
    } as const;
    const plan = [thinks(48), submits];
    const spec: RunSpec = { plan, economy: { ...economy, cache }, profile: step12, outside: [[24, "switch"]] };
    expect(only(aRun(spec), "model_asked").map(({ hit }) => hit)).toEqual([null, true, null, true]);
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
