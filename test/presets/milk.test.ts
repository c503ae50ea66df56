/** milk: what its decision record says of a soft deadline for background jobs, sentence by sentence. */
import { describe, expect, test } from "vitest";
import { OBEYS_ALL, PLAIN_HABITS } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { deadlineText } from "../../src/policy/deadline.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import { candidate, command, hangs, job, lasts, only, type RunSpec, runs, submits } from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";

const { written: settings, source, says } = loadPolicy("milk");
const steps = (count: number): Plan[number] => ({ step: "think_steps", steps: count });
const deaf = { obeys: { ...OBEYS_ALL, wrap_up: 0 } };
/** 25 requests of 48 s, and nothing written up: the record's own case. */
const research = (timeout: number) => [job([steps(40)], { timeout }), submits];

test("milk says where it is from and of when", () => {
  expect(source).toMatch(/20\d\d-\d\d-\d\d/);
  expect(says.length).toBeGreaterThan(20);
});

describe.each(worlds)("milk (%s)", (_, perform) => {
  async function ran(plan: Plan, spec: Partial<RunSpec> = {}) {
    const profile = { step: seconds(48), ...spec.profile };
    const { events } = await perform(candidate({ plan, outerLimit: 9_000, settings, ...spec, profile }));
    return {
      told: only(events, "told").map(({ kind, at }) => [kind, at / 1_000]),
      jobs: only(events, "job_ended").map(({ result, at }) => [result, at / 1_000]),
      events,
    };
  }

  test("at 80 % of a job's timeout one message says to wrap up", async () => {
    expect((await ran(research(1_200))).told).toEqual([["wrap_up", 960]]);
  });

  test("it is sent once per job, and to each job", async () => {
    const one = (id: string) => job([steps(40)], { id, timeout: 1_200 });
    const { told } = await ran([{ step: "together", of: [one("a"), one("b")] }, submits], { profile: deaf });
    expect(told).toEqual([
      ["wrap_up", 960],
      ["wrap_up", 960],
    ]);
  });

  test("a job that heeds it hands back a partial result instead of failing", async () => {
    expect((await ran(research(1_200))).jobs).toEqual([["partial", 1_008]]);
  });

  test("delivery is at the next iteration of its loop: whatever it is at comes to an end first", async () => {
    const busy = [job([steps(19), runs(command(lasts(200))), steps(40)], { timeout: 1_200 }), submits];
    const { told } = await ran(busy, { settings: { ...settings, foreground_auto_await_max_seconds: 600 } });
    expect(told).toEqual([["wrap_up", 1_112]]);
  });

  test("the hard timeout stands, and nothing is extended: a model that ignores the message times out as before", async () => {
    const { jobs } = await ran(research(1_200), { profile: deaf });
    expect(jobs).toEqual([["salvaged", 1_200]]);
    const without = { ...settings, soft_deadline_share: "none" } as const;
    expect((await ran(research(1_200), { profile: deaf, settings: without })).jobs).toEqual(jobs);
  });

  test("a job that times out keeps its last text, beside the trail of its calls", async () => {
    expect((await ran(research(1_200), { profile: deaf })).jobs[0]![0]).toBe("salvaged");
    const trail = { ...settings, salvages_job_text: false };
    expect((await ran(research(1_200), { profile: deaf, settings: trail })).jobs[0]![0]).toBe("trail");
  });

  test("jobs with a timeout under two minutes skip it", async () => {
    expect((await ran(research(119), { profile: { step: seconds(10) } })).told).toEqual([]);
    expect((await ran(research(120), { profile: { step: seconds(10) } })).told).toEqual([["wrap_up", 100]]);
  });

  test("the share follows the timeout that is set", async () => {
    expect((await ran(research(600))).told).toEqual([["wrap_up", 480]]);
  });

  test("foreground turns are unaffected", async () => {
    expect((await ran([steps(40), submits], { told: 1_000, reserve: 100 })).told).toEqual([]);
  });

  test("a job that is done before that costs no message", async () => {
    const { told, jobs } = await ran([job([steps(5)], { timeout: 1_200 }), submits]);
    expect([told, jobs]).toEqual([[], [["whole", 240]]]);
  });

  test("the message costs one extra user message in the job's context, only for jobs that run past 80 %", async () => {
    const economy = { cache: null, price: { input: 3, output: 15 } };
    // One token for each byte, so that a prompt grows by what the message says.
    const profile = { ...deaf, context: { ...PLAIN_HABITS.context, bytesPerToken: 1 } };
    const prompts = async (told: boolean) => {
      const share = told ? null : ({ soft_deadline_share: "none" } as const);
      const { events } = await ran(research(1_200), { profile, economy, settings: { ...settings, ...share } });
      return only(events, "model_asked").map(({ at, prompt }) => [at / 1_000, prompt] as const);
    };
    const [told, untold] = [await prompts(true), await prompts(false)];
    const bytes = deadlineText("wrap_up", moment(960_000), moment(1_200_000)).length;
    const more = told.map(([at, prompt], nth) => [at, prompt - untold[nth]![1]] as const);
    expect(more.filter(([at]) => at >= 960 && at < 1_200)).toEqual(
      [960, 1_008, 1_056, 1_104, 1_152].map((at) => [at, bytes]),
    );
    expect(more.filter(([at]) => at < 960).every(([, prompt]) => prompt === 0)).toBe(true);
    // The job's context is its own: its parent's next request has none of it.
    expect(more.at(-1)![1]).toBe(0);
  });

  test("a shell command of a job is ended with it", async () => {
    const { events } = await ran([job([runs(command(hangs()))], { timeout: 1_200 }), submits], { profile: deaf });
    expect(only(events, "job_ended")).toMatchObject([{ at: 1_200_000 }]);
  });
});

test("the message says how many minutes are left, to stop exploring, to write the answer, and to mark it partial", () => {
  expect(deadlineText("wrap_up", moment(960_000), moment(1_200_000))).toBe(
    "4 min (240 s) are left. Stop exploring, write the answer from what you have, and mark it as partial if it is.",
  );
});
