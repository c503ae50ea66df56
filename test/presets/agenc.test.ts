/** AgenC: a deadline that is told, on every result and once at the end, and that cuts nothing. */
import { describe, expect, test } from "vitest";
import { OBEYS_ALL } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { reserveBegins, runBudget } from "../../src/policy/budget.ts";
import { settingsOf } from "../../src/policy/settings.ts";
import { seconds } from "../../src/policy/time.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import { candidate, command, commits, hangs, only, result, session, submits } from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";

const policy = loadPolicy("agenc-deadline");
const { written: settings } = policy;
const steps = (count: number): Plan[number] => ({ step: "think_steps", steps: count });

test("AgenC says where it is from and of when", () => {
  expect(policy.source).toMatch(/20\d\d-\d\d-\d\d/);
  expect(policy.says.length).toBeGreaterThan(20);
});

test.each([
  [1_000, 300],
  [5_400, 540],
  [30_000, 1_800],
  [400, 200],
])(
  "of a run of %i s the last %i s before its deadline are the reserve, and the deadline is 120 s early",
  (run, reserve) => {
    const budget = runBudget({ runBudget: seconds(run) }, settingsOf(settings));
    expect([budget.reserve / 1_000, budget.deadline / 1_000, reserveBegins(budget) / 1_000]).toEqual([
      reserve,
      run - 120,
      run - 120 - reserve,
    ]);
  },
);

describe.each(worlds)("AgenC (%s)", (_, perform) => {
  async function ran(plan: Plan, told: number | undefined, profile = {}) {
    const spec = { plan, settings, outerLimit: 5_400, profile, ...(told === undefined ? {} : { told }) };
    const { events } = await perform(candidate(spec));
    return { events, told: only(events, "told").map(({ kind, at }) => [kind, at / 1_000]) };
  }

  test("one message says to wrap up, when the reserve begins", async () => {
    expect((await ran([steps(1_100), commits, submits], 5_400)).told).toEqual([["wrap_up", 4_740]]);
  });

  test("it is told once, whatever the model makes of it", async () => {
    const deaf = { obeys: { ...OBEYS_ALL, wrap_up: 0 } };
    const { told, events } = await ran([steps(1_100), commits, submits], 5_400, deaf);
    expect(told).toHaveLength(1);
    expect(only(events, "cut_off")).toHaveLength(1);
  });

  test("a model that heeds it commits, and finishes in part", async () => {
    const { events } = await ran([steps(1_100), commits, submits], 5_400);
    expect(only(events, "submitted")).toMatchObject([{ at: 4_740_000, partial: true }]);
    expect(only(events, "committed")).toHaveLength(1);
  });

  test("a run that is done before that is told nothing, and neither is one without a deadline", async () => {
    expect((await ran([steps(100), commits, submits], 5_400)).told).toEqual([]);
    expect((await ran([steps(1_000), commits, submits], undefined)).told).toEqual([]);
  });

  async function made<Value>(work: Parameters<typeof session>[1], into: () => Value): Promise<Value> {
    await perform(session({ settings, told: 5_400, outerLimit: 9_000 }, work));
    return into();
  }

  test("every result says what is left, the first too", async () => {
    let left: unknown[] = [];
    await made(
      function* (hands) {
        const first = result(yield* hands.exec(command(hangs())));
        yield* hands.pass(970);
        left = [first, result(yield* hands.status(1)), result(yield* hands.list())];
      },
      () => left,
    );
    expect(left).toMatchObject([
      { remaining_run_seconds: 5_250, finalization_reserve_seconds: 540 },
      { remaining_run_seconds: 4_280 },
      { remaining_run_seconds: 4_280 },
    ]);
  });

  test("no wait is shortened, not even by the reserve", async () => {
    let waited: unknown;
    await made(
      function* (hands) {
        result(yield* hands.exec(command(hangs()), { background: true }));
        yield* hands.pass(4_000);
        waited = result(yield* hands.wait(1, 3_600));
      },
      () => waited,
    );
    expect(waited).toMatchObject({ effective_wait_seconds: 3_600, wait_clamped: false, remaining_run_seconds: 0 });
  });

  test("no command is held shorter for the reserve", async () => {
    let shown: unknown;
    await made(
      function* (hands) {
        yield* hands.pass(4_730);
        shown = result(yield* hands.exec(command(hangs())));
      },
      () => shown,
    );
    expect(shown).toMatchObject({ elapsed_seconds: 30, clamp_reasons: [] });
  });
});
