/**
 * What holds for every policy, every model, every command and every harness, over whole trials.
 *
 * Each law is held to twice: by trials alone in their world, and by trials in a crowd, where entries of equal time and
 * rank are shuffled. What a policy promises must not hang on an order that nobody promised.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent, End } from "../src/agent/effects.ts";
import type { TrialEvent } from "../src/agent/events.ts";
import type { Totals } from "../src/agent/shell.ts";
import { reserveBegins } from "../src/policy/budget.ts";
import { type SettingKey, type Settings, settingsOf, type WrittenSettings } from "../src/policy/settings.ts";
import { never, nothing, seconds } from "../src/policy/time.ts";
import { keyed } from "../src/random.ts";
import { type ScriptedCommand, scripted } from "../src/world/script.ts";
import { type EndedTrial, simulate } from "../src/world/simulated.ts";
import { DRAIN_QUIET } from "../src/world/watched.ts";
import {
  alone,
  aRun,
  type Candidate,
  candidate,
  type Hands,
  inSession,
  type RunSpec,
  result,
  type SessionSpec,
  session,
} from "./aRun.ts";
import {
  anyTrial,
  length,
  type Move,
  someBytes,
  someCommand,
  someEconomy,
  someHost,
  somePhases,
  somePlan,
  someProfile,
  someProvider,
  someQuickCommand,
  someSession,
  someSettings,
  someText,
  someTrial,
  trialOf,
} from "./arbitraries.ts";
import { rowsOf } from "./rowsOf.ts";

type Spec = RunSpec | (SessionSpec & { readonly moves: readonly Move[] });

/** Plain runs, or calls made by hand: one call after the other. */
const somethingTried: fc.Arbitrary<Spec> = fc.oneof(someTrial, someSession);

/** The same, or a trial with all that there is to a trial. */
const anythingTried: fc.Arbitrary<Spec> = fc.oneof(someTrial, someSession, { weight: 2, arbitrary: anyTrial });

/** Performs a candidate; `luck` shuffles where there is anything to shuffle. */
type World = (candidate: Candidate, luck: number) => EndedTrial;

const worlds: Readonly<Record<string, World>> = {
  "alone in its world": (candidate) => alone(candidate),
  "in a shuffled crowd": inACrowd,
};

/** Four times the same trial, in two lanes of three slots: all they do falls on the same moments. */
function inACrowd(candidate: Candidate, luck: number): EndedTrial {
  const ends: EndedTrial[] = [];
  const entrant = { ...candidate, ended: (trial: EndedTrial) => void ends.push(trial) };
  simulate({
    first: luck,
    cutGrace: seconds(10),
    kernel: { shuffle: { draws: keyed, key: keyed.seeded(luck) } },
    lanes: [
      { slots: 2, entrants: [entrant, entrant] },
      { slots: 1, entrants: [entrant, entrant] },
    ],
  });
  expect(ends).toHaveLength(4);
  const [first, ...others] = ends as [EndedTrial, ...EndedTrial[]];
  for (const other of others)
    if (!isDeepStrictEqual(other.events, first.events)) expect(other.events).toEqual(first.events);
  return first;
}

const luck = fc.nat(1_000_000);

describe.each(Object.entries(worlds))("whatever is tried, %s,", (_, world) => {
  const tried = (spec: Spec, luck: number) => world(entering(spec), luck);

  test("a hold never ends before it begins, and never lasts longer than granted or than a client waits", () => {
    fc.assert(
      fc.property(anythingTried, luck, (spec, luck) => {
        const settings = settingsOf(spec.settings ?? {});
        const { maxHold, foregroundAutoAwaitExtendsOnOutput: extended } = settings;
        for (const { called, autoAwait, wait, returned } of calls(tried(spec, luck).events)) {
          const granted = autoAwait ?? wait;
          if (granted !== null) expect(granted.until).toBeGreaterThanOrEqual(granted.at);
          if (returned === null) continue;
          expect(returned.at).toBeGreaterThanOrEqual(granted?.at ?? called.at);
          const killing = returned.outcome === "terminated" ? killTakes(settings) : 0;
          if (wait !== null) expect(returned.at).toBeLessThanOrEqual(wait.until);
          if (autoAwait !== null && !extended) expect(returned.at).toBeLessThanOrEqual(autoAwait.until + killing);
          if (returned.tool !== "stop" && maxHold !== null) {
            expect(returned.at).toBeLessThanOrEqual(called.at + maxHold + killing);
          }
        }
      }),
    );
  });

  test("no wait and no auto-await granted by a budget-aware policy crosses the start of the reserve", () => {
    const aware = someSettings.map((settings) => ({
      ...settings,
      foreground_auto_await_budget_aware: true,
      process_wait_budget_aware: true,
    }));
    fc.assert(
      fc.property(fc.oneof(trialOf({ settings: aware }), sessionOf(aware), anyOf(aware)), luck, (spec, luck) => {
        const { events } = tried(spec, luck);
        const began = events[0]!;
        if (began.event !== "trial_began" || began.budget === null) return;
        const begins = reserveBegins(began.budget);
        const settings = settingsOf(spec.settings ?? {});
        for (const { autoAwait, wait, returned } of calls(events)) {
          const granted = autoAwait ?? wait;
          if (granted === null) continue;
          expect(granted.until).toBeLessThanOrEqual(Math.max(granted.at, begins));
          // A command that is ended at its cap is ended within the grace, which is not granted time.
          const killing = returned?.outcome === "terminated" ? killTakes(settings) : 0;
          if (returned !== null) expect(returned.at).toBeLessThanOrEqual(Math.max(granted.at, begins) + killing);
        }
      }),
    );
  });

  test("being aware of the budget never grants more: where two trials part, the aware one was granted less", () => {
    const switches = fc.record({
      foreground_auto_await_budget_aware: fc.boolean(),
      process_wait_budget_aware: fc.boolean(),
      hard_timeout_budget_aware: fc.boolean(),
    });
    fc.assert(
      fc.property(somethingTried, switches, luck, (spec, aware, luck) => {
        const less = tried(changed(spec, aware), luck).events;
        const more = tried(changed(spec, unaware), luck).events;
        expectGrantedLess(parting(less, more));
      }),
    );
  });

  test("less time left never grants more: where two trials part, the one with less was granted less", () => {
    const spec = fc.oneof(trialOf({ profile: someProfile.map(heedless) }), someSession);
    fc.assert(
      fc.property(spec, length(0, 1_500), length(0, 1_500), luck, (spec, a, b, luck) => {
        const less = tried({ ...changed(spec, silent), told: Math.min(a, b) }, luck).events;
        const more = tried({ ...changed(spec, silent), told: Math.max(a, b) }, luck).events;
        expectGrantedLess(parting(less, more));
      }),
    );
  });

  test("asking for less never grants more, under clamp: where two trials part, that one was granted less", () => {
    fc.assert(
      fc.property(someTrial, length(0, 700), length(0, 700), luck, (spec, a, b, luck) => {
        const asking = (length: number): RunSpec => ({
          ...changed(spec, { process_poll_over_max: "clamp" }),
          profile: { ...spec.profile, waits: [{ from: 1, length: seconds(length) }] },
        });
        const less = tried(asking(Math.min(a, b)), luck).events;
        const more = tried(asking(Math.max(a, b)), luck).events;
        expectGrantedLess(parting(less, more, { requested: null, raised: false }));
      }),
    );
  });

  test("a command over within its initial hold leaves the same events, whatever the policy does later", () => {
    const initial = fc.record({ idle: fc.option(length(0, 20)), total: fc.option(length(0, 40)) });
    const later = someSettings.map((all) => {
      const rest = { ...all };
      for (const key of MAY_END_TELL_OR_REFUSE) delete rest[key];
      return rest;
    });
    const both = initial.chain(({ idle, total }) => {
      const plan = somePlan(someQuickCommand(Math.min(idle ?? 40, total ?? 40))).map((steps) =>
        steps.map((step) => (step.step === "run" ? { ...step, timeout: null } : step)),
      );
      const boundaries: WrittenSettings = {
        foreground_idle_yield_seconds: idle ?? "none",
        foreground_total_yield_seconds: total ?? "none",
      };
      const settings = later.map((rest) => ({ ...rest, ...boundaries }));
      return fc.tuple(trialOf({ settings, plan }), trialOf({ settings }));
    });
    fc.assert(
      fc.property(both, luck, ([one, { settings, told, reserve }], luck) => {
        // A client that gives up ends the hold before the command can.
        const uncancelled = { ...one, cancels: [] };
        const another = { ...uncancelled, settings: settings!, ...ifTold(told, reserve) };
        const apart = parting(tried(uncancelled, luck).events, tried(another, luck).events, {
          configuredCap: null,
          outputLost: 0,
        });
        expect(apart).toBeNull();
      }),
    );
  });

  test("without a budget every decision is that of the same settings with every eye shut to it", () => {
    const spec = fc.oneof(trialOf({ profile: someProfile.map(heedless) }), someSession);
    fc.assert(
      fc.property(spec, length(0, 1_500), luck, (spec, budget, luck) => {
        const { told: _, reserve: __, ...untold } = changed(spec, blind);
        const shut = changed({ ...untold, ...ifTold(budget, spec.reserve) }, unaware);
        const slice = shut.settings?.process_wait_slice_seconds ?? "auto";
        const unsliced = changed(shut, { process_wait_slice_seconds: slice === "auto" ? "none" : slice });
        expect(parting(tried(untold, luck).events, tried(unsliced, luck).events)).toBeNull();
      }),
    );
  });

  test("reasons are empty exactly when the grant is what was asked for", () => {
    fc.assert(
      fc.property(somethingTried, luck, (spec, luck) => {
        const settings = settingsOf(spec.settings ?? {});
        for (const { called, autoAwait, wait } of calls(tried(spec, luck).events)) {
          if (wait !== null && called.event === "process_called") {
            const asked = Math.max(called.requested!, settings.processPollMinWait);
            expect(wait.clampReasons.length === 0).toBe(wait.until - wait.at === asked);
          }
          if (autoAwait !== null && called.event === "exec_called") {
            const asked = Math.max(capOf(called, autoAwait.at, settings), autoAwait.at);
            expect(autoAwait.clampReasons.length === 0).toBe(autoAwait.until === asked);
          }
        }
      }),
    );
  });

  test("nothing but a stop, a timeout, a silence that is limited, or a cap that kills ends a process", () => {
    fc.assert(
      fc.property(somethingTried, luck, (spec, luck) => {
        const settings = settingsOf(spec.settings ?? {});
        const { events } = tried(spec, luck);
        for (const { called, ends, stops, kills, pruned, lookedAt } of processes(events)) {
          const own = called.command.length === null ? null : called.at + called.command.length;
          for (const end of ends) {
            if (own !== null) expect(end.at).toBeLessThanOrEqual(own);
            if (end.by === "itself") expect(end).toEqual({ at: own, by: "itself", ...called.command.exit });
            if (end.by === "stop") expect(stops.some((at) => at <= end.at)).toBe(true);
            if (end.by === "limit") {
              const { totalTimeout, totalTimeoutRearms, inactivityKill, hardTimeoutStall, hardTimeoutStallMax } =
                settings;
              const hard = called.timeout ?? never;
              const stalls = hardTimeoutStall !== null && hard !== never;
              const silences = [inactivityKill ?? never, stalls ? Math.max(hard, hardTimeoutStall) : never];
              const watchdog = called.background && called.timeout === null ? settings.backgroundWatchdog : null;
              const lengths = [stalls ? hard + hardTimeoutStallMax : hard, totalTimeout ?? never, watchdog ?? never];
              const timedOut = called.at + Math.min(...(end.silent ? silences : lengths)) <= end.at;
              // From the moment on at which it was handed over, and so seen alive.
              const anew = lookedAt.some(({ at, alive }) => alive && at + (totalTimeoutRearms ?? never) <= end.at);
              expect(timedOut || kills || anew || pruned <= end.at).toBe(true);
            }
            expect(end).toEqual(ends[0]);
          }
          for (const { at, alive } of lookedAt) {
            const end = ends[0] ?? { at: own ?? Number.POSITIVE_INFINITY, by: "itself" };
            // Who is ended from outside may be so in the moment in which it was seen alive.
            if (alive && end.by === "itself") expect(at).toBeLessThan(end.at);
            if (alive) expect(at).toBeLessThanOrEqual(end.at);
          }
        }
      }),
    );
  });

  test("a process has one id for life", () => {
    fc.assert(
      fc.property(anythingTried, luck, (spec, luck) => {
        const { events } = tried(spec, luck);
        const started = new Map<number, number>();
        for (const event of events) {
          if (event.event === "exec_called" && event.process !== null) {
            expect(event.process).toBe(started.size + 1);
            started.set(event.process, event.at);
          }
          if (event.event === "control_returned" && event.process !== null) {
            expect(event.startedAt).toBe(started.get(event.process));
          }
        }
      }),
    );
  });

  test("run totals are the fold of the rows of calls, and of what the model is told", () => {
    fc.assert(
      fc.property(anythingTried, luck, (spec, luck) => {
        let toldTotals: Totals | null = null;
        const ended = world(
          entering(spec, (totals) => {
            toldTotals = totals;
          }),
          luck,
        );
        const { trial, invocations, waits } = rowsOf(ended);
        const has = (reasons: readonly string[] | null, reason: string) => reasons?.includes(reason) ?? false;
        const handedBack = invocations.filter((row) => row.returned_running && row.auto_await_outcome !== "cancelled");
        const atCap = invocations.filter(
          (row) =>
            row.auto_await_clamp_reasons?.length === 0 &&
            (row.auto_await_outcome === "cap_reached" || row.auto_await_outcome === "terminated"),
        );
        const folded: Totals = {
          total_foreground_auto_await_seconds: total(
            invocations.map((row) => row.foreground_auto_await_elapsed_seconds),
          ),
          auto_await_cap_crossings: atCap.length,
          budget_clamped_auto_await_count: handedBack.filter((row) =>
            has(row.auto_await_clamp_reasons, "remaining_run_budget"),
          ).length,
          total_process_wait_seconds: total(waits.map((row) => row.actual_wait_seconds)),
          budget_clamped_process_wait_count: waits.filter((row) => has(row.wait_clamp_reasons, "remaining_run_budget"))
            .length,
          wait_slice_count: waits.filter((row) => has(row.wait_clamp_reasons, "process_wait_slice")).length,
        };
        expect(trial).toMatchObject({ ...folded });
        if (toldTotals !== null) expect(toldTotals).toEqual(folded);
        expect(trial).toMatchObject({
          tool_calls: invocations.length + waits.length + trial.probes,
          calls_returned_running: invocations.filter((row) => row.returned_running).length,
          wait_actions: waits.filter(({ action }) => action === "wait" || action === "status").length,
          uses_process_tool: waits.length > 0,
          low_information_waits: waits.filter((row) => row.low_information).length,
          risk_shortened: handedBack.filter(
            (row) =>
              has(row.auto_await_clamp_reasons, "command_risk") && (row.kind === "quick" || row.kind === "long_finite"),
          ).length,
        });
      }),
    );
  });

  test("every millisecond of a trial belongs to one line of the time ledger", () => {
    fc.assert(
      fc.property(somethingTried, luck, (spec, luck) => {
        const ended = tried(spec, luck);
        const { trial, invocations, waits } = rowsOf(ended);
        const { model, idle, sweeping } = withoutCalls(ended);
        const ledger = {
          model_seconds: model,
          idle_seconds: idle,
          initial_hold_seconds: total(
            invocations.map((row) =>
              row.auto_await_clamp_reasons === null
                ? 0
                : (row.foreground_initial_yield_seconds ?? tookSeconds(row, trial.duration_seconds)),
            ),
          ),
          auto_await_seconds: total(invocations.map((row) => row.foreground_auto_await_elapsed_seconds)),
          hard_hold_seconds: total(
            invocations.map((row) =>
              row.auto_await_clamp_reasons === null && !row.background && row.process_id !== null
                ? tookSeconds(row, trial.duration_seconds)
                : 0,
            ),
          ),
          process_wait_seconds: total(waits.map((row) => row.actual_wait_seconds)),
          other_tool_seconds: total([
            sweeping,
            ...waits.map((row) => (row.action === "wait" ? 0 : tookSeconds(row, trial.duration_seconds))),
            ...invocations.map((row) => (row.background ? tookSeconds(row, trial.duration_seconds) : 0)),
          ]),
        };
        expect(trial).toMatchObject(ledger);
        expect(total(Object.values(ledger))).toBe(trial.duration_seconds);
      }),
    );
  });
});

describe("whatever is tried,", () => {
  test("shuffling what nobody ordered changes nothing", () => {
    fc.assert(
      fc.property(anythingTried, fc.array(luck, { minLength: 2, maxLength: 3 }), (spec, lucks) => {
        const { events } = alone(entering(spec));
        for (const luck of lucks) expect(inACrowd(entering(spec), luck).events).toEqual(events);
      }),
    );
  });

  test("the same again comes to the same, to the byte", () => {
    const bytes = (ended: EndedTrial) => JSON.stringify([ended, rowsOf(ended)]);
    fc.assert(
      fc.property(somethingTried, (spec) => {
        expect(bytes(alone(entering(spec)))).toBe(bytes(alone(entering(spec))));
      }),
    );
  });
});

describe("whatever there is to a trial,", () => {
  test("nothing is told out of its order in time", () => {
    fc.assert(
      fc.property(anyTrial, (spec) => {
        const { events, endedAt } = alone(candidate(spec));
        for (const [index, { at }] of events.entries()) expect(at).toBeGreaterThanOrEqual(events[index - 1]?.at ?? 0);
        expect(events.at(-1)!.at).toBe(endedAt);
      }),
    );
  });

  test("every millisecond of a trial belongs to one line of its ledger, whoever serves it and whatever it runs on", () => {
    const surrounded = fc
      .tuple(anyTrial, fc.option(someProvider, { nil: undefined }), fc.option(someHost, { nil: undefined }))
      .map(
        ([spec, provider, host]): RunSpec => ({
          ...spec,
          ...(provider === undefined ? null : { provider }),
          ...(host === undefined ? null : { host }),
        }),
      );
    fc.assert(
      fc.property(surrounded, (spec) => {
        const { trial } = rowsOf(alone(candidate(spec)));
        const lines = [
          ...[trial.model_seconds, trial.provider_queue_seconds, trial.provider_retry_seconds],
          ...[trial.initial_hold_seconds, trial.auto_await_seconds, trial.hard_hold_seconds],
          ...[trial.process_wait_seconds, trial.other_tool_seconds, trial.idle_seconds],
        ];
        for (const line of lines) expect(line).toBeGreaterThanOrEqual(0);
        expect(total(lines)).toBe(trial.duration_seconds);
      }),
    );
  });

  test("each request and each call is answered, unless somebody is cut off before; a job that began has ended", () => {
    fc.assert(
      fc.property(anyTrial, (spec) => {
        const { events } = alone(candidate(spec));
        const all = <Name extends TrialEvent["event"]>(name: Name) => events.filter(named(name));
        expect(
          all("job_ended")
            .map(({ job }) => job)
            .sort(),
        ).toEqual(
          all("job_began")
            .map(({ job }) => job)
            .sort(),
        );
        const isCut = events.some(({ event }) => event === "cut_off" || event === "limit_reached");
        const answered = all("model_answered").map(({ request }) => request);
        const missing = all("model_asked").filter(({ request }) => !answered.includes(request));
        const open = calls(events).filter(({ returned, refused }) => returned === null && !refused);
        if (!isCut && !all("job_ended").some(({ result }) => result === "salvaged" || result === "trail")) {
          expect(missing).toEqual([]);
          expect(open).toEqual([]);
        }
        expect(new Set(answered).size).toBe(answered.length);
      }),
    );
  });

  test("tokens and money add up, and a limit ends the trial before the request that would be beyond it", () => {
    const counted = fc.tuple(anyTrial, someEconomy).map(([spec, economy]) => ({ ...spec, economy }));
    fc.assert(
      fc.property(counted, (spec) => {
        const { events } = alone(candidate(spec));
        const sums = { steps: 0, tokens: 0, cost: 0 };
        for (const event of events) {
          if (event.event === "limit_reached" && event.limit in sums) {
            const limit = event.limit as keyof typeof sums;
            expect(sums[limit]).toBeGreaterThanOrEqual(spec.limits![limit]!);
          }
          if (event.event !== "model_asked") continue;
          for (const [limit, most] of Object.entries(spec.limits ?? {})) {
            expect(sums[limit as keyof typeof sums]).toBeLessThan(most!);
          }
          expect(event.prompt).toBe(event.cacheRead + event.cacheWrite + event.uncached);
          if (event.hit !== true) expect(event.cacheRead).toBe(0);
          if (event.hit !== false) expect(event.pauseTax).toBe(0);
          expect(event.pauseTax).toBeLessThanOrEqual(event.cost + 1);
          sums.steps += 1;
          expect(event.request).toBe(sums.steps);
          sums.tokens += event.prompt + event.output;
          sums.cost += event.cost;
        }
      }),
    );
  });

  test("whether tokens are counted changes no moment, as long as nothing has to be compacted", () => {
    const roomy = fc.tuple(anyTrial, someEconomy).map(([{ economy: _, limits: __, ...spec }, economy]) => {
      const context = { ...spec.profile!.context!, window: Number.MAX_SAFE_INTEGER };
      // Where tokens are counted there is a cache that expires, and a policy may heed that.
      return {
        spec: { ...changed(spec, { cache_aware_slice: false }), profile: { ...spec.profile, context } },
        economy,
      };
    });
    const isCounting = ({ event }: TrialEvent) => event === "model_asked" || event === "model_answered";
    fc.assert(
      fc.property(roomy, ({ spec, economy }) => {
        const counted = aRun({ ...spec, economy });
        expect(counted.filter((event) => !isCounting(event))).toEqual(aRun(spec));
      }),
    );
  });

  test("cut off anywhere, a trial ends then and there, and up to then all was as it would have been", () => {
    fc.assert(
      fc.property(anyTrial, length(0, 1_200), (spec, at) => {
        const whole = alone(candidate(spec));
        const { events, endedAt } = alone(candidate({ ...spec, outerLimit: Math.min(at, spec.outerLimit!) }));
        const cutAt = Math.min(seconds(at), whole.endedAt);
        expect(endedAt).toBe(cutAt);
        const before = (all: readonly TrialEvent[]) =>
          all.filter((event) => event.at < cutAt && event.event !== "trial_began");
        expect(before(events)).toEqual(before(whole.events));
      }),
    );
  });

  test("a command whose signal is lost is found to be over by whoever looks at it, and by every hold that ends", () => {
    const lost = fc
      .record({ phases: somePhases(), settings: someSettings, waits: fc.array(length(0, 300), { maxLength: 6 }) })
      .filter(({ phases }) => phases.every(({ phase }) => phase === "run"));
    fc.assert(
      fc.property(lost, fc.boolean(), ({ phases, settings, waits }, background) => {
        const command = scripted({ line: "it", phases, signalLost: true });
        const spec: SessionSpec = { settings, outerLimit: 20_000 };
        const { events } = alone(
          session(spec, function* (hands) {
            yield* hands.exec(command, { background });
            for (const length of waits) yield* hands.wait(1, length);
            yield* hands.status(1);
          }),
        );
        for (const event of events) {
          if (event.event !== "control_returned") continue;
          if (event.end === null) expect(event.at).toBeLessThan(command.length!);
          else expect(event.end.at).toBeLessThanOrEqual(Math.min(event.at, command.length!));
        }
      }),
    );
  });
});

describe("the output of a process", () => {
  const limits = (least: number) => fc.array(fc.integer({ min: least, max: 40 }), { minLength: 1, maxLength: 8 });
  const keeps: WrittenSettings = { foreground_auto_await_max_seconds: 0, read_output_limit_bytes: 1_000_000 };

  /** Reads all there is, piece by piece, with these limits over and over. */
  function* readAll(hands: Hands, limits: readonly number[]) {
    const pieces = [];
    for (let next = 0, turn = 0; ; turn += 1) {
      const piece = result(yield* hands.read(1, next, limits[turn % limits.length]!));
      if (piece.next_offset === next) return pieces;
      pieces.push(piece);
      next = piece.next_offset;
    }
  }

  test("read piece by piece leaves out nothing and repeats nothing, whatever bytes it is made of", () => {
    fc.assert(
      fc.property(someCommand(), length(0, 120), limits(1), (command, after, limits) => {
        const { pieces, now } = inSession({ settings: keeps, outerLimit: 1_000 }, function* (hands) {
          yield* hands.exec(command, { background: true });
          yield* hands.pass(after);
          return { pieces: yield* readAll(hands, limits), now: hands.now };
        });
        let next = 0;
        for (const piece of pieces) {
          expect(piece.offset).toBe(next);
          next = piece.next_offset;
        }
        expect(next).toBe(command.prints?.writtenBy(Math.min(now, command.length ?? now)) ?? 0);
      }),
    );
  });

  test("read piece by piece reads as it was written, as long as a piece holds a character", () => {
    fc.assert(
      fc.property(fc.array(someBytes, { maxLength: 30 }), limits(4), (lines, limits) => {
        const whole = Buffer.concat(lines);
        const pieces = inSession({ settings: keeps, outerLimit: 1_000 }, function* (hands) {
          yield* hands.exec(printing(lines), { background: true });
          yield* hands.pass(1);
          return yield* readAll(hands, limits);
        });
        expect(pieces.map(({ output }) => output).join("")).toBe(decoded(whole));
      }),
    );
  });

  test("shown by exec and waits, within the budget of output, is all that was written", () => {
    const waits = fc.array(length(0, 60), { maxLength: 5 });
    fc.assert(
      fc.property(someCommand(someText), waits, (command, waits) => {
        const { shown, now } = inSession({ settings: { process_poll_min_wait_seconds: 0 } }, function* (hands) {
          const shown = [result(yield* hands.exec(command)).output];
          for (const length of waits) shown.push(result(yield* hands.wait(1, length)).output);
          return { shown, now: hands.now };
        });
        const end = Math.min(now, command.length ?? now);
        const bytes = command.prints?.slice(0, command.prints.writtenBy(end)).bytes ?? new Uint8Array();
        expect(shown.join("")).toBe(decoded(bytes));
      }),
    );
  });
});

const unaware = {
  foreground_auto_await_budget_aware: false,
  process_wait_budget_aware: false,
  hard_timeout_budget_aware: false,
  condition_wait_budget_aware: false,
} as const;

/** No message says what is left: a model that was told it may do something else. */
const silent = {
  deadline_notice_share: "none",
  deadline_notice_again_share: "none",
  wrap_up_in_reserve: false,
} as const;

/** What is of a budget wherever there is one, and has no switch of its own to shut its eyes to it. */
const blind = { ...silent, exit_waits_for_jobs: false, joint_ledger: false } as const;

function entering(spec: Spec, sums?: (totals: Totals) => void): Candidate {
  return "plan" in spec ? candidate(spec) : session(spec, (hands) => playing(hands, spec.moves, sums));
}

/** Makes one move after the other; a refusal is as good an answer as any. */
function* playing(hands: Hands, moves: readonly Move[], sums?: (totals: Totals) => void): Agent<void> {
  for (const move of moves) {
    switch (move.move) {
      case "exec": {
        const { command, background, timeout } = move;
        yield* hands.exec(command, { background, ...(timeout === null ? {} : { timeout }) });
        break;
      }
      case "wait":
        yield* move.length === null ? hands.wait(move.process) : hands.wait(move.process, move.length);
        break;
      case "status":
        yield* hands.status(move.process);
        break;
      case "stop":
        yield* hands.stop(move.process);
        break;
      case "read":
        yield* hands.read(move.process, move.offset, move.limit);
        break;
      case "list":
        yield* hands.list();
        break;
      case "pass":
        yield* hands.pass(move.length);
        break;
    }
  }
  sums?.(result(yield* hands.list()).totals);
}

function changed<S extends Spec>(spec: S, settings: WrittenSettings): S {
  return { ...spec, settings: { ...spec.settings, ...settings } };
}

function sessionOf(settings: fc.Arbitrary<WrittenSettings>): typeof someSession {
  return fc.tuple(someSession, settings).map(([spec, settings]) => ({ ...spec, settings }));
}

function ifTold(told: number | undefined, reserve: number | undefined) {
  return { ...(told === undefined ? {} : { told }), ...(reserve === undefined ? {} : { reserve }) };
}

/** A model that does nothing about the reserve: what it is shown of the budget changes none of its moves. */
const heedless = <P extends object>(profile: P) => ({ ...profile, inTheReserve: "ignore" as const });

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;

const named =
  <Name extends TrialEvent["event"]>(name: Name) =>
  (event: TrialEvent): event is Of<Name> =>
    event.event === name;

/** How long it takes at most to end a process: what a kill does not reach may hold its output open, for ever perhaps. */
function killTakes({ killGrace, killReaches, completion }: Settings): number {
  if (killReaches === "tree") return killGrace;
  return completion === "exit" ? killGrace + DRAIN_QUIET : Number.POSITIVE_INFINITY;
}

function anyOf(settings: fc.Arbitrary<WrittenSettings>): fc.Arbitrary<RunSpec> {
  return fc.tuple(anyTrial, settings).map(([spec, settings]) => ({ ...spec, settings }));
}

interface Call {
  readonly called: Of<"exec_called"> | Of<"process_called">;
  refused: boolean;
  autoAwait: Of<"auto_await_granted"> | null;
  wait: Of<"wait_granted"> | null;
  returned: Of<"control_returned"> | null;
}

/** Call by call, what was granted and when control returned: null for a call that was refused or cut off. */
function calls(events: readonly TrialEvent[]): readonly Call[] {
  const all = new Map<number, Call>();
  for (const event of events) {
    if (event.event === "exec_called" || event.event === "process_called")
      all.set(event.call, { called: event, refused: false, autoAwait: null, wait: null, returned: null });
    else if (event.event === "auto_await_granted") all.get(event.call)!.autoAwait = event;
    else if (event.event === "wait_granted") all.get(event.call)!.wait = event;
    else if (event.event === "control_returned") all.get(event.call)!.returned = event;
    else if (event.event === "call_refused") all.get(event.call)!.refused = true;
  }
  return [...all.values()];
}

/** Everything known of each process. */
function processes(events: readonly TrialEvent[]) {
  return calls(events).flatMap(({ called, returned }) => {
    if (called.event !== "exec_called" || called.process === null) return [];
    const { process } = called;
    const ends: End[] = [];
    const stops: number[] = [];
    let pruned: number = never;
    const lookedAt: { at: number; alive: boolean }[] = [];
    for (const event of events) {
      if (!("process" in event) || event.process !== process) continue;
      if (event.event === "process_called" && event.action === "stop") stops.push(event.at);
      if (event.event === "pruned") pruned = event.at;
      if (event.event !== "control_returned" && event.event !== "left_behind") continue;
      if (event.end !== null) ends.push(event.end);
      lookedAt.push({ at: event.at, alive: event.end === null });
    }
    const command = called.command as ScriptedCommand;
    const kills = returned?.outcome === "terminated";
    return [{ called: { ...called, command }, ends, stops, kills, pruned, lookedAt }];
  });
}

/** What ends a command however soon it would end, cuts its initial hold, tells the model of something, or does not take a command on. */
const MAY_END_TELL_OR_REFUSE = [
  "background_watchdog_seconds",
  "clean_exit",
  "completion_notice",
  "deadline_notice_share",
  "deadline_notice_again_share",
  "exit_waits_for_jobs",
  "heartbeat",
  "quiet_poll_hint_after",
  "repeated_read_hint",
  "unread_reminder_steps",
  "wrap_up_in_reserve",
  "hard_timeout_default_seconds",
  "hard_timeout_by_class",
  "max_hold_seconds",
  "total_timeout_seconds",
  "inactivity_kill_seconds",
  "without_reader",
  "timeout_strikes",
  "command_time_max_seconds",
  "leading_sleep_refused_seconds",
  "duplicate_start",
  "exclusive_shell",
  "process_slots",
  "shell_calls_per_minute",
  "shell_calls_per_ten_seconds",
] as const satisfies readonly SettingKey[];

/** Where the configured cap ends a hold granted at `boundary`, worked out from the script. */
function capOf({ at, command, configuredCap: cap }: Of<"exec_called">, boundary: number, settings: Settings): number {
  const { foregroundAutoAwaitExtendsOnOutput: extends_ } = settings;
  if (cap === null) return Number.MAX_SAFE_INTEGER;
  const last = (command as ScriptedCommand).prints?.lastBy(boundary - at) ?? null;
  if (!extends_ || cap === 0 || last === null) return at + cap;
  const most = settings.foregroundAutoAwaitAbsoluteMax;
  return Math.min(at + last + cap, most === null ? Number.MAX_SAFE_INTEGER : at + Math.max(most, cap));
}

/** The first events in which two trials differ, once what only shows the budget is set aside; null if they never do. */
function parting(
  one: readonly TrialEvent[],
  other: readonly TrialEvent[],
  aside: object = {},
): readonly [TrialEvent | undefined, TrialEvent | undefined] | null {
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    if (!isDeepStrictEqual(bare(one[at], aside), bare(other[at], aside))) return [one[at], other[at]];
  }
  return null;
}

const showing = { budget: null, reserveBegins: null, budgetSignal: false, guided: false, effectiveCap: null };

function bare(event: TrialEvent | undefined, aside: object): object | undefined {
  if (event === undefined) return undefined;
  const bared: Record<string, unknown> = { ...event };
  for (const [name, value] of Object.entries({ ...showing, ...aside })) if (name in bared) bared[name] = value;
  return bared;
}

/** Two trials may part at a grant only, and there the first is granted no more. */
function expectGrantedLess(parting: readonly [TrialEvent | undefined, TrialEvent | undefined] | null): void {
  if (parting === null) return;
  const [less, more] = parting as [TrialEvent, TrialEvent];
  if (less.event === "control_returned") {
    // Where output extends the cap each output is a new grant, of which there is no event but the return.
    expect(less.tool).toBe("exec");
    expect(["control_returned", "cut_off"]).toContain(more.event);
    // A process may have ended first, at the same moment under a later grant: then only the reasons differ.
    expect(less.at).toBeLessThanOrEqual(more.at);
    return;
  }
  expect(less.event).toBe(more.event);
  if (less.event === "exec_called" && more.event === "exec_called") {
    expect(less.timeout!).toBeLessThanOrEqual(more.timeout!);
  } else {
    const [until, later] = [less, more].map((event) => ("until" in event ? event.until : Number.NaN));
    expect(until).toBeLessThanOrEqual(later!);
  }
}

/** A command that prints these lines at once, and then waits. */
function printing(lines: readonly Uint8Array[]): ScriptedCommand {
  const said = lines.map((line) => ({ at: nothing, line, says: null }));
  return scripted({ line: "cat", phases: [{ phase: "hang", output: { output: "at", lines: said } }] });
}

/** Adds up seconds without losing a millisecond. */
function total(amounts: readonly (number | null)[]): number {
  return amounts.reduce<number>((sum, amount) => sum + Math.round((amount ?? 0) * 1_000), 0) / 1_000;
}

/** How long a call took: until it returned, or until it was cut off; nothing if it was refused. */
function tookSeconds(
  row: { readonly called_seconds: number; readonly returned_seconds: number | null; readonly [other: string]: unknown },
  duration: number,
): number {
  const status = row["status"] ?? row["process_status_after_wait"];
  if (status === "refused") return 0;
  return total([row.returned_seconds ?? duration, -row.called_seconds]);
}

/** The part of a trial in which no call was open: of the model, of nobody while the run is held open, and of ending what is left. */
function withoutCalls({ events, startedAt, endedAt }: EndedTrial) {
  let free = 0;
  let idle = 0;
  let sweeping = 0;
  let since: number | null = 0;
  /** Since when the model has ended its turn, to be woken. */
  let rests: number | null = null;
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (event.event === "turn_ended") rests = event.at;
    else if (event.event === "woken") {
      idle += event.at - rests!;
      rests = null;
    }
    if (event.event === "swept") sweeping += event.at - before!.at;
    else if (before?.event === "exit_held" || before?.event === "exit_awaited") idle += event.at - before.at;
    if (event.event === "exec_called" || event.event === "process_called") {
      free += event.at - since!;
      since = null;
    } else if (event.event === "control_returned" || event.event === "call_refused") since = event.at;
  }
  free += since === null ? 0 : endedAt - startedAt - since;
  idle += rests === null ? 0 : endedAt - startedAt - rests;
  return { model: (free - idle - sweeping) / 1_000, idle: idle / 1_000, sweeping: sweeping / 1_000 };
}

const decoded = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
