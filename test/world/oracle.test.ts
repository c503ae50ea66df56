import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grade } from "../../src/agent/grading.ts";
import { CREDITS, type Grading, type Plan, REWARDS, type RunStep, type Step } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import { oracle } from "../../src/world/oracle.ts";
import { scripted } from "../../src/world/script.ts";
import { alone, candidate, commits, hangs, lasts, submits, thinks } from "../aRun.ts";
import { someSettings, trialOf } from "../arbitraries.ts";

const grading: Grading = { tests: 1, reward: "all_tests", credit: "submitted", service: null };

const runs = (
  length: number,
  more: Partial<RunStep> & { passes?: number[]; spoils?: number[]; code?: number } = {},
): RunStep => {
  const { passes = [], spoils = [], code = 0, ...step } = more;
  const exit = { code, signal: null };
  return {
    step: "run",
    id: "it",
    command: scripted({ line: "make test", phases: [lasts(length)], passes, spoils, exit }),
    background: false,
    timeout: null,
    thenStep: false,
    ...step,
  };
};

const bound = (plan: Plan, more: Partial<Grading> = {}, limit = 1_000, speed = 1) => {
  const found = oracle({ plan, grading: { ...grading, ...more }, outerLimit: seconds(limit) }, speed);
  return [found.reward, found.length / 1_000];
};

describe("the oracle", () => {
  test.each<[string, Plan, Partial<Grading>, number, [number, number]]>([
    [
      "thinks, and waits for nothing that earns nothing",
      [thinks(60), runs(600), thinks(40), commits, submits],
      {},
      1_000,
      [1, 100],
    ],
    ["earns nothing, in no time, where thinking alone takes too long", [thinks(1_001), submits], {}, 1_000, [0, 0]],
    ["submits in the very last millisecond", [thinks(1_000), submits], {}, 1_000, [1, 1_000]],
    [
      "waits for what earns, and finishes then",
      [thinks(60), runs(300, { passes: [1] }), thinks(400), submits],
      {},
      1_000,
      [1, 360],
    ],
    [
      "takes the shorter of two ways to earn the same",
      [runs(300, { passes: [1] }), runs(20, { passes: [1] }), submits],
      {},
      1_000,
      [1, 20],
    ],
    ["leaves alone what spoils", [runs(20, { passes: [1] }), runs(5, { spoils: [1] }), submits], {}, 1_000, [1, 20]],
    [
      "takes for possible that what spoils comes first, where it is needed",
      [runs(10, { passes: [1] }), runs(5, { passes: [2, 3], spoils: [1] }), submits],
      { tests: 3, reward: "share" },
      1_000,
      [1, 10],
    ],
    [
      "waits for work in the background only in the end",
      [runs(300, { passes: [1], background: true }), thinks(100), runs(50, { passes: [2] }), submits],
      { tests: 2 },
      1_000,
      [1, 300],
    ],
    ["cannot have what takes too long", [runs(1_001, { passes: [1] }), submits], {}, 1_000, [0, 0]],
    [
      "has committed work counted where commits are, though its time runs out",
      [commits, thinks(2_000), submits],
      { credit: "committed" },
      1_000,
      [1, 1_000],
    ],
  ])("%s", (_, plan, more, limit, expected) => {
    expect(bound(plan, more, limit)).toEqual(expected);
  });

  test("waits for the attempt that succeeds, or thinks its way past all of them, whichever is shorter", () => {
    const loop = (think: number): Step => ({
      step: "until_succeeds",
      attempts: [runs(90, { code: 1 }), runs(90)],
      thoughts: [seconds(think)],
    });
    expect(bound([loop(30), submits])).toEqual([1, 30]);
    const earning: Step = {
      step: "until_succeeds",
      attempts: [runs(90, { code: 1 }), runs(90, { passes: [1] })],
      thoughts: [seconds(30)],
    };
    expect(bound([earning, submits])).toEqual([1, 120]);
  });

  test("lets calls and jobs go side by side", () => {
    const job: Step = { step: "job", id: "job", plan: [thinks(200)], timeout: null, startTokens: null };
    expect(bound([{ step: "together", of: [runs(80), job as never] }, submits])).toEqual([1, 200]);
    expect(bound([{ step: "together", of: [runs(80, { passes: [1] }), job as never] }, submits])).toEqual([1, 80]);
    expect(
      bound([{ step: "together", of: [runs(80), { ...(job as object), timeout: seconds(50) } as never] }, submits]),
    ).toEqual([1, 50]);
  });

  test("waits until a service that must answer is ready", () => {
    const server = scripted({
      line: "serve",
      port: 8_080,
      phases: [{ phase: "server", readyAfter: seconds(40), output: { output: "none" } }],
    });
    const plan: Plan = [{ ...runs(0), command: server }, thinks(10), submits];
    expect(bound(plan, { service: 8_080 })).toEqual([1, 40]);
  });

  test("thinks as fast as its provider lets it", () => {
    expect(bound([thinks(100), submits], {}, 1_000, 4)).toEqual([1, 25]);
  });
});

const length = (most: number) => fc.integer({ min: 0, max: most * 10 }).map((tenths) => tenths / 10);
const someTests = fc.subarray([1, 2, 3], { maxLength: 2 });

const someRun: fc.Arbitrary<RunStep> = fc
  .record({
    lasts: fc.oneof(fc.constant(null), length(20), length(400)),
    passes: fc.oneof({ weight: 2, arbitrary: someTests }, fc.constant([])),
    spoils: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, someTests),
    code: fc.constantFrom(0, 0, 1),
    background: fc.constantFrom(false, false, false, true),
    timeout: fc.constantFrom(null, null, null, seconds(60)),
    thenStep: fc.boolean(),
    id: fc.constantFrom("a", "b", "c"),
  })
  .map(({ lasts: long, passes, spoils, code, ...step }) => ({
    step: "run",
    command: scripted({
      line: "make",
      phases: [long === null ? hangs() : lasts(long)],
      passes,
      spoils,
      exit: { code, signal: null },
    }),
    ...step,
  }));

const someThought = length(200).map(thinks);
const someJob = fc
  .record({
    plan: fc.array(fc.oneof(someThought, someRun), { maxLength: 3 }),
    timeout: fc.constantFrom(null, seconds(90)),
  })
  .map(({ plan, timeout }) => ({ step: "job" as const, id: "job", plan, timeout, startTokens: null }));

const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: someThought },
  { weight: 5, arbitrary: someRun },
  fc.record({ attempts: fc.array(someRun, { minLength: 1, maxLength: 3 }), thought: length(100) }).map(
    ({ attempts, thought }): Step => ({
      step: "until_succeeds",
      attempts: attempts.map((attempt) => ({ ...attempt, background: false })),
      thoughts: attempts.map(() => seconds(thought)),
    }),
  ),
  fc.array(fc.oneof(someRun, someJob), { minLength: 2, maxLength: 3 }).map((of): Step => ({ step: "together", of })),
  fc.constantFrom<Step>({ step: "await", of: "a" }, { step: "status", of: "b", thenStep: true }, commits),
);

const somePlan: fc.Arbitrary<Plan> = fc
  .tuple(fc.array(someStep, { maxLength: 6 }), fc.boolean())
  .map(
    ([steps, awaited]): Plan => [
      ...steps.map((step) =>
        awaited && step.step === "run" && step.id === "a" ? { ...step, neededLater: true } : step,
      ),
      submits,
    ],
  );

const someGrading: fc.Arbitrary<Grading> = fc.record({
  tests: fc.constant(3),
  reward: fc.constantFrom(...REWARDS),
  credit: fc.constantFrom(...CREDITS),
  service: fc.constant(null),
});

/**
 * Settings under which a model does all of its plan, or is cut off. A bound for one plan says nothing of another: told of its end
 * a model commits early and leaves thoughts out, and a command that is refused, or a run that is broken off, takes no time.
 */
const ANOTHER_PLAN = [
  ...["deadline_notice_share", "deadline_notice_again_share", "wrap_up_in_reserve", "soft_deadline_share"],
  ...["timeout_strikes", "command_time_max_seconds", "exclusive_shell", "process_slots", "duplicate_start"],
  ...["leading_sleep_refused_seconds", "shell_calls_per_minute", "shell_calls_per_ten_seconds", "without_reader"],
];
const keepsThePlan = someSettings.map(
  (settings) =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => !ANOTHER_PLAN.includes(key))) as typeof settings,
);

describe("no trial that keeps to its plan, under any policy and any habit,", () => {
  test("earns more than the oracle, or as much in less time", () => {
    fc.assert(
      fc.property(trialOf({ plan: somePlan, settings: keepsThePlan }), someGrading, (spec, grading) => {
        const found = oracle({ plan: spec.plan, grading, outerLimit: seconds(spec.outerLimit!) });
        const { events, endedAt } = alone(candidate({ ...spec, cancels: [] }));
        const { reward } = grade(events, spec.plan, grading)!;
        expect(reward).toBeLessThanOrEqual(found.reward);
        if (reward === found.reward) expect(endedAt).toBeGreaterThanOrEqual(found.length);
      }),
      { numRuns: 3_000 },
    );
  }, 60_000);
});
