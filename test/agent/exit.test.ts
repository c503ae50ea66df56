/** What a run that is done makes of what it still runs, and what a user's stop ends: in the simulated and in the fake-timers world. */
import { describe, expect, test } from "vitest";
import { grade } from "../../src/agent/grading.ts";
import {
  aRun,
  callsOf,
  candidate,
  command,
  commandOf,
  hangs,
  lasts,
  only,
  type RunSpec,
  runs,
  serves,
  submits,
  thinks,
} from "../aRun.ts";
import { worlds } from "../conformance/worlds.ts";
import { rowsOf } from "../rowsOf.ts";
import { served } from "../serve/inMemory.ts";

const job = runs(commandOf({ phases: [lasts(300)], passes: [1] }), { id: "job", background: true });
const stuck = runs(command(hangs()), { id: "stuck", background: true });
const service = (persist: boolean) =>
  runs(commandOf({ phases: [serves(1)], port: 80 }), { id: "service", background: true, persist });

const grading = { tests: 1, reward: "all_tests", credit: "worktree", service: null } as const;
const serving = { ...grading, credit: "submitted", service: 80 } as const;

describe.each(worlds)("a run that is done (%s)", (_, perform) => {
  async function ran(spec: RunSpec) {
    const ended = await perform(candidate({ outerLimit: 2_000, ...spec }));
    const ends = only(ended.events, "swept").map(({ process, at }) => [process, at / 1_000]);
    const left = only(ended.events, "left_behind").filter(({ end }) => end === null);
    return { ...rowsOf(ended), events: ended.events, swept: ends, left: left.map(({ process }) => process) };
  }

  test("leaves what it runs to whoever grades it, unless told otherwise", async () => {
    const { trial, left, swept } = await ran({ plan: [job, service(true), thinks(20), submits] });
    expect([left, swept, trial.duration_seconds]).toEqual([[1, 2], [], 20]);
  });

  test("that reaps ends all of it once its grace is over, what was declared persistent too", async () => {
    const { trial, left, swept, events } = await ran({
      plan: [job, service(true), thinks(20), submits],
      settings: { clean_exit: "reap", exit_grace_seconds: 5 },
    });
    expect([left, swept, trial.duration_seconds]).toEqual([
      [],
      [
        [1, 25],
        [2, 25],
      ],
      25,
    ]);
    expect(trial).toMatchObject({ outcome: "submitted", finalized: true });
    expect(grade(events, [job], grading)!.reward).toBe(0);
    expect(grade(events, [service(true)], serving)!.reward).toBe(0);
  });

  test("that keeps what was declared persistent ends the rest", async () => {
    const { left, swept, events } = await ran({
      plan: [job, service(true), stuck, thinks(20), submits],
      settings: { clean_exit: "keep_persistent" },
    });
    expect([left, swept]).toEqual([
      [2],
      [
        [1, 20],
        [3, 20],
      ],
    ]);
    expect(grade(events, [service(true)], serving)!.reward).toBe(1);
  });

  test("keeps nothing that was not declared", async () => {
    const { left } = await ran({
      plan: [service(false), thinks(20), submits],
      settings: { clean_exit: "keep_persistent" },
    });
    expect(left).toEqual([]);
  });

  test("reaps nothing where the harness has cut it off", async () => {
    const { trial, left } = await ran({
      plan: [service(false), thinks(2_000), thinks(1), submits],
      settings: { clean_exit: "reap" },
    });
    expect([trial.outcome, left]).toEqual(["outer_timeout", [1]]);
  });

  test("has submitted, even where the harness cuts off its way out", async () => {
    const { trial, left } = await ran({
      plan: [stuck, thinks(20), submits],
      settings: { clean_exit: "reap", exit_grace_seconds: 5 },
      outerLimit: 22,
    });
    expect([trial.outcome, trial.finalized, left]).toEqual(["submitted", true, [1]]);
  });

  test("is held open for its jobs, and what they came to counts", async () => {
    const { trial, events, swept } = await ran({
      plan: [job, thinks(20), submits],
      settings: { exit_waits_for_jobs: true, clean_exit: "reap" },
    });
    expect(trial).toMatchObject({ outcome: "submitted", duration_seconds: 300, idle_seconds: 280, model_seconds: 20 });
    expect(swept).toEqual([]);
    expect(only(events, "exit_awaited")).toMatchObject([{ process: 1, end: { by: "itself", code: 0 } }]);
    expect(grade(events, [job], grading)!.reward).toBe(1);
  });

  test("is not held open for what was declared persistent, or has ended", async () => {
    const quick = runs(command(lasts(5)), { background: true });
    const { events, trial } = await ran({
      plan: [quick, service(true), thinks(20), submits],
      settings: { exit_waits_for_jobs: true },
    });
    expect(trial.duration_seconds).toBe(20);
    expect(only(events, "exit_awaited")).toMatchObject([{ process: 1, at: 20_000, end: { at: 5_000 } }]);
  });

  test("is held open no longer than it may, and never into the reserve", async () => {
    const settings = { exit_waits_for_jobs: true, exit_wait_max_seconds: 100 };
    expect((await ran({ plan: [stuck, thinks(20), submits], settings })).trial.duration_seconds).toBe(120);
    const told = { told: 100, reserve: 40 };
    expect((await ran({ plan: [stuck, thinks(20), submits], settings, ...told })).trial.duration_seconds).toBe(60);
    expect((await ran({ plan: [stuck, thinks(70), submits], settings, ...told })).trial.duration_seconds).toBe(70);
  });

  test("is cut off by the harness while it is held open", async () => {
    const { trial } = await ran({ plan: [stuck, thinks(20), submits], settings: { exit_waits_for_jobs: true } });
    expect(trial).toMatchObject({ outcome: "outer_timeout", finalized: false, idle_seconds: 1_980, model_seconds: 20 });
  });

  test("ends as it does when it exits at once, held open or not", async () => {
    const exits = (settings: RunSpec["settings"]) =>
      ran({ plan: [job, service(true), thinks(900), submits], outside: [[50, "headless_exit"]], settings: settings! });
    expect((await exits({})).swept).toEqual([
      [1, 50],
      [2, 50],
    ]);
    expect((await exits({ clean_exit: "keep_persistent" })).left).toEqual([2]);
    expect((await exits({ clean_exit: "leave" })).left).toEqual([1, 2]);
    const held = await exits({ exit_waits_for_jobs: true });
    expect([held.swept, held.trial.duration_seconds]).toEqual([[[2, 300]], 300]);
  });

  test("a user's stop ends what runs in the background, or only what the model is at", async () => {
    const stops = (settings: RunSpec["settings"]) =>
      ran({ plan: [job, thinks(100), submits], outside: [[50, "user_stop"]], settings: settings! });
    expect((await stops({})).swept).toEqual([[1, 50]]);
    const turn = await stops({ user_stop_ends: "turn" });
    expect([turn.swept, turn.left]).toEqual([[], [1]]);
  });

  test("what happens from outside does not end what holds it open", async () => {
    const { trial, events } = await ran({
      plan: [job, thinks(20), submits],
      outside: [[100, "switch"]],
      settings: { exit_waits_for_jobs: true },
    });
    expect(trial.duration_seconds).toBe(300);
    expect(only(events, "exit_awaited")).toHaveLength(1);
  });
});

test("a switch of the way out that is off changes nothing", () => {
  const plan = [job, service(false), thinks(20), submits];
  expect(callsOf(aRun({ plan, settings: { exit_grace_seconds: 5, exit_wait_max_seconds: 3 } }))).toEqual(
    callsOf(aRun({ plan })),
  );
});

describe("a served session", () => {
  test("is held open for what it still runs", async () => {
    const { session, done, to } = await served({
      settings: { exit_waits_for_jobs: true },
      commands: { make: command(lasts(300)) },
    });
    await done("exec", { command: "make", background: true });
    let left = false;
    const leaving = session.leave().then(() => {
      left = true;
    });
    await to(299);
    expect(left).toBe(false);
    await to(301);
    await leaving;
    session.end();
    expect(session.events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(["exit_held", "exit_awaited", "session_ended"]),
    );
  });

  test("keeps what was declared, and says in its tools that it does", async () => {
    const { session, done, client } = await served({ settings: { clean_exit: "keep_persistent" } });
    await done("exec", { command: "serve", background: true, persist: true });
    await done("exec", { command: "watch", background: true });
    expect([...session.kept()]).toEqual([1]);
    const [exec] = (await client.listTools()).tools;
    expect(Object.keys(exec!.inputSchema.properties!)).toContain("persist");
    const plain = await served();
    expect(Object.keys((await plain.client.listTools()).tools[0]!.inputSchema.properties!)).not.toContain("persist");
    expect([...plain.session.kept()]).toEqual([]);
  });
});
