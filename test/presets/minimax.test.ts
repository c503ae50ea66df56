/**
 * MiniMax Code in both of its modes; and what its makers tell of it, behaviour by behaviour, as they told it: the account in
 * the material of this project, from the first timeout to the last precondition.
 */
import { describe, expect, test } from "vitest";
import type { TrialEvent } from "../../src/agent/events.ts";
import { OBEYS_ALL } from "../../src/agent/model.ts";
import type { Plan } from "../../src/agent/plan.ts";
import { inSeconds, seconds } from "../../src/policy/time.ts";
import { loadPolicy } from "../../src/scenario/load.ts";
import {
  aRun,
  awaits,
  callsOf,
  command,
  commandOf,
  every,
  type Hands,
  hangs,
  inSession,
  lasts,
  lines,
  only,
  type RunSpec,
  refusal,
  result,
  runs as runStep,
  serves,
  submits,
  thinks,
} from "../aRun.ts";
import { goesOn, handedBack, preset, runs, waits, wentOn } from "./preset.ts";

/** A prompt cache of five minutes, and what tokens cost. */
const economy = {
  cache: { lifetime: seconds(300), mode: "hard", gone: seconds(300), write: 1.25, read: 0.1, least: 1_024 },
  price: { input: 3, output: 15 },
} as const;

const background = function* (hands: Hands, phase = hangs(), timeout?: number) {
  return result(yield* hands.exec(command(phase), { background: true, ...(timeout === undefined ? {} : { timeout }) }));
};

preset("minimax", [
  [
    "a command of 59 s comes back with its result, in its own call",
    runs("npm run build", lasts(59)),
    { status: "completed", elapsed_seconds: 59, auto_await_outcome: "not_needed" },
  ],
  ["a longer one is handed back at 60 s, silent", runs("npm run build", lasts(600)), handedBack(60, "cap_reached")],
  ["or chatty", runs("npm run dev", serves(2, every(1))), handedBack(60, "cap_reached")],
  ["and goes on under its id, without a restart, and loses no output", goesOn, wentOn],
  [
    "its 3,600 s count from its start: being handed over and being read does not begin them anew",
    function* (hands) {
      result(yield* hands.exec(command(hangs(every(100)))));
      for (let read = 0; read < 150; read += 1) result(yield* hands.wait(1, 30));
      const { status, elapsed_seconds: elapsed } = result(yield* hands.status(1));
      return { status, elapsed };
    },
    { status: "timed_out", elapsed: 3_600 },
  ],
  [
    "a timeout asked for beyond 3,600 s is cut to it, and the result says so",
    runs("make", hangs(), 7_200),
    { status: "running", elapsed_seconds: 60, hard_timeout_seconds: 3_600, clamp_reasons: ["hard_timeout_max"] },
  ],
  [
    "a timeout asked for is kept, and does not hold the call",
    function* (hands) {
      const handed = result(yield* hands.exec(command(hangs()), { timeout: 90 }));
      yield* hands.pass(100);
      const { status, elapsed_seconds: elapsed } = result(yield* hands.status(1));
      return [handed.elapsed_seconds, handed.status, status, elapsed];
    },
    [60, "running", "timed_out", 90],
  ],
  [
    "a read waits for 30 s at most, and says that it was cut",
    waits(300),
    {
      status: "running",
      requested_wait_seconds: 300,
      effective_wait_seconds: 30,
      clamp_reasons: ["process_poll_max_wait"],
    },
  ],
  ["a read that names no wait does not wait", waits(undefined), { status: "running", effective_wait_seconds: 0 }],
  [
    "a read that waits comes back with new output",
    waits(30, { phase: hangs(lines([10, "a\n"])) }),
    { status: "running", output: "a\n", elapsed_seconds: 12 },
  ],
  [
    "what is started in the background without a timeout is ended after an hour",
    function* (hands) {
      const { background_watchdog_seconds: watchdog } = yield* background(hands);
      yield* hands.pass(3_700);
      const { status, elapsed_seconds: elapsed } = result(yield* hands.status(1));
      return { watchdog, status, elapsed };
    },
    { watchdog: 3_600, status: "timed_out", elapsed: 3_600 },
  ],
  [
    "nothing is known of a budget: 60 s are granted in the reserve too",
    runs("make", hangs()),
    handedBack(60, "cap_reached"),
    { told: 300, reserve: 290 },
  ],
]);

preset("minimax-fallback", [
  [
    "a command of 119 s is held to its end",
    runs("npm test", lasts(119)),
    { status: "completed", elapsed_seconds: 119, auto_await_outcome: null },
  ],
  [
    "a longer one is ended at 120 s",
    runs("npm test", lasts(180)),
    { status: "timed_out", elapsed_seconds: 120, hard_timeout_seconds: 120 },
  ],
  [
    "and keeps what it has printed",
    runs("npm test", hangs(lines([1, "a\n"], [119, "b\n"]))),
    { status: "timed_out", output: "a\nb\n" },
  ],
  [
    "up to 300 s may be asked for",
    runs("npm test", hangs(), 300),
    { status: "timed_out", elapsed_seconds: 300, hard_timeout_seconds: 300, clamp_reasons: [] },
  ],
  [
    "more is cut to them, and the result says so",
    runs("npm test", hangs(), 900),
    { status: "timed_out", elapsed_seconds: 300, clamp_reasons: ["hard_timeout_max"] },
  ],
  ["less is kept", runs("npm test", hangs(), 5), { status: "timed_out", elapsed_seconds: 5, hard_timeout_seconds: 5 }],
  [
    "a server in the foreground holds the model for as long, and is then dead",
    runs("npm run dev", serves(2, lines([2, "ready\n", "ready"]))),
    { status: "timed_out", elapsed_seconds: 120, output: "ready\n" },
  ],
]);

const minimax = loadPolicy("minimax").written;
const settings = minimax;

const told = (events: readonly TrialEvent[]) =>
  only(events, "told").map(({ at, kind, hint, processes }) => [inSeconds(at), hint ?? kind, ...processes]);
const secondsOf = (events: readonly { readonly at: number }[]) => events.map(({ at }) => at / 1_000);

/** Steps of 5 s; heeds nothing unless a test says so. */
const deaf = { step: seconds(5), obeys: { ...OBEYS_ALL, notice: 0, reminder: 0, hint: 0 } };
const build = (length: number, line = "npm run build") => commandOf({ line, phases: [lasts(length)] });
const inBackground = (length: number, thought: number): Plan => [
  runStep(build(length), { background: true }),
  thinks(thought),
  submits,
];
const run = (spec: Partial<RunSpec> & Pick<RunSpec, "plan">) => aRun({ settings, profile: deaf, ...spec });

describe("as its makers tell it", () => {
  test("the foreground handles fast: a command of a few hundred milliseconds comes back directly", () => {
    const events = run({ plan: [runStep(build(0.3)), submits] });
    expect(only(events, "control_returned")).toMatchObject([{ at: 300, status: "completed" }]);
  });

  test("a command expected to take long is started in the background, and hands its id back right away", () => {
    expect(only(run({ plan: inBackground(600, 5) }), "control_returned")[0]).toMatchObject({
      at: 0,
      status: "running",
    });
  });

  test("one that was not is moved there after 60 s: one process from start to finish, never run again", () => {
    const events = run({ plan: [runStep(build(600)), submits] });
    expect(secondsOf(only(events, "control_returned").slice(0, 1))).toEqual([60]);
    expect(only(events, "exec_called")).toHaveLength(1);
  });

  test("while it runs the model works on, and every request renews the cache", () => {
    const profile = { ...deaf, between: [{ does: "work", p: 1 }] } as const;
    const plan: Plan = [runStep(build(360), { neededLater: true }), thinks(400), submits];
    const yielding = aRun({ settings, profile, plan, economy });
    expect(only(yielding, "model_asked").filter(({ hit }) => hit === false)).toEqual([]);
    const waiting = aRun({ settings: loadPolicy("gaia").written, profile, plan, economy });
    expect(only(waiting, "model_asked").filter(({ hit }) => hit === false)).toHaveLength(1);
  });

  test("moving to the background cannot keep the cache warm for ever: a wake-up after twenty minutes misses it", () => {
    const plan: Plan = [runStep(build(1_200), { background: true, neededLater: true }), awaits(), submits];
    const events = run({ plan, economy, profile: { step: seconds(5), endsItsTurn: 1 } });
    expect(secondsOf(only(events, "woken"))).toEqual([1_200]);
    expect(only(events, "model_asked").find(({ at }) => at === 1_200_000)!.hit).toBe(false);
  });

  test("when it finishes a message says id, status, command and end, and nothing of the output", () => {
    const events = run({ plan: inBackground(12, 30) });
    const text =
      '{"finished":[{"process_id":"process-1","status":"completed","description":"npm run build","ended_seconds":12}]}';
    expect(only(events, "told")).toMatchObject([{ kind: "notice", processes: [1], bytes: text.length }]);
  });

  test("which is appended at the end, so that the cached prefix stays", () => {
    const events = run({ plan: inBackground(12, 30), economy });
    const asked = only(events, "model_asked");
    for (const [n, { cacheRead }] of asked.entries()) if (n > 0) expect(cacheRead).toBe(asked[n - 1]!.prompt);
  });

  test("and wakes a model that has ended its turn", () => {
    const plan: Plan = [runStep(build(600), { background: true, neededLater: true }), awaits(), submits];
    const events = run({ plan, profile: { step: seconds(5), endsItsTurn: 1 } });
    expect(only(events, "woken")).toEqual([{ event: "woken", at: 600_000, by: "message" }]);
    expect(callsOf(events)).toEqual([
      [0, "npm run build"],
      [605, "status"],
    ]);
  });

  test("a batch names 32 at most, of 8 KiB at most, and quotes 256 bytes of a command", () => {
    const many = (count: number, line: string) =>
      run({
        plan: [
          ...Array.from({ length: count }, (_, n) => runStep(build(3, line), { id: `b${n}`, background: true })),
          thinks(30),
          submits,
        ],
      });
    expect(only(many(40, "make"), "told").map(({ processes }) => processes.length)).toEqual([32, 8]);
    // 24 of some 340 bytes each: one more would not fit.
    const long = only(many(40, "x".repeat(9_000)), "told");
    expect(long.map(({ processes }) => processes.length)).toEqual([24, 16]);
    for (const { bytes } of long) expect(bytes).toBeLessThanOrEqual(8_192);
  });

  test("no more than three wake-ups in 60 s, the rest is put off", () => {
    const five = [1, 2, 3, 4, 5].map((n) =>
      runStep(build(100 + 8 * n), { id: `b${n}`, background: true, neededLater: true }),
    );
    const plan: Plan = [...five, ...["b5", "b4", "b3", "b2", "b1"].map(awaits), submits];
    const events = run({ plan, profile: { step: seconds(1), endsItsTurn: 1 } });
    expect(secondsOf(only(events, "woken"))).toEqual([108, 116, 124, 168]);
    expect(only(events, "told").at(-1)).toMatchObject({ processes: [4, 5], deferred: true });
  });

  test("a delivery that fails is tried again after 1, 2 and 5 s, then after 60, doubling to five minutes, and never given up", () => {
    const plan: Plan = [runStep(build(600), { background: true, neededLater: true }), awaits(), submits];
    const profile = { step: seconds(5), endsItsTurn: 1 };
    const events = run({ plan, profile, deliveries: { failFirst: 8, failWith: 0 }, outerLimit: 9_000 });
    const failed = only(events, "delivery_failed");
    expect(failed.map(({ at, again }) => (again! - at) / 1_000)).toEqual([1, 2, 5, 60, 120, 240, 300, 300]);
    expect(only(events, "submitted")).toHaveLength(1);
  });

  test("a read waits for new output, for 30 s at most", () => {
    const read = inSession({ settings }, function* (hands) {
      yield* background(hands, hangs(lines([200, "a\n"])));
      const cut = result(yield* hands.wait(1, 600));
      yield* hands.pass(160);
      return [cut.effective_wait_seconds, result(yield* hands.wait(1, 30)).output];
    });
    expect(read).toEqual([30, "a\n"]);
  });

  test("the same status and offset twice in a row comes with a hint to wait, or to do something else until told", () => {
    const [first, second, third] = inSession({ settings }, function* (hands) {
      yield* background(hands);
      const reads = [result(yield* hands.status(1)), result(yield* hands.status(1))];
      yield* background(hands);
      return [...reads, result(yield* hands.status(1))];
    });
    expect(first!.hint).toBeUndefined();
    expect(second!.hint!.code).toBe("repeated_read");
    expect(second!.hint!.text).toMatch(/told when it ends.*wait_sec.*do not look again at once/);
    expect(third!.hint).toBeUndefined();
  });

  test("but not after a wait that ran out, nor once there is something new", () => {
    const seen = inSession({ settings }, function* (hands) {
      yield* background(hands, hangs(lines([5, "a\n"])));
      const reads = [result(yield* hands.status(1))];
      yield* hands.pass(10);
      reads.push(result(yield* hands.status(1)), result(yield* hands.wait(1, 30)), result(yield* hands.status(1)));
      return reads.map(({ hint }) => hint?.code ?? null);
    });
    expect(seen).toEqual([null, null, "repeated_read", null]);
  });

  test("what comes back too big keeps beginning and end within 24 KiB, and says where the rest lies", () => {
    const text = "x".repeat(30_000);
    const { output, next_offset: next } = inSession({ settings }, function* (hands) {
      return result(yield* hands.exec(command(lasts(2, lines([1, text])))));
    });
    const head = Math.floor(24_576 * 0.45);
    expect(output).toBe(
      `${text.slice(0, head)}\n[bytes ${head} to ${30_000 - (24_576 - head)} left out]\n${text.slice(0, 24_576 - head)}`,
    );
    expect(next).toBe(30_000);
  });

  test("what runs in the background is read piece by piece, only what is new, or from any byte on", () => {
    const pieces = inSession({ settings }, function* (hands) {
      yield* background(hands, lasts(60, lines([1, "one\n"], [30, "two\n"])));
      yield* hands.pass(10);
      const first = result(yield* hands.status(1));
      yield* hands.pass(60);
      const second = result(yield* hands.status(1));
      return [first.output, second.offset, second.output, result(yield* hands.read(1, 0)).output];
    });
    expect(pieces).toEqual(["one\n", 4, "two\n", "one\ntwo\n"]);
  });

  test("a log that is not whole is told as that, so that nobody takes it for all there was", () => {
    const few = { ...settings, output_retained_bytes: 10 };
    const { output_complete: whole } = inSession({ settings: few }, function* (hands) {
      yield* background(hands, lasts(5, lines([1, "more than ten bytes\n"])));
      yield* hands.pass(6);
      return result(yield* hands.status(1));
    });
    expect(whole).toBe(false);
  });

  test("nobody watches: after an hour the watchdog ends what was started without a timeout, and the model is told", () => {
    const plan: Plan = [runStep(command(hangs()), { background: true, neededLater: true }), awaits(), submits];
    const events = run({ plan, profile: { step: seconds(5), endsItsTurn: 1 } });
    expect(secondsOf(only(events, "woken"))).toEqual([3_600]);
    expect(only(events, "control_returned").at(-1)).toMatchObject({ status: "timed_out" });
  });

  test("a user who stops it stops its background work: nobody is woken, and the next turn is reminded", () => {
    const plan: Plan = [runStep(command(hangs()), { background: true }), thinks(60), submits];
    const events = run({ plan, outside: [[20, "user_stop"]] });
    expect(only(events, "swept")).toMatchObject([{ at: 20_000, process: 1 }]);
    expect(told(events).filter(([, kind]) => kind === "notice")).toEqual([]);
    expect(told(events)[0]).toEqual([20, "reminder", 1]);
  });

  test.each(["clear", "switch"] as const)(
    "a %s stops the turn only: what runs in the background runs on, and is told",
    (what) => {
      const events = run({ plan: inBackground(40, 100), outside: [[20, what]] });
      expect(only(events, "swept")).toEqual([]);
      expect(told(events)[0]).toEqual([40, "notice", 1]);
    },
  );

  test("a headless run that exits leaves nothing behind", () => {
    const plan: Plan = [runStep(command(hangs()), { background: true }), thinks(20), submits];
    for (const events of [run({ plan }), run({ plan, outside: [[10, "headless_exit"]] })]) {
      expect(only(events, "swept")).toMatchObject([{ process: 1 }]);
      expect(only(events, "left_behind")).toEqual([]);
    }
  });

  test("after a restart what has no owner is lost, and does not show as running", () => {
    const plan: Plan = [
      runStep(command(hangs()), { background: true }),
      thinks(20),
      { step: "status", of: "it", thenStep: false },
      submits,
    ];
    const events = run({ plan, outside: [[10, "restart"]] });
    expect(only(events, "control_returned").at(-1)).toMatchObject({ tool: "status", status: "lost" });
  });

  test("an unread result is recalled every 15 steps, the oldest five first", () => {
    const many = [9, 8, 7, 6, 5, 4, 3].map((length) => runStep(build(length), { id: `b${length}`, background: true }));
    const events = run({ plan: [...many, thinks(200), submits] });
    expect(told(events)).toEqual([
      [5, "notice", 7, 6, 5],
      [10, "notice", 4, 3, 2, 1],
      [85, "reminder", 7, 6, 5, 4, 3],
      [160, "reminder", 7, 6, 5, 4, 3],
    ]);
  });

  test("and after a successful read nothing is recalled in that turn", () => {
    const two = [runStep(build(4), { id: "a", background: true }), runStep(build(3), { id: "b", background: true })];
    const plan: Plan = [...two, thinks(20), { step: "status", of: "a", thenStep: false }, thinks(200), submits];
    expect(told(run({ plan }))).toEqual([[5, "notice", 2, 1]]);
  });

  test("compaction loses none: the table of tasks is what counts, not the history", () => {
    const context = {
      ...{ start: 1_000, step: 1_000, poll: 100, stepOutput: 10, pollOutput: 10, bytesPerToken: 4 },
      ...{ window: 9_000, compactsAt: 0.5, kept: 500, summary: 100 },
    };
    const economy = { cache: null, price: { input: 3, output: 15 } };
    const events = run({ plan: inBackground(12, 200), economy, profile: { ...deaf, context, forgets: 1 } });
    const compacted = secondsOf(only(events, "model_asked").filter(({ purpose }) => purpose === "compaction"));
    expect(compacted.length).toBeGreaterThan(3);
    expect(told(events).map(([, kind]) => kind)).toEqual(["notice", "reminder", "reminder"]);
  });

  test("if the result cannot be read nothing goes to the background: 120 s of foreground, 300 at most, and no such argument", () => {
    const seen = inSession({ settings }, function* (hands) {
      const usual = result(yield* hands.exec(command(hangs()), { canRead: false }));
      const most = result(yield* hands.exec(command(hangs()), { canRead: false, timeout: 900 }));
      const background = refusal(yield* hands.exec(command(hangs()), { canRead: false, background: true }));
      return [usual.status, usual.elapsed_seconds, most.status, most.elapsed_seconds, background];
    });
    expect(seen.slice(0, 4)).toEqual(["timed_out", 120, "timed_out", 300]);
    expect(seen[4]).toContain("background");
  });

  test("the older path: 120 s, 300 at most, and then it is killed", () => {
    const fallback = loadPolicy("minimax-fallback").written;
    const killedAfter = (timeout?: number) =>
      inSession({ settings: fallback }, function* (hands) {
        const { status, elapsed_seconds: elapsed } = result(
          yield* hands.exec(command(hangs()), timeout === undefined ? {} : { timeout }),
        );
        return [status, elapsed];
      });
    expect([killedAfter(), killedAfter(600)]).toEqual([
      ["timed_out", 120],
      ["timed_out", 300],
    ]);
  });
});
