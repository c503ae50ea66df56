import { describe, expect, test } from "vitest";
import type { Test } from "../../src/agent/effects.ts";
import { type Grade, grade } from "../../src/agent/grading.ts";
import type { Grading, Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  commandOf,
  commits,
  hangs,
  job,
  lasts,
  type RunSpec,
  runs,
  serves,
  submits,
  thinks,
  together,
} from "../aRun.ts";

const usual: Grading = { tests: 1, reward: "all_tests", credit: "submitted", service: null };

function graded(plan: Plan, grading: Partial<Grading> = {}, more: Omit<RunSpec, "plan"> = {}): Grade {
  const worth = grade(aRun({ plan, outerLimit: 1_000, ...more }), plan, { ...usual, ...grading });
  if (worth === null) throw new Error("the trial could not be graded");
  return worth;
}

/** A command of some seconds that earns tests, or spoils them. */
const earning = (length: number, passes: readonly Test[], spoils: readonly Test[] = [], id = "it") =>
  runs(commandOf({ phases: [lasts(length)], passes, spoils }), { id });

describe("where no step names the tests it earns", () => {
  const work = [thinks(100), commits, thinks(100), submits];

  test.each([
    ["submitted", 1_000, 3],
    ["submitted", 150, 0],
    ["committed", 1_000, 3],
    ["committed", 150, 3],
    ["committed", 50, 0],
    ["worktree", 150, 3],
    ["worktree", 50, 0],
  ] as const)(
    "the act that is credited, %s, earns them all: outer limit %d s, %d tests",
    (credit, outerLimit, passed) => {
      expect(graded(work, { credit, tests: 3 }, { outerLimit })).toEqual({
        reward: passed === 3 ? 1 : 0,
        testsPassed: passed,
        testsTotal: 3,
      });
    },
  );

  test("a submission counts as a commit", () => {
    expect(graded([thinks(1), submits], { credit: "committed" }).reward).toBe(1);
  });

  test("giving up earns nothing but what was committed", () => {
    expect(graded([thinks(1)], {}).reward).toBe(0);
    expect(graded([thinks(1), commits], {}).reward).toBe(0);
    expect(graded([thinks(1), commits], { credit: "committed" }).reward).toBe(1);
  });

  test("work that was submitted in part earns nothing", () => {
    const finishing = {
      told: 1_000,
      reserve: 600,
      profile: { inTheReserve: "finish" },
    } as const;
    const plan = [runs(commandOf({ phases: [hangs()] })), thinks(1), commits, submits];
    const events = aRun({ plan, outerLimit: 1_000, ...finishing });
    expect(events.find(({ event }) => event === "submitted")).toMatchObject({ partial: true });
    expect(graded(plan, {}, finishing)).toEqual({ reward: 0, testsPassed: 0, testsTotal: 1 });
  });
});

describe("where a service must answer once the trial is over", () => {
  const server = (ready: number, more: { readonly background?: boolean; readonly timeout?: number } = {}) =>
    runs(commandOf({ phases: [serves(ready)], port: 80 }), { background: true, id: "server", ...more });
  const asks = { service: 80 };

  test("nothing is earned unless one does, whatever was submitted", () => {
    expect(graded([server(10), thinks(20), submits], asks)).toEqual({ reward: 1, testsPassed: 1, testsTotal: 1 });
    expect(graded([server(30), thinks(20), submits], asks)).toEqual({ reward: 0, testsPassed: 0, testsTotal: 1 });
    expect(graded([thinks(20), submits], asks).reward).toBe(0);
    expect(graded([server(10), thinks(20), submits], { service: 81 }).reward).toBe(0);
  });

  test("what was ended answers no more, unless the kill did not reach it", () => {
    const plan = [server(10, { background: false, timeout: 60 }), thinks(20), submits];
    expect(graded(plan, asks).reward).toBe(0);
    expect(graded(plan, asks, { settings: { kill_reaches: "process" } }).reward).toBe(1);
  });

  test("a trial that was cut off with its service up has earned all the same, where the work tree counts", () => {
    const plan = [
      server(10),
      runs(commandOf({ phases: [lasts(5)], passes: [1] }), { id: "tests" }),
      thinks(9_000),
      submits,
    ];
    const events = aRun({ plan, outerLimit: 1_000 });
    expect(events.some(({ event }) => event === "cut_off")).toBe(true);
    expect(graded(plan, { ...asks, credit: "worktree" }).reward).toBe(1);
    expect(graded(plan, { ...asks, credit: "submitted" }).reward).toBe(0);
  });
});

describe("a trial that is nobody's fault", () => {
  const failing: Omit<RunSpec, "plan"> = {
    economy: { cache: null, price: { input: 3, output: 15 } },
    provider: { errors: { calm: 1, storm: 1, calmLasts: seconds(60), stormLasts: seconds(60) } },
  };
  const worth = (plan: Plan, grading: Partial<Grading> = {}) =>
    grade(aRun({ plan, outerLimit: 1_000, ...failing }), plan, { ...usual, ...grading });

  test("has no grade: the provider gave no answer, whatever was committed or is left behind", () => {
    expect(worth([thinks(10), submits])).toBeNull();
    const plan = [job([thinks(10)]), commits, submits];
    expect(worth(plan, { credit: "worktree" })).toBeNull();
    const events = aRun({ plan, outerLimit: 1_000, ...failing });
    expect(events.map(({ event }) => event)).toEqual([
      "trial_began",
      "model_asked",
      "model_answered",
      "provider_failed",
    ]);
  });

  test("is over for all that goes on side by side, and ends with that", () => {
    const plan = [together(runs(commandOf({ phases: [hangs()] })), job([thinks(10)])), submits];
    const once = { attempts: 1, firstWait: seconds(1), longestWait: seconds(1), jitter: 0 };
    // There are tokens for the first request, and not for that of the job.
    const provider = { tokensPerMinute: 40_000, retries: once };
    const events = aRun({ plan, outerLimit: 1_000, ...failing, provider });
    expect(events.slice(-4)).toMatchObject([
      { event: "model_answered", request: 2, service: { failed: true, rateLimited: 0 } },
      { event: "job_ended", result: "salvaged" },
      { event: "provider_failed" },
      { event: "left_behind", end: null },
    ]);
    expect(grade(events, plan, usual)).toBeNull();
  });

  test("has one where it was cut off, or has reached a limit", () => {
    const plan = [runs(commandOf({ phases: [lasts(5)], passes: [1] })), thinks(9_000), submits];
    expect(graded(plan, { credit: "worktree" }).reward).toBe(1);
    expect(graded(plan, { credit: "worktree" }, { limits: { steps: 2 } }).reward).toBe(1);
    expect(graded(plan, { credit: "submitted" }, { limits: { steps: 2 } }).reward).toBe(0);
  });
});

describe("tests that are earned within other steps", () => {
  const earns = (test: Test, code = 0) =>
    runs(commandOf({ phases: [lasts(5)], passes: [test], exit: { code, signal: null } }), { id: `${test}` });

  test("count as well: of a repair loop, of calls side by side, of a child job", () => {
    const plan: Plan = [
      {
        step: "until_succeeds",
        attempts: [earns("a", 1), earns("b"), earns("never")],
        thoughts: [seconds(1), seconds(1)],
      },
      together(earns("c"), job([earns("d"), submits])),
      submits,
    ];
    expect(graded(plan, { tests: 5, reward: "share" })).toMatchObject({ testsPassed: 4, testsTotal: 5 });
  });

  test("are spoiled by one that ends later, wherever it ran", () => {
    const spoils = runs(commandOf({ phases: [lasts(9)], spoils: [1] }), { id: "spoils" });
    expect(graded([together(earns(1), job([spoils])), submits]).reward).toBe(0);
    expect(graded([job([spoils]), earns(1), submits]).reward).toBe(1);
  });

  test("are none where the port that a command needs is taken", () => {
    const server = () => commandOf({ phases: [lasts(1), serves(1)], port: 80, passes: [1] });
    const plan = [runs(server(), { background: true, id: "a" }), runs(server(), { id: "b" }), thinks(9), submits];
    expect(graded(plan).reward).toBe(0);
  });
});

describe("where steps name the tests they earn", () => {
  test("those pass whose command has come to its own end", () => {
    const plan = [earning(10, [1, 2]), earning(10, ["three"], [], "next"), submits];
    expect(graded(plan, { tests: 3 })).toEqual({ reward: 1, testsPassed: 3, testsTotal: 3 });
    expect(graded(plan, { tests: 4 })).toEqual({ reward: 0, testsPassed: 3, testsTotal: 4 });
    expect(graded(plan, { tests: 4, reward: "share" })).toEqual({ reward: 0.75, testsPassed: 3, testsTotal: 4 });
  });

  test("a command that failed has come to its own end, one that was ended has not", () => {
    const failed = runs(commandOf({ phases: [lasts(5)], exit: { code: 1, signal: null }, passes: [1] }));
    expect(graded([failed, submits]).reward).toBe(1);
    const timedOut = runs(commandOf({ phases: [lasts(50)], passes: [1] }), { timeout: 20 });
    expect(graded([timedOut, submits]).reward).toBe(0);
    const stopped = runs(commandOf({ phases: [hangs()], passes: [1] }));
    const stops = { profile: { stopsAProcess: [{ quietWaits: null, running: null, failureSeen: null }] } };
    expect(graded([stopped, submits], {}, stops).reward).toBe(0);
  });

  test("a later command spoils what an earlier one earned, in the order of their ends", () => {
    const spoil = earning(5, [], [1], "spoil");
    expect(graded([earning(5, [1, 2]), spoil, submits], { tests: 2, reward: "share" }).reward).toBe(0.5);
    expect(graded([spoil, earning(5, [1, 2]), submits], { tests: 2 }).reward).toBe(1);
    const overlapping = [
      runs(commandOf({ phases: [lasts(100)], passes: [1] }), { background: true, id: "long" }),
      runs(commandOf({ phases: [lasts(20)], spoils: [1] }), { background: true, id: "short" }),
      thinks(200),
      submits,
    ];
    expect(graded(overlapping).reward).toBe(1);
  });

  test("of two that end at one moment, the one that was started later ends later", () => {
    const together = (first: Test[], spoiled: Test[], ...rest: [Test[], Test[]][]) => [
      runs(commandOf({ phases: [lasts(20)], passes: first, spoils: spoiled }), { background: true, id: "a" }),
      ...rest.map(([passes, spoils], at) =>
        runs(commandOf({ phases: [lasts(20)], passes, spoils }), { background: true, id: `b${at}` }),
      ),
      thinks(100),
      submits,
    ];
    expect(graded(together([1], [], [[], [1]])).reward).toBe(0);
    expect(graded(together([], [1], [[1], []])).reward).toBe(1);
  });

  test("a command whose end nobody saw has ended all the same, if it had by the act that is credited", () => {
    const background = (length: number) => [
      runs(commandOf({ phases: [lasts(length)], passes: [1] }), { background: true }),
      thinks(100),
      submits,
    ];
    expect(graded(background(100)).reward).toBe(1);
    expect(graded(background(100.001)).reward).toBe(0);
  });

  describe("only what had passed by the act that is credited counts:", () => {
    const plan = [earning(10, [1]), commits, earning(10, [2], [], "next"), thinks(500), submits];
    const share = { tests: 2, reward: "share" } as const;

    test.each([
      ["submitted", 1_000, 1],
      ["submitted", 200, 0],
      ["committed", 1_000, 1],
      ["committed", 200, 0.5],
      ["committed", 9, 0],
      ["worktree", 200, 1],
      ["worktree", 15, 0.5],
      ["worktree", 9, 0],
    ] as const)("%s, outer limit %d s: %d", (credit, outerLimit, reward) => {
      expect(graded(plan, { ...share, credit }, { outerLimit }).reward).toBe(reward);
    });

    test("the last of several commits", () => {
      const twice = [earning(10, [1]), commits, earning(10, [2], [], "next"), commits, thinks(500), submits];
      expect(graded(twice, { ...share, credit: "committed" }, { outerLimit: 200 }).reward).toBe(1);
    });

    test("the work tree of a trial that gave up", () => {
      const given = [earning(10, [1]), earning(10, [2], [], "next")];
      expect(graded(given, { ...share, credit: "worktree" }).reward).toBe(1);
      expect(graded(given, { ...share, credit: "committed" }).reward).toBe(0);
      expect(graded(given, { ...share, credit: "submitted" }).reward).toBe(0);
    });
  });
});
