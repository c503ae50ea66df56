/** How work may be written: commands and what they do, and plans that run them. */
import { z } from "zod";
import { MARKS, SIGNALS } from "../agent/effects.ts";
import { OUTSIDE_EVENTS } from "../agent/plan.ts";
import { suggestion } from "./fault.ts";
import {
  agreeing,
  count,
  distribution,
  flag,
  instead,
  keys,
  length,
  lengthOrDistribution,
  list,
  name,
  notOneOf,
  number,
  oneKey,
  oneOf,
  share,
  someLength,
  someOf,
  text,
  wanted,
  words,
} from "./vocabulary.ts";

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
).meta({ id: "output" });

const cpu = () =>
  number("a number of cores, zero or more", { least: 0, most: 1_024 })
    .optional()
    .describe("cores that it keeps busy: of importance where commands share a host");
export const port = () => count("a port", 1, 65_535);
const never = z.literal("never", { error: wanted("never") });
const test = oneOf(
  [count("the number of a test", 1, 1_000_000), text("the name of a test")],
  "the number or the name of a test",
);
const tests = () => list(test, "a list of tests").optional();
const exitCode = () => count("an exit code", 0, 255);

const BESIDE = "it is a key of the command, beside its phases";

const phase = oneKey(
  "a phase",
  {
    run: keys("a run", { seconds: lengthOrDistribution, output, cpu: cpu() }),
    hang: keys("a hang", { output, cpu: cpu() }),
    server: keys(
      "a server",
      {
        ready_seconds: lengthOrDistribution.describe(
          "from then on it answers at the command's port; it never ends by itself",
        ),
        output,
      },
      { port: BESIDE },
    ),
    prompt: keys("a prompt", {
      text: text("the text of a question"),
      on_eof: oneOf(
        [z.literal("hang", { error: wanted("hang") }), keys("on_eof", { exit: exitCode() })],
        "hang, or { exit } with a code",
      ).describe("what it does as its input is closed"),
    }),
    child: keys("a child", {
      seconds: oneOf(
        [length(), never, distribution],
        "a length of time in seconds, a distribution, or never",
        true,
      ).describe("how long it lives, whatever becomes of the command"),
      group: words(["same", "own"]).describe("the command's process group, or one of its own"),
      holds_output: flag().describe("whether it keeps the command's output open"),
    }),
    exit: keys("an exit", {
      code: exitCode().optional(),
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
  },
  { signal_loss: BESIDE, port: BESIDE, lock: BESIDE },
);

export const phases = someOf(phase, "a list of phases");

/** What a command may say beside its line and its phases. */
export const commandKeys = {
  on_term: keys("on_term", {
    after_seconds: oneOf([length(), never], "a length of time in seconds, or never", true),
  }).optional(),
  port: port().optional().describe("where its server phase answers; whoever finds it taken fails"),
  lock: text("the name of a lock")
    .optional()
    .describe("held while it lives, and left behind if it is killed; whoever finds it taken fails"),
  signal_loss: share().optional().describe("how likely it is that nobody is told of its end"),
  usual_seconds: someLength()
    .optional()
    .describe("how long a command of its looks usually takes; by default as long as it does"),
};

const run = oneOf(
  [
    text("the name of a command"),
    keys("a run", {
      command: text("the name of a command"),
      background: flag().optional(),
      timeout_seconds: someLength().optional(),
      optional: flag().optional().describe("left out by a model that is told that its time is short, and heeds it"),
      persist: flag().optional().describe("declared to outlive the run, where the policy makes a difference of it"),
      id: name("the step").optional(),
    }),
  ],
  "the name of a command, or { command, background, timeout_seconds, optional, persist, id }",
).meta({ id: "run" });

const atMost = () => count("a number of attempts", 1, 1_000);

const until = agreeing(
  keys("until", {
    answers: text("the id of an earlier run")
      .optional()
      .describe("looks at a server, step after step, until it answers"),
    succeeds: text("the name of a command")
      .optional()
      .describe("runs a command, thought after thought, until it succeeds"),
    at_most: atMost(),
    think_seconds: lengthOrDistribution.optional().describe("beside succeeds: after an attempt that failed"),
    id: name("the step").optional(),
  }),
  ({ answers, succeeds, think_seconds, id }) => {
    const found = [...(answers === undefined ? [] : ["answers"]), ...(succeeds === undefined ? [] : ["succeeds"])];
    if (found.length !== 1) return notOneOf("until", found, ["answers", "succeeds"]);
    if (succeeds !== undefined && think_seconds === undefined)
      return "gives no think_seconds: expected how long the model thinks after an attempt that failed";
    if (answers === undefined || (think_seconds ?? id) === undefined) return null;
    return `gives ${id === undefined ? "think_seconds" : "an id"} beside answers: expected it beside succeeds only`;
  },
).meta({ id: "until" });

const repair = agreeing(
  keys("a repair", {
    run: text("the name of a command").describe("run again and again until it succeeds"),
    // biome-ignore lint/suspicious/noThenProperty: a word on paper, and never a function
    then: text("the name of a command")
      .optional()
      .describe("run in its place once the work is mended; by default the same"),
    mends_with: share().optional().describe("how likely each thought is to mend the work; by default 1"),
    think_seconds: lengthOrDistribution.describe("after an attempt that failed"),
    at_most: atMost(),
    id: name("the step").optional(),
  }),
  ({ mends_with, then: mended }) =>
    mends_with !== undefined && mended === undefined
      ? "gives mends_with without then: expected the command that is run once the work is mended"
      : null,
).meta({ id: "repair" });

const together = <Call extends z.ZodType>(call: Call) =>
  list(call, "a list of { run } and { job }")
    .min(2, { error: wanted("two calls or more") })
    .describe("calls of one step, side by side");

const job = <Step extends z.ZodType>(step: Step) =>
  keys("a job", {
    id: name("the step").optional(),
    plan: someOf(step, "a list of steps"),
    timeout_seconds: someLength().optional().describe("cut off then, counted from its start"),
    start_tokens: count("a number of tokens", 0, 1e9)
      .optional()
      .describe("that its conversation begins with; by default as the profile says"),
  });

const stepKeys = {
  think: oneKey("think", {
    seconds: lengthOrDistribution,
    steps: count("a number of steps", 1, 1_000_000).describe("each as long as the model makes it"),
  }),
  run,
  status: text("the id of an earlier run"),
  await: text("the id of an earlier run").describe("from here on the plan needs what that process was started for"),
  probe: text("the id of an earlier run").describe("one look at whether a server answers"),
  until,
  repair,
};

const ENDS_WITH_ITS_PLAN = "a job ends with its plan, and only the trial itself commits and submits";
const NO_ACT = { commit: ENDS_WITH_ITS_PLAN, submit: ENDS_WITH_ITS_PLAN };
const TWO_DEEP = "jobs are two deep at most";
const OUTSIDE = "what happens from outside stands in the scenario's list called outside";

// A job may hold a job, and no further: three forms of one thing, and none of them endless.
const innermost = oneKey(
  "a step of a job's own job",
  { ...stepKeys, together: together(oneKey("a call", { run }, { job: TWO_DEEP })) },
  { ...NO_ACT, job: TWO_DEEP },
);
const inner = job(innermost).meta({ id: "job_of_a_job" });
const nested = oneKey(
  "a step of a job",
  { ...stepKeys, together: together(oneKey("a call", { run, job: inner })), job: inner },
  NO_ACT,
);
const outer = job(nested).meta({ id: "job", description: "a nested agent with a plan of its own" });

const step = oneKey(
  "a step",
  {
    ...stepKeys,
    together: together(oneKey("a call", { run, job: outer })),
    job: outer,
    commit: keys("commit", {}),
    submit: keys("submit", {}),
  },
  Object.fromEntries(OUTSIDE_EVENTS.map((event) => [event, OUTSIDE])),
);

export const plan = someOf(step, "a list of steps");

export type PhaseFile = z.infer<typeof phase>;
export type OutputFile = z.infer<typeof output>;
