/** What the harness limits beside time. */
import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import {
  aRun,
  callsOf,
  commandOf,
  commits,
  hangs,
  job,
  lasts,
  only,
  type RunSpec,
  runs,
  submits,
  thinks,
  together,
} from "../aRun.ts";

const quick = (line: string) => runs(commandOf({ line, phases: [lasts(1)] }), { id: line });
const four = [quick("a"), quick("b"), quick("c"), submits];

/** 10,000 tokens, and 1,000 more with each request; 10 out of the model's hands. Dollars for a million: 3 in, 15 out. */
const CONTEXT = {
  start: 10_000,
  step: 1_000,
  poll: 1_000,
  stepOutput: 10,
  pollOutput: 10,
  bytesPerToken: 4,
  window: 1_000_000,
  compactsAt: 1,
  kept: 0,
  summary: 0,
};
const economy = { cache: null, price: { input: 3, output: 15 } };
const counted = (spec: RunSpec): RunSpec => ({ ...spec, economy, profile: { ...spec.profile, context: CONTEXT } });
const ending = (spec: RunSpec) => aRun(spec).at(-1);

describe("a limit on steps", () => {
  test("ends the trial before the request that would be one too many", () => {
    expect(aRun({ plan: four, limits: { steps: 3 } }).slice(-2)).toMatchObject([
      { event: "control_returned", at: seconds(3) },
      { event: "limit_reached", at: seconds(3), limit: "steps" },
    ]);
    expect(ending({ plan: four, limits: { steps: 4 } })).toMatchObject({ event: "submitted" });
    expect(callsOf(aRun({ plan: four, limits: { steps: 0 } }))).toEqual([]);
  });

  test("counts the same, whether tokens are counted or not: thoughts, polls and calls", () => {
    const plan = [thinks(60), runs(commandOf({ line: "a", phases: [hangs()] })), submits];
    const spec: RunSpec = { plan, profile: { step: seconds(12), waits: [{ from: 1, length: seconds(30) }] } };
    // Five steps of thought lead to the call; one to each wait.
    for (const one of [spec, counted(spec)]) {
      const events = aRun({ ...one, limits: { steps: 7 } });
      expect(callsOf(events)).toEqual([
        [60, "a"],
        [102, "wait"],
        [144, "wait"],
      ]);
      expect(only(events, "limit_reached")).toMatchObject([{ at: seconds(174) }]);
    }
  });

  test("is reached in a child job as well: it ends what goes on beside it, and its parent", () => {
    const plan: Plan = [
      quick("a"),
      together(
        job([quick("b"), quick("c"), submits], { id: "many" }),
        job([thinks(500)], { id: "long" }),
        runs(commandOf({ line: "hung", phases: [hangs()] })),
      ),
      submits,
    ];
    const events = aRun({ plan, limits: { steps: 5 }, profile: { step: seconds(500) } });
    expect(events.slice(-5)).toMatchObject([
      { event: "control_returned", at: seconds(3), process: 4 },
      { event: "job_ended", at: seconds(3), job: "many", result: "salvaged" },
      { event: "job_ended", at: seconds(3), job: "long", result: "salvaged" },
      { event: "limit_reached", at: seconds(3), limit: "steps" },
      { event: "left_behind", at: seconds(3), process: 3, end: null },
    ]);
  });
});

describe("a limit on tokens", () => {
  test("ends the trial once so many have gone in and out", () => {
    // 10,010 and 11,010 tokens: the third request is not made.
    for (const tokens of [10_011, 21_020]) {
      const events = aRun(counted({ plan: four, limits: { tokens } }));
      expect(only(events, "model_asked")).toHaveLength(2);
      expect(events.at(-1)).toEqual({ event: "limit_reached", at: seconds(2), limit: "tokens" });
    }
    expect(only(aRun(counted({ plan: four, limits: { tokens: 21_021 } })), "model_asked")).toHaveLength(3);
  });

  test("is none where nobody counts them", () => {
    expect(ending({ plan: four, limits: { tokens: 1 } })).toMatchObject({ event: "submitted" });
  });
});

describe("a limit on cost", () => {
  test("ends the trial once so much was spent", () => {
    // 10,000 in at 3 and 10 out at 15: 30,150 millionths of a dollar; then 33,150.
    for (const cost of [30_151, 63_300]) {
      const events = aRun(counted({ plan: four, limits: { cost } }));
      expect(only(events, "model_asked").map((event) => event.cost)).toEqual([30_150, 33_150]);
      expect(events.at(-1)).toEqual({ event: "limit_reached", at: seconds(2), limit: "cost" });
    }
  });
});

test("what was committed before a limit is reached stands", () => {
  const events = aRun({ plan: [quick("a"), commits, quick("b"), submits], limits: { steps: 3 } });
  expect(events.map(({ event }) => event).slice(-4)).toEqual([
    "committed",
    "exec_called",
    "control_returned",
    "limit_reached",
  ]);
});
