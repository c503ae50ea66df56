/**
 * Random settings, commands and trials, as laws need them: mostly round numbers, so that moments coincide, and often at
 * the edges, where promises are broken. Lengths in seconds, as on paper.
 */
import fc from "fast-check";
import { MARKS, type Signal } from "../src/agent/effects.ts";
import { IN_THE_RESERVE, type Lengths, type Profile, type StopRule } from "../src/agent/model.ts";
import type { Plan, Step } from "../src/agent/plan.ts";
import { type Setting, settingKeys, settingsTable, type WrittenSettings } from "../src/policy/settings.ts";
import { seconds } from "../src/policy/time.ts";
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
      max_hold_seconds: rareBound(1, 200),
      hard_timeout_default_seconds: rareBound(1, 60),
      hard_timeout_max_seconds: bound(60, 200),
      hard_timeout_out_of_range: word("refuse", "clamp"),
      hard_timeout_budget_aware: on,
      hard_timeout_suppresses_yield: on,
      kill_grace_seconds: length(0, 4),
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

/** Mends what a file that says it would be refused for. */
function consistent(settings: WrittenSettings): WrittenSettings {
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
  fc
    .tuple(
      fc.tuple(...[0, 1, 2, 3, 4, 5].map((at) => fc.option(step(`step-${at}`, commands), { freq: 3 }))),
      fc.option(fc.constant<Step>({ step: "submit" }), { freq: 6 }),
    )
    .map(([steps, last]) => [...steps, last].filter((one) => one !== null));

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

/** A whole trial: any plan, model, policy and harness. */
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
