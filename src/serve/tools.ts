/**
 * The tools as a model is told of them: names, arguments, results, and what a result asks of it.
 *
 * A model knows of the policy only what stands here and in results. So the first line of each description says its numbers,
 * taken from the settings in force, and the rest what they mean: a command handed back is alive, and is not to be started again.
 */

import { CONDITION_OUTCOMES } from "../agent/condition.ts";
import { SIGNALS } from "../agent/effects.ts";
import { ACTIONS, AUTO_AWAIT_OUTCOMES, EARLY_ENDS } from "../agent/events.ts";
import { PROCESS_STATUSES } from "../agent/processes.ts";
import type { RunBudget } from "../policy/budget.ts";
import { COMMAND_CLASSES } from "../policy/command.ts";
import { CONDITION_REASONS } from "../policy/condition.ts";
import { AUTO_AWAIT_REASONS, sliceOf, WAIT_REASONS } from "../policy/hold.ts";
import { HINTS, MESSAGE_KINDS } from "../policy/notice.ts";
import { CAPPED_RISKS } from "../policy/risk.ts";
import type { Settings } from "../policy/settings.ts";
import { type Duration, inSeconds, longer } from "../policy/time.ts";
import { classTimeouts, HARD_TIMEOUT_REASONS } from "../policy/timeout.ts";

export interface ToolTerms {
  readonly settings: Settings;
  /** Null: not told. */
  readonly budget: RunBudget | null;
  /** Longest hold of a request that asks for no progress; null: the settings' own bound is all there is. */
  readonly quietHold: Duration | null;
}

export interface Tool {
  readonly name: "exec" | "process" | "wait_for_condition";
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: { readonly readOnlyHint: false; readonly destructiveHint: true; readonly openWorldHint: true };
}

type Schema = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly [key: string]: unknown;
  readonly type: "object";
  readonly properties: { readonly [name: string]: Schema };
  readonly required?: string[];
}

/** A wait for a condition is told of only where the policy has it. */
export function toolsUnder(terms: ToolTerms): readonly [Tool, Tool, ...Tool[]] {
  const annotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: true } as const;
  return [
    {
      name: "exec",
      title: "Run a shell command",
      description: execDescription(terms),
      inputSchema: execInput(terms.settings),
      outputSchema: execOutput,
      annotations,
    },
    {
      name: "process",
      title: "Wait for, look at or stop a process",
      description: processDescription(terms),
      inputSchema: processInput(terms),
      outputSchema: processOutput,
      annotations,
    },
    ...(terms.settings.conditionWaitMax === 0
      ? []
      : [
          {
            name: "wait_for_condition",
            title: "Wait until a command succeeds",
            description: conditionDescription(terms),
            inputSchema: conditionInput(terms.settings),
            outputSchema: conditionOutput,
            annotations,
          } as const,
        ]),
  ];
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER as Duration;

const paper = (length: Duration) => `${inSeconds(length)} s`;

function execDescription(terms: ToolTerms): string {
  const { settings } = terms;
  const most = settings.hardTimeoutMax;
  const usual = usualTimeout(settings);
  const total = settings.totalTimeout;
  return [
    `Run a command in a shell. ${handBack(settings)}${callLimit(terms)}`,
    "",
    'Status "running" is not a failure. The command goes on under its process_id, with nothing stopped and no output lost: do NOT start it again, ' +
      "that would run it twice. Wait for it, look at it, read its output or stop it with the process tool; clamp_reasons say why it came back early, if it did.",
    "background: true hands it back as soon as it has started; for servers and for long jobs beside other work." +
      aboutTheEnd(settings),
    `timeout_seconds is a hard limit${most === null ? "" : `, at most ${paper(most)}`}: when it is reached the command is ended with all it has started` +
      `${settings.hardTimeoutSuppressesYield ? ", and until then the call does not hand it back" : ""}. ` +
      (usual === null ? "Leave it out unless you want that." : `A foreground command that names none has ${usual}.`) +
      (total === null
        ? ""
        : ` Every command, in the background too, is ended ${paper(total)} after its start, whoever looks.`),
    aboutTheRun(terms),
  ].join("\n");
}

/** How a model learns that a command is over which it does not wait for. */
function aboutTheEnd({ completionNotice, foregroundAtCap, backgroundWatchdog: watchdog }: Settings): string {
  const whose = foregroundAtCap === "background" ? "of it, and of whatever was handed back alive," : "of it";
  return (
    (completionNotice === "none"
      ? ""
      : ` You are told of the end ${whose} in the notices of whatever result comes next, without its output: do not look at it again and again.`) +
    (watchdog === null ? "" : ` One that names no timeout_seconds is ended ${paper(watchdog)} after its start.`)
  );
}

/** The hard timeout of a foreground command that names none, in words; null if there is none. */
function usualTimeout(settings: Settings): string | null {
  const { hardTimeoutByClass, hardTimeoutDefault: usual } = settings;
  if (!hardTimeoutByClass) return usual === null ? null : paper(usual);
  const { test, build, network, default: other } = classTimeouts(settings);
  const words = (length: Duration | null) => {
    const own = length ?? usual;
    return own === null ? "no limit" : paper(own);
  };
  return `${words(other)} (${words(test)} if it runs tests, ${words(build)} if it builds or installs, ${words(network)} if it uses the network)`;
}

/** When control returns, in a sentence with the settings' numbers. */
function handBack(settings: Settings): string {
  const { foregroundAutoAwaitMax: cap, foregroundAtCap } = settings;
  const usual = usualTimeout(settings);
  if (usual !== null && settings.hardTimeoutSuppressesYield) {
    return `You get its result when it ends; after ${usual} it is ended, unless timeout_seconds says otherwise.`;
  }
  const boundary = initialHold(settings);
  if (boundary === null || cap === null) return "You get its result when it ends, however long that takes.";
  if (cap === 0) return `You get its result when it ends; what still runs after ${boundary} is handed back alive.`;
  const farthest = longer(settings.foregroundAutoAwaitAbsoluteMax ?? UNBOUNDED, cap);
  const after = settings.foregroundAutoAwaitExtendsOnOutput
    ? `${paper(cap)} without output${farthest >= UNBOUNDED ? "" : `, or ${paper(farthest)} in all,`}`
    : paper(cap);
  const becomes = foregroundAtCap === "kill" ? "ended" : "handed back alive";
  return `You get its result when it ends; what still runs after ${after} is ${becomes}. It is held for ${boundary} at least.`;
}

/** How the initial hold ends; null if nothing ends it. */
function initialHold({ foregroundIdleYield: idle, foregroundTotalYield: total }: Settings): string | null {
  if (idle === null) return total === null ? null : `${paper(total)} of running`;
  return total === null ? `${paper(idle)} of silence` : `${paper(idle)} of silence or ${paper(total)} of running`;
}

function callLimit({ settings, quietHold }: ToolTerms): string {
  if (settings.maxHold !== null) return ` No call lasts longer than ${paper(settings.maxHold)}.`;
  return quietHold === null ? "" : ` A call whose client asks for no progress lasts at most ${paper(quietHold)}.`;
}

/** What the end of the run means for holds, and what guidance is. */
function aboutTheRun({ settings, budget }: ToolTerms): string {
  if (budget === null) return "How long this run lasts is not known here, so no hold is shortened for its end.";
  const { foregroundAutoAwaitBudgetAware: held, processWaitBudgetAware: waited } = settings;
  const what =
    held && waited ? "no command is held and no wait granted" : waited ? "no wait is granted" : "no command is held";
  const cut = held || waited ? ` Into it ${what} (remaining_run_budget).` : "";
  return (
    `This run ends, and its last ${paper(budget.reserve)} are a reserve for finishing.${cut} ` +
    "A result with `guidance` says that the reserve has begun: read what output there is, stop what you no longer need, commit, and finish. Nobody does that for you."
  );
}

function processDescription(terms: ToolTerms): string {
  const { settings } = terms;
  return [
    `Wait for processes that exec has handed back, look at them, stop them, read their output. ${waitRule(terms)}${callLimit(terms)}`,
    "",
    'wait: comes back when the process ends or the wait is over, whichever is first; stops nothing. Still "running" after it is not a failure: wait again, or do something else meanwhile. ' +
      "A wait may be granted for less than you ask; wait_clamped and clamp_reasons say so.",
    "status: how it stands, with its new output, at once. stop: ends it and all it has started; of one that has ended already it says so. list: every process of this session, and totals.",
    `read_output: its output from byte offset on, ${settings.readOutputLimitBytes} bytes at most; go on at next_offset.`,
    `A live process must not be started again. ${leftRunning(settings)}`,
    aboutTheRun(terms),
  ].join("\n");
}

function conditionDescription(terms: ToolTerms): string {
  const { conditionWaitMax: most, conditionWaitDefault: usual, conditionProbeEvery: every } = terms.settings;
  const { conditionProbeEveryMin: least, conditionProbeEveryMax: rarest, conditionProbeLimit: limit } = terms.settings;
  return [
    `Wait in one call until a command exits with 0: at most ${paper(most)} (${paper(usual)} if you name none), looked at once and then every ${paper(every)} (${paper(least)} to ${paper(rarest)} if you say so); out of range is refused.${callLimit(terms)}`,
    "",
    `For a server to answer, a file to appear, a build to land. The command should only look, and end by itself; one look has ${paper(limit)} at most. ` +
      "One that cannot be run ends the wait at once. Nothing that runs is stopped by it.",
    aboutTheRun(terms),
  ].join("\n");
}

function leftRunning({ cleanExit, exitWaitsForJobs }: Settings): string {
  const waits = exitWaitsForJobs ? "The session is held open for what still runs at its end. " : "";
  if (cleanExit === "leave") return `${waits}Whatever you leave running outlives the session.`;
  if (cleanExit !== "keep_persistent") return `${waits}Whatever you leave running is ended with the session.`;
  return `${waits}Whatever you leave running is ended with the session, unless it was started with persist: true.`;
}

/** How long one wait may be, in a sentence with the settings' numbers. */
function waitRule({ settings, budget }: ToolTerms): string {
  const { processPollMaxWait: most, processPollMinWait: least, processPollDefaultWait: usual } = settings;
  const slice = sliceOf(settings, budget, null);
  const range =
    most === null
      ? `A wait is ${paper(least)} at least`
      : `A wait is ${paper(least)} to ${paper(most)}${settings.processPollOverMax === "refuse" ? ", more is refused" : ""}`;
  const sliced = slice === null ? "" : `, and gives control back every ${paper(slice)}`;
  return `${range} (${paper(usual)} if you name none)${sliced}.`;
}

// Arguments

const described = (schema: Schema, description: string): Schema => ({ ...schema, description });
const text = { type: "string", minLength: 1 } as const;

function execInput(settings: Settings): ObjectSchema {
  const most = settings.hardTimeoutOutOfRange === "refuse" ? settings.hardTimeoutMax : null;
  return {
    type: "object",
    properties: {
      command: described(text, "the command line, as /bin/sh reads it"),
      cwd: described(text, "the folder to run it in; left out: where the session runs"),
      timeout_seconds: described(
        { type: "number", exclusiveMinimum: 0, ...(most === null ? {} : { maximum: inSeconds(most) }) },
        settings.timeoutHandsOver
          ? "how long it is held, counted from the start: what still runs then is handed back alive; in the background it is ended then; left out: as the description says"
          : "hard limit, counted from the start: then the command is ended with all it has started; left out: as the description says",
      ),
      background: described({ type: "boolean", default: false }, "hand it back as soon as it has started"),
      ...(settings.cleanExit === "keep_persistent"
        ? {
            persist: described(
              { type: "boolean", default: false },
              "let it outlive the session, which ends everything else; redirect its output, nobody takes it any more",
            ),
          }
        : {}),
    },
    required: ["command"],
  };
}

function processInput({ settings }: ToolTerms): ObjectSchema {
  const bytes = { type: "integer", minimum: 0 };
  return {
    type: "object",
    properties: {
      action: described({ type: "string", enum: ACTIONS }, "what to do"),
      process_id: described(text, 'the process, as results name it ("process-1"); needed for all but list'),
      wait_sec: described(
        { type: "number", minimum: 0 },
        `wait: for how many seconds; left out: ${inSeconds(settings.processPollDefaultWait)}`,
      ),
      offset: described({ ...bytes, default: 0 }, "read_output: from which byte on"),
      limit: described(bytes, `read_output: how many bytes at most; left out: ${settings.readOutputLimitBytes}`),
    },
    required: ["action"],
  };
}

function conditionInput(settings: Settings): ObjectSchema {
  const { conditionWaitMax: most, conditionProbeEveryMin: least, conditionProbeEveryMax: rarest } = settings;
  return {
    type: "object",
    properties: {
      command: described(text, "the command line, as /bin/sh reads it; exit code 0 means yes"),
      cwd: described(text, "the folder to run it in; left out: where the session runs"),
      timeout_seconds: described(
        { type: "number", exclusiveMinimum: 0, maximum: inSeconds(most) },
        `for how long; left out: ${inSeconds(settings.conditionWaitDefault)}`,
      ),
      every_seconds: described(
        { type: "number", minimum: inSeconds(least), maximum: inSeconds(rarest) },
        `how often to look; left out: ${inSeconds(settings.conditionProbeEvery)}`,
      ),
    },
    required: ["command"],
  };
}

// Results

const orNull = (type: string, more: object = {}): Schema => ({ type: [type, "null"], ...more });
const someSeconds = (description: string): Schema => described({ type: "number", minimum: 0 }, description);
const reasons = (words: readonly string[], description: string): Schema =>
  described({ type: "array", items: { type: "string", enum: words } }, description);

const budgetFields = {
  remaining_run_seconds: someSeconds("left of this run; given as the policy says, most of all when it is short"),
  finalization_reserve_seconds: someSeconds("how much of that is kept for finishing"),
  guidance: described(
    {
      type: "object",
      properties: {
        code: { type: "string" },
        actions: { type: "array", items: { type: "string" } },
        text: { type: "string" },
      },
      required: ["code", "actions", "text"],
    },
    "given once the reserve has begun: what to do with what is left",
  ),
} as const;

const noticeField = {
  notices: described(
    {
      type: "array",
      items: {
        type: "object",
        properties: {
          kind: { type: "string", enum: MESSAGE_KINDS },
          text: { type: "string" },
          process_ids: { type: "array", items: { type: "string" } },
        },
        required: ["kind", "text", "process_ids"],
      },
    },
    "what you were not asking for: commands in the background that are over, results that nobody has read",
  ),
} as const;

const hintField = {
  hint: described(
    {
      type: "object",
      properties: { code: { type: "string", enum: HINTS }, text: { type: "string" } },
      required: ["code", "text"],
    },
    "given where there is something better to do than to look again",
  ),
} as const;

const othersField = {
  held_by_others_seconds: someSeconds(
    "given where calls side by side draw on one budget: what the others may still hold",
  ),
} as const;

const processFields = {
  status: described({ type: "string", enum: PROCESS_STATUSES }, "running: it lives and goes on; do not start it again"),
  process_id: described({ type: "string" }, "its name for life"),
  exit_code: described(orNull("integer"), "null while it runs, or if a signal ended it"),
  signal: {
    anyOf: [{ type: "string", enum: SIGNALS }, { type: "null" }],
    description: "what ended it, if a signal did",
  },
  elapsed_seconds: someSeconds("since it started, until now or until it ended"),
  output: described({ type: "string" }, "what was not shown before; the middle is left out if it is long"),
  next_offset: described({ type: "integer" }, "up to which byte output was shown: where read_output goes on"),
  output_complete: described({ type: "boolean" }, "whether everything it printed can still be read"),
} as const;

const cpuField = {
  cpu_seconds: someSeconds(
    "given while it lives, if this runtime tells it: CPU time used with all that it has started",
  ),
} as const;

const endFields = {
  surviving_processes: described(
    { type: "integer", minimum: 1 },
    "given if it has ended and others that it had started live on: how many; they are ended with the session, or by stop",
  ),
  output_held_open: described({ type: "boolean" }, "given if one of them keeps its output open: more may follow"),
  silence_ended_it: described({ type: "boolean" }, "given if its time limit was one on how long it may be silent"),
} as const;

const execFields = {
  ...processFields,
  auto_await_outcome: {
    anyOf: [{ type: "string", enum: AUTO_AWAIT_OUTCOMES }, { type: "null" }],
    description: "why the call came back; null in the background and under a hard limit",
  },
  configured_auto_await_cap_seconds: described(
    orNull("number"),
    "how long it may be held, from its start; null: no cap",
  ),
  effective_auto_await_cap_seconds: described(orNull("number"), "what the run's end has left of that"),
  clamp_reasons: reasons(
    [...new Set([...HARD_TIMEOUT_REASONS, ...AUTO_AWAIT_REASONS])],
    "every bound that made the hold, or the hard limit, shorter than configured or asked",
  ),
} as const;

const execOutput: ObjectSchema = {
  type: "object",
  properties: {
    ...execFields,
    hard_timeout_seconds: someSeconds("the hard limit in force, if there is one"),
    background_watchdog_seconds: someSeconds(
      "given in the background without a hard limit: how long after its start it is ended all the same",
    ),
    command_class: described(
      { type: "string", enum: COMMAND_CLASSES },
      "given if you named no hard limit and there is one for what the command does: as what it was taken",
    ),
    command_risks: described(
      { type: "array", items: { type: "string", enum: CAPPED_RISKS } },
      "given if it came back earlier because it looked likely to hang: why; nothing was stopped",
    ),
    duplicate_of: described(
      { type: "string" },
      "given if the same command was running already when this one was started: the name of that one",
    ),
    duplicate_elapsed_seconds: someSeconds("beside it: how long that one had been running"),
    ...cpuField,
    ...othersField,
    ...endFields,
    ...budgetFields,
    ...noticeField,
  },
  required: Object.keys(execFields),
  additionalProperties: false,
};

const earlyField = {
  ended_early: described({ type: "string", enum: EARLY_ENDS }, "given if it came back before that: why"),
} as const;

const waitFields = {
  requested_wait_seconds: someSeconds("as you asked, or the default"),
  effective_wait_seconds: someSeconds("as granted; 0: it did not start"),
  wait_clamped: described({ type: "boolean" }, "whether less was granted than asked"),
  clamp_reasons: reasons(WAIT_REASONS, "every bound that made it shorter"),
  wait_raised: described({ type: "boolean" }, "whether more was granted than asked, the least there is"),
  wait_defaulted: described({ type: "boolean" }, "whether you named no length"),
} as const;

const conditionFields = {
  outcome: described(
    { type: "string", enum: CONDITION_OUTCOMES },
    "met: the command exited with 0; timed_out: it did not in time; cannot_be_met: it cannot be run",
  ),
  probes: described({ type: "integer", minimum: 1 }, "how often it was looked at"),
  last_exit_code: described(orNull("integer"), "of the last look; null if it had to be ended"),
  elapsed_seconds: someSeconds("how long you were held"),
  requested_wait_seconds: someSeconds("as you asked, or the default"),
  effective_wait_seconds: someSeconds("as granted; 0: it was looked at once"),
  every_seconds: someSeconds("how often it was looked at"),
  wait_clamped: described({ type: "boolean" }, "whether less was granted than asked"),
  clamp_reasons: reasons(CONDITION_REASONS, "every bound that made it shorter"),
  output: described({ type: "string" }, "of the last look"),
} as const;

const conditionOutput: ObjectSchema = {
  type: "object",
  properties: { ...conditionFields, ...budgetFields, ...noticeField },
  required: Object.keys(conditionFields),
  additionalProperties: false,
};

const lookFields = {
  ...processFields,
  offset: described({ type: "integer" }, "from which byte on output is shown"),
} as const;

const listFields = {
  processes: {
    type: "array",
    items: {
      type: "object",
      properties: {
        process_id: { type: "string" },
        command: { type: "string" },
        status: { type: "string", enum: PROCESS_STATUSES },
        elapsed_seconds: { type: "number" },
      },
      required: ["process_id", "command", "status", "elapsed_seconds"],
    },
    description: "list: every process of this session",
  },
  totals: described(
    { type: "object", additionalProperties: { type: "number" } },
    "list: what this session was held for so far",
  ),
} as const;

const processOutput: ObjectSchema = {
  type: "object",
  properties: {
    ...lookFields,
    ...waitFields,
    ...earlyField,
    ...othersField,
    ...listFields,
    ...cpuField,
    ...endFields,
    ...budgetFields,
    ...hintField,
    ...noticeField,
  },
  anyOf: [{ required: Object.keys(lookFields) }, { required: Object.keys(listFields) }],
  additionalProperties: false,
};
