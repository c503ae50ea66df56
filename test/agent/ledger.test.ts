/** Calls and child jobs side by side that draw on one budget: simulated, and on fake timers. */
import { describe, expect, test } from "vitest";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { candidate, command, hangs, job, lasts, only, type RunSpec, runs, submits, together } from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";

/** 1,000 s before the reserve, of which each of them would hold 600. */
const joint: WrittenSettings = { joint_ledger: true, foreground_auto_await_max_seconds: 600 };
const told = { told: 1_600, reserve: 600, outerLimit: 1_600 };
const idle = (id: string) => runs(command(hangs()), { id });

describe.each(worlds)("calls side by side (%s)", (_, perform) => {
  async function ran(spec: RunSpec) {
    const ended = await perform(candidate({ ...told, ...spec }));
    const grants = only(ended.events, "auto_await_granted").map(({ until, othersHold, clampReasons }) => [
      until / 1_000,
      othersHold === undefined ? null : othersHold / 1_000,
      ...clampReasons,
    ]);
    return { grants, ended };
  }

  test("hold no more together than is left before the reserve, and each grant says what the others hold", async () => {
    const { grants } = await ran({ plan: [together(idle("a"), idle("b")), submits], settings: joint });
    // At 10 s the first is granted until 600, which is 590 s; 990 s are left of all, so that the second has 400 s.
    expect(grants).toEqual([
      [600, 0],
      [410, 590, "held_by_others"],
    ]);
  });

  test("each hold what they would alone, where there is no joint ledger, or no budget", async () => {
    const plan = [together(idle("a"), idle("b")), submits];
    const alone = [
      [600, null],
      [600, null],
    ];
    expect((await ran({ plan, settings: { ...joint, joint_ledger: false } })).grants).toEqual(alone);
    const untold = await perform(candidate({ plan, settings: joint, outerLimit: 1_600 }));
    expect(only(untold.events, "auto_await_granted")).toMatchObject([{ until: 600_000 }, { until: 600_000 }]);
    expect(only(untold.events, "auto_await_granted").filter((granted) => "othersHold" in granted)).toEqual([]);
  });

  test("hold no longer than the run lasts, where nothing ends their hold", async () => {
    const endless = {
      ...joint,
      foreground_auto_await_max_seconds: "none",
      foreground_auto_await_budget_aware: false,
    } as const;
    const { ended } = await ran({ plan: [together(idle("a"), idle("b")), submits], settings: endless });
    // From 10 s to the deadline at 1,600 s: that is all there is.
    expect(rowsOf(ended).invocations.map((row) => row["held_by_others_seconds"])).toEqual([0, 1_590]);
  });

  test("that have come back hold nothing any more", async () => {
    const short = runs(command(lasts(15)), { id: "short" });
    const settings = { ...joint, foreground_idle_yield_seconds: 12, foreground_total_yield_seconds: 20 };
    expect(
      (await ran({ plan: [together(short, job([idle("late")])), idle("after"), submits], settings })).grants[2]![1],
    ).toBe(0);
  });

  test("of a child job that is cut off hold nothing any more", async () => {
    const cut = job([idle("within")], { timeout: 30 });
    const { grants } = await ran({ plan: [cut, idle("after"), submits], settings: joint });
    expect(grants[1]).toEqual([630, 0]);
  });

  test("say so in their rows", async () => {
    const { ended } = await ran({ plan: [together(idle("a"), idle("b")), submits], settings: joint });
    expect(
      rowsOf(ended)
        .invocations.map((row) => row["held_by_others_seconds"])
        .sort(),
    ).toEqual([0, 590]);
  });
});
