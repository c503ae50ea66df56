/** How a profile may be written: the habits of a stub model, and what a scenario may change of them. */
import { z } from "zod";
import { ACTIONS } from "../agent/events.ts";
import { BETWEEN, IN_THE_RESERVE, ON_READY } from "../agent/model.ts";
import { MESSAGE_KINDS } from "../policy/notice.ts";
import { listed } from "./fault.ts";
import {
  agreeing,
  count,
  distribution,
  distributionForms,
  flag,
  keys,
  length,
  lengthOrDistribution,
  name,
  notOneOf,
  number,
  oneOf,
  positive,
  share,
  someLength,
  someOf,
  text,
  wanted,
  whole,
  words,
} from "./vocabulary.ts";

type DrawnForms = { [Form in keyof typeof distributionForms]: z.ZodOptional<(typeof distributionForms)[Form]> };

const drawnForms = Object.fromEntries(
  Object.entries(distributionForms).map(([form, schema]) => [form, schema.optional()]),
) as DrawnForms;

const WAIT_FORMS = [...Object.keys(distributionForms), "ladder", "share_of_remaining"] as const;

const formsOf = (given: object) => WAIT_FORMS.filter((form) => form in given);

const waitLength = oneOf(
  [
    someLength(),
    z.literal("cadence", { error: wanted("cadence") }),
    agreeing(
      keys("a length to ask for", {
        ...drawnForms,
        choice: whole(keys("a choice", { value: someLength(), p: share() }), "a list of { value, p }").optional(),
        ladder: someOf(someLength(), "a list of lengths of time in seconds")
          .optional()
          .describe("one after the other, wait by wait; the last again and again"),
        share_of_remaining: number("a share above 0, 1 at most", { above: 0, most: 1 })
          .optional()
          .describe("of what the last result said remains of the run"),
        otherwise: someLength().optional().describe("beside share_of_remaining: where no result has said what remains"),
      }),
      (given) => {
        if ("otherwise" in given && !("share_of_remaining" in given))
          return "gives otherwise alone: expected it beside share_of_remaining";
        if ("share_of_remaining" in given && !("otherwise" in given))
          return "gives share_of_remaining alone: expected otherwise beside it, for where nothing is known of the run";
        return notOneOf("a length to ask for", formsOf(given), WAIT_FORMS);
      },
    ),
  ],
  "a length of time in seconds, 0.001 or more, cadence, or a mapping like { choice: [{ value, p }] }",
  true,
);

const stops = keys("a reason to stop", {
  quiet_waits: count("a number of quiet waits", 1, 1_000_000).optional(),
  running_seconds: length().optional(),
  failure_seen: flag().optional(),
  cpu_idle: flag()
    .optional()
    .describe(
      "results say that it has used hardly any CPU since the look before; where they say nothing it never holds",
    ),
  probability: share().optional().describe("once everything else holds: how likely it is at each look"),
}).refine((rule) => Object.keys(rule).length > 0, {
  error: "says nothing: expected quiet_waits, running_seconds, failure_seen, cpu_idle or probability",
});

const obeys = keys(
  "what is obeyed",
  Object.fromEntries(MESSAGE_KINDS.map((kind) => [kind, share().optional()])) as Record<
    (typeof MESSAGE_KINDS)[number],
    z.ZodOptional<ReturnType<typeof share>>
  >,
).refine((given) => Object.keys(given).length > 0, {
  error: `says nothing: expected ${listed(MESSAGE_KINDS, "or")}`,
});

const tokens = () => count("a number of tokens", 0, 1e9).optional();

const context = keys("a context", {
  start_tokens: tokens().describe("before the first request"),
  step_tokens: tokens().describe("added by a step of work, its own output included"),
  poll_tokens: tokens().describe("added by a step that only looks after a process"),
  step_output_tokens: tokens().describe("written by the model in a step of work"),
  poll_output_tokens: tokens().describe("written by the model in a step that only looks after a process"),
  bytes_per_token: positive().optional().describe("of command output that is shown"),
  window_tokens: count("a number of tokens", 1, 1e9).optional(),
  compacts_at: number("a share above 0, 1 at most", { above: 0, most: 1 })
    .optional()
    .describe("the share of the window at which the conversation is compacted"),
  kept_tokens: tokens().describe("kept by a compaction, beside its summary"),
  summary_tokens: tokens(),
});

const habits = {
  step_seconds: oneOf(
    [someLength(), distribution],
    "a length of time in seconds, 0.001 or more, or a distribution",
    true,
  ).describe("how long the model takes for a step; a provider with a latency of its own overrules it"),
  cadence_seconds: someLength().optional(),
  waits: someOf(
    keys("a wait", {
      from: count("the number of a wait", 1, 1_000_000),
      late_seconds: someLength()
        .optional()
        .describe("holds only where control came first so late after the command's start, or later"),
      seconds: waitLength,
    }),
    "a list of { from, seconds }",
  ),
  stops_a_process: oneOf(
    [
      z.literal("never", { error: wanted("never") }),
      keys("stops_a_process", { any_of: someOf(stops, "a list of reasons to stop") }),
    ],
    "never, or any_of with a list of reasons to stop",
  ),
  in_the_reserve: oneOf(
    [
      words(IN_THE_RESERVE),
      whole(keys("a way to meet the reserve", { do: words(IN_THE_RESERVE), p: share() }), "a list of { do, p }"),
    ],
    `${listed(IN_THE_RESERVE, "or")}, or a list of { do, p }`,
  ),
  between: whole(keys("something to do", { do: words(BETWEEN), p: share() }), "a list of { do, p }")
    .optional()
    .describe("what it does about a live process each time it has control; by default it waits"),
  on_ready: words(ON_READY).optional().describe("once output says that a process is ready; by default go_on"),
  arguments: agreeing(
    keys("the arguments", {
      background_share: share().optional().describe("of the commands that the plan runs in the foreground"),
      timeout_share: share().optional().describe("of the commands for which the plan names no timeout"),
      timeout_seconds: lengthOrDistribution.optional(),
    }),
    (given) => {
      if (Object.keys(given).length === 0)
        return "says nothing: expected background_share, or timeout_share and timeout_seconds";
      if ("timeout_share" in given && !("timeout_seconds" in given))
        return "gives timeout_share without timeout_seconds: expected both";
      if ("timeout_seconds" in given && !("timeout_share" in given))
        return "gives timeout_seconds without timeout_share: expected both";
      return null;
    },
  )
    .optional()
    .describe("that it adds to calls of its own accord; replaces the profile's whole"),
  reruns: keys("reruns", {
    running: share().optional().describe("of a command that came back running: taken not to have started"),
    timed_out: share().optional().describe("of a command that a timeout ended"),
    at_most: count("a number of reruns", 1, 1_000),
  })
    .refine((given) => "running" in given || "timed_out" in given, {
      error: "says nothing of when: expected running or timed_out",
    })
    .optional()
    .describe("how likely it is to run a command again; replaces the profile's whole"),
  waits_for_conditions: keys("a wait for a condition", {
    timeout_seconds: someLength().optional().describe("by default as the policy says"),
    every_seconds: someLength().optional().describe("by default as the policy says"),
  })
    .optional()
    .describe(
      "where the policy has it, one call waits until a server answers or an awaited process has succeeded; by default it looks call by call",
    ),
  expects: keys("an expectation", {
    sigma: number("the standard deviation of the estimate's logarithm, 0 or more", { least: 0, most: 100 }),
    background_over_seconds: length().optional().describe("what it expects to take longer it starts in the background"),
    timeout_factor: positive().optional().describe("it gives a timeout of so many times its estimate"),
  })
    .refine((given) => "background_over_seconds" in given || "timeout_factor" in given, {
      error: "says nothing of what follows: expected background_over_seconds or timeout_factor",
    })
    .optional()
    .describe("a noisy estimate of a command's usual length, and what follows from it; replaces the profile's whole"),
  tools: someOf(
    keys("a set of tools", {
      from: count("the number of a tool call", 1, 1_000_000),
      has: z.array(words(ACTIONS), { error: wanted("a list of tools") }),
    }),
    "a list of { from, has }",
  )
    .optional()
    .describe("which tools it has for processes, from which tool call of the trial on; by default all, always"),
  forgets_after_compaction: share().optional().describe("how likely it is to forget its live processes"),
  obeys: obeys
    .optional()
    .describe(
      "how likely it is to do what a message of each kind asks of it; replaces the profile's whole: 1 where left out",
    ),
  ends_its_turn: share()
    .optional()
    .describe(
      "how likely it is, each time it has control over a live process, to end its turn until it is told of it; only where the runtime would wake it",
    ),
  context: context
    .optional()
    .describe("how the conversation grows; replaces the profile's whole: a key that is left out is as usual"),
};

const named = { profile: name("the profile"), says: text().optional(), source: text().optional() };

export const profileSchema = keys("a profile", {
  ...named,
  ...habits,
  oracle: z.literal(false, { error: wanted("true or false") }).optional(),
});

const NO_HABIT = "an oracle has no habits: it waits for as long as it pays";

/** Not a model but the bound. */
export const oracleSchema = keys(
  "an oracle",
  {
    ...named,
    oracle: z
      .literal(true)
      .describe("not a model but the bound: knows every script, and waits exactly as long as it pays"),
  },
  Object.fromEntries(Object.keys(habits).map((habit) => [habit, NO_HABIT])),
);

/** What a scenario may say of a model. */
export const changesSchema = keys("a profile", habits).partial();

export type ProfileFile = z.infer<typeof profileSchema>;
export type OracleFile = z.infer<typeof oracleSchema>;
export type ProfileChanges = z.infer<typeof changesSchema>;
export type WaitFile = ProfileFile["waits"][number];
export type ContextFile = z.infer<typeof context>;
