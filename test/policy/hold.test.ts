import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RunBudget, reserveBegins } from "../../src/policy/budget.ts";
import {
  type AtBoundary,
  askedWait,
  autoAwait,
  capEnds,
  effectiveCap,
  extension,
  farthestGrant,
  initialTotalBoundary,
  processWait,
  refusedCeiling,
  sliceOf,
} from "../../src/policy/hold.ts";
import { type Settings, settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import {
  after,
  beginning,
  between,
  type Duration,
  type Instant,
  longer,
  moment,
  never,
  seconds,
} from "../../src/policy/time.ts";
import { length, someSettings } from "../arbitraries.ts";

const at = (amount: number) => moment(seconds(amount));

/** 5,400 s told, 600 s in reserve: it begins at 4,800 s. */
const budget: RunBudget = { deadline: at(5_400), reserve: seconds(600), length: seconds(5_400) };

/** A silent command that was called and started at a moment, at the end of its initial 10 s. */
const silentFrom = (start: number, boundary = start + 10): AtBoundary => ({
  calledAt: at(start),
  startedAt: at(start),
  boundary: at(boundary),
  lastOutputAt: null,
});

const cap = (amount: number | "none", more: WrittenSettings = {}) =>
  settingsOf({ foreground_auto_await_max_seconds: amount, ...more });

describe("an initial hold", () => {
  test("ends by its total bound so long after the start, and never without one", () => {
    expect(initialTotalBoundary(at(5), settingsOf())).toBe(at(35));
    expect(initialTotalBoundary(at(5), settingsOf({ foreground_total_yield_seconds: "none" }))).toBe(never);
  });
});

describe("auto-await", () => {
  test("of cap 240 lasts until 240 s after the start, not after the boundary", () => {
    expect(autoAwait(silentFrom(100), cap(240), null)).toEqual({ until: at(340), clampReasons: [] });
  });

  test("of cap 0 ends at the boundary, as asked", () => {
    expect(autoAwait(silentFrom(0), cap(0), budget)).toEqual({ until: at(10), clampReasons: [] });
  });

  test("of a cap at or under the boundary ends there, as asked", () => {
    expect(autoAwait(silentFrom(0), cap(10), budget)).toEqual({ until: at(10), clampReasons: [] });
    expect(autoAwait(silentFrom(0, 30), cap(20), budget)).toEqual({ until: at(30), clampReasons: [] });
  });

  test("without a cap lasts until the command ends, or the reserve begins", () => {
    expect(autoAwait(silentFrom(0), cap("none"), null)).toEqual({ until: never, clampReasons: [] });
    expect(autoAwait(silentFrom(0), cap("none"), budget)).toEqual({
      until: at(4_800),
      clampReasons: ["remaining_run_budget"],
    });
  });

  test("ends where the reserve begins, 60 s after the start", () => {
    expect(autoAwait(silentFrom(4_740), cap(240), budget)).toEqual({
      until: at(4_800),
      clampReasons: ["remaining_run_budget"],
    });
  });

  test("takes no notice of the budget where it is told not to", () => {
    const heedless = cap(240, { foreground_auto_await_budget_aware: false });
    expect(autoAwait(silentFrom(4_740), heedless, budget)).toEqual({ until: at(4_980), clampReasons: [] });
  });

  test("ends at the boundary when that lies in the reserve, because of the budget", () => {
    const expected = (boundary: number) => ({ until: at(boundary), clampReasons: ["remaining_run_budget"] });
    expect(autoAwait(silentFrom(4_795), cap(240), budget)).toEqual(expected(4_805));
    expect(autoAwait(silentFrom(4_900), cap(240), budget)).toEqual(expected(4_910));
    expect(autoAwait(silentFrom(9_000), cap(240), budget)).toEqual(expected(9_010));
  });

  test("has no reason to name where the reserve begins exactly at the cap", () => {
    expect(autoAwait(silentFrom(4_560), cap(240), budget)).toEqual({ until: at(4_800), clampReasons: [] });
    expect(autoAwait(silentFrom(4_560.001), cap(240), budget)).toEqual({
      until: at(4_800),
      clampReasons: ["remaining_run_budget"],
    });
  });

  test("ends where the client of the call would give up, counted from the call", () => {
    const late: AtBoundary = { ...silentFrom(1), calledAt: at(0) };
    expect(autoAwait(late, cap(240, { max_hold_seconds: 60 }), null)).toEqual({
      until: at(60),
      clampReasons: ["client_call_limit"],
    });
  });

  test("names both bounds when two bind at one moment, and only the earlier one otherwise", () => {
    const limited = cap(240, { max_hold_seconds: 60 });
    const reasons = (start: number) => autoAwait(silentFrom(start), limited, budget).clampReasons;
    expect(reasons(4_740)).toEqual(["remaining_run_budget", "client_call_limit"]);
    expect(reasons(4_739.999)).toEqual(["client_call_limit"]);
    expect(reasons(4_740.001)).toEqual(["remaining_run_budget"]);
    // Both raised to the boundary, the earliest possible answer.
    const atOnce = cap(240, { max_hold_seconds: 30 });
    expect(autoAwait(silentFrom(4_900, 4_930), atOnce, budget).clampReasons).toEqual([
      "remaining_run_budget",
      "client_call_limit",
    ]);
  });

  test("leaves of its cap, under the budget, what lies before the reserve", () => {
    const left = (start: number, settings = cap(240)) => effectiveCap(at(start), settings, budget);
    expect([left(0), left(4_740), left(4_900)]).toEqual([seconds(240), seconds(60), 0]);
    expect(left(4_740, cap("none"))).toBe(seconds(60));
    expect(left(4_740, cap(240, { foreground_auto_await_budget_aware: false }))).toBe(seconds(240));
    expect(effectiveCap(at(4_740), cap(240), null)).toBe(seconds(240));
    expect(effectiveCap(at(4_740), cap("none"), null)).toBeNull();
  });

  test("of a run that ends sooner is cut short as late, however little that run keeps in reserve", () => {
    const wary = cap(240, {
      auto_await_risk: "advisory",
      risk_cap_late_in_run_seconds: 20,
      risk_late_in_run_fraction: 0.5,
    });
    const run = (length: number, reserve: number): RunBudget => ({
      deadline: at(length),
      reserve: seconds(reserve),
      length: seconds(length),
    });
    expect(autoAwait(silentFrom(540), wary, run(1_000, 0))).toEqual({ until: at(560), clampReasons: ["command_risk"] });
    expect(autoAwait(silentFrom(540), wary, run(1_200, 400))).toEqual({ until: at(780), clampReasons: [] });
  });

  describe("whose cap is extended by output", () => {
    const extended = (amount: number | "none", more: WrittenSettings = {}) =>
      cap(amount, { foreground_auto_await_extends_on_output: true, ...more });
    const lastOutput = (second: number): AtBoundary => ({ ...silentFrom(0, 30), lastOutputAt: at(second) });

    test("lasts until so long after the last output, at most 600 s from the start", () => {
      expect(capEnds(lastOutput(25), extended(60))).toBe(at(85));
      expect(capEnds(lastOutput(580), extended(60))).toBe(at(600));
      expect(farthestGrant(lastOutput(25), extended(60), null)).toBe(at(600));
    });

    test("lasts its cap where there was no output", () => {
      expect(capEnds(silentFrom(0), extended(60))).toBe(at(60));
    });

    test("has a farthest end that is never under the cap, and may have none", () => {
      expect(capEnds(lastOutput(25), extended(900))).toBe(at(900));
      const endless = extended(60, { foreground_auto_await_absolute_max_seconds: "none" });
      expect(capEnds(lastOutput(9_000), endless)).toBe(at(9_060));
      expect(farthestGrant(lastOutput(25), endless, null)).toBe(never);
      expect(farthestGrant(lastOutput(25), endless, budget)).toBe(at(4_800));
    });

    test("stays off where it was off, and unbounded where it had no bound", () => {
      expect([extension(extended(0)), extension(extended("none")), extension(cap(60))]).toEqual([null, null, null]);
      expect(capEnds(lastOutput(25), extended(0))).toBe(at(0));
      expect(capEnds(lastOutput(25), extended("none"))).toBe(never);
      expect(extension(extended(60))).toBe(seconds(60));
    });

    test("is still ended by the reserve", () => {
      const late: AtBoundary = { ...silentFrom(4_700, 4_730), lastOutputAt: at(4_725) };
      expect(autoAwait(late, extended(60), budget)).toEqual({ until: at(4_785), clampReasons: [] });
      expect(autoAwait({ ...late, lastOutputAt: at(4_750) }, extended(60), budget)).toEqual({
        until: at(4_800),
        clampReasons: ["remaining_run_budget"],
      });
    });
  });
});

describe("a process wait", () => {
  const wait = (asked: number, settings: Settings, run: RunBudget | null, now: number) =>
    processWait(seconds(asked), settings, run, null, at(now));
  const sliced = settingsOf({ process_wait_slice_seconds: 240 });
  const unsliced = settingsOf({ process_wait_slice_seconds: "none" });

  test("of 30 s, under every bound, is granted as asked", () => {
    expect(wait(30, sliced, budget, 1_000)).toEqual({ until: at(1_030), clampReasons: [] });
  });

  test("of 3,600 s gives control back after one slice of 240 s", () => {
    expect(wait(3_600, sliced, null, 1_000)).toEqual({ until: at(1_240), clampReasons: ["process_wait_slice"] });
  });

  test("of 3,600 s, with 710 s left and 600 s in reserve, lasts 110 s", () => {
    expect(wait(3_600, unsliced, budget, 4_690)).toEqual({ until: at(4_800), clampReasons: ["remaining_run_budget"] });
  });

  test("with 500 s left and 600 s in reserve does not begin", () => {
    const none = { until: at(4_900), clampReasons: ["remaining_run_budget"] };
    expect(wait(3_600, unsliced, budget, 4_900)).toEqual(none);
    expect(wait(10, sliced, budget, 4_900)).toEqual(none);
    expect(wait(3_600, unsliced, budget, 4_800)).toEqual({ until: at(4_800), clampReasons: ["remaining_run_budget"] });
  });

  test("of 3,600 s is granted in full without a budget, the slice on auto", () => {
    expect(wait(3_600, settingsOf(), null, 1_000)).toEqual({ until: at(4_600), clampReasons: [] });
  });

  test("of 3,600 s is granted in full, reserve or not, where it takes no notice of the budget", () => {
    const heedless = settingsOf({ process_wait_budget_aware: false, process_wait_slice_seconds: "none" });
    expect(wait(3_600, heedless, budget, 4_690)).toEqual({ until: at(8_290), clampReasons: [] });
  });

  test("beyond the ceiling is cut to it", () => {
    expect(wait(7_200, unsliced, null, 0)).toEqual({ until: at(3_600), clampReasons: ["process_poll_max_wait"] });
    const endless = settingsOf({ process_wait_slice_seconds: "none", process_poll_max_wait_seconds: "none" });
    expect(wait(7_200, endless, null, 0)).toEqual({ until: at(7_200), clampReasons: [] });
  });

  test("ends where its client would give up", () => {
    const limited = settingsOf({ max_hold_seconds: 60 });
    expect(wait(3_600, limited, null, 100)).toEqual({ until: at(160), clampReasons: ["client_call_limit"] });
  });

  test("names every bound that binds at one moment", () => {
    expect(wait(3_600, sliced, budget, 4_560).clampReasons).toEqual(["process_wait_slice", "remaining_run_budget"]);
    const all = settingsOf({
      process_wait_slice_seconds: 60,
      process_poll_max_wait_seconds: 60,
      max_hold_seconds: 60,
    });
    expect(wait(3_600, all, budget, 4_740).clampReasons).toEqual([
      "process_poll_max_wait",
      "process_wait_slice",
      "remaining_run_budget",
      "client_call_limit",
    ]);
    expect(wait(60, all, budget, 4_740).clampReasons).toEqual([]);
  });

  test("of no time at all in the reserve has nothing to be cut", () => {
    expect(wait(0, sliced, budget, 4_900)).toEqual({ until: at(4_900), clampReasons: [] });
  });

  describe("in slices", () => {
    test("has those of its setting; on auto 240 s once a budget is told; at the model's cadence if it has one", () => {
      expect(sliceOf(sliced, null, seconds(20))).toBe(seconds(240));
      expect(sliceOf(unsliced, budget, seconds(20))).toBeNull();
      expect([sliceOf(settingsOf(), budget, null), sliceOf(settingsOf(), null, null)]).toEqual([seconds(240), null]);
      const cadence = settingsOf({ process_wait_slice_seconds: "model_cadence" });
      expect([sliceOf(cadence, budget, seconds(20)), sliceOf(cadence, budget, null)]).toEqual([seconds(20), null]);
    });
  });

  describe("as it is asked for", () => {
    const asked = (requested: number | null, settings: Settings = settingsOf()) =>
      askedWait(requested === null ? null : seconds(requested), settings);

    test("is what the model names, raised to the floor", () => {
      expect(asked(30)).toEqual({ requested: seconds(30), asked: seconds(30), raised: false, defaulted: false });
      expect(asked(3)).toEqual({ requested: seconds(3), asked: seconds(10), raised: true, defaulted: false });
    });

    test("is the default where the model names none, raised to the floor as well", () => {
      expect(asked(null)).toEqual({ requested: seconds(30), asked: seconds(30), raised: false, defaulted: true });
      const low = settingsOf({ process_poll_default_wait_seconds: 5 });
      expect(asked(null, low)).toEqual({ requested: seconds(5), asked: seconds(10), raised: true, defaulted: true });
    });

    test("has every upper bound beat the floor", () => {
      const low = settingsOf({ process_poll_min_wait_seconds: 60, process_wait_slice_seconds: 20 });
      expect(wait(60, low, null, 0)).toEqual({ until: at(20), clampReasons: ["process_wait_slice"] });
    });

    test("is refused beyond the ceiling only where it is not to be cut", () => {
      const refusing = settingsOf({ process_poll_over_max: "refuse" });
      expect(refusedCeiling(asked(3_600, refusing), refusing)).toBeNull();
      expect(refusedCeiling(asked(3_600.001, refusing), refusing)).toBe(seconds(3_600));
      expect(refusedCeiling(asked(9_000), settingsOf())).toBeNull();
      const endless = settingsOf({ process_poll_over_max: "refuse", process_poll_max_wait_seconds: "none" });
      expect(refusedCeiling(asked(9_000, endless), endless)).toBeNull();
      // The floor is the runtime's own doing, and no reason to refuse.
      const low = settingsOf({ process_poll_over_max: "refuse", process_poll_max_wait_seconds: 5 });
      expect(refusedCeiling(asked(3, low), low)).toBeNull();
    });
  });
});

describe("whatever is asked and whenever,", () => {
  const someBudget: fc.Arbitrary<RunBudget> = fc
    .tuple(length(0, 3_000), length(0, 1_000))
    .map(([length, reserve]) => ({ deadline: at(length), reserve: seconds(reserve), length: seconds(length) }));
  const settings = someSettings.map((layer) => settingsOf(layer));
  const instant = length(0, 3_000).map(at);
  const someLength = length(0, 4_000).map(seconds);
  const someCommand: fc.Arbitrary<AtBoundary> = fc
    .tuple(instant, length(0, 40), length(0, 2), fc.option(length(0, 40)))
    .map(([calledAt, initial, late, output]) => {
      const startedAt = after(calledAt, seconds(late));
      const boundary = after(startedAt, seconds(initial));
      const lastOutputAt = output === null ? null : after(startedAt, seconds(Math.min(output, initial)));
      return { calledAt, startedAt, boundary, lastOutputAt };
    });
  /**
   * Of two runs the less that is left, or the more. The deadline counts as the reserve's beginning does: being late in a run is of
   * its whole length, so one that keeps less in reserve but ends sooner is late sooner, and may be granted less.
   */
  const bounding = (runs: readonly RunBudget[], pick: (...ends: number[]) => number): RunBudget => {
    const deadline = pick(...runs.map((run) => run.deadline)) as Instant;
    const begins = pick(...runs.map(reserveBegins)) as Instant;
    return { deadline, reserve: between(begins, deadline), length: between(beginning, deadline) };
  };
  const cadence = fc.option(length(0, 300).map(seconds));
  const aware = (settings: Settings, is: boolean): Settings => ({
    ...settings,
    foregroundAutoAwaitBudgetAware: is,
    processWaitBudgetAware: is,
  });

  test("a hold never ends before it begins, nor in the reserve if it began before", () => {
    fc.assert(
      fc.property(
        someLength,
        settings,
        someBudget,
        cadence,
        instant,
        someCommand,
        (asked, s, run, pace, now, command) => {
          for (const [hold, from] of [
            [processWait(asked, aware(s, true), run, pace, now), now],
            [autoAwait(command, aware(s, true), run), command.boundary],
          ] as const) {
            expect(hold.until).toBeGreaterThanOrEqual(from);
            expect(hold.until).toBeLessThanOrEqual(Math.max(from, reserveBegins(run)));
          }
        },
      ),
    );
  });

  test("being aware of the budget never grants more, and nor does a budget that was not told", () => {
    fc.assert(
      fc.property(
        someLength,
        settings,
        someBudget,
        cadence,
        instant,
        someCommand,
        (asked, s, run, pace, now, command) => {
          const until = (is: boolean, run: RunBudget | null) => [
            processWait(asked, aware(s, is), run, pace, now).until,
            autoAwait(command, aware(s, is), run).until,
          ];
          const [wait, auto] = until(true, run);
          for (const [otherWait, otherAuto] of [until(false, run), until(true, null)]) {
            expect(wait).toBeLessThanOrEqual(otherWait!);
            expect(auto).toBeLessThanOrEqual(otherAuto!);
          }
        },
      ),
    );
  });

  test("more time left never grants less, and nor does asking for more", () => {
    fc.assert(
      fc.property(
        fc.tuple(someLength, someLength),
        fc.tuple(someBudget, someBudget),
        settings,
        cadence,
        instant,
        someCommand,
        (lengths, runs, s, pace, now, command) => {
          const [less, more] = [...lengths].sort((a, b) => a - b) as [Duration, Duration];
          const [early, late] = [bounding(runs, Math.min), bounding(runs, Math.max)];
          const waits = [less, more].map((asked) => processWait(asked, s, early, pace, now).until);
          expect(waits[0]).toBeLessThanOrEqual(waits[1]!);
          expect(waits[0]).toBeLessThanOrEqual(processWait(less, s, late, pace, now).until);
          expect(autoAwait(command, s, early).until).toBeLessThanOrEqual(autoAwait(command, s, late).until);
          const [lower, higher] = [less, more].map(
            (cap) => autoAwait(command, { ...s, foregroundAutoAwaitMax: cap }, early).until,
          );
          expect(lower).toBeLessThanOrEqual(higher!);
        },
      ),
    );
  });

  test("reasons are empty exactly when the grant is what was asked", () => {
    const run = fc.option(someBudget);
    fc.assert(
      fc.property(someLength, settings, run, cadence, instant, someCommand, (asked, s, run, pace, now, command) => {
        const wait = processWait(asked, s, run, pace, now);
        expect(wait.clampReasons.length === 0).toBe(wait.until === after(now, asked));
        const auto = autoAwait(command, s, run);
        const wished = Math.max(capEnds(command, s), command.boundary);
        expect(auto.clampReasons.length === 0).toBe(auto.until === wished);
      }),
    );
  });

  test("every reason named stands at the end of the hold, and every bound that stands there is named", () => {
    fc.assert(
      fc.property(someLength, settings, fc.option(someBudget), cadence, instant, (asked, s, run, pace, now) => {
        const { until, clampReasons } = processWait(asked, s, run, pace, now);
        const from = (length: Duration | null): Instant => (length === null ? never : after(now, length));
        const bounds: Record<string, Instant> = {
          process_poll_max_wait: from(s.processPollMaxWait),
          process_wait_slice: from(sliceOf(s, run, pace)),
          remaining_run_budget:
            s.processWaitBudgetAware && run !== null
              ? moment(longer(reserveBegins(run) as never, now as never))
              : never,
          client_call_limit: from(s.maxHold),
        };
        const standing = Object.keys(bounds).filter((name) => bounds[name] === until && until < after(now, asked));
        expect(clampReasons).toEqual(standing);
      }),
    );
  });

  test("a command is granted at the most what output could ever make of it", () => {
    fc.assert(
      fc.property(settings, fc.option(someBudget), someCommand, (s, run, command) => {
        expect(autoAwait(command, s, run).until).toBeLessThanOrEqual(farthestGrant(command, s, run));
      }),
    );
  });
});
