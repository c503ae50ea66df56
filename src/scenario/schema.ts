/**
 * What may stand in the files that people write, in the form in which they write it.
 *
 * Snake case, units in the key, seconds as on paper. Nothing is converted here: the schemas are pure, so that
 * the JSON Schemas for editors come from the same definitions. What a single value must be is said here;
 * what must hold between values is checked where they are converted.
 */
import { z } from "zod";
import { KINDS } from "../agent/effects.ts";
import { CREDITS, OUTSIDE_EVENTS, REWARDS } from "../agent/plan.ts";
import { expected, type Setting, type SettingKey, settingKeys, settingsTable } from "../policy/settings.ts";
import { suggestion } from "./fault.ts";
import { changesSchema, oracleSchema, profileSchema } from "./habitSchema.ts";
import { measureNames } from "./measures.ts";
import { cutReachesSchema, hostSchema, providerSchema } from "./providerSchema.ts";
import {
  agreeing,
  count,
  distribution,
  flag,
  hint,
  instead,
  keys,
  length,
  lengthOrDistribution,
  list,
  name,
  number,
  oneOf,
  reference,
  share,
  someLength,
  someOf,
  text,
  type Wrong,
  wanted,
  whole,
  words,
} from "./vocabulary.ts";
import { commandKeys, phases, plan, port } from "./workSchema.ts";

/** Settings as the policy's one table has them; no second list. */
const settingsShape = Object.fromEntries(
  settingKeys.map((key) => [key, settingSchema(settingsTable[key]).optional()]),
) as Record<SettingKey, z.ZodOptional<z.ZodType<number | string | boolean>>>;

function settingSchema(setting: Setting): z.ZodType<number | string | boolean> {
  const fault = ({ input }: Wrong) => instead(input, expected(setting), hint(input, setting.unit === "s"));
  const bare = ((): z.ZodType<number | string | boolean> => {
    switch (setting.kind) {
      case "flag":
        return z.boolean({ error: fault });
      case "choice":
        return z.enum(setting.words, { error: fault });
      case "text":
        return z
          .string({ error: fault })
          .min(1, { error: fault })
          .max(setting.longest, { error: fault })
          .regex(/^[^\r\n]*$/, { error: fault });
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

export const settingsSchema = keys("a policy's shell_execution", settingsShape).meta({ id: "settings" });

const grading = keys("grading", {
  tests: count("a number of tests", 1, 1_000_000),
  reward: words(REWARDS),
  credit: words(CREDITS),
  service_must_answer_at_grading: port()
    .optional()
    .describe("the port of a command that must answer once the trial is over, or nothing is earned"),
});

const limits = keys("limits", {
  steps: count("a number of requests", 1, 1e9).optional().describe("requests to the model"),
  tokens: count("a number of tokens", 1, 1e12).optional().describe("of all requests, in and out; needs a provider"),
  cost_usd: number("a number of US dollars, 0.000001 or more", { least: 1e-6, most: 1e9 })
    .optional()
    .describe("of all requests; needs a provider"),
})
  .refine((given) => Object.keys(given).length > 0, { error: "says nothing: expected steps, tokens or cost_usd" })
  .optional()
  .describe("what the harness limits beside time");

const scenarioSchema = keys("a scenario", {
  scenario: name("the scenario"),
  question: text("the question that the scenario was written to answer"),
  source: text().optional(),
  outer_limit_seconds: someLength(),
  says: text().optional().describe("what was reported or is feared, in a sentence or two; a gallery shows it"),
  limits,
  commands: z.record(
    z.string(),
    keys("a command", { line: text("the line that a shell would run"), phases, ...commandKeys }),
    { error: wanted("commands by name") },
  ),
  plan,
  outside: list(
    keys("something from outside", { at_seconds: length(), event: words(OUTSIDE_EVENTS) }),
    "a list of { at_seconds, event }",
  )
    .optional()
    .describe("what happens from outside, in order of time"),
  deliveries: keys("deliveries", {
    fail_first: count("a number of deliveries", 0, 1_000_000)
      .optional()
      .describe("so many fail, before any can succeed"),
    fail_with: share().optional().describe("of those after them: how likely each is to fail"),
  })
    .refine((given) => Object.keys(given).length > 0, { error: "says nothing: expected fail_first or fail_with" })
    .optional()
    .describe(
      "how messages fail to wake a model that has ended its turn; by default only where its provider does not answer",
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
  limits,
  commands_per_task: oneOf(
    [count("a number of commands", 0, 100_000), distribution],
    "a whole number, or a distribution",
  ),
  thinking_seconds: lengthOrDistribution,
  background_job_probability: share().optional(),
  command: keys("the commands", {
    mix: whole(
      keys("a share of the commands", { p: share(), line: text().optional(), phases, ...commandKeys }),
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

const provider = oneOf([reference("a provider"), providerSchema], "the name of a provider, or one in full").meta({
  id: "provider",
});

const armShape = keys("an arm", {
  arm: name("the arm"),
  says: text().optional(),
  policy: reference("a policy"),
  profile: reference("a profile"),
  budget,
  set: settingsSchema.optional(),
  provider: provider.optional().describe("instead of the panel's"),
  host: hostSchema.optional().describe("instead of the panel's"),
  cut_reaches: cutReachesSchema.optional().describe("instead of the panel's"),
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

const EXPECTATIONS = ["lower", "higher", "not_lower", "not_higher", "zero"] as const;
const isBound = (expect: string) => expect === "lower" || expect === "higher";
const isMargin = (expect: string) => expect === "not_lower" || expect === "not_higher";

/** The one key of a hypothesis that is out of place, and why; null if none is. */
function misplaced(given: z.infer<typeof bareHypothesis>): string | null {
  const { against, expect, by, margin, margin_absolute: absolute } = given;
  if (expect === "zero" && against !== undefined)
    return "gives against: expected none, as zero is held against nothing";
  if (expect !== "zero" && against === undefined)
    return `gives no against: expected the arm that ${expect} is held against`;
  if (by !== undefined && !isBound(expect)) return `gives by beside ${expect}: expected it beside lower or higher only`;
  if ((margin ?? absolute) !== undefined && !isMargin(expect))
    return `gives a margin beside ${expect}: expected it beside not_lower or not_higher only`;
  if (margin !== undefined && absolute !== undefined)
    return "gives both margin and margin_absolute: expected one of them";
  return null;
}

const bareHypothesis = keys("a hypothesis", {
  measure: measure(),
  arm: armName(),
  against: armName().optional().describe("the arm that it is held against; left out where zero is expected"),
  expect: words(EXPECTATIONS),
  by: number("a share above 0", { above: 0, most: 1e6 })
    .optional()
    .describe("with lower or higher: by so much at least, as a share of the other arm's value"),
  margin: number("a share, zero or more", { least: 0, most: 1e6 })
    .optional()
    .describe(
      "with not_lower or not_higher: by so much at most, as a share of the other arm's value; by default nothing",
    ),
  margin_absolute: number("an amount, zero or more", { least: 0, most: 1e12 })
    .optional()
    .describe("the same in the measure's own unit"),
  kind: words(KINDS).optional().describe("only among trials of this kind"),
});

const hypothesis = agreeing(bareHypothesis, misplaced);

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
  cases: text("a folder of panels")
    .optional()
    .describe(
      "instead of tasks and arms: a folder of panels, each run with its own, that the report shows as a gallery",
    ),
  replicates: count("a number of replicates", 1, 1_000_000),
  seed: number("a whole number, 0 to 2^53 − 1", { least: 0, whole: true }).optional(),
  concurrency: keys("concurrency", {
    per_arm: count("a number of trials at once", 1, 1_000_000),
  }).optional(),
  cut_grace_seconds: length().optional(),
  provider: provider.optional().describe("that every arm asks which names none; by default nobody counts tokens"),
  host: hostSchema
    .optional()
    .describe("that the commands of every arm run on which names none; by default each as if alone"),
  cut_reaches: cutReachesSchema
    .optional()
    .describe(
      "what the harness reaches at the outer limit, in simulated worlds: the agent (by default), or only its client; then the agent goes on, ungraded, until it is done or cut_grace_seconds are over",
    ),
  base: keys("a base", {
    policy: reference("a policy").optional(),
    profile: reference("a profile").optional(),
    budget: budget.optional(),
    set: settingsSchema.optional(),
    provider: provider.optional().describe("instead of the panel's"),
    host: hostSchema.optional().describe("instead of the panel's"),
    cut_reaches: cutReachesSchema.optional().describe("instead of the panel's"),
  }).optional(),
  factors: oneOf(
    [
      list(text("the name of a factor"), "a list of factors"),
      z.record(z.string(), someOf(level, "a list of levels"), { error: wanted("levels by factor") }),
    ],
    "a list of factors, or levels by factor",
  ).optional(),
  vary: z
    .record(z.string(), someOf(level, "a list of levels"), { error: wanted("levels by what is varied") })
    .optional()
    .describe(
      "what all arms have in common and what they meet, by levels: quiet_waits, long_wait_probability, hang_probability, thinking_seconds (each also own: as its file has it), and every factor; hypotheses are asked anew in every combination",
    ),
  arms: someOf(
    oneOf([reference("an arm"), armShape], "the name of an arm, or one in full"),
    "a list of arms",
  ).optional(),
  exhibits: list(reference("a scenario"), "a list of scenario names").optional(),
  hypotheses: list(hypothesis, "a list of { measure, arm, against, expect }").optional(),
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

const measuredSchema = keys("a file about measured trials", {
  measured: name("what was measured"),
  question: text("the question that the trials were run to answer"),
  source: text("where the trials are from").optional(),
  caveats: list(text("a sentence that the report repeats"), "a list of sentences").optional(),
  inferred: list(text("a sentence on what nobody measured or published"), "a list of sentences")
    .optional()
    .describe("what was inferred; labelled so wherever it is shown"),
  pairs: words(["known", "unknown"])
    .optional()
    .describe("unknown: that a task has the same name under two arms says nothing; by default it makes a pair"),
  trials_in_a_run: keys("how many trials a run may have had", {
    from: count("a number of trials", 1, 1_000_000),
    to: count("a number of trials", 1, 1_000_000),
  })
    .optional()
    .describe("where nobody says how many trials stand behind the counts: the fewest and the most; each is tried"),
  arms: list(
    keys("a measured arm", {
      arm: text("the name of an arm, as the trials have it"),
      says: text().optional(),
      policy: text("the policy it ran under").optional(),
      profile: text("the model that was at work").optional(),
    }),
    "a list of { arm, says, policy, profile }",
  )
    .optional()
    .describe("in this order; by default in that of their first trials"),
  hypotheses: list(hypothesis, "a list of { measure, arm, against, expect }").optional(),
});

export type MeasuredFile = z.infer<typeof measuredSchema>;

export type DistributionFile = z.infer<typeof distribution>;
export type ScenarioFile = z.infer<typeof scenarioSchema>;
export type PopulationFile = z.infer<typeof populationSchema>;
export type ToldBudgetFile = z.infer<typeof toldBudget>;
export type BudgetFile = z.infer<typeof budget>;
export type ArmFile = z.infer<typeof armShape>;
export type ArmsFile = z.infer<typeof armsSchema>;
export type PanelFile = z.infer<typeof panelSchema>;
export type SettingsFile = z.infer<typeof settingsSchema>;
export type GradingFile = ScenarioFile["grading"];
export type LimitsFile = ScenarioFile["limits"];

/** Profiles of both kinds, for editors; which of them a file is to be checked by, its `oracle` says. */
const anyProfileSchema = z.union([profileSchema, oracleSchema]);

export type HypothesisFile = z.infer<typeof hypothesis>;

/** Every kind of file a user writes, by the word that its first key is. */
export const schemas = {
  scenario: scenarioSchema,
  population: populationSchema,
  profile: anyProfileSchema,
  provider: providerSchema,
  policy: policySchema,
  panel: panelSchema,
  arms: armsSchema,
  measured: measuredSchema,
} as const;
