/**
 * Random settings, commands and trials, as laws need them: mostly round numbers, so that moments coincide, and often at
 * the edges, where promises are broken. Lengths in seconds, as on paper.
 */
import fc from "fast-check";
import type { CacheTerms, ContextTerms, Economy } from "../src/agent/context.ts";
import { COMPLETIONS, type Command, KILL_REACHES, MARKS, type Signal } from "../src/agent/effects.ts";
import { ACTIONS } from "../src/agent/events.ts";
import {
  BETWEEN,
  type Expectation,
  IN_THE_RESERVE,
  type Lengths,
  ON_READY,
  PLAIN_HABITS,
  type Profile,
  type StopRule,
} from "../src/agent/model.ts";
import { type JobStep, type Limits, OUTSIDE_EVENTS, type Plan, type RunStep, type Step } from "../src/agent/plan.ts";
import type { Distribution } from "../src/distribution.ts";
import {
  type Setting,
  type SettingKey,
  settingKeys,
  settingsTable,
  type WrittenSettings,
} from "../src/policy/settings.ts";
import { seconds } from "../src/policy/time.ts";
import type { HostTerms } from "../src/world/host.ts";
import type { ProviderTerms } from "../src/world/provider.ts";
import { type Output, type Phase, type ScriptedCommand, type ScriptSpec, scripted } from "../src/world/script.ts";
import type { RunSpec, SessionSpec } from "./aRun.ts";

/** A length in seconds with its milliseconds: round ones as often as odd ones. */
export const length = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: Math.ceil(least), max: Math.floor(most) }),
    fc.integer({ min: Math.ceil(least * 1_000), max: Math.floor(most * 1_000) }).map((ms) => ms / 1_000),
  );

/** A bound: often none, and often one of the lengths that mean something to other settings. */
const bound = (least: number, most: number): fc.Arbitrary<number | "none"> => {
  const telling = [0, 1, 2, 10, 30, 60, 120, 240, 600].filter((value) => value >= least && value <= most);
  return fc.oneof(fc.constant("none" as const), fc.constantFrom(...telling), length(least, most));
};

/** The same, but mostly none: a bound that hides all others. */
const rareBound = (least: number, most: number): fc.Arbitrary<number | "none"> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant("none" as const) }, { weight: 1, arbitrary: bound(least, most) });

const rareCount = (most: number): fc.Arbitrary<number | "none"> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant("none" as const) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: most }) },
  );

const rareShare = fc.constantFrom<(number | "none")[]>("none", "none", "none", 0, 0.25, 0.75, 1);

const on = fc.boolean();
const sometimes = fc.constantFrom(false, false, false, true);
const word = <const Word extends string>(...words: readonly Word[]) => fc.constantFrom(...words);

/** Settings that a policy file could state, with lengths of the order of a trial's. */
export const someSettings: fc.Arbitrary<WrittenSettings> = fc
  .record(
    {
      foreground_idle_yield_seconds: bound(0, 20),
      foreground_total_yield_seconds: bound(0, 40),
      foreground_auto_await_max_seconds: bound(0, 300),
      foreground_auto_await_budget_aware: on,
      foreground_auto_await_extends_on_output: on,
      foreground_auto_await_absolute_max_seconds: bound(0, 600),
      foreground_at_cap: word("yield", "kill"),
      hand_over_exempts: word("nothing", "sleep_and_git"),
      auto_await_risk: word("off", "advisory"),
      risk_cap_full_test_suite_seconds: bound(0, 200),
      risk_cap_quiet_seconds: bound(0, 200),
      risk_cap_overdue_seconds: bound(0, 200),
      risk_cap_late_in_run_seconds: bound(0, 200),
      risk_late_in_run_fraction: fc.constantFrom(0, 0.25, 0.5, 1),
      max_hold_seconds: rareBound(1, 200),
      hard_timeout_default_seconds: rareBound(1, 60),
      hard_timeout_by_class: sometimes,
      hard_timeout_test_seconds: bound(1, 60),
      hard_timeout_other_seconds: bound(1, 60),
      hard_timeout_max_seconds: bound(60, 200),
      hard_timeout_out_of_range: word("refuse", "clamp"),
      hard_timeout_budget_aware: on,
      hard_timeout_suppresses_yield: on,
      timeout_hands_over: sometimes,
      without_reader: word("ignore", "foreground_only"),
      foreground_only_timeout_default_seconds: length(1, 60),
      foreground_only_timeout_max_seconds: length(60, 120),
      timeout_strikes: rareCount(3),
      command_time_max_seconds: rareBound(1, 300),
      leading_sleep_refused_seconds: rareBound(1, 60),
      duplicate_start: word("allow", "flag", "refuse"),
      exclusive_shell: sometimes,
      process_slots: rareCount(3),
      process_slots_full: word("refuse", "prune"),
      process_slots_protected: fc.constant(0),
      shell_calls_per_minute: rareCount(3),
      shell_calls_per_ten_seconds: rareCount(3),
      cpu_on_results: sometimes,
      hard_timeout_stall_seconds: bound(1, 60),
      hard_timeout_stall_max_seconds: length(0, 100),
      inactivity_kill_seconds: rareBound(1, 100),
      total_timeout_seconds: rareBound(1, 200),
      total_timeout_rearms_seconds: rareBound(1, 200),
      kill_grace_seconds: length(0, 4),
      kill_reaches: word(...KILL_REACHES),
      completion: word(...COMPLETIONS),
      output_on_timeout: word("kept", "lost"),
      process_poll_max_wait_seconds: bound(0, 600),
      process_poll_over_max: word("clamp", "refuse"),
      process_poll_min_wait_seconds: length(0, 30),
      process_poll_default_wait_seconds: length(0, 60),
      process_wait_slice_seconds: fc.oneof(
        word("auto", "none", "model_cadence"),
        fc.constantFrom(10, 30, 240),
        length(1, 300),
      ),
      process_wait_budget_aware: on,
      process_wait_wake_on_output: on,
      condition_wait_budget_aware: on,
      failure_evidence: word("none", "none", "x", "x | seven"),
      failure_evidence_ends_waits: on,
      cache_aware_slice: on,
      cache_slice_margin_seconds: length(0, 60),
      cache_lifetime_seconds: bound(10, 300),
      deadline_notice_share: rareShare,
      deadline_notice_again_share: rareShare,
      wrap_up_in_reserve: sometimes,
      soft_deadline_share: rareShare,
      soft_deadline_min_timeout_seconds: length(0, 120),
      soft_deadline_ends_holds: on,
      salvages_job_text: on,
      joint_ledger: on,
      user_stop_ends: word("session", "turn"),
      exit_waits_for_jobs: sometimes,
      exit_wait_max_seconds: bound(0, 200),
      clean_exit: word("usual", "leave", "reap", "keep_persistent"),
      exit_grace_seconds: length(0, 4),
      completion_notice: word("none", "next_step", "wake"),
      notice_batch_tasks: fc.integer({ min: 1, max: 3 }),
      notice_description_bytes: fc.integer({ min: 4, max: 12 }),
      notice_wakes: fc.integer({ min: 1, max: 3 }),
      notice_window_length_seconds: length(1, 120),
      notice_window: word("fixed", "sliding"),
      delivery_gives_up_after_seconds: rareBound(1, 300),
      unread_reminder_steps: rareCount(4),
      unread_reminder_tasks: fc.integer({ min: 1, max: 3 }),
      background_watchdog_seconds: rareBound(1, 300),
      repeated_read_hint: on,
      quiet_poll_hint_after: rareCount(3),
      quiet_poll_hint_floor_seconds: length(0, 120),
      poll_folding: on,
      heartbeat: sometimes,
      usual_length_test_seconds: bound(1, 120),
      usual_length_build_seconds: bound(1, 120),
      usual_length_other_seconds: bound(1, 120),
      finalization_reserve_seconds: bound(0, 600),
      finalization_reserve_min_seconds: length(0, 100),
      finalization_reserve_max_seconds: length(100, 400),
      budget_margin_seconds: fc.oneof(fc.constant(0), length(0, 100)),
      remaining_budget_on_results: word("when_clamped", "always", "never"),
      output_budget_bytes: fc.integer({ min: 0, max: 40 }),
      output_head_share: fc.constantFrom(0, 0.25, 0.5, 1),
      output_retained_bytes: fc.constantFrom(0, 10, 60, 2_097_152),
      read_output_limit_bytes: fc.integer({ min: 0, max: 60 }),
    },
    { requiredKeys: [] },
  )
  .chain((settings) =>
    fc.oneof(
      fc.constant(settings),
      fc.constantFrom(0, 0.1, 0.25, 0.5).map((share) => ({
        ...without(settings, "finalization_reserve_seconds"),
        finalization_reserve_fraction: share,
      })),
    ),
  )
  .map(consistent);

const USUAL = [
  "usual_length_test_seconds",
  "usual_length_build_seconds",
  "usual_length_other_seconds",
] as const satisfies readonly SettingKey[];

/** Mends what a file that says it would be refused for. */
function consistent(settings: WrittenSettings): WrittenSettings {
  if (settings.heartbeat && USUAL.every((key) => (settings[key] ?? "none") === "none")) {
    return consistent({ ...settings, usual_length_test_seconds: 30 });
  }
  const { max_hold_seconds: hold = "none", foreground_total_yield_seconds: total = 30 } = settings;
  if (hold === "none") return settings;
  return total === "none" || hold < total ? without(settings, "max_hold_seconds") : settings;
}

function without<T extends object, K extends keyof T>(whole: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = whole;
  return rest;
}

/** Any one value that may be written for a setting. */
function someValue(setting: Setting): fc.Arbitrary<unknown> {
  const lengths = ([low, high]: readonly [number, number]) =>
    fc.oneof(fc.constantFrom(low, high), length(low, Math.min(high, 1e6)));
  switch (setting.kind) {
    case "flag":
      return on;
    case "choice":
      return fc.constantFrom(...setting.words);
    case "text":
      return fc.constantFrom("none", "FAILED", "FAILED | error: ");
    case "slice":
      return fc.oneof(fc.constantFrom(...setting.words), lengths(setting.range));
    case "length":
      return setting.optional ? fc.oneof(fc.constant("none"), lengths(setting.range)) : lengths(setting.range);
    case "amount": {
      const [low, high] = setting.range;
      const amounts = setting.whole
        ? fc.integer({ min: low, max: high })
        : fc.double({ min: low, max: high, noNaN: true });
      return setting.optional ? fc.oneof(fc.constant("none"), amounts) : amounts;
    }
  }
}

/** Every key at any value of its own range, whether or not the values go together. */
export const anySettings: fc.Arbitrary<WrittenSettings> = fc.record(
  Object.fromEntries(settingKeys.map((key) => [key, someValue(settingsTable[key])])),
  { requiredKeys: [] },
);

const utf8 = new TextEncoder();

/** What a command prints at once: words, characters of several bytes, or bytes that are no text at all. */
export const someBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constantFrom("x\n", "seven b", "żółw\n", "温度\n", "🐢🐢\n").map((text) => utf8.encode(text)),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).map((text) => utf8.encode(text)),
  fc.uint8Array({ minLength: 1, maxLength: 8 }),
);

/** The same, whole characters only. */
export const someText: fc.Arbitrary<Uint8Array> = fc
  .oneof(
    fc.constantFrom("x\n", "żółw\n", "温度\n", "🐢🐢\n"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
  )
  .map((text) => utf8.encode(text));

const someOutput = (bytes: fc.Arbitrary<Uint8Array> = someBytes): fc.Arbitrary<Output> =>
  fc.oneof(
    fc.constant<Output>({ output: "none" }),
    fc.record({
      output: fc.constant("every" as const),
      every: fc.oneof(length(0.5, 12), length(5, 60)).map(seconds),
      line: bytes,
    }),
    fc
      .array(fc.record({ at: length(0, 60).map(seconds), line: bytes, says: fc.option(fc.constantFrom(...MARKS)) }), {
        maxLength: 5,
      })
      .map((lines): Output => ({ output: "at", lines: lines.sort((a, b) => a.at - b.at) })),
  );

/** How long a phase lasts: under, at and over the usual boundaries. */
const someLength = fc.oneof(fc.constantFrom(0, 2, 10, 20, 30, 60, 240), length(0, 12), length(0, 300), length(0, 600));

const somePhase = (bytes?: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Phase> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        phase: fc.constant("run" as const),
        length: someLength.map(seconds),
        output: someOutput(bytes),
      }),
    },
    { weight: 2, arbitrary: fc.record({ phase: fc.constant("hang" as const), output: someOutput(bytes) }) },
  );

export const somePhases = (bytes?: fc.Arbitrary<Uint8Array>): fc.Arbitrary<readonly Phase[]> =>
  fc.array(somePhase(bytes), { minLength: 1, maxLength: 3 });

const someExit = fc.constantFrom<{ code: number | null; signal: Signal | null }>(
  { code: 0, signal: null },
  { code: 1, signal: null },
  { code: null, signal: "SIGSEGV" },
);

/** How long after TERM it ends: at once, late, too late, never. */
const someOnTerm = fc.constantFrom(0, 1, 2, 5, null).map((after) => (after === null ? null : seconds(after)));

const someScript = (bytes?: fc.Arbitrary<Uint8Array>): fc.Arbitrary<ScriptSpec> =>
  fc.record({
    line: fc.constantFrom("pytest -q", "make", "npm test"),
    phases: somePhases(bytes),
    exit: someExit,
    onTerm: someOnTerm,
  });

export const someCommand = (bytes?: fc.Arbitrary<Uint8Array>): fc.Arbitrary<ScriptedCommand> =>
  someScript(bytes).map(scripted);

/** Commands over before a moment, in seconds, or at it. */
export const someQuickCommand = (within: number): fc.Arbitrary<ScriptedCommand> =>
  fc
    .record({
      length: fc.oneof(fc.constant(within), length(0, within)).map(seconds),
      output: someOutput(),
      exit: someExit,
    })
    .map(({ length, output, exit }) => scripted({ line: "ls", phases: [{ phase: "run", length, output }], exit }));

const someTimeout = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1, 10, 30, 60, 240) },
  { weight: 1, arbitrary: length(1, 400) },
);

const step = (name: string, commands: fc.Arbitrary<ScriptedCommand>): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.record({ step: fc.constant("think" as const), length: length(0, 200).map(seconds) }),
    {
      weight: 5,
      arbitrary: fc.record({
        step: fc.constant("run" as const),
        id: fc.constant(name),
        command: commands,
        background: sometimes,
        timeout: someTimeout.map((timeout) => (timeout === null ? null : seconds(timeout))),
        thenStep: on,
      }),
    },
    fc.record({
      step: fc.constant("status" as const),
      of: fc.constantFrom("step-0", "step-1"),
      thenStep: on,
    }),
    fc.constant<Step>({ step: "commit" }),
  );

/** Up to six steps, and mostly a submission. */
export const somePlan = (commands: fc.Arbitrary<ScriptedCommand> = someCommand()): fc.Arbitrary<Plan> =>
  planOf((name) => step(name, commands), 6);

function planOf(stepNamed: (name: string) => fc.Arbitrary<Step>, most: number, least = 0): fc.Arbitrary<Plan> {
  const steps = Array.from({ length: most }, (_, at) =>
    at < least ? stepNamed(`step-${at}`) : fc.option(stepNamed(`step-${at}`), { freq: 3 }),
  );
  return fc
    .tuple(fc.tuple(...steps), fc.option(fc.constant<Step>({ step: "submit" }), { freq: 6 }))
    .map(([steps, last]) => [...steps, last].filter((one) => one !== null));
}

const someLengths: fc.Arbitrary<Lengths> = fc.oneof(
  fc.constantFrom(0, 10, 30, 240, 3_600).map(seconds),
  length(0, 600).map(seconds),
  fc.tuple(length(0, 600), length(0, 600), fc.constantFrom(0, 0.25, 0.5, 1)).map(([a, b, p]) => [
    { length: seconds(a), p },
    { length: seconds(b), p: 1 - p },
  ]),
);

const someRule: fc.Arbitrary<StopRule> = fc.record({
  quietWaits: fc.constantFrom(null, 0, 1, 2, 4),
  running: fc.constantFrom(null, 30, 300).map((length) => (length === null ? null : seconds(length))),
  failureSeen: fc.constantFrom(null, true),
});

export const someProfile: fc.Arbitrary<Partial<Profile>> = fc.record(
  {
    // Long enough that a model which ignores its reserve cannot make more than some hundred calls there.
    step: fc.oneof(fc.constant(12), length(5, 20)).map(seconds),
    cadence: fc.option(length(1, 120).map(seconds)),
    waits: fc
      .tuple(someLengths, fc.option(someLengths))
      .map(([first, later]) => [{ from: 1, length: first }, ...(later === null ? [] : [{ from: 2, length: later }])]),
    stopsAProcess: fc.array(someRule, { maxLength: 2 }),
    inTheReserve: fc.constantFrom(...IN_THE_RESERVE),
  },
  { requiredKeys: ["step"] },
);

/** What the policy is told: nothing, the truth, or something else. */
const someTold = (outerLimit: number): fc.Arbitrary<Pick<RunSpec, "told" | "reserve">> =>
  fc.oneof(
    fc.constant({}),
    fc.record({ told: fc.oneof(fc.constant(outerLimit), length(0, 1_500)) }),
    fc.record({ told: fc.oneof(fc.constant(outerLimit), length(0, 1_500)), reserve: length(0, 600) }),
  );

const someSurroundings = fc.oneof(fc.constantFrom(300, 600, 1_200), length(0, 1_200)).chain((outerLimit) =>
  fc.record({
    outerLimit: fc.constant(outerLimit),
    budget: someTold(outerLimit),
    cancels: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(length(0, outerLimit), { maxLength: 3 })),
  }),
);

/** A whole trial of plain runs: any plan, model, policy and harness. */
export const someTrial: fc.Arbitrary<RunSpec> = trialOf({});

export function trialOf({
  settings = someSettings,
  plan = somePlan(),
  profile = someProfile,
}: {
  readonly settings?: fc.Arbitrary<WrittenSettings>;
  readonly plan?: fc.Arbitrary<Plan>;
  readonly profile?: fc.Arbitrary<Partial<Profile>>;
}): fc.Arbitrary<RunSpec> {
  return fc
    .tuple(settings, plan, profile, someSurroundings)
    .map(([settings, plan, profile, { outerLimit, budget, cancels }]) => ({
      settings,
      plan,
      profile,
      outerLimit,
      cancels,
      ...budget,
    }));
}

// Everything that can happen

const someCpu = fc.constantFrom(0, 0, 1, 0.5, 2);

/** Phases of every kind, in any order. */
export const anyPhases: fc.Arbitrary<readonly Phase[]> = fc.array(
  fc.oneof(
    fc.record({
      phase: fc.constant("run" as const),
      length: someLength.map(seconds),
      output: someOutput(),
      cpu: someCpu,
    }),
    fc.record({ phase: fc.constant("hang" as const), output: someOutput(), cpu: someCpu }),
    fc.record({
      phase: fc.constant("server" as const),
      readyAfter: fc.oneof(fc.constantFrom(0, 10, 40), length(0, 120)).map(seconds),
      output: someOutput(),
    }),
    fc.record({
      phase: fc.constant("prompt" as const),
      question: fc.constant(utf8.encode("sure? ")),
      onEndOfInput: fc.constantFrom("hang" as const, { code: 1, signal: null }),
    }),
    {
      weight: 2,
      arbitrary: fc.record({
        phase: fc.constant("child" as const),
        lasts: fc.option(fc.oneof(fc.constantFrom(0, 30, 240), length(0, 400)).map(seconds)),
        group: fc.constantFrom("same" as const, "own" as const),
        holdsOutput: on,
      }),
    },
  ),
  { minLength: 1, maxLength: 3 },
);

/** A command that may serve, hold a lock, lose its signal, and leave others behind. */
export const anyCommand: fc.Arbitrary<ScriptedCommand> = fc
  .record({
    line: fc.constantFrom("pytest -q", "make", "npm start"),
    phases: anyPhases,
    exit: someExit,
    onTerm: someOnTerm,
    port: fc.constantFrom(null, 8_080, 8_081),
    lock: fc.constantFrom(null, null, "build.lock"),
    signalLost: sometimes,
    usual: fc.constantFrom(null, 5, 300).map((length) => (length === null ? null : seconds(length))),
  })
  .map(scripted);

const someServer: fc.Arbitrary<ScriptedCommand> = fc
  .record({
    line: fc.constant("npm start"),
    phases: fc.tuple(
      fc.record({
        phase: fc.constant("server" as const),
        readyAfter: fc.constantFrom(0, 10, 40).map(seconds),
        output: someOutput(),
      }),
    ),
    port: fc.constantFrom(8_080, 8_081),
  })
  .map(scripted);

const commands = fc.oneof(anyCommand, someCommand(), someServer);

const run = (name: string): fc.Arbitrary<RunStep> =>
  fc.record({
    step: fc.constant("run" as const),
    id: fc.constant(name),
    command: commands as fc.Arbitrary<Command>,
    background: sometimes,
    timeout: someTimeout.map((timeout) => (timeout === null ? null : seconds(timeout))),
    thenStep: on,
    neededLater: sometimes,
  });

const thought = length(0, 200).map(seconds);
const someId = fc.constantFrom("step-0", "step-0", "step-1", "step-2", "nobody");

const anyStep = (name: string, depth = 0): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.record({ step: fc.constant("think" as const), length: thought }),
    fc.record({ step: fc.constant("think_steps" as const), steps: fc.integer({ min: 0, max: 4 }) }),
    { weight: 4, arbitrary: run(name) },
    fc.record({ step: fc.constant("status" as const), of: someId, thenStep: on }),
    { weight: 2, arbitrary: fc.record({ step: fc.constantFrom("await" as const, "probe" as const), of: someId }) },
    fc.record({ step: fc.constant("until_answers" as const), of: someId, atMost: fc.integer({ min: 1, max: 6 }) }),
    fc.record({
      step: fc.constant("until_succeeds" as const),
      attempts: fc.tuple(run(`${name}.1`), run(`${name}.2`)),
      thoughts: fc.tuple(thought),
    }),
    {
      weight: 2,
      arbitrary: fc.record({
        step: fc.constant("together" as const),
        of: fc
          .tuple(run(`${name}-a`), fc.option(run(`${name}-b`)), fc.option(job(`${name}-job`, depth)))
          .map((of) => of.filter((one) => one !== null)),
      }),
    },
    job(name, depth),
    fc.constant<Step>({ step: "commit" }),
  );

function job(name: string, depth: number): fc.Arbitrary<JobStep> {
  // Children of children are children enough.
  const steps = depth > 1 ? step(name, someCommand()) : anyStep(`${name}-step`, depth + 1);
  return fc.record({
    step: fc.constant("job" as const),
    id: fc.constant(name),
    plan: fc
      .tuple(fc.array(steps, { maxLength: 2 }), on)
      .map(([steps, submits]): Plan => [...steps, ...(submits ? [{ step: "submit" } as const] : [])]),
    timeout: fc
      .oneof(fc.constant(null), fc.constantFrom(10, 60, 240), length(0, 300))
      .map((timeout) => (timeout === null ? null : seconds(timeout))),
    startTokens: fc.constantFrom(null, 500),
  });
}

/** Something is started at first; what follows has something to go by. */
export const anyPlan: fc.Arbitrary<Plan> = fc
  .tuple(
    run("step-0"),
    planOf((name) => anyStep(name.replace("step-0", "step-4")), 4),
  )
  .map(([first, rest]) => [first, ...rest]);

const someShares = <Word extends string>(words: readonly Word[]) =>
  fc.tuple(fc.constantFrom(...words), fc.constantFrom(...words), fc.constantFrom(0, 0.3, 1)).map(([one, other, p]) => [
    { does: one, p },
    { does: other, p: 1 - p },
  ]);

const someDraw: fc.Arbitrary<Distribution> = fc.oneof(
  fc.record({ distribution: fc.constant("uniform" as const), from: fc.constant(5), to: fc.constantFrom(5, 40) }),
  fc.record({ distribution: fc.constant("fixed" as const), value: fc.constantFrom(10, 60) }),
);

const anyLengths: fc.Arbitrary<Lengths> = fc.oneof(
  { weight: 3, arbitrary: someLengths },
  someDraw.map((drawn) => ({ drawn })),
  fc.array(length(0, 300).map(seconds), { minLength: 1, maxLength: 3 }).map((ladder) => ({ ladder })),
  fc.constant<Lengths>({ cadence: true }),
  fc.record({ shareOfRemaining: fc.constantFrom(0, 0.1, 0.5), otherwise: fc.constant(seconds(60)) }),
);

/** Small, so that it is often full. */
const someContext: fc.Arbitrary<ContextTerms> = fc.record({
  start: fc.constantFrom(0, 1_000, 9_000),
  step: fc.constantFrom(0, 500, 2_000),
  poll: fc.constantFrom(0, 60),
  stepOutput: fc.constantFrom(0, 200),
  pollOutput: fc.constantFrom(0, 40),
  bytesPerToken: fc.constantFrom(1, 4),
  window: fc.constantFrom(10_000, 272_000),
  compactsAt: fc.constantFrom(0.8, 1),
  kept: fc.constantFrom(0, 1_000),
  summary: fc.constantFrom(0, 500),
});

const someExpectation: fc.Arbitrary<Expectation> = fc.record({
  sigma: fc.constantFrom(0, 0.7),
  backgroundOver: fc.constantFrom(null, seconds(60)),
  timeoutFactor: fc.constantFrom(null, 2),
});

/** Every habit that a profile may have. */
export const anyProfile: fc.Arbitrary<Partial<Profile>> = fc.record({
  step: fc.oneof(fc.constantFrom(5, 12).map(seconds), someDraw),
  cadence: length(1, 120).map(seconds),
  waits: fc
    .tuple(anyLengths, fc.option(anyLengths), fc.option(anyLengths))
    .map(([first, later, late]) => [
      { from: 1, length: first },
      ...(later === null ? [] : [{ from: 2, length: later }]),
      ...(late === null ? [] : [{ from: 1, late: seconds(60), length: late }]),
    ]),
  between: fc.oneof(fc.constant([]), someShares(BETWEEN)),
  stopsAProcess: fc.array(
    fc
      .tuple(someRule, fc.constantFrom(undefined, 0.2, 1), fc.constantFrom(undefined, undefined, true, false))
      .map(([rule, probability, cpuIdle]) => ({
        ...rule,
        ...(probability === undefined ? null : { probability }),
        ...(cpuIdle === undefined ? null : { cpuIdle }),
      })),
    { maxLength: 2 },
  ),
  inTheReserve: fc.oneof(fc.constantFrom(...IN_THE_RESERVE), someShares(IN_THE_RESERVE)),
  onReady: fc.constantFrom(...ON_READY),
  arguments: fc.oneof(
    fc.constant(PLAIN_HABITS.arguments),
    fc.record({
      backgroundShare: fc.constantFrom(0, 0.3, 1),
      timeoutShare: fc.constantFrom(0, 0.5),
      timeout: fc.option(someDraw),
    }),
  ),
  reruns: fc.record({
    running: fc.constantFrom(0, 0.5),
    timedOut: fc.constantFrom(0, 1),
    atMost: fc.constantFrom(0, 0, 1, 2),
  }),
  expects: fc.option<Expectation, null>(someExpectation, { freq: 2, nil: null }),
  tools: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.subarray([...ACTIONS]), fc.subarray([...ACTIONS])).map(([has, later]) => [
        { from: 1, has },
        { from: 3, has: later },
      ]),
    },
  ),
  forgets: fc.constantFrom(0, 0.5, 1),
  context: someContext,
});

const someCache: fc.Arbitrary<CacheTerms> = fc.record({
  lifetime: fc.constantFrom(60, 300).map(seconds),
  mode: fc.constantFrom("hard" as const, "decay" as const),
  gone: fc.constantFrom(600, 3_600).map(seconds),
  write: fc.constantFrom(1, 1.25, 2),
  read: fc.constantFrom(0.1, 0.5),
  least: fc.constantFrom(0, 1_024),
});

export const someEconomy: fc.Arbitrary<Economy> = fc.record({
  cache: fc.option(someCache),
  price: fc.record({ input: fc.constantFrom(0, 3), output: fc.constantFrom(0, 15) }),
});

const someLimits: fc.Arbitrary<Partial<Limits>> = fc.record(
  {
    steps: fc.integer({ min: 0, max: 60 }),
    tokens: fc.integer({ min: 0, max: 400_000 }),
    cost: fc.integer({ min: 0, max: 1_000_000 }),
  },
  { requiredKeys: [] },
);

const perhaps = <Value>(value: fc.Arbitrary<Value>, of = 2): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, value);

const someOutside = (outerLimit: number): fc.Arbitrary<NonNullable<RunSpec["outside"]>> =>
  fc
    .array(
      fc.tuple(
        fc.oneof(
          fc.integer({ min: 0, max: 30 }).map((at) => at * 10),
          length(0, outerLimit),
        ),
        fc.constantFrom(...OUTSIDE_EVENTS),
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((events) => events.sort(([a], [b]) => a - b));

/** A whole trial with everything that there is to a trial. */
export const anyTrial: fc.Arbitrary<RunSpec> = fc
  .tuple(someSettings, anyPlan, anyProfile, someSurroundings, perhaps(someEconomy), perhaps(someLimits, 4))
  .chain(([settings, plan, profile, { outerLimit, budget, cancels }, economy, limits]) =>
    perhaps(someOutside(outerLimit)).map((outside) => ({
      settings,
      plan,
      profile,
      outerLimit,
      cancels,
      ...budget,
      ...(economy === undefined ? null : { economy }),
      ...(limits === undefined ? null : { limits }),
      ...(outside === undefined ? null : { outside }),
    })),
  );

const someLatency: fc.Arbitrary<NonNullable<ProviderTerms["latency"]>> = fc.record({
  firstToken: fc.constantFrom<Distribution[]>(
    { distribution: "fixed", value: 2 },
    { distribution: "uniform", from: 2, to: 9 },
  ),
  uncachedTokensPerSecond: fc.constantFrom(null, 5_000),
  outputTokensPerSecond: fc.constant<Distribution>({ distribution: "fixed", value: 50 }),
});

const someErrors: fc.Arbitrary<NonNullable<ProviderTerms["errors"]>> = fc.record({
  calm: fc.constantFrom(0, 0.3),
  storm: fc.constantFrom(0.3, 1),
  stormLasts: fc.constant(seconds(60)),
  calmLasts: fc.constant(seconds(120)),
});

/** Serves nobody in no time: a model that asks again and again must not do so without end. */
export const someProvider: fc.Arbitrary<Partial<ProviderTerms>> = fc.record({
  latency: fc.option<NonNullable<ProviderTerms["latency"]>, null>(someLatency, { nil: null }),
  speed: fc.constantFrom(0.5, 1, 2),
  inFlight: fc.constantFrom(null, 1, 2),
  requestsPerMinute: fc.constantFrom(null, null, 6),
  tokensPerMinute: fc.constantFrom(null, null, 50_000),
  retryAfter: fc.constantFrom(0, 5).map(seconds),
  errors: fc.option<NonNullable<ProviderTerms["errors"]>, null>(someErrors, { nil: null }),
  retries: fc.record({
    attempts: fc.constantFrom(1, 3, 6),
    firstWait: fc.constantFrom(0, 1).map(seconds),
    longestWait: fc.constant(seconds(8)),
    jitter: fc.constantFrom(0, 0.5),
  }),
});

export const someHost: fc.Arbitrary<Partial<HostTerms>> = fc.record({
  speed: fc.constantFrom(0.5, 1, 3),
  cores: fc.constantFrom(null, 0.5, 1, 2),
});

/** One thing that whoever has the tools may do; processes are counted from 1 and need not exist. */
export type Move =
  | {
      readonly move: "exec";
      readonly command: ScriptedCommand;
      readonly background: boolean;
      readonly timeout: number | null;
    }
  | { readonly move: "wait"; readonly process: number; readonly length: number | null }
  | { readonly move: "status" | "stop"; readonly process: number }
  | { readonly move: "read"; readonly process: number; readonly offset: number; readonly limit: number | null }
  | { readonly move: "list" }
  | { readonly move: "pass"; readonly length: number };

const someProcess = fc.integer({ min: 1, max: 3 });

const someMoves = (bytes?: fc.Arbitrary<Uint8Array>): fc.Arbitrary<readonly Move[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          move: fc.constant("exec" as const),
          command: someCommand(bytes),
          background: sometimes,
          timeout: someTimeout,
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          move: fc.constant("wait" as const),
          process: someProcess,
          length: fc.option(fc.oneof(fc.constantFrom(0, 10, 30, 240, 3_600), length(0, 600))),
        }),
      },
      fc.record({ move: fc.constantFrom("status" as const, "stop" as const), process: someProcess }),
      fc.record({
        move: fc.constant("read" as const),
        process: someProcess,
        offset: fc.integer({ min: -5, max: 120 }),
        limit: fc.option(fc.integer({ min: 0, max: 40 })),
      }),
      fc.constant({ move: "list" as const }),
      fc.record({ move: fc.constant("pass" as const), length: length(0, 100) }),
    ),
    { minLength: 1, maxLength: 10 },
  );

/** A trial whose calls are made by nobody's plan. */
export const someSession: fc.Arbitrary<SessionSpec & { readonly moves: readonly Move[] }> = fc
  .tuple(someSettings, someMoves(), someSurroundings, fc.option(length(1, 120)))
  .map(([settings, moves, { outerLimit, budget, cancels }, cadence]) => ({
    settings,
    moves,
    outerLimit,
    cancels,
    ...budget,
    ...(cadence === null ? {} : { cadence }),
  }));
