/**
 * What may stand in the files that people write, in the form in which they write it.
 *
 * Snake case, units in the key, seconds as on paper. Nothing is converted here: the schemas are pure, so that
 * the JSON Schemas for editors come from the same definitions. What a single value must be is said here;
 * what must hold between values is checked where they are converted.
 *
 * Every schema says what is wrong in our own words, as the rest of a sentence that begins with the key
 * (`is -8: expected …`): no message of the library's own reaches a reader.
 */
import { z } from "zod";
import { MARKS, SIGNALS } from "../agent/effects.ts";
import { IN_THE_RESERVE } from "../agent/model.ts";
import { CREDITS, REWARDS } from "../agent/plan.ts";
import {
  expected,
  LONGEST_SECONDS,
  type Setting,
  type SettingKey,
  settingKeys,
  settingsTable,
} from "../policy/settings.ts";
import { listed, shown, suggestion } from "./fault.ts";
import { measureNames } from "./measures.ts";

interface Wrong {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/** The rest of the sentence that begins with a key: what was found there, and what was expected. */
export function instead(input: unknown, expectation: string, hint = ""): string {
  return `${input === undefined ? "is missing" : `is ${shown(input)}`}: expected ${expectation}${hint}`;
}

const wanted = (expectation: string) => (wrong: Wrong) => instead(wrong.input, expectation);

/** Keys that a later stage brings: refused as not yet there, rather than as unknown. */
const NOT_YET: Readonly<Record<string, readonly string[]>> = {
  "a panel": ["provider", "host"],
  "a phase": ["server", "prompt", "child", "signal_loss"],
  "a step": [
    "until",
    "repair",
    "probe",
    "job",
    "user_stop",
    "clear",
    "switch",
    "user_background",
    "headless_exit",
    "restart",
  ],
  grading: ["service_must_answer_at_grading"],
  "a policy's shell_execution": ["total_timeout_seconds", "hard_timeout_by_class"],
};

/** Why a key cannot stand where it does. */
function unknownKey(key: string, of: string, known: readonly string[]): string {
  if (NOT_YET[of]?.includes(key)) return `is not yet a key of ${of}: it comes with a later stage`;
  return `is not a key of ${of}${suggestion(key, known)}`;
}

/** A mapping with these keys and no others. */
function keys<Shape extends z.ZodRawShape>(of: string, shape: Shape) {
  const known = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: (wrong) =>
        wrong.code === "unrecognized_keys"
          ? (wrong.keys as readonly string[]).map((key) => unknownKey(key, of, known)).join("\n")
          : instead(wrong.input, `${of}, with keys like ${listed(known.slice(0, 4))}`),
    })
    .meta({ title: of });
}

type Optional<Shape extends z.ZodRawShape> = { [Key in keyof Shape]: z.ZodOptional<Shape[Key]> };

/** A mapping with exactly one of these keys. */
function oneKey<Shape extends z.ZodRawShape>(of: string, shape: Shape) {
  const known = Object.keys(shape);
  const optional = Object.fromEntries(known.map((key) => [key, z.optional(shape[key]!)])) as unknown as Optional<Shape>;
  return keys(of, optional)
    .refine((value) => Object.keys(value).length === 1, {
      error: ({ input }) => {
        const found = Object.keys(input as object);
        return `${found.length === 0 ? "says nothing" : `says ${listed(found)} at once`}: ${of} is one of ${listed(known, "or")}`;
      },
    })
    .meta({ title: of, minProperties: 1, maxProperties: 1 });
}

interface Range {
  readonly least?: number;
  /** Below the range itself. */
  readonly above?: number;
  readonly most?: number;
  readonly whole?: boolean;
  /** Whether the number counts seconds, so that `30s` can be answered with `30`. */
  readonly seconds?: boolean;
}

function number(expectation: string, { least, above, most, whole, seconds }: Range) {
  const error = ({ input }: Wrong) => instead(input, expectation, hint(input, seconds ?? false));
  let schema = whole ? z.int({ error }) : z.number({ error });
  if (least !== undefined) schema = schema.min(least, { error });
  if (above !== undefined) schema = schema.gt(above, { error });
  if (most !== undefined) schema = schema.max(most, { error });
  return schema;
}

const SECONDS_IN: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minutes: 60,
  h: 3_600,
  hours: 3_600,
};

/** What to write instead, where that can be guessed. */
function hint(input: unknown, isSeconds: boolean): string {
  if (typeof input === "number") return Number.isFinite(input) ? "" : ", and finite";
  if (typeof input !== "string") return "";
  const text = input.trim();
  if (/^\d[\d_,]*(\.\d+)?$/.test(text)) return `; write ${text.replace(/[_,]/g, "")}, without quotes or separators`;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : SECONDS_IN[unit];
  return isSeconds && factor !== undefined ? `; write ${Number(amount) * factor}` : "";
}

const length = () =>
  number("a length of time in seconds, zero or more", { least: 0, most: LONGEST_SECONDS, seconds: true });
const someLength = () =>
  number("a length of time in seconds, 0.001 or more", { least: 0.001, most: LONGEST_SECONDS, seconds: true });
/** How many of something there are, or which of them is meant. */
const count = (what: string, least: number, most: number) =>
  number(`${what}, a whole number from ${least} to ${most}`, { least, most, whole: true });
const share = () => number("a probability from 0 to 1", { least: 0, most: 1 });
const positive = () => number("a number above 0", { above: 0, most: 1e9 });

const text = (expectation = "text") => z.string({ error: wanted(expectation) }).min(1, { error: wanted(expectation) });
const flag = () => z.boolean({ error: wanted("true or false") });
const words = <const Word extends string>(of: readonly Word[]) => z.enum(of, { error: wanted(listed(of, "or")) });

/** Names become folders, tables and parts of other names. */
const NAME = /^[A-Za-z0-9_][\w.-]*$/;
const name = (of: string) => {
  const error = wanted(`the name of ${of}: letters, digits, and . _ - between them`);
  return z.string({ error }).max(120, { error }).regex(NAME, { error });
};
/** A name that leads to a file: a name, or a path to one. */
const reference = (to: string) => text(`the name of ${to}`);

const list = <Item extends z.ZodType>(item: Item, of: string) => z.array(item, { error: wanted(of) });
const someOf = <Item extends z.ZodType>(item: Item, of: string) =>
  list(item, of).min(1, { error: wanted(`${of}, at least one`) });

/** @param isSeconds whether a string that means a length can be answered with a number */
const oneOf = <const Options extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(
  options: Options,
  expectation: string,
  isSeconds = false,
) => z.union(options, { error: ({ input }) => instead(input, expectation, hint(input, isSeconds)) });

/** Probabilities of things of which exactly one happens. */
const whole = <Item extends z.ZodType<{ p: number }>>(item: Item, of: string) =>
  someOf(item, of).refine((items) => Math.abs(total(items) - 1) <= 1e-9, {
    error: ({ input }) => `has probabilities that add up to ${+total(input as { p: number }[]).toFixed(9)}: expected 1`,
  });

function total(items: readonly { readonly p: number }[]): number {
  return items.reduce((sum, { p }) => sum + p, 0);
}

const LOGNORMALS = [
  ["mu", "sigma"],
  ["mean", "sigma"],
  ["median", "p99"],
] as const;

/** Distributions of amounts of zero or more: lengths in seconds, or counts. */
const distribution = oneKey("a distribution", {
  lognormal: keys("a lognormal", {
    mu: number("the mean of the logarithm", { least: -1e3, most: 1e3 }).optional(),
    sigma: number("the standard deviation of the logarithm, 0 or more", { least: 0, most: 100 }).optional(),
    mean: positive().optional(),
    median: positive().optional(),
    p99: positive().optional(),
  })
    .refine(
      (given) =>
        LOGNORMALS.some((form) => form.length === Object.keys(given).length && form.every((key) => key in given)),
      {
        error: ({ input }) =>
          `gives ${listed(Object.keys(input as object)) || "nothing"}: expected mu and sigma, mean and sigma, or median and p99`,
      },
    )
    .refine(({ median, p99 }) => median === undefined || p99 === undefined || p99 >= median, {
      error: "has its p99 below its median: expected a p99 of the median or more",
    }),
  uniform: z
    .tuple(
      [
        number("an amount, zero or more", { least: 0, most: 1e9 }),
        number("an amount, zero or more", { least: 0, most: 1e9 }),
      ],
      {
        error: wanted("two amounts, [from, to]"),
      },
    )
    .refine(([from, to]) => from <= to, { error: "ends before it begins: expected [from, to]" }),
  exponential: keys("an exponential", { mean: positive() }),
  poisson_gamma: keys("a poisson_gamma", {
    mean: number("a mean above 0, 10000 at most", { above: 0, most: 10_000 }),
    k: number("a shape above 0", { above: 0, most: 1e6 }),
  }),
  choice: whole(
    keys("a choice", {
      value: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS, seconds: true }),
      p: share(),
    }),
    "a list of { value, p }",
  ),
  histogram: whole(
    keys("a bin", {
      from: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS }),
      to: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS }),
      p: share(),
    }),
    "a list of bins { from, to, p }",
  ).refine((bins) => bins.every(({ from, to }, at) => from <= to && (at === 0 || bins[at - 1]!.to <= from)), {
    error: "has bins that overlap or run backwards: expected them in ascending order",
  }),
  samples: text("the name of a CSV file with one number per line"),
});

const lengthOrDistribution = oneOf([length(), distribution], "a length of time in seconds, or a distribution", true);

/** Settings as the policy's one table has them; no second list. */
const settingsShape = Object.fromEntries(
  settingKeys.map((key) => [key, settingSchema(settingsTable[key]).optional()]),
) as Record<SettingKey, z.ZodOptional<z.ZodType<number | string | boolean>>>;

function settingSchema(setting: Setting): z.ZodType<number | string | boolean> {
  const fault = ({ input }: Wrong) =>
    instead(input, expected(setting), hint(input, setting.unit === "s")) +
    (input === "background" && setting.kind === "choice" ? "; background comes with a later stage" : "");
  const bare = ((): z.ZodType<number | string | boolean> => {
    switch (setting.kind) {
      case "flag":
        return z.boolean({ error: fault });
      case "choice":
        return z.enum(setting.words, { error: fault });
      case "slice":
        return z.union([inRange(setting.range), z.enum(setting.words, { error: fault })], { error: fault });
      case "length":
        return setting.optional
          ? z.union([inRange(setting.range), z.literal("none", { error: fault })], { error: fault })
          : inRange(setting.range);
      case "amount": {
        const amount = setting.whole ? z.int({ error: fault }) : z.number({ error: fault });
        const limited = amount.min(setting.range[0], { error: fault }).max(setting.range[1], { error: fault });
        return setting.optional ? z.union([limited, z.literal("none", { error: fault })], { error: fault }) : limited;
      }
    }
  })();
  return bare.meta({ description: setting.says, default: setting.default });

  function inRange([least, most]: readonly [number, number]) {
    return z.number({ error: fault }).min(least, { error: fault }).max(most, { error: fault });
  }
}

export const settingsSchema = keys("a policy's shell_execution", settingsShape);

const output = oneOf(
  [
    z.literal("none", { error: wanted("none") }),
    keys("a repeated output", {
      every_seconds: someLength(),
      text: z.string({ error: wanted("text") }).optional(),
      bytes: count("a number of bytes", 1, 1_048_576).optional(),
    }),
    someOf(
      keys("a line of output", {
        at_seconds: length(),
        text: z.string({ error: wanted("text") }),
        says: words(MARKS).optional(),
      }),
      "a list of { at_seconds, text }",
    ),
  ],
  "none, { every_seconds, text } or a list of { at_seconds, text }",
);

const cpu = () => number("a number of cores, zero or more", { least: 0, most: 1_024 }).optional();
const test = oneOf(
  [count("the number of a test", 1, 1_000_000), text("the name of a test")],
  "the number or the name of a test",
);
const tests = () => list(test, "a list of tests").optional();

const phase = oneKey("a phase", {
  run: keys("a run", { seconds: lengthOrDistribution, output, cpu: cpu() }),
  hang: keys("a hang", { output, cpu: cpu() }),
  exit: keys("an exit", {
    code: count("an exit code", 0, 255).optional(),
    signal: z
      .enum(SIGNALS, {
        error: ({ input }) =>
          instead(
            input,
            "a signal, like SIGSEGV",
            suggestion(`SIG${String(input).replace(/^SIG/i, "").toUpperCase()}`, SIGNALS),
          ),
      })
      .optional(),
    passes: tests(),
    spoils: tests(),
  }).refine(({ code, signal }) => (code === undefined) !== (signal === undefined), {
    error: ({ input }) =>
      `gives ${(input as { code?: number }).code === undefined ? "neither code nor signal" : "both code and signal"}: expected one of them`,
  }),
});

const phases = someOf(phase, "a list of phases");
const onTerm = keys("on_term", {
  after_seconds: oneOf(
    [length(), z.literal("never", { error: wanted("never") })],
    "a length of time in seconds, or never",
    true,
  ),
}).optional();

const grading = keys("grading", {
  tests: count("a number of tests", 1, 1_000_000),
  reward: words(REWARDS),
  credit: words(CREDITS),
});

const waitLength = oneOf(
  [
    someLength(),
    keys("a length to ask for", {
      choice: whole(keys("a choice", { value: someLength(), p: share() }), "a list of { value, p }"),
    }),
  ],
  "a length of time in seconds, 0.001 or more, or a choice",
  true,
);

const habitShape = {
  step_seconds: someLength(),
  cadence_seconds: someLength().optional(),
  waits: someOf(
    keys("a wait", { from: count("the number of a wait", 1, 1_000_000), seconds: waitLength }),
    "a list of { from, seconds }",
  ),
  stops_a_process: oneOf(
    [
      z.literal("never", { error: wanted("never") }),
      keys("stops_a_process", {
        any_of: someOf(
          keys("a reason to stop", {
            quiet_waits: count("a number of quiet waits", 1, 1_000_000).optional(),
            running_seconds: length().optional(),
            failure_seen: flag().optional(),
          }).refine((rule) => Object.keys(rule).length > 0, {
            error: "says nothing: expected quiet_waits, running_seconds or failure_seen",
          }),
          "a list of reasons to stop",
        ),
      }),
    ],
    "never, or any_of with a list of reasons to stop",
  ),
  in_the_reserve: words(IN_THE_RESERVE),
};

const profileSchema = keys("a profile", {
  profile: name("the profile"),
  says: text().optional(),
  source: text().optional(),
  ...habitShape,
});

const changesSchema = keys("a profile", habitShape).partial();

const scenarioSchema = keys("a scenario", {
  scenario: name("the scenario"),
  question: text("the question that the scenario was written to answer"),
  source: text().optional(),
  outer_limit_seconds: someLength(),
  commands: z.record(
    z.string(),
    keys("a command", { line: text("the line that a shell would run"), phases, on_term: onTerm }),
    {
      error: wanted("commands by name"),
    },
  ),
  plan: someOf(
    oneKey("a step", {
      think: keys("think", { seconds: lengthOrDistribution }),
      run: oneOf(
        [
          text("the name of a command"),
          keys("a run", {
            command: text("the name of a command"),
            background: flag().optional(),
            timeout_seconds: someLength().optional(),
            id: name("the step").optional(),
          }),
        ],
        "the name of a command, or { command, background, timeout_seconds, id }",
      ),
      status: text("the id of an earlier run"),
      commit: keys("commit", {}),
      submit: keys("submit", {}),
    }),
    "a list of steps",
  ),
  model: z.record(z.string(), changesSchema, { error: wanted("profile keys by profile name, or by any") }).optional(),
  grading,
});

const populationSchema = keys("a population", {
  population: name("the population"),
  question: text().optional(),
  says: text().optional(),
  source: text().optional(),
  tasks: count("a number of tasks", 1, 1_000_000),
  outer_limit_seconds: someLength(),
  commands_per_task: oneOf(
    [count("a number of commands", 0, 100_000), distribution],
    "a whole number, or a distribution",
  ),
  thinking_seconds: lengthOrDistribution,
  background_job_probability: share().optional(),
  command: keys("the commands", {
    mix: whole(
      keys("a share of the commands", { p: share(), line: text().optional(), phases, on_term: onTerm }),
      "a list of { p, phases }",
    ),
  }),
  grading,
});

const toldBudget = keys("a budget", {
  run_budget_seconds: someLength().optional(),
  run_deadline_epoch_seconds: number("seconds since the epoch, zero or more", { least: 0, most: 1e12 }).optional(),
  finalization_reserve_seconds: length().optional(),
});

const policySchema = keys("a policy", {
  policy: name("the policy"),
  says: text().optional(),
  source: text().optional(),
  date: text().optional(),
  shell_execution: settingsSchema,
  // What a served session is told where nobody else tells it anything; in a panel that is the arm's to say.
  budget: toldBudget.optional(),
});

/** A fast-agent configuration, of which only `shell_execution` concerns us. */
export const configurationSchema = z.object(
  { shell_execution: settingsSchema },
  { error: wanted("a configuration with shell_execution") },
);

const budget = oneOf([words(["told", "untold"]), toldBudget], "told, untold or { run_budget_seconds }");

const armShape = keys("an arm", {
  arm: name("the arm"),
  says: text().optional(),
  policy: reference("a policy"),
  profile: reference("a profile"),
  budget,
  set: settingsSchema.optional(),
});

const armsSchema = keys("a file of arms", { arms: someOf(armShape, "a list of arms") });

const level = oneOf(
  [z.number({ error: wanted("a level") }), z.string({ error: wanted("a level") }), flag(), budget],
  "the level of a factor: a number, a word, or true or false",
);

const armName = () => text("the name of an arm");
const measure = () =>
  z.enum(measureNames, { error: ({ input }) => instead(input, "a measure", suggestion(String(input), measureNames)) });
const change = () => number("a number", { least: -1e12, most: 1e12 });

const panelSchema = keys("a panel", {
  panel: name("the panel"),
  question: text("the question that the panel was written to answer"),
  source: text().optional(),
  caveats: list(text("a sentence that the report repeats"), "a list of sentences").optional(),
  population: oneOf(
    [reference("a population"), populationSchema],
    "the name of a population, or one in full",
  ).optional(),
  scenarios: someOf(reference("a scenario"), "a list of scenario names").optional(),
  replicates: count("a number of replicates", 1, 1_000_000),
  seed: number("a whole number, 0 to 2^53 − 1", { least: 0, whole: true }).optional(),
  concurrency: keys("concurrency", {
    per_arm: count("a number of trials at once", 1, 1_000_000),
  }).optional(),
  cut_grace_seconds: length().optional(),
  base: keys("a base", {
    policy: reference("a policy"),
    profile: reference("a profile").optional(),
    budget: budget.optional(),
    set: settingsSchema.optional(),
  }).optional(),
  factors: oneOf(
    [
      list(text("the name of a factor"), "a list of factors"),
      z.record(z.string(), someOf(level, "a list of levels"), { error: wanted("levels by factor") }),
    ],
    "a list of factors, or levels by factor",
  ).optional(),
  arms: someOf(
    oneOf([reference("an arm"), armShape], "the name of an arm, or one in full"),
    "a list of arms",
  ).optional(),
  exhibits: list(reference("a scenario"), "a list of scenario names").optional(),
  hypotheses: list(
    keys("a hypothesis", {
      measure: measure(),
      arm: armName(),
      against: armName(),
      expect: words(["lower", "higher"]),
    }),
    "a list of { measure, arm, against, expect }",
  ).optional(),
  published: list(
    keys("a published figure", {
      arm: armName(),
      against: armName().optional(),
      measure: measure(),
      value: change().optional(),
      range: z
        .tuple([change(), change()], { error: wanted("two numbers, [low, high]") })
        .refine(([low, high]) => low <= high, { error: "runs backwards: expected [low, high]" })
        .optional(),
      source: text("where the figure was published"),
    }).refine(({ value, range }) => (value === undefined) !== (range === undefined), {
      error: ({ input }) =>
        `gives ${(input as { value?: number }).value === undefined ? "neither value nor range" : "both value and range"}: expected one of them`,
    }),
    "a list of { arm, measure, value, source }",
  ).optional(),
});

export type DistributionFile = z.infer<typeof distribution>;
export type PhaseFile = z.infer<typeof phase>;
export type OutputFile = z.infer<typeof output>;
export type ScenarioFile = z.infer<typeof scenarioSchema>;
export type PopulationFile = z.infer<typeof populationSchema>;
export type ProfileFile = z.infer<typeof profileSchema>;
export type ProfileChanges = z.infer<typeof changesSchema>;
export type ToldBudgetFile = z.infer<typeof toldBudget>;
export type BudgetFile = z.infer<typeof budget>;
export type ArmFile = z.infer<typeof armShape>;
export type ArmsFile = z.infer<typeof armsSchema>;
export type PanelFile = z.infer<typeof panelSchema>;
export type SettingsFile = z.infer<typeof settingsSchema>;

/** Every kind of file a user writes, by the word that its first key is. */
export const schemas = {
  scenario: scenarioSchema,
  population: populationSchema,
  profile: profileSchema,
  policy: policySchema,
  panel: panelSchema,
  arms: armsSchema,
} as const;
