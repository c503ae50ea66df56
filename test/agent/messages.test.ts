/** What a model is told without having asked, and what it does about it: in both worlds alike. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { journal } from "../../src/agent/journal.ts";
import { OBEYS_ALL, type Profile } from "../../src/agent/model.ts";
import type { Deliveries, Plan } from "../../src/agent/plan.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { inSeconds, seconds } from "../../src/policy/time.ts";
import {
  alone,
  aRun,
  awaits,
  callsOf,
  candidate,
  command,
  commandOf,
  hangs,
  lasts,
  only,
  type RunSpec,
  runs,
  submits,
  thinks,
} from "../aRun.ts";
import { onFakeTimers } from "../conformance/fakeTimers.ts";
import { rowsOf } from "../rowsOf.ts";

const told = (events: readonly TrialEvent[]) =>
  only(events, "told").map(({ at, kind, hint, processes }) => [inSeconds(at), hint ?? kind, ...processes]);

const never: Profile["obeys"] = { ...OBEYS_ALL, notice: 0, reminder: 0, hint: 0, heartbeat: 0 };
const nextStep: WrittenSettings = { completion_notice: "next_step" };
const wake: WrittenSettings = { completion_notice: "wake" };
const build = (length: number, line = "make") => commandOf({ line, phases: [lasts(length)] });

/** Starts a build of so long in the background, thinks in steps of 5 s, and submits. */
const meanwhile = (length: number, thought: number): Plan => [
  runs(build(length), { background: true }),
  thinks(thought),
  submits,
];

/** Needs a build of so long, and ends its turn rather than wait. */
const turnsToIt = (length: number): Plan => [
  runs(build(length), { background: true, neededLater: true }),
  thinks(20),
  awaits(),
  submits,
];
const idler = { step: seconds(5), endsItsTurn: 1 };

describe("a completion notice", () => {
  test("comes before the next step, once, and the model reads what it tells of", () => {
    const events = aRun({ settings: nextStep, profile: { step: seconds(5) }, plan: meanwhile(12, 40) });
    expect(told(events)).toEqual([[15, "notice", 1]]);
    expect(callsOf(events)).toEqual([
      [0, "make"],
      [20, "status"],
    ]);
    expect(only(events, "submitted")[0]!.at).toBe(seconds(45));
    const [notice] = only(events, "told");
    expect(notice).toMatchObject({ due: 12_000, woke: false, attempts: 1, deferred: false });
    expect(notice!.bytes).toBe(
      '{"finished":[{"process_id":"process-1","status":"completed","description":"make","ended_seconds":12}]}'.length,
    );
  });

  test("is not sent of what the model has read already, nor where nobody is told", () => {
    const look = { step: "status", of: "it", thenStep: false } as const;
    const looked: Plan = [runs(build(12), { background: true }), thinks(12), look, thinks(40), submits];
    expect(told(aRun({ settings: nextStep, profile: { step: seconds(12) }, plan: looked }))).toEqual([]);
    expect(told(aRun({ plan: meanwhile(12, 40) }))).toEqual([]);
  });

  test("tells of what was handed back at the cap only where that belongs to the background", () => {
    const plan: Plan = [runs(command(lasts(60)), { neededLater: true }), thinks(100), submits];
    const profile = { between: [{ does: "work", p: 1 }] } as const;
    expect(told(aRun({ settings: nextStep, profile, plan }))).toEqual([]);
    const handedOver = { ...nextStep, foreground_at_cap: "background" } as const;
    expect(told(aRun({ settings: handedOver, profile, plan }))).toEqual([[60, "notice", 1]]);
  });

  test("that nobody heeds changes nothing but the conversation", () => {
    const events = aRun({ settings: nextStep, profile: { step: seconds(5), obeys: never }, plan: meanwhile(12, 40) });
    expect(told(events)).toEqual([[15, "notice", 1]]);
    expect(callsOf(events)).toEqual([[0, "make"]]);
    expect(only(events, "submitted")[0]!.at).toBe(seconds(40));
  });
});

describe("a model that ends its turn", () => {
  test("idles until it is told, and then reads the result with the request that the notice began", () => {
    const events = aRun({ settings: wake, profile: idler, plan: turnsToIt(1_200) });
    expect(journal(events)).toEqual([
      "    0.000  exec     process-1  make  in the background",
      "    0.000  control  process-1  running",
      "   25.000  idle",
      " 1200.000  woken               message",
      " 1205.000  told                notice  process-1",
      " 1205.000  status   process-1",
      " 1205.000  control  process-1  completed  exit 0",
      " 1205.000  finished",
    ]);
    const { trial, notices } = rowsOf({ events, startedAt: 0, endedAt: 1_205_000, concurrency: 1 });
    expect(trial).toMatchObject({ idle_seconds: 1_175, model_seconds: 30, notices: 1, wake_ups: 1, polls: 1 });
    expect(notices).toEqual([
      {
        trial_id: 1,
        kind: "notice",
        hint: null,
        due_seconds: 1_200,
        delivered_seconds: 1_205,
        processes: 1,
        bytes: trial.message_bytes,
        woke: true,
        attempts: 1,
        deferred: false,
      },
    ]);
  });

  test("does so only where it would be woken: otherwise it waits", () => {
    for (const settings of [{}, nextStep]) {
      const events = aRun({ settings, profile: idler, plan: turnsToIt(1_200) });
      expect(only(events, "turn_ended")).toEqual([]);
      expect(callsOf(events)).toContainEqual([25, "wait"]);
    }
  });

  test("is not woken by what never ends: only the outer limit is", () => {
    const plan: Plan = [runs(command(hangs()), { background: true, neededLater: true }), awaits(), submits];
    const events = aRun({ settings: wake, profile: idler, plan, outerLimit: 3_000 });
    expect(only(events, "woken")).toEqual([]);
    expect(only(events, "cut_off")[0]!.at).toBe(3_000_000);
  });

  test("is woken by whatever happens outside", () => {
    const outside = [[300, "user_stop"]] as const;
    const events = aRun({ settings: wake, profile: idler, plan: turnsToIt(1_200), outside });
    expect(only(events, "woken")).toEqual([{ event: "woken", at: 300_000, by: "outside" }]);
    expect(only(events, "swept").map(({ process }) => process)).toEqual([1]);
    expect(told(events)).toEqual([]);
  });

  test("by the window's rule: what is too much for one is put off to the next", () => {
    const four = [1, 2, 3, 4].map((n) =>
      runs(build(100 + 10 * n, `make ${n}`), { id: `b${n}`, background: true, neededLater: true }),
    );
    const settings = { ...wake, notice_wakes: 2 } as const;
    const plan: Plan = [...four, ...["b4", "b3", "b2", "b1"].map(awaits), submits];
    const events = aRun({ settings, profile: idler, plan });
    // Two wake-ups at 110 and 120 s; the third would be due at 130 s, and the window began at 110 s.
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([110, 120, 170]);
    expect(only(events, "told").map(({ due, deferred, processes }) => [due / 1_000, deferred, ...processes])).toEqual([
      [110_000 / 1_000, false, 1],
      [120, false, 2],
      [130, true, 3, 4],
    ]);
  });
});

describe("a delivery that fails", () => {
  const failing = (deliveries: Deliveries, settings: WrittenSettings = wake) =>
    aRun({ settings, profile: idler, plan: turnsToIt(1_200), deliveries, outerLimit: 9_000 });

  test("is tried again after 1, 2 and 5 s, and then succeeds", () => {
    const events = failing({ failFirst: 3, failWith: 0 });
    expect(only(events, "delivery_failed").map(({ at, again }) => [at / 1_000, again! / 1_000])).toEqual([
      [1_200, 1_201],
      [1_201, 1_203],
      [1_203, 1_208],
    ]);
    expect(only(events, "told")).toMatchObject([{ at: 1_213_000, due: 1_200_000, attempts: 4, woke: true }]);
    expect(only(events, "submitted")).toHaveLength(1);
  });

  test("is tried again for as long as it takes, or given up after so long", () => {
    const events = failing({ failFirst: 9, failWith: 0 });
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([1_208 + 60 + 120 + 240 + 300 + 300 + 300]);
    const abandoned = failing({ failFirst: 9, failWith: 0 }, { ...wake, delivery_gives_up_after_seconds: 300 });
    expect(only(abandoned, "woken")).toEqual([]);
    expect(only(abandoned, "delivery_failed").at(-1)).toMatchObject({ attempts: 6, again: null, at: 1_388_000 });
    const rows = rowsOf({ events: abandoned, startedAt: 0, endedAt: 9_000_000, concurrency: 1 });
    expect(rows.notices).toMatchObject([{ kind: "notice", delivered_seconds: null, attempts: 6 }]);
    expect(rows.trial).toMatchObject({ failed_deliveries: 6, wake_ups: 0, notices: 0, idle_seconds: 8_975 });
  });

  test("is one, too, where the provider does not answer the request that the message begins its turn with", async () => {
    // Nothing is answered in a storm; under this luck there is one from 800 to 808 s, and none at 868 s.
    const errors = { calm: 0, storm: 1, calmLasts: seconds(300), stormLasts: seconds(100) };
    const spec: RunSpec = {
      settings: { ...wake, notice_wakes: 1 },
      profile: idler,
      plan: turnsToIt(800),
      economy: { cache: null, price: { input: 3, output: 15 } },
      provider: { errors, retries: { attempts: 1, firstWait: seconds(1), longestWait: seconds(8), jitter: 0 } },
      outerLimit: 9_000,
    };
    const ended = alone(candidate(spec));
    const { events } = ended;
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([800, 801, 803, 808, 868]);
    expect(only(events, "delivery_failed").map(({ at, again }) => [at / 1_000, again! / 1_000])).toEqual([
      [800, 801],
      [801, 803],
      [803, 808],
      [808, 868],
    ]);
    // Between the tries it has ended its turn again.
    expect(only(events, "turn_ended").map(({ at }) => at / 1_000)).toEqual([25, 800, 801, 803, 808]);
    expect(only(events, "told")).toMatchObject([{ at: 873_000, due: 800_000, attempts: 5, woke: true }]);
    expect(rowsOf(ended).trial).toMatchObject({ failed_deliveries: 4, wake_ups: 1, notices: 1, outcome: "submitted" });
    expect((await onFakeTimers(candidate(spec))).events).toEqual(events);
  });

  test("gives its place in the window back", () => {
    const events = failing({ failFirst: 3, failWith: 0 }, { ...wake, notice_wakes: 1 });
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([1_208]);
  });
});

describe("a reminder", () => {
  const reminded = (settings: WrittenSettings, profile: Partial<Profile> = {}, more: Partial<RunSpec> = {}) =>
    aRun({
      settings: { unread_reminder_steps: 15, ...settings },
      profile: { step: seconds(5), obeys: never, ...profile },
      plan: meanwhile(12, 200),
      ...more,
    });

  test("recalls a new result at once where no notice tells of it, then every 15 steps", () => {
    expect(told(reminded({}))).toEqual([
      [15, "reminder", 1],
      [90, "reminder", 1],
      [165, "reminder", 1],
    ]);
    expect(told(reminded(nextStep))).toEqual([
      [15, "notice", 1],
      [90, "reminder", 1],
      [165, "reminder", 1],
    ]);
  });

  test("ends once the result was read", () => {
    expect(told(reminded({}, { obeys: { ...never, reminder: 1 } }))).toEqual([[15, "reminder", 1]]);
  });

  test("names the oldest five, and how many there are", () => {
    const seven = Array.from({ length: 7 }, (_, n) => runs(build(20 - n), { id: `b${n}`, background: true }));
    const events = reminded({ unread_reminder_steps: 15 }, {}, { plan: [...seven, thinks(60), submits] });
    const [first] = only(events, "told");
    expect(first!.processes).toEqual([7, 6]);
    expect(only(events, "told").at(-1)!.processes).toEqual([7, 6, 5, 4, 3]);
  });

  test("survives a compaction and a clear, since it is made from the table", () => {
    const context = {
      start: 1_000,
      step: 1_000,
      poll: 100,
      stepOutput: 10,
      pollOutput: 10,
      bytesPerToken: 4,
      window: 9_000,
      compactsAt: 0.5,
      kept: 500,
      summary: 100,
    };
    const economy = { cache: null, price: { input: 1, output: 1 } };
    const events = reminded({}, { context, forgets: 1 }, { economy, outside: [[60, "clear"]] });
    expect(only(events, "model_asked").filter(({ purpose }) => purpose === "compaction").length).toBeGreaterThan(5);
    expect(told(events).map(([, kind]) => kind)).toEqual(["reminder", "reminder", "reminder"]);
  });

  test("tells of what a user has stopped, which wakes nobody", () => {
    const plan: Plan = [runs(command(hangs()), { background: true }), thinks(100), submits];
    const outside = [[30, "user_stop"]] as const;
    expect(told(reminded(wake, {}, { plan, outside }))).toEqual([[30, "reminder", 1]]);
  });
});

describe("a heartbeat", () => {
  test("tells once of what runs past its usual length, and a model that heeds it stops it", () => {
    const settings = { heartbeat: true, usual_length_build_seconds: 60, kill_grace_seconds: 0 } as const;
    const plan: Plan = [
      runs(commandOf({ line: "make", phases: [hangs()] }), { background: true }),
      thinks(200),
      submits,
    ];
    const heeded = aRun({ settings, profile: { step: seconds(5) }, plan });
    expect(told(heeded)).toEqual([[60, "heartbeat", 1]]);
    expect(callsOf(heeded)).toEqual([
      [0, "make"],
      [65, "stop"],
    ]);
    const ignored = aRun({ settings, profile: { step: seconds(5), obeys: never }, plan });
    expect(told(ignored)).toEqual([[60, "heartbeat", 1]]);
    expect(callsOf(ignored)).toEqual([[0, "make"]]);
  });

  test("wakes a model that idles", () => {
    const settings = { ...wake, heartbeat: true, usual_length_build_seconds: 600 } as const;
    const plan: Plan = [
      runs(commandOf({ line: "make", phases: [hangs()] }), { background: true, neededLater: true }),
      awaits(),
      submits,
    ];
    const events = aRun({ settings, profile: idler, plan });
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([600]);
    expect(only(events, "submitted")).toHaveLength(1);
  });

  test("that fails to wake a model is tried again, and what has come due meanwhile waits behind it", () => {
    const settings = { ...wake, heartbeat: true, usual_length_build_seconds: 600, kill_grace_seconds: 0 } as const;
    const hung = () => commandOf({ line: "make", phases: [hangs()] });
    const plan: Plan = [
      ...["a", "b"].map((id) => runs(hung(), { id, background: true, neededLater: true })),
      awaits("a"),
      awaits("b"),
      submits,
    ];
    const events = aRun({ settings, profile: idler, plan, deliveries: { failFirst: 2, failWith: 0 } });
    expect(only(events, "delivery_failed").map(({ at, again }) => [at / 1_000, again! / 1_000])).toEqual([
      [600, 601],
      [601, 603],
    ]);
    expect(told(events)).toEqual([
      [608, "heartbeat", 1],
      [608, "heartbeat", 2],
    ]);
    expect(only(events, "submitted")).toHaveLength(1);
  });
});

describe("a watchdog", () => {
  const plan: Plan = [runs(command(hangs()), { background: true, neededLater: true }), awaits(), submits];

  test("ends a background command without a timeout, and the model is told", () => {
    const settings = { ...wake, background_watchdog_seconds: 600 } as const;
    const events = aRun({ settings, profile: idler, plan });
    expect(only(events, "woken").map(({ at }) => at / 1_000)).toEqual([600]);
    expect(only(events, "control_returned").at(-1)).toMatchObject({ status: "timed_out" });
  });

  test("leaves alone what names a timeout of its own, and what runs in the foreground", () => {
    const settings = { background_watchdog_seconds: 60, foreground_auto_await_max_seconds: 240 } as const;
    const own = aRun({
      settings,
      plan: [
        runs(command(lasts(100)), { background: true, timeout: 200 }),
        thinks(300),
        { step: "status", of: "it", thenStep: false },
        submits,
      ],
    });
    expect(only(own, "control_returned").at(-1)).toMatchObject({ status: "completed" });
    expect(only(aRun({ settings, plan: [runs(command(lasts(100))), submits] }), "control_returned")).toMatchObject([
      { status: "completed" },
    ]);
  });
});

describe("a hint", () => {
  const poller = { step: seconds(20), between: [{ does: "status", p: 1 }] } as const;
  const plan: Plan = [runs(command(hangs()), { background: true, neededLater: true }), awaits(), submits];

  test("points to stop after so many quiet looks in a row, and a model that heeds it stops", () => {
    const settings = { quiet_poll_hint_after: 4, quiet_poll_hint_floor_seconds: 60 } as const;
    const events = aRun({ settings, profile: poller, plan });
    expect(told(events)).toEqual([[80, "quiet_polls", 1]]);
    expect(callsOf(events).at(-1)).toEqual([100, "stop"]);
    const deaf = aRun({ settings, profile: { ...poller, obeys: never }, plan, outerLimit: 250 });
    expect(told(deaf)).toEqual([
      [80, "quiet_polls", 1],
      [160, "quiet_polls", 1],
      [240, "quiet_polls", 1],
    ]);
  });

  test("says at the second look in a row that nothing has changed, and a model that heeds it waits, or idles", () => {
    const settings = { repeated_read_hint: true } as const;
    const waits = aRun({ settings, profile: poller, plan, outerLimit: 250 });
    expect(told(waits)).toEqual([[40, "repeated_read", 1]]);
    expect(callsOf(waits).at(-1)).toEqual([60, "wait"]);
    const idles = aRun({ settings: { ...settings, ...wake }, profile: poller, plan, outerLimit: 250 });
    expect(only(idles, "turn_ended").map(({ at }) => at / 1_000)).toEqual([60]);
  });
});

describe("whatever happens", () => {
  const length = (most: number) => fc.integer({ min: 1, max: most });
  const someRun = fc
    .record({
      lengths: fc.array(fc.oneof(length(60), length(1_500)), { minLength: 1, maxLength: 6 }),
      thought: length(200),
      settings: fc.record({
        completion_notice: fc.constantFrom("next_step" as const, "wake" as const),
        notice_window: fc.constantFrom("fixed" as const, "sliding" as const),
        notice_wakes: length(3),
        notice_batch_tasks: length(3),
        unread_reminder_steps: fc.constantFrom("none" as const, 1, 15),
        delivery_gives_up_after_seconds: fc.constantFrom("none" as const, 300),
        repeated_read_hint: fc.boolean(),
        foreground_at_cap: fc.constantFrom("yield" as const, "background" as const),
        heartbeat: fc.boolean(),
        usual_length_build_seconds: fc.constantFrom(60, 900),
      }),
      obeys: fc.double({ min: 0, max: 1, noNaN: true }),
      endsItsTurn: fc.constantFrom(0, 0.5, 1),
      deliveries: fc.record({ failFirst: fc.integer({ min: 0, max: 6 }), failWith: fc.constantFrom(0, 0.4) }),
      outside: fc.array(
        fc.tuple(length(2_000), fc.constantFrom("clear" as const, "switch" as const, "user_stop" as const)),
        { maxLength: 2 },
      ),
      background: fc.boolean(),
    })
    .map(({ lengths, thought, settings, obeys, endsItsTurn, deliveries, outside, background }): RunSpec => {
      const ids = lengths.map((_, n) => `b${n}`);
      return {
        settings,
        deliveries,
        outerLimit: 6_000,
        outside: outside.sort(([one], [other]) => one - other),
        profile: {
          step: seconds(5),
          endsItsTurn,
          obeys: { ...OBEYS_ALL, notice: obeys, reminder: obeys },
          waits: [{ from: 1, length: seconds(60) }],
          between: [
            { does: "work", p: 0.4 },
            { does: "wait", p: 0.6 },
          ],
        },
        plan: [
          ...lengths.map((long, n) => runs(build(long), { id: ids[n]!, background, neededLater: true })),
          thinks(thought),
          ...ids.map(awaits),
          submits,
        ],
      };
    });

  test("every result is told of by at most one notice, and none that was read before", () => {
    fc.assert(
      fc.property(someRun, (spec) => {
        const events = aRun(spec);
        const seen = new Set<number>();
        for (const event of events) {
          if (event.event === "control_returned" && event.end !== null && event.process !== null)
            seen.add(event.process);
          if (event.event !== "told" || event.kind !== "notice") continue;
          expect(event.processes.length).toBeLessThanOrEqual(settingsOf(spec.settings!).noticeBatchTasks);
          for (const process of event.processes) {
            expect(seen.has(process)).toBe(false);
            seen.add(process);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("moments are in order, and no more wake-ups fall into a window than it has places", () => {
    fc.assert(
      fc.property(someRun, (spec) => {
        const events = aRun(spec);
        for (const [n, { at }] of events.entries()) if (n > 0) expect(at).toBeGreaterThanOrEqual(events[n - 1]!.at);
        const { noticeWakes, noticeWindow } = settingsOf(spec.settings!);
        if (noticeWindow !== "sliding") return;
        const woken = only(events, "woken").flatMap(({ at, by }) => (by === "message" ? [at] : []));
        for (const from of woken)
          expect(woken.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(noticeWakes);
      }),
      { numRuns: 150 },
    );
  });

  test("the ledger adds up, idling included", () => {
    fc.assert(
      fc.property(someRun, (spec) => {
        const events = aRun(spec);
        const endedAt = events.at(-1)!.at;
        const { trial } = rowsOf({ events, startedAt: 0, endedAt, concurrency: 1 });
        const {
          model_seconds,
          idle_seconds,
          initial_hold_seconds,
          auto_await_seconds,
          process_wait_seconds,
          other_tool_seconds,
        } = trial;
        const sum =
          model_seconds +
          idle_seconds +
          initial_hold_seconds +
          auto_await_seconds +
          process_wait_seconds +
          other_tool_seconds;
        expect(sum).toBeCloseTo(trial.duration_seconds, 6);
        expect(model_seconds).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 100 },
    );
  });

  test("a live world on fake timers tells the same, at the same moments", async () => {
    await fc.assert(
      fc.asyncProperty(someRun, async (spec) => {
        expect((await onFakeTimers(candidate(spec))).events).toEqual(aRun(spec));
      }),
      { numRuns: 60 },
    );
  });
});
