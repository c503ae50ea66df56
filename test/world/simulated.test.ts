import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent, Passed } from "../../src/agent/effects.ts";
import type { TrialEvent } from "../../src/agent/events.ts";
import { after, beginning, moment, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { Host } from "../../src/world/host.ts";
import { BrokenPromise, type KernelOptions } from "../../src/world/kernel.ts";
import type { Provider } from "../../src/world/provider.ts";
import { type EndedTrial, type Lane, simulate, type WorldRecord } from "../../src/world/simulated.ts";
import {
  alone,
  aRun,
  type Candidate,
  candidate,
  command,
  commandOf,
  commits,
  every,
  hangs,
  inSession,
  lasts,
  plainProvider,
  providerFor,
  type RunSpec,
  result,
  runs,
  session,
  submits,
  thinks,
} from "../aRun.ts";
import { length } from "../arbitraries.ts";

/** A trial that thinks for so many seconds and submits. */
const thinking = (length: number, outerLimit = 5_400): Candidate =>
  candidate({ plan: [thinks(length), submits], outerLimit });

interface LaneSpec {
  readonly slots: number;
  readonly candidates: readonly Candidate[];
  readonly provider?: Provider;
  readonly host?: Host;
}

/** Runs lanes to their end: the world's record, and each lane's trials in the order of its queue. */
function inAWorld(
  lanes: readonly LaneSpec[],
  { first = 0, cutGrace = 10, kernel = {} as KernelOptions } = {},
): WorldRecord & { readonly trials: readonly (readonly EndedTrial[])[]; readonly order: readonly string[] } {
  const trials: EndedTrial[][] = lanes.map(() => []);
  const order: string[] = [];
  const opened = lanes.map(
    ({ slots, candidates, ...surroundings }, lane): Lane => ({
      slots,
      ...surroundings,
      entrants: candidates.map((candidate, place) => ({
        ...candidate,
        begin: (record) => {
          order.push(`${lane}.${place}`);
          return candidate.begin(record);
        },
        ended: (trial) => {
          trials[lane]![place] = trial;
        },
      })),
    }),
  );
  return { ...simulate({ lanes: opened, first, cutGrace: seconds(cutGrace), kernel }), trials, order };
}

const spans = (trials: readonly EndedTrial[]) =>
  trials.map(({ startedAt, endedAt }) => [startedAt / 1_000, endedAt / 1_000]);
const names = (events: readonly TrialEvent[]) => events.map(({ event }) => event);
const last = (events: readonly TrialEvent[]) => events.findLast(({ event }) => event !== "left_behind");

describe("at one and the same moment", () => {
  test("output comes first: what is printed at the end of a hold is shown by it", () => {
    const output = inSession({}, function* (hands) {
      return result(yield* hands.exec(command(hangs(every(30, "on the dot\n"))))).output;
    });
    expect(output).toBe("on the dot\n");
  });

  test("output comes before silence: a line at the idle boundary keeps the initial hold going", () => {
    const { elapsed_seconds } = inSession({ settings: { foreground_auto_await_max_seconds: 0 } }, function* (hands) {
      return result(yield* hands.exec(command(hangs(every(10)))));
    });
    expect(elapsed_seconds).toBe(30);
  });

  test.each([
    ["the idle boundary", 10, {}, "not_needed"],
    ["the total boundary", 30, { foreground_idle_yield_seconds: "none" }, "not_needed"],
    ["the cap", 240, { foreground_auto_await_max_seconds: 240 }, "process_finished"],
  ] as const)("an exit comes before %s: it is seen", (_, length, settings, outcome) => {
    const shown = inSession({ settings }, function* (hands) {
      return result(yield* hands.exec(command(lasts(length))));
    });
    expect(shown).toMatchObject({ status: "completed", elapsed_seconds: length, auto_await_outcome: outcome });
  });

  test("an exit comes before the end of a wait, and before a hard timeout", () => {
    const [waited, timed] = inSession({}, function* (hands) {
      yield* hands.exec(command(lasts(60)), { background: true });
      const waited = result(yield* hands.wait(1, 60));
      return [waited, result(yield* hands.exec(command(lasts(60)), { timeout: 60 }))] as const;
    });
    expect(waited).toMatchObject({ status: "completed", elapsed_seconds: 60 });
    expect(timed).toMatchObject({ status: "completed", elapsed_seconds: 60, signal: null });
  });

  test("a hold ends before its client gives up on it", () => {
    const cancelled = (at: number) =>
      inSession({ cancels: [at] }, function* (hands) {
        return result(yield* hands.exec(command(hangs()))).auto_await_outcome;
      });
    expect([cancelled(29.999), cancelled(30)]).toEqual(["cancelled", "cap_reached"]);
  });

  test("a trial that submits at its outer limit has submitted; a millisecond later it has not", () => {
    const plan = (length: number): RunSpec => ({ plan: [thinks(length), submits], outerLimit: 300 });
    expect(last(aRun(plan(300)))).toEqual({ event: "submitted", at: seconds(300), partial: false });
    expect(last(aRun(plan(300.001)))).toEqual({ event: "cut_off", at: seconds(300) });
  });

  test("a command that ends at the outer limit has ended, and the trial may submit", () => {
    const events = aRun({ plan: [runs(command(lasts(20))), submits], outerLimit: 20 });
    expect(names(events)).toEqual([
      "trial_began",
      "exec_called",
      "auto_await_granted",
      "control_returned",
      "submitted",
    ]);
  });
});

describe("the outer harness", () => {
  test("cuts a trial off at its limit, whatever is being held", () => {
    const patient = { outerLimit: 300, settings: { process_wait_slice_seconds: "none" } } as const;
    const events = aRun({ ...patient, plan: [runs(command(hangs())), submits] });
    expect(events.slice(-2)).toEqual([
      { event: "cut_off", at: seconds(300) },
      { event: "left_behind", at: seconds(300), process: 1, end: null, answers: false },
    ]);
    expect(names(events)).toContain("wait_granted");
  });

  test("cuts a trial off in the middle of a stop, and finds the process where it is", () => {
    const stubborn = commandOf({ phases: [hangs()], onTerm: null });
    const whole = session({ outerLimit: 101 }, function* (hands) {
      yield* hands.exec(stubborn, { background: true });
      yield* hands.pass(100);
      yield* hands.stop(1);
    });
    expect(alone(whole).events.slice(-2)).toEqual([
      { event: "cut_off", at: seconds(101) },
      { event: "left_behind", at: seconds(101), process: 1, end: null, answers: false },
    ]);
  });

  test("tells of ends that nobody saw, once the trial is over", () => {
    const events = aRun({
      plan: [
        runs(command(lasts(5)), { background: true, id: "short" }),
        runs(command(hangs()), { background: true, id: "long" }),
        thinks(60),
        submits,
      ],
    });
    expect(events.slice(-3)).toEqual([
      { event: "submitted", at: seconds(60), partial: false },
      {
        event: "left_behind",
        at: seconds(60),
        process: 1,
        end: { at: seconds(5), by: "itself", code: 0, signal: null },
        answers: false,
      },
      { event: "left_behind", at: seconds(60), process: 2, end: null, answers: false },
    ]);
  });

  test("frees a slot at a submission at once, at a cut after the grace", () => {
    const { trials, endedAt } = inAWorld([{ slots: 1, candidates: [thinking(60), thinking(900, 300), thinking(50)] }], {
      cutGrace: 10,
    });
    expect(spans(trials[0]!)).toEqual([
      [0, 60],
      [60, 360],
      [370, 420],
    ]);
    expect(endedAt).toBe(420_000);
  });
});

describe("a client that gives up on a call", () => {
  test("ends the hold and not the process", () => {
    const { first, waited, later } = inSession({ cancels: [5, 40] }, function* (hands) {
      const first = result(yield* hands.exec(command(hangs())));
      yield* hands.pass(25);
      const waited = result(yield* hands.wait(1, 60));
      return { first, waited, later: result(yield* hands.list()) };
    });
    expect(first).toMatchObject({ status: "running", elapsed_seconds: 5, auto_await_outcome: "cancelled" });
    expect(waited).toMatchObject({
      status: "running",
      elapsed_seconds: 40,
      effective_wait_seconds: 60,
      clamp_reasons: [],
    });
    expect(later.processes).toMatchObject([{ process_id: "process-1", status: "running", elapsed_seconds: 40 }]);
  });

  test("ends whatever hold there is: in auto-await, and under a hard timeout, which then still holds", () => {
    const { auto, hard, end } = inSession({ cancels: [15, 35] }, function* (hands) {
      const auto = result(yield* hands.exec(command(hangs())));
      yield* hands.pass(15);
      const hard = result(yield* hands.exec(command(hangs()), { timeout: 60 }));
      return { auto, hard, end: result(yield* hands.wait(2, 3_600)) };
    });
    expect(auto).toMatchObject({ auto_await_outcome: "cancelled", elapsed_seconds: 15 });
    expect(hard).toMatchObject({ auto_await_outcome: "cancelled", elapsed_seconds: 5, status: "running" });
    expect(end).toMatchObject({ status: "timed_out", elapsed_seconds: 60 });
  });

  test("changes nothing where no call is held", () => {
    const plan = [thinks(10), runs(command(lasts(2))), thinks(10), submits];
    expect(aRun({ plan, cancels: [5, 15, 500] })).toEqual(aRun({ plan }));
  });

  test("does not end a stop, which takes its grace", () => {
    const stopped = inSession({ cancels: [11] }, function* (hands) {
      yield* hands.exec(commandOf({ phases: [hangs()], onTerm: null }), { background: true });
      yield* hands.pass(10);
      return result(yield* hands.stop(1));
    });
    expect(stopped).toMatchObject({ status: "terminated", elapsed_seconds: 12, signal: "SIGKILL" });
  });
});

describe("lanes", () => {
  const lane = (slots: number, ...lengths: readonly number[]): LaneSpec => ({
    slots,
    candidates: lengths.map((length) => thinking(length)),
  });

  test("start their next trial at the very millisecond a slot is free, in the order of the queue", () => {
    const { trials, firstQueueEmptyAt } = inAWorld([lane(2, 30, 10, 15, 5, 100)]);
    expect(spans(trials[0]!)).toEqual([
      [0, 30],
      [0, 10],
      [10, 25],
      [25, 30],
      [30, 130],
    ]);
    expect(firstQueueEmptyAt).toBe(30_000);
  });

  test("take turns at ties, beginning with another one in each replicate", () => {
    const lanes = [lane(1, 10, 10), lane(1, 10, 10), lane(1, 10)];
    const order = (first: number) => inAWorld(lanes, { first }).order;
    expect(order(0)).toEqual(["0.0", "1.0", "2.0", "0.1", "1.1"]);
    expect(order(1)).toEqual(["1.0", "2.0", "0.0", "1.1", "0.1"]);
    expect(order(2)).toEqual(["2.0", "0.0", "1.0", "0.1", "1.1"]);
    expect(order(5)).toEqual(order(2));
  });

  test("start nobody before all else of that moment has happened", () => {
    // At 10 s the trial of the second lane ends first, since it began first; the first lane is served first all the same.
    const { order } = inAWorld([lane(1, 5, 5, 5), lane(1, 10, 5)]);
    expect(order).toEqual(["0.0", "1.0", "0.1", "0.2", "1.1"]);
  });

  test("may have several slots free at one moment, after a cut and after a submission", () => {
    const { trials, occupancy } = inAWorld(
      [{ slots: 2, candidates: [thinking(10), thinking(99, 5), thinking(10), thinking(10)] }],
      { cutGrace: 5 },
    );
    expect(spans(trials[0]!).slice(2)).toEqual([
      [10, 20],
      [10, 20],
    ]);
    expect(occupancy).toEqual([{ since: [0, 20_000], taken: [2, 0] }]);
  });

  test("record how many of their slots are taken, and since when", () => {
    const { occupancy } = inAWorld([lane(2, 30, 10, 15, 5), lane(1, 7)]);
    expect(occupancy).toEqual([
      { since: [0, 30_000], taken: [2, 0] },
      { since: [0, 7_000], taken: [1, 0] },
    ]);
  });

  test("say of each trial how many slots were taken while it ran, on average", () => {
    const { trials } = inAWorld([lane(2, 40, 10)]);
    expect(trials[0]!.map(({ concurrency }) => concurrency)).toEqual([1.25, 2]);
  });

  test("may be empty, and trials may take no time", () => {
    const { trials, firstQueueEmptyAt, endedAt } = inAWorld([lane(1), lane(1, 0, 0, 5, 0)]);
    expect(spans(trials[1]!)).toEqual([
      [0, 0],
      [0, 0],
      [0, 5],
      [5, 5],
    ]);
    expect([firstQueueEmptyAt, endedAt]).toEqual([0, 5_000]);
    expect(simulate({ lanes: [], first: 3, cutGrace: seconds(0) })).toEqual({
      delivered: 1,
      endedAt: 0,
      occupancy: [],
      firstQueueEmptyAt: 0,
    });
  });

  const someLanes = fc.array(
    fc.record({
      slots: fc.integer({ min: 1, max: 4 }),
      candidates: fc.array(
        fc.tuple(length(0, 60), fc.constantFrom(30, 5_400)).map(([length, limit]) => thinking(length, limit)),
        { maxLength: 8 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  );

  test("never take more slots than they have, leave none free while somebody waits, and count every millisecond", () => {
    fc.assert(
      fc.property(someLanes, fc.nat(5), fc.constantFrom(0, 10), (lanes, first, cutGrace) => {
        const world = inAWorld(lanes, { first, cutGrace });
        for (const [index, { slots, candidates }] of lanes.entries()) {
          const trials = world.trials[index]!;
          const { since, taken } = world.occupancy[index]!;
          expect(trials).toHaveLength(candidates.length);
          expect(Math.max(...taken)).toBeLessThanOrEqual(slots);
          const freed = trials.map((trial) => trial.endedAt + (wasCut(trial) ? cutGrace * 1_000 : 0));
          const held = trials.reduce((sum, { startedAt }, at) => sum + freed[at]! - startedAt, 0);
          expect(since.reduce((sum, from, at) => sum + taken[at]! * ((since[at + 1] ?? from) - from), 0)).toBe(held);
          // Each trial starts with a full lane, or at once; in the order of the queue.
          for (const [at, { startedAt }] of trials.entries()) {
            expect(startedAt).toBeGreaterThanOrEqual(trials[at - 1]?.startedAt ?? 0);
            const before = freed.slice(0, at).sort((a, b) => b - a);
            expect(startedAt).toBe(Math.max(before[slots - 1] ?? 0, trials[at - 1]?.startedAt ?? 0));
          }
        }
      }),
    );
  });

  test("come to the same whatever equals are shuffled", () => {
    fc.assert(
      fc.property(someLanes, fc.nat(5), fc.nat(), (lanes, first, seed) => {
        const { delivered: _, order: __, ...plain } = inAWorld(lanes, { first });
        const shuffle = { draws: keyed, key: keyed.seeded(seed) };
        const { delivered: ___, order: ____, ...shuffled } = inAWorld(lanes, { first, kernel: { shuffle } });
        expect(shuffled).toEqual(plain);
      }),
    );
  });

  const wasCut = ({ events }: EndedTrial) => last(events)?.event === "cut_off";
});

describe("a host", () => {
  const busy = (length: number, more: Partial<RunSpec> = {}) =>
    candidate({
      settings: { foreground_auto_await_max_seconds: "none" },
      plan: [runs(command(lasts(length, undefined, 1))), submits],
      ...more,
    });
  const oneCore = () => new Host({ speed: 1, cores: 1 });

  test("is shared by all trials of its lane, and by no other", () => {
    const lanes = [
      { slots: 2, candidates: [busy(20), busy(20)], host: oneCore() },
      { slots: 2, candidates: [busy(20), busy(20)], host: new Host({ speed: 1, cores: 2 }) },
      { slots: 2, candidates: [busy(20), busy(20)] },
    ];
    const { trials } = inAWorld(lanes);
    expect(trials.map((lane) => spans(lane).map(([, end]) => end))).toEqual([
      [40, 40],
      [20, 20],
      [20, 20],
    ]);
  });

  test("has its cores back from a trial that is over, whatever it has left running", () => {
    // Until 10 s each gets half of the core; what the first leaves behind is its own affair from then on.
    const background = { plan: [runs(command(hangs(undefined, 1)), { background: true }), thinks(10), submits] };
    const { trials } = inAWorld([{ slots: 2, candidates: [busy(0, background), busy(20)], host: oneCore() }]);
    expect(spans(trials[0]!)).toEqual([
      [0, 10],
      [0, 25],
    ]);
    const { trials: cut } = inAWorld([
      { slots: 2, candidates: [busy(900, { outerLimit: 10 }), busy(20)], host: oneCore() },
    ]);
    expect(spans(cut[0]!)[1]).toEqual([0, 25]);
  });

  test("makes a world last no longer than its trials do", () => {
    const timed = { plan: [runs(command(lasts(5)), { timeout: 3_000 }), submits] };
    expect(inAWorld([{ slots: 1, candidates: [busy(0, timed)], host: oneCore() }]).endedAt).toBe(5_000);
  });

  test("comes to the same whatever equals are shuffled", () => {
    const lane = () => [{ slots: 3, candidates: [busy(20), busy(20), busy(30), busy(10)], host: oneCore() }];
    const plain = inAWorld(lane()).trials;
    for (let seed = 0; seed < 20; seed += 1) {
      const shuffle = { draws: keyed, key: keyed.seeded(seed) };
      expect(inAWorld(lane(), { kernel: { shuffle } }).trials).toEqual(plain);
    }
  });
});

describe("a provider", () => {
  const economy = { cache: null, price: { input: 3, output: 15 } };
  const asking = candidate({ economy, plan: [thinks(10), submits], profile: { step: seconds(10) } });
  const single = () => providerFor({ ...asking, provider: { ...plainProvider, inFlight: 1 } })!;

  test("serves the trials of its lane one after the other, where it has but one place", () => {
    const { trials } = inAWorld([{ slots: 3, candidates: [asking, asking, asking], provider: single() }]);
    expect(spans(trials[0]!).map(([, end]) => end)).toEqual([10, 20, 30]);
  });

  test("may be one for several lanes, or one for each", () => {
    const shared = single();
    const lane = (provider: Provider) => ({ slots: 1, candidates: [asking], provider });
    const ends = (...lanes: LaneSpec[]) => inAWorld(lanes).trials.map(([trial]) => trial!.endedAt / 1_000);
    expect(ends(lane(shared), lane(shared))).toEqual([10, 20]);
    expect(ends(lane(single()), lane(single()))).toEqual([10, 10]);
  });
});

describe("a trial's own moments", () => {
  test("count from its own beginning, whenever that is", () => {
    const plan = [runs(command(hangs()), { background: true }), thinks(7), commits, submits];
    const { trials } = inAWorld([{ slots: 1, candidates: [thinking(1_234.567), candidate({ plan })] }]);
    expect(trials[0]![1]!.startedAt).toBe(1_234_567);
    expect(trials[0]![1]!.events).toEqual(aRun({ plan }));
  });
});

describe("a world that does not get on", () => {
  const lost = (agent: () => Agent<void>): Candidate => ({ outerLimit: seconds(1e6), begin: agent });

  test("fails at its limit of events, with the end of the trace", () => {
    const plan = [runs(command(hangs())), submits];
    const waiting = candidate({ plan, outerLimit: 1e6, profile: { waits: [{ from: 1, length: seconds(10) }] } });
    const run = () => alone(waiting, { eventLimit: 500 });
    expect(run).toThrow(BrokenPromise);
    expect(run).toThrow(
      "the world did not end within 500 events; it stands at 3765000 ms; the trial that was on its way ends with:",
    );
    expect(run).toThrow(
      /\n {3}3755\.000 {2}wait {5}process-1 {2}10 s asked\n {3}3755\.000 {2}held .* until 3765\.000$/,
    );
  });

  test("fails where an agent goes on and on at one moment", () => {
    const restless = lost(function* () {
      for (let now = beginning; ; ) now = ((yield { effect: "pass", until: now }) as Passed).at;
    });
    expect(() => alone(restless)).toThrow(/^an agent asked for 100000 things in one moment, at 0 ms/);
  });

  test("fails where an agent waits for nothing that will happen", () => {
    const alive = lost(function* () {
      yield { effect: "hold", anyOf: [7 as never], until: moment(5), quiet: null };
    });
    expect(() => alone(alive)).toThrow("process 7 was never started");
  });

  test("fails where an agent that was cut off asks for more", () => {
    const deaf: Candidate = {
      outerLimit: seconds(10),
      *begin() {
        for (;;) {
          try {
            yield { effect: "pass", until: after(beginning, seconds(1_000)) };
          } catch {}
        }
      },
    };
    expect(() => alone(deaf)).toThrow("an agent that was cut off asked for more");
  });
});

test("a trial of more than 24 days keeps its time", () => {
  const events = aRun({ outerLimit: 5_000_000, plan: [thinks(3_000_000), submits] });
  expect(events.at(-1)).toEqual({ event: "submitted", at: 3_000_000_000, partial: false });
});
