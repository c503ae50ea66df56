/** What surrounds a trial, with numbers, in the simulated world and in the live one on fake timers: the same in both. */
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/agent/effects.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { seconds } from "../../src/policy/time.ts";
import type { EndedTrial } from "../../src/world/simulated.ts";
import {
  alone,
  awaits,
  type Candidate,
  candidate,
  commandOf,
  type Hands,
  hangs,
  job,
  lasts,
  only,
  type RunSpec,
  result,
  runs,
  type SessionSpec,
  serves,
  session,
  submits,
  thinks,
  together,
} from "../aRun.ts";
import { onFakeTimers } from "./fakeTimers.ts";

const worlds = [
  ["simulated", async (one: Candidate): Promise<EndedTrial> => alone(one)],
  ["live", onFakeTimers],
] as const;

describe.each(worlds)("in the %s world", (_, perform) => {
  const trial = async (spec: RunSpec) => (await perform(candidate(spec))).events;

  async function made<Value>(spec: SessionSpec, work: (hands: Hands) => Agent<Value>): Promise<Value> {
    let value: { readonly is: Value } | null = null;
    await perform(
      session(spec, function* (hands) {
        value = { is: yield* work(hands) };
      }),
    );
    if (value === null) throw new Error("the session was cut off");
    return (value as { readonly is: Value }).is;
  }

  describe("a command whose signal is lost", () => {
    const lost = (length: number) => commandOf({ phases: [lasts(length)], signalLost: true });

    test("is seen to be over when its initial hold ends", async () => {
      const shown = await made({}, function* (hands) {
        return result(yield* hands.exec(lost(3)));
      });
      expect(shown).toMatchObject({ status: "completed", elapsed_seconds: 3, auto_await_outcome: "not_needed" });
    });

    test("is seen to be over at the end of a wait, or at once by a wait that begins after it", async () => {
      const { at, waited, late } = await made({}, function* (hands) {
        yield* hands.exec(lost(30), { background: true });
        const waited = result(yield* hands.wait(1, 60));
        const at = hands.now;
        yield* hands.exec(lost(30), { background: true });
        yield* hands.pass(40);
        const late = result(yield* hands.wait(2, 60));
        return { at, waited, late: [hands.now, late.status] };
      });
      expect([at, waited.status, waited.elapsed_seconds]).toEqual([seconds(60), "completed", 30]);
      expect(late).toEqual([seconds(100), "completed"]);
    });

    test("is found over by its hard timeout, which then has nothing to end", async () => {
      const { at, shown } = await made({}, function* (hands) {
        const shown = result(yield* hands.exec(lost(30), { timeout: 60 }));
        return { at: hands.now, shown };
      });
      expect(at).toBe(seconds(60));
      expect(shown).toMatchObject({ status: "completed", exit_code: 0, elapsed_seconds: 30 });
    });

    test("is noticed by a client that gives up, whose call is cancelled all the same", async () => {
      const shown = await made({ cancels: [20] }, function* (hands) {
        return result(yield* hands.exec(lost(3), { timeout: 60 }));
      });
      expect(shown).toMatchObject({ status: "completed", elapsed_seconds: 3, auto_await_outcome: "cancelled" });
    });

    test("holds for ever where nothing else ends the hold, and the harness finds it", async () => {
      const never = {
        foreground_idle_yield_seconds: "none",
        foreground_total_yield_seconds: "none",
        foreground_auto_await_max_seconds: "none",
      } as const;
      const events = await trial({ settings: never, outerLimit: 300, plan: [runs(lost(3)), submits] });
      const end = { at: seconds(3), by: "itself", code: 0, signal: null };
      expect(events.slice(-2)).toEqual([
        { event: "cut_off", at: seconds(300) },
        { event: "left_behind", at: seconds(300), process: 1, end, answers: false },
      ]);
    });
  });

  describe("a host", () => {
    const busy = (length: number) => commandOf({ phases: [lasts(length, undefined, 1)] });
    const silent = commandOf({ phases: [lasts(20)] });
    const hog = commandOf({ phases: [hangs(undefined, 1)] });
    const unlimited = { foreground_auto_await_max_seconds: "none" } as const;

    /** How long each of these takes when all start together. */
    const lengths = async (cores: number, speed: number, ...commands: Parameters<typeof runs>[0][]) => {
      const plan: Plan = [together(...commands.map((command, at) => runs(command, { id: `${at}` }))), submits];
      const events = await trial({ host: { cores, speed }, settings: unlimited, plan });
      return only(events, "control_returned")
        .toSorted((one, other) => one.process! - other.process!)
        .map(({ at }) => at / 1_000);
    };

    test("with cores enough slows nothing", async () => {
      expect(await lengths(2, 1, busy(20), busy(30), silent)).toEqual([20, 30, 20]);
    });

    test("with too few slows all that computes alike, and nothing that waits", async () => {
      expect(await lengths(1, 1, busy(20), busy(20), silent)).toEqual([40, 40, 20]);
      // 15 s of one core are shared by three until 45 s; what is left goes on by itself.
      expect(await lengths(1, 1, busy(15), busy(20), busy(30))).toEqual([45, 55, 65]);
    });

    test("that is twice as fast needs half the time", async () => {
      expect(await lengths(4, 2, busy(20), busy(30), silent)).toEqual([10, 15, 10]);
    });

    test("has its core back once somebody is killed", async () => {
      const end = await made({ host: { cores: 1 }, settings: unlimited }, function* (hands) {
        yield* hands.exec(hog, { background: true, timeout: 10 });
        return result(yield* hands.exec(busy(20))).elapsed_seconds;
      });
      expect(end).toBe(25);
    });

    test("keeps busy whom a kill did not reach", async () => {
      const settings = { ...unlimited, kill_reaches: "process" } as const;
      const end = await made({ host: { cores: 1 }, settings }, function* (hands) {
        yield* hands.exec(hog, { background: true, timeout: 10 });
        return result(yield* hands.exec(busy(20))).elapsed_seconds;
      });
      expect(end).toBe(40);
    });

    test("may make a limit come to pass that would not have", async () => {
      const shown = await made({ host: { cores: 1 } }, function* (hands) {
        yield* hands.exec(busy(100), { background: true, timeout: 120 });
        yield* hands.pass(50);
        yield* hands.exec(hog, { background: true });
        return result(yield* hands.wait(1, 3_600));
      });
      expect(shown).toMatchObject({ status: "timed_out", elapsed_seconds: 120 });
    });
  });

  describe("at one and the same moment", () => {
    test("a job whose time is up is over before the harness cuts the trial off, which may then still submit", async () => {
      const plan = [job([thinks(500)], { timeout: 100 }), submits];
      expect((await trial({ outerLimit: 100, plan })).map(({ event }) => event)).toEqual([
        "trial_began",
        "job_began",
        "job_ended",
        "submitted",
      ]);
    });

    test("calls side by side come back in the order in which they were made, exits before timers", async () => {
      const both = [hangs(), lasts(30), hangs(), lasts(30)].map((phase, at) =>
        runs(commandOf({ phases: [phase] }), { id: `${at}` }),
      );
      const events = await trial({ plan: [together(...both), submits], profile: { stopsAProcess: [STOPS] } });
      expect(only(events, "control_returned").map(({ at, process }) => [at / 1_000, process])).toEqual([
        [30, 2],
        [30, 4],
        [30, 1],
        [30, 3],
        [35, 1],
        [40, 3],
      ]);
    });

    test("whoever has control knows what has happened; it breaks into nothing that begins then", async () => {
      const plan = [thinks(20), runs(commandOf({ phases: [lasts(10)] })), thinks(10), submits];
      const outside = [
        [20, "clear"],
        [20, "switch"],
        [30, "clear"],
      ] as const;
      const events = await trial({ plan, outside });
      expect(events.map(({ event, at }) => [event, at / 1_000])).toEqual([
        ["trial_began", 0],
        ["happened", 20],
        ["happened", 20],
        ["exec_called", 20],
        ["control_returned", 30],
        ["happened", 30],
        ["submitted", 40],
      ]);
    });
  });

  test("what serves at the end is found serving, also where its own end was told", async () => {
    const server = commandOf({ phases: [serves(10)], port: 80 });
    const left = async (settings: RunSpec["settings"]) => {
      const plan = [runs(server, { timeout: 60 }), thinks(10), submits];
      const events = await trial({ plan, settings: settings! });
      return only(events, "left_behind").map(({ end, answers }) => [end?.by ?? null, answers]);
    };
    expect(await left({ kill_reaches: "process" })).toEqual([["limit", true]]);
    expect(await left({ kill_reaches: "tree" })).toEqual([]);
    const alive = await trial({ plan: [runs(server, { background: true }), thinks(5), awaits("nobody"), submits] });
    expect(only(alive, "left_behind")).toMatchObject([{ end: null, answers: false }]);
  });
});

const STOPS = { quietWaits: null, running: null, failureSeen: null } as const;
