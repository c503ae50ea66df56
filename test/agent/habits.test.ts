/** What models do by habit beside waiting: arguments, estimates, reruns, other ways to look, forgetting. */
import { describe, expect, test } from "vitest";
import type { Profile } from "../../src/agent/model.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  callsOf,
  commandOf,
  commits,
  hangs,
  job,
  lasts,
  lines,
  only,
  type RunSpec,
  runs,
  serves,
  submits,
  thinks,
} from "../aRun.ts";

const off = { foreground_auto_await_max_seconds: 0 } as const;
const named = (line: string, ...phases: Parameters<typeof commandOf>[0]["phases"]) => commandOf({ line, phases });
const calls = (profile: Partial<Profile>, spec: RunSpec) =>
  callsOf(aRun({ outerLimit: 1_000, ...spec, profile: { step: seconds(12), ...profile } }));
const execs = (profile: Partial<Profile>, spec: RunSpec) =>
  only(aRun({ outerLimit: 1_000, ...spec, profile: { step: seconds(12), ...profile } }), "exec_called").map(
    ({ at, background, timeout, attempt }) => [
      at / 1_000,
      background,
      timeout === null ? null : timeout / 1_000,
      attempt,
    ],
  );
const fixed = (value: number) => ({ distribution: "fixed", value }) as const;
const usual = (length: number, usual: number | null) =>
  commandOf({ phases: [lasts(length)], usual: usual === null ? null : seconds(usual) });

describe("arguments that a model adds", () => {
  const inBackground = { arguments: { backgroundShare: 1, timeoutShare: 0, timeout: null } };
  const timed = { arguments: { backgroundShare: 0, timeoutShare: 1, timeout: fixed(60) } };

  test("put a command into the background, and its result is waited for before anything is committed", () => {
    const plan = [runs(named("pytest", lasts(100))), thinks(30), commits, submits];
    const events = aRun({ plan, profile: { step: seconds(12), ...inBackground } });
    expect(callsOf(events)).toEqual([
      [0, "pytest"],
      [42, "wait"],
    ]);
    expect(only(events, "committed")).toMatchObject([{ at: seconds(100) }]);
  });

  test("leave alone what the plan itself puts there", () => {
    const plan = [runs(named("npm start", hangs()), { background: true }), thinks(30), submits];
    expect(calls(inBackground, { plan })).toEqual([[0, "npm start"]]);
  });

  test("give a timeout to commands for which the plan names none", () => {
    const plan = [runs(named("a", hangs()), { id: "a" }), runs(named("b", hangs()), { id: "b", timeout: 5 }), submits];
    expect(execs(timed, { plan })).toEqual([
      [0, false, 60, 0],
      [60, false, 5, 0],
    ]);
  });

  test("have the shares that were stated, the same for the same step", () => {
    const half = { arguments: { backgroundShare: 0.3, timeoutShare: 0.6, timeout: fixed(60) } };
    const plan = Array.from({ length: 2_000 }, (_, at) => runs(named("ls", lasts(0)), { id: `${at}` }));
    const made = execs(half, { plan: [...plan, submits] });
    const share = (of: number) => made.filter((one) => one[of] !== false && one[of] !== null).length / 2_000;
    expect(Math.abs(share(1) - 0.3)).toBeLessThan(4 * Math.sqrt((0.3 * 0.7) / 2_000));
    expect(Math.abs(share(2) - 0.6)).toBeLessThan(4 * Math.sqrt((0.6 * 0.4) / 2_000));
    expect(
      execs(half, { plan: [...plan.toReversed(), submits] })
        .toReversed()
        .map((one) => one.slice(1)),
    ).toEqual(made.map((one) => one.slice(1)));
  });
});

describe("what a model expects of a command", () => {
  const expects = (backgroundOver: number | null, timeoutFactor: number | null, sigma = 0) => ({
    expects: { sigma, backgroundOver: backgroundOver === null ? null : seconds(backgroundOver), timeoutFactor },
  });

  test("puts it into the background if that is longer than it cares to wait", () => {
    for (const [length, background] of [
      [60, false],
      [60.001, true],
    ] as const) {
      expect(execs(expects(60, null), { plan: [runs(usual(1, length)), submits] })[0]).toEqual([
        0,
        background,
        null,
        0,
      ]);
    }
  });

  test("gives it a timeout of so many times that, and none in the background", () => {
    expect(execs(expects(null, 2), { plan: [runs(usual(1, 45)), submits] })).toEqual([[0, false, 90, 0]]);
    expect(execs(expects(30, 2), { plan: [runs(usual(1, 45)), submits] })[0]).toEqual([0, true, null, 0]);
  });

  test("can be wrong: what is expected to take 5 s is ended at 10, however far it has come", () => {
    const events = aRun({ plan: [runs(usual(300, 5)), submits], profile: expects(null, 2) });
    expect(only(events, "control_returned")).toMatchObject([{ at: seconds(10), status: "timed_out" }]);
  });

  test("is noisy around the usual length", () => {
    const plan = Array.from({ length: 2_000 }, (_, at) => runs(usual(0, 10), { id: `${at}` }));
    const longer = execs(expects(10, null, 0.7), { plan: [...plan, submits] }).filter(([, background]) => background);
    expect(Math.abs(longer.length / 2_000 - 0.5)).toBeLessThan(4 * Math.sqrt(0.25 / 2_000));
  });

  test("is never more than a day, however wild the guess", () => {
    const wild = { settings: { hard_timeout_max_seconds: "none" }, plan: [runs(usual(1, 1e6)), submits] } as const;
    expect(execs(expects(null, 1e6), wild)[0]).toEqual([0, false, 86_400, 0]);
  });
});

describe("a command that is run again", () => {
  const reruns = (more: Partial<Profile["reruns"]>) => ({ reruns: { running: 0, timedOut: 0, atMost: 2, ...more } });
  const hung = runs(named("pytest", hangs()));

  test("came back running, and was taken not to have started: a copy each time, as often as that goes", () => {
    expect(execs(reruns({ running: 1 }), { plan: [hung, submits], outerLimit: 200 })).toEqual([
      [0, false, null, 0],
      [42, false, null, 1],
      [84, false, null, 2],
    ]);
    expect(calls(reruns({ running: 1 }), { plan: [hung, submits], outerLimit: 200 }).at(-1)).toEqual([126, "wait"]);
  });

  test("was ended by its timeout", () => {
    const plan = [runs(named("make", lasts(210)), { timeout: 60 }), submits];
    const events = aRun({ plan, profile: { step: seconds(12), ...reruns({ timedOut: 1 }) } });
    expect(only(events, "control_returned").map(({ at, status }) => [at / 1_000, status])).toEqual([
      [60, "timed_out"],
      [132, "timed_out"],
      [204, "timed_out"],
    ]);
  });

  test("may do something else the next time, as luck would have it", () => {
    const asked: unknown[] = [];
    const redraw = (id: string, attempt: number) => {
      asked.push([id, attempt]);
      return named("make", lasts(9));
    };
    const plan = [runs(named("make", lasts(210)), { timeout: 60, id: "build" }), submits];
    const events = aRun({ plan, redraw, profile: { step: seconds(12), ...reruns({ timedOut: 1 }) } });
    expect(asked).toEqual([["build", 1]]);
    expect(only(events, "control_returned").map(({ at, status }) => [at / 1_000, status])).toEqual([
      [60, "timed_out"],
      [81, "completed"],
    ]);
  });

  test("is none that ended by itself, nor one in the background", () => {
    const plan = [runs(commandOf({ phases: [lasts(1)], exit: { code: 1, signal: null } })), submits];
    expect(execs(reruns({ running: 1, timedOut: 1 }), { plan })).toHaveLength(1);
    const background = [runs(named("npm start", hangs()), { background: true }), submits];
    expect(execs(reruns({ running: 1, timedOut: 1 }), { plan: background })).toHaveLength(1);
  });
});

describe("a model that looks in another way", () => {
  const between = (does: "status" | "read_output" | "probe" | "work") => ({ between: [{ does, p: 1 }] });
  const plan = [runs(named("pytest", lasts(40, lines([30, "30\n"])))), submits];

  test.each(["status", "read_output"] as const)("asks again and again, a step apart, and holds nothing: %s", (does) => {
    expect(calls(between(does), { settings: off, plan })).toEqual([
      [0, "pytest"],
      [22, does],
      [34, does],
      [46, does],
    ]);
  });

  test("probes what serves, until somebody answers; then the plan goes on", () => {
    const server = commandOf({ line: "npm start", phases: [serves(30)], port: 80 });
    const events = aRun({
      settings: off,
      plan: [runs(server), submits],
      profile: { step: seconds(12), ...between("probe") },
    });
    expect(callsOf(events)).toEqual([
      [0, "npm start"],
      [22, "no answer"],
      [34, "answers"],
    ]);
    expect(only(events, "submitted")).toMatchObject([{ at: seconds(46) }]);
  });

  test("waits where there is nothing to probe, and nothing else to do", () => {
    for (const does of ["probe", "work"] as const)
      expect(calls(between(does), { settings: off, plan })[1]).toEqual([22, "wait"]);
  });
});

test("how long a model takes for its steps at one place of the plan does not hang on how many it took at another", () => {
  const drawn = { step: { distribution: "uniform", from: 5, to: 40 } } as const;
  const last = (waits: number) => {
    const plan = [runs(named("pytest", lasts(200))), { step: "think_steps", steps: 2 } as const, submits];
    const events = aRun({ settings: off, plan, profile: { ...drawn, waits: [{ from: 1, length: seconds(waits) }] } });
    return [only(events, "process_called").length, events.at(-1)!.at - only(events, "control_returned").at(-1)!.at];
  };
  const [few, one] = last(3_600);
  const [many, other] = last(10);
  expect([few, many! > 4]).toEqual([1, true]);
  expect(other).toBe(one);
});

describe("a model whose conversation is compacted", () => {
  /** Full after two steps. */
  const context = {
    start: 8_000,
    step: 900,
    poll: 900,
    stepOutput: 0,
    pollOutput: 0,
    bytesPerToken: 4,
    window: 10_000,
    compactsAt: 0.9,
    kept: 1_000,
    summary: 500,
  };
  const economy = { cache: null, price: { input: 3, output: 15 } };
  const waits = { waits: [{ from: 1, length: seconds(30) }], context };
  const plan = [runs(named("pytest", hangs())), thinks(24), submits];
  const spec: RunSpec = { settings: off, economy, plan, outerLimit: 1_000 };

  test("pays for that with a step, and goes on as before", () => {
    const events = aRun({ ...spec, outerLimit: 150, profile: { step: seconds(12), ...waits } });
    expect(only(events, "model_asked").map(({ at, purpose, prompt }) => [at / 1_000, purpose, prompt])).toEqual([
      [0, "work", 8_000],
      [10, "poll", 8_900],
      [52, "compaction", 9_800],
      [64, "poll", 1_500],
      [106, "poll", 2_400],
      [148, "poll", 3_300],
    ]);
    expect(only(events, "forgot")).toEqual([]);
  });

  test("may forget what still runs, and then does nothing more about it", () => {
    const events = aRun({ ...spec, profile: { step: seconds(12), ...waits, forgets: 1 } });
    expect(only(events, "forgot")).toEqual([{ event: "forgot", at: seconds(64), process: 1 }]);
    expect(callsOf(events)).toEqual([
      [0, "pytest"],
      [22, "wait"],
    ]);
    expect(events.slice(-2)).toMatchObject([{ event: "submitted" }, { event: "left_behind", end: null }]);
  });

  test("forgets what it was to look after later as well, whatever it is doing then", () => {
    const later = { ...runs(named("pytest", hangs()), { background: true, neededLater: true, id: "tests" }) };
    const thought = [later, thinks(48), { step: "await", of: "tests" } as const, submits];
    const events = aRun({ ...spec, plan: thought, profile: { step: seconds(12), ...waits, forgets: 1 } });
    expect(only(events, "forgot")).toEqual([{ event: "forgot", at: seconds(24), process: 1 }]);
    expect(callsOf(events)).toEqual([[0, "pytest"]]);
  });

  test("forgets nothing that is over, and a job forgets for itself alone", () => {
    const inner = job([thinks(48), submits], { startTokens: 8_000 });
    const little = { ...waits, context: { ...context, start: 1_000 } };
    const started = runs(named("pytest", hangs()), { background: true, neededLater: true, id: "tests" });
    const events = aRun({
      ...spec,
      plan: [started, inner, { step: "await", of: "tests" }, submits],
      profile: { step: seconds(12), ...little, forgets: 1, stopsAProcess: [STOPS] },
    });
    expect(only(events, "model_asked").filter(({ purpose }) => purpose === "compaction")).toHaveLength(1);
    expect(only(events, "forgot")).toEqual([]);
    expect(callsOf(events).at(-1)?.[1]).toBe("stop");
  });
});

const STOPS = { quietWaits: null, running: null, failureSeen: null } as const;
