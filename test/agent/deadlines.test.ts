/** What a model is told of its end, of the run's or of a job's, and what comes of that: simulated, and on fake timers. */
import { describe, expect, test } from "vitest";
import { OBEYS_ALL } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { deadlineText } from "../../src/policy/deadline.ts";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import {
  alone,
  aRun,
  candidate,
  command,
  commits,
  hangs,
  job,
  lasts,
  only,
  type RunSpec,
  runs,
  submits,
  thinks,
} from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";
import { served } from "../serve/inMemory.ts";

const soft: WrittenSettings = { soft_deadline_share: 0.8 };
const ends: WrittenSettings = { deadline_notice_share: 0.75, deadline_notice_again_share: 0.9 };
const steps = (count: number): Plan[number] => ({ step: "think_steps", steps: count });
const deaf = (kind: "wrap_up" | "deadline_notice") => ({ obeys: { ...OBEYS_ALL, [kind]: 0 } });
const economy = {
  cache: { lifetime: seconds(3_600), mode: "hard", gone: seconds(3_600), write: 1.25, read: 0.1, least: 0 },
  price: { input: 5, output: 25 },
} as const;

describe.each(worlds)("a model (%s)", (_, perform) => {
  async function ran(spec: RunSpec) {
    const { events } = await perform(candidate({ outerLimit: 5_000, ...spec }));
    return {
      events,
      told: only(events, "told").map(({ kind, at, due }) => [kind, at / 1_000, due / 1_000]),
      jobs: only(events, "job_ended").map(({ result, at }) => [result, at / 1_000]),
    };
  }
  const explores = (timeout: number, plan: Plan = [steps(100)]) => [job(plan, { timeout }), submits];

  test("of a job is told once to write up, at 80 % of its time, and its part of the answer comes back", async () => {
    const { told, jobs } = await ran({ plan: explores(1_200), settings: soft, profile: { step: seconds(48) } });
    expect(told).toEqual([["wrap_up", 960, 960]]);
    expect(jobs).toEqual([["partial", 1_008]]);
  });

  test("that does not heed it is ended at the same moment as ever, and its last text is salvaged, or is not", async () => {
    const profile = { step: seconds(48), ...deaf("wrap_up") };
    const { told, jobs } = await ran({ plan: explores(1_200), settings: soft, profile });
    expect([told.length, jobs]).toEqual([1, [["salvaged", 1_200]]]);
    const settings = { ...soft, salvages_job_text: false };
    expect((await ran({ plan: explores(1_200), settings, profile })).jobs).toEqual([["trail", 1_200]]);
  });

  test("is told nothing where nothing is set, where a job has no timeout, or less than two minutes", async () => {
    const profile = { step: seconds(10) };
    expect((await ran({ plan: explores(1_200), profile })).told).toEqual([]);
    expect((await ran({ plan: explores(119), settings: soft, profile })).told).toEqual([]);
    expect((await ran({ plan: explores(120), settings: soft, profile })).told).toEqual([["wrap_up", 100, 96]]);
    expect((await ran({ plan: [job([steps(3)]), submits], settings: soft, profile })).told).toEqual([]);
  });

  test("of a job that is done in time is told nothing", async () => {
    const { told, jobs } = await ran({ plan: explores(1_200, [steps(3)]), settings: soft });
    expect([told, jobs]).toEqual([[], [["whole", 15]]]);
  });

  test("that is held when it is due is told when the hold is over; or the hold ends for it", async () => {
    const plan = explores(1_000, [runs(command(lasts(900))), steps(100)]);
    const settings = { ...soft, foreground_auto_await_max_seconds: 10, process_wait_slice_seconds: "none" } as const;
    expect((await ran({ plan, settings })).told).toEqual([["wrap_up", 900, 800]]);
    const { told, events, jobs } = await ran({ plan, settings: { ...settings, soft_deadline_ends_holds: true } });
    expect(told).toEqual([["wrap_up", 800, 800]]);
    expect(only(events, "wait_granted")[0]).toMatchObject({ clampReasons: ["soft_deadline"], until: 800_000 });
    expect(jobs).toEqual([["partial", 805]]);
    const held = { ...soft, foreground_auto_await_max_seconds: 3_000, soft_deadline_ends_holds: true } as const;
    const auto = await ran({ plan, settings: held });
    expect(only(auto.events, "auto_await_granted")[0]).toMatchObject({ clampReasons: ["soft_deadline"] });
    expect(auto.told).toEqual([["wrap_up", 800, 800]]);
  });

  test("is told at two shares of its run what is left, once each", async () => {
    const { told } = await ran({ plan: [steps(300), submits], settings: ends, told: 1_000, reserve: 10 });
    expect(told).toEqual([
      ["deadline_notice", 750, 750],
      ["deadline_notice", 900, 900],
    ]);
  });

  test("is told of what came due in one hold once, with the later of both", async () => {
    const plan = [runs(command(lasts(960))), steps(5), submits];
    const settings = { ...ends, foreground_auto_await_max_seconds: "none" } as const;
    const { told } = await ran({ plan, settings, told: 1_000, reserve: 10 });
    expect(told).toEqual([["deadline_notice", 990 - 30, 900]]);
  });

  test("is told nothing of a run of which nobody told its policy", async () => {
    expect((await ran({ plan: [steps(300), submits], settings: { ...ends, wrap_up_in_reserve: true } })).told).toEqual(
      [],
    );
  });

  test("commits what stands, leaves out what it can, and does the rest", async () => {
    const suite = (id: string) => runs(command(lasts(8)), { id, optional: true });
    const plan = [steps(160), suite("one"), steps(2), commits, suite("two"), submits];
    const { events } = await ran({ plan, settings: ends, told: 1_000, reserve: 10 });
    expect(only(events, "exec_called")).toEqual([]);
    expect(only(events, "committed").map(({ at }) => at / 1_000)).toEqual([755, 815]);
    expect(only(events, "submitted")).toMatchObject([{ at: 815_000, partial: false }]);
    const { events: unheeded } = await ran({
      plan,
      settings: ends,
      told: 1_000,
      reserve: 10,
      profile: deaf("deadline_notice"),
    });
    expect([only(unheeded, "exec_called").length, only(unheeded, "committed").length]).toEqual([2, 1]);
  });

  test("wraps up once the reserve begins, where it is told so: commits, and finishes", async () => {
    const plan = [steps(300), commits, submits];
    const { told, events } = await ran({ plan, settings: { wrap_up_in_reserve: true }, told: 1_000, reserve: 100 });
    expect(told).toEqual([["wrap_up", 900, 900]]);
    expect(only(events, "submitted")).toMatchObject([{ at: 900_000, partial: true }]);
  });

  test("breaks off a thought, and leaves a process that it waits for, to finish in time", async () => {
    const settings = { wrap_up_in_reserve: true, process_wait_slice_seconds: 60 } as const;
    const thinking = await ran({ plan: [thinks(2_000), commits, submits], settings, told: 1_000, reserve: 100 });
    expect(only(thinking.events, "submitted")[0]!.at).toBeLessThan(910_000);
    const plan = [runs(command(hangs())), commits, submits];
    const waiting = await ran({
      plan,
      settings: { ...settings, process_wait_budget_aware: false },
      told: 1_000,
      reserve: 100,
    });
    expect(only(waiting.events, "submitted")[0]!.at).toBeLessThan(970_000);
  });
});

test("what is told comes at the end of the conversation: its tokens are added, and the cached prefix survives", () => {
  const run = (settings: WrittenSettings) =>
    aRun({
      plan: [steps(300), submits],
      economy,
      settings,
      told: 2_000,
      reserve: 10,
      profile: deaf("deadline_notice"),
    });
  const asked = (settings: WrittenSettings) => only(run(settings), "model_asked");
  const [told, untold] = [asked(ends), asked({})];
  expect(told.map(({ hit }) => hit)).toEqual(untold.map(({ hit }) => hit));
  const { bytes } = only(run(ends), "told")[0]!;
  expect(told.at(-1)!.prompt - untold.at(-1)!.prompt).toBe(Math.ceil(bytes / 4));
  expect(told.at(-1)!.cacheRead).toBe(told.at(-2)!.prompt);
});

test("messages say how much is left, in minutes and seconds", () => {
  expect(deadlineText("deadline_notice", moment(750_000), moment(1_000_000))).toBe(
    "4 min (250 s) of this run are left. Commit what stands, and leave out what can be left out.",
  );
  expect(deadlineText("wrap_up", moment(960_000), moment(1_200_000))).toMatch(
    /^4 min \(240 s\) are left\. Stop exploring/,
  );
});

test("rows tell of each message", () => {
  const spec = candidate({ plan: [steps(300), submits], settings: ends, told: 1_000, reserve: 10, outerLimit: 5_000 });
  expect(rowsOf(alone(spec)).notices.map((row) => row["kind"])).toEqual(["deadline_notice", "deadline_notice"]);
});

test("a served session is told with the first result after it is due, and once", async () => {
  const { done, to } = await served({ settings: ends, told: 1_000, reserve: 10 });
  const lists = async () => (await done("process", { action: "list" })).result.notices;
  expect(await lists()).toBeUndefined();
  await to(760);
  expect(await lists()).toMatchObject([{ kind: "deadline_notice", process_ids: [] }]);
  expect(await lists()).toBeUndefined();
});
