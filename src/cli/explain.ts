/** `explain`: one decision of the policy core, and its reasons, in words. */
import { type RunBudget, remaining, reserveBegins, reserveOf, usable } from "../policy/budget.ts";
import { commandClass } from "../policy/command.ts";
import { askedWait, autoAwait, effectiveCap, processWait, refusedCeiling } from "../policy/hold.ts";
import { riskCap } from "../policy/risk.ts";
import type { Settings } from "../policy/settings.ts";
import {
  after,
  beginning,
  between,
  type Duration,
  type Instant,
  inSeconds,
  latest,
  moment,
  never,
  nothing,
  seconds,
} from "../policy/time.ts";
import { endsAfter, hardTimeout } from "../policy/timeout.ts";
import { listed } from "../scenario/fault.ts";
import { loadPolicy } from "../scenario/load.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { amount, on, readFlags, refuse, text } from "./flags.ts";

const flags = {
  policy: text("which policy decides: one that ships, or a file (default: budgeted)", "NAME"),
  requested: amount("the wait that the model asks for; without it, auto-await of a foreground command is explained"),
  elapsed: amount("since the command started (default: its initial hold is just over)"),
  remaining: amount("left of the run until its deadline; without it, no budget is told"),
  command: text("the command line: what class it is of, what risks it shows, and for the wording", "LINE"),
  json: on("print the decision as one JSON object"),
};

interface Explained {
  readonly decision: "process_wait" | "auto_await" | "hard_timeout";
  readonly effective_seconds: number | null;
  readonly clamp_reasons: readonly string[];
  readonly says: readonly string[];
  readonly [field: string]: unknown;
}

export const explain: Command = {
  usage: "explain",
  says: "one decision and its reasons, in words",
  flags,
  examples: [
    ["explain --requested 3600 --remaining 710", "a wait that would reach into the reserve"],
    ["explain --command 'pytest -q' --remaining 1500", "how long that command may stay in its own call"],
    ["explain --command 'pytest -q' --policy gaia", "which class it is of, and when it is ended"],
    ["explain --policy treatment --requested 3600 --json", "the same for a program"],
  ],
  async does(argv, { stdout }) {
    const { given, faults } = readFlags(argv, flags, []);
    refuse(...faults);
    const { settings, policy } = loadPolicy(given.policy ?? "budgeted");
    const explained =
      given.requested === undefined
        ? explainCommand(settings, given.command ?? "a command", given.elapsed, given.remaining)
        : explainWait(settings, given.requested, given.remaining);
    if (given.json) stdout.write(`${JSON.stringify({ policy, ...explained })}\n`);
    else stdout.write(`${[`policy ${policy}`, ...explained.says].join("\n")}\n`);
    return EXIT.done;
  },
};

function budgetAt(settings: Settings, now: Instant, left: number | undefined): RunBudget | null {
  if (left === undefined) return null;
  const deadline = after(now, seconds(left));
  const length = between(beginning, deadline);
  return { deadline, length, reserve: reserveOf(settings, length) };
}

function explainWait(settings: Settings, requested: number, left: number | undefined): Explained {
  const now = beginning;
  const budget = budgetAt(settings, now, left);
  const asked = askedWait(seconds(requested), settings);
  const ceiling = refusedCeiling(asked, settings);
  if (ceiling !== null) {
    return {
      decision: "process_wait",
      effective_seconds: null,
      clamp_reasons: [],
      refused: `longer than process_poll_max_wait_seconds (${paper(ceiling)})`,
      says: [`A wait of ${requested} s is refused: the ceiling is ${paper(ceiling)} (process_poll_over_max: refuse).`],
    };
  }
  const { until, clampReasons } = processWait(asked.asked, settings, budget, null, now);
  const granted = between(now, until);
  return {
    decision: "process_wait",
    requested_wait_seconds: requested,
    effective_wait_seconds: inSeconds(granted),
    effective_seconds: inSeconds(granted),
    wait_clamped: clampReasons.length > 0,
    wait_raised: asked.raised,
    clamp_reasons: clampReasons,
    ...budgetFields(budget, now),
    says: [
      `A wait of ${requested} s ${outcome(granted, asked.asked, asked.raised)}.`,
      ...clampReasons.map((reason) => `  ${reason}: ${because(reason, settings, budget, now)}`),
      ...budgetSentence(budget, now),
    ],
  };
}

function outcome(granted: Duration, asked: Duration, raised: boolean): string {
  if (granted === nothing && asked > nothing) return "does not start: the model has control at once";
  if (granted < asked) return `is cut to ${paper(granted)}`;
  return raised ? `is raised to the floor, ${paper(granted)}` : "is granted in full";
}

/** A foreground command: when it is ended, if hard timeouts go by class; else how long it may stay in its own call. */
function explainCommand(
  settings: Settings,
  command: string,
  elapsed: number | undefined,
  left: number | undefined,
): Explained {
  if (!settings.hardTimeoutByClass) return explainAutoAwait(settings, command, elapsed, left);
  const budget = budgetAt(settings, beginning, left);
  const decision = hardTimeout(
    { requested: null, background: false, startedAt: beginning, line: command },
    settings,
    budget,
  );
  if ("refused" in decision) {
    return {
      decision: "hard_timeout",
      command_class: commandClass(command),
      effective_seconds: null,
      clamp_reasons: [],
      refused: decision.refused,
      says: [`${command} is refused: ${decision.refused}.`],
    };
  }
  const { timeout } = decision;
  if (timeout?.commandClass === undefined) return explainAutoAwait(settings, command, elapsed, left);
  const { commandClass: found, length, clampReasons, suppressesYield } = timeout;
  const held = suppressesYield ? null : explainAutoAwait(settings, command, elapsed, left);
  const ends = endsAfter(timeout, settings) ?? length;
  return {
    decision: "hard_timeout",
    command_class: found,
    hard_timeout_seconds: inSeconds(length),
    effective_seconds: inSeconds(ends),
    clamp_reasons: clampReasons,
    ...budgetFields(budget, beginning),
    says: [
      `${command} is of class ${found}, whose hard timeout is ${paper(length)} (hard_timeout_by_class).`,
      `${suppressesYield ? "It is held until it ends; " : ""}${paper(ends)} after its start it is ended with all it has started. A timeout named in the call wins.`,
      ...clampReasons.map((reason) => `  ${reason}: ${because(reason, settings, budget, beginning)}`),
      ...(held?.says ?? budgetSentence(budget, beginning)),
    ],
  };
}

function explainAutoAwait(
  settings: Settings,
  command: string,
  elapsed: number | undefined,
  left: number | undefined,
): Explained {
  const initial = settings.foregroundIdleYield ?? settings.foregroundTotalYield ?? nothing;
  const now = elapsed === undefined ? moment(initial) : moment(seconds(elapsed));
  const boundary = latest(now, moment(initial));
  const budget = budgetAt(settings, now, left);
  const stands = { calledAt: beginning, startedAt: beginning, boundary, lastOutputAt: null, line: command };
  const { until, clampReasons } = autoAwait(stands, settings, budget);
  const cap = effectiveCap(beginning, settings, budget);
  const risk = clampReasons.includes("command_risk") ? riskCap(stands, settings, budget) : null;
  const total = settings.totalTimeout;
  const ends = until === never ? "until it ends" : `until ${paper(between(beginning, until))} after its start`;
  return {
    decision: "auto_await",
    effective_seconds: until === never ? null : inSeconds(between(beginning, until)),
    configured_auto_await_cap_seconds:
      settings.foregroundAutoAwaitMax === null ? null : inSeconds(settings.foregroundAutoAwaitMax),
    effective_auto_await_cap_seconds: cap === null ? null : inSeconds(cap),
    clamp_reasons: clampReasons,
    ...(risk === null ? null : { command_risks: risk.risks }),
    ...(total === null ? null : { total_timeout_seconds: inSeconds(total) }),
    ...budgetFields(budget, now),
    says: [
      until === boundary
        ? `${command}, silent, is handed back at its initial boundary, ${paper(between(beginning, boundary))} after its start.`
        : `${command}, silent, stays in its own call ${ends}; then it is handed back alive.`,
      ...clampReasons.map((reason) =>
        reason === "command_risk" && risk !== null
          ? `  command_risk: ${listed(risk.risks)}; such a command is held for ${paper(risk.length)} at most, and nothing is stopped`
          : `  ${reason}: ${because(reason, settings, budget, now)}`,
      ),
      ...(total === null
        ? []
        : [`It is ended ${paper(total)} after its start, whoever looks (total_timeout_seconds).`]),
      ...(settings.inactivityKill === null
        ? []
        : [`It is ended once it has been silent for ${paper(settings.inactivityKill)} (inactivity_kill_seconds).`]),
      ...budgetSentence(budget, now),
    ],
  };
}

function because(reason: string, settings: Settings, budget: RunBudget | null, now: Instant): string {
  switch (reason) {
    case "process_poll_max_wait":
      return `no wait is longer than ${paper(settings.processPollMaxWait ?? nothing)}`;
    case "process_wait_slice":
      return "waits are cut into slices, so that the model has control in between";
    case "hard_timeout_max":
      return `no hard timeout is longer than ${paper(settings.hardTimeoutMax ?? nothing)}`;
    case "client_call_limit":
      return `the client gives up on calls of more than ${paper(settings.maxHold ?? nothing)}`;
    default:
      return budget === null
        ? ""
        : `the finalization reserve of ${paper(budget.reserve)} begins in ${paper(usable(budget, now))}`;
  }
}

function budgetFields(budget: RunBudget | null, now: Instant): object {
  if (budget === null) return { remaining_run_seconds: null };
  return {
    remaining_run_seconds: inSeconds(remaining(budget, now)),
    finalization_reserve_seconds: inSeconds(budget.reserve),
  };
}

function budgetSentence(budget: RunBudget | null, now: Instant): readonly string[] {
  if (budget === null) return ["No budget is told, so nothing is known of an outer limit."];
  const begins = reserveBegins(budget) <= now ? "which has begun" : `which begins in ${paper(usable(budget, now))}`;
  return [
    `${paper(remaining(budget, now))} of the run are left, ${paper(budget.reserve)} of them reserved for finishing, ${begins}.`,
  ];
}

function paper(length: Duration): string {
  return `${inSeconds(length)} s`;
}
