/**
 * Holds: the stretches of a trial in which the model has no control.
 *
 * A foreground command that stays inside its own tool call is a hold; so is a `process(wait)`. All
 * that a policy decides is until when one may last, and which bounds made it shorter than asked.
 *
 * The answer is a moment, not a length: "240 s" leaves open from when, "until 4:00" does not. Lengths
 * are worked out where they are reported.
 */
import { type RunBudget, reserveBegins } from "./budget.ts";
import { riskCap } from "./risk.ts";
import type { Settings } from "./settings.ts";
import {
  after,
  before,
  between,
  type Duration,
  earliest,
  type Instant,
  latest,
  longer,
  milliseconds,
  never,
  nothing,
  seconds,
} from "./time.ts";

export interface Hold<Reason extends string> {
  /** When the model has control again at the latest; the earliest possible moment if no hold may begin. */
  readonly until: Instant;
  /** Every bound that binds, as tool results and telemetry spell them. Empty: granted as asked. */
  readonly clampReasons: readonly Reason[];
}

export const AUTO_AWAIT_REASONS = [
  "remaining_run_budget",
  "command_risk",
  "prompt_cache_lifetime",
  "soft_deadline",
  "held_by_others",
  "client_call_limit",
] as const;
export type AutoAwaitReason = (typeof AUTO_AWAIT_REASONS)[number];

export const WAIT_REASONS = [
  "process_poll_max_wait",
  "process_wait_slice",
  "remaining_run_budget",
  "prompt_cache_lifetime",
  "soft_deadline",
  "held_by_others",
  "client_call_limit",
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** The slice that `auto` stands for once a budget is told. */
const AUTO_SLICE = seconds(240);

/** When the initial hold of a command ends by its total bound; `never` if there is none. */
export function initialTotalBoundary(startedAt: Instant, settings: Settings): Instant {
  return bound(startedAt, settings.foregroundTotalYield) ?? never;
}

/** A foreground command at the moment its initial hold has ended without it. */
export interface AtBoundary {
  readonly calledAt: Instant;
  readonly startedAt: Instant;
  /** The end of the initial hold; no answer can come before it. */
  readonly boundary: Instant;
  /** The last output so far; null if there was none. Counts where output extends the cap, and where silence is a risk. */
  readonly lastOutputAt: Instant | null;
  /** The command line, where risk counts; left out: nothing is known of it. */
  readonly line?: string;
  /** When the prompt cache of whoever called expires; left out, or null: it has none, or nobody knows. */
  readonly cacheUntil?: Instant | null;
  /** When whoever called is to be told something; left out, or null: nobody is, or it waits for the hold's end. */
  readonly toldAt?: Instant | null;
  /** What calls beside this one may still hold, all together; left out: that does not count. */
  readonly othersHold?: Duration;
}

/**
 * Until when a foreground command may stay inside the tool call that started it.
 *
 * The cap counts from the command's start, not from the first yield; 0 turns auto-await off.
 */
export function autoAwait(command: AtBoundary, settings: Settings, budget: RunBudget | null): Hold<AutoAwaitReason> {
  const { calledAt, startedAt, boundary, cacheUntil = null, toldAt = null, othersHold = nothing } = command;
  const risk = riskCap(command, settings, budget);
  return shortest(boundary, capEnds(command, settings), {
    remaining_run_budget: settings.foregroundAutoAwaitBudgetAware && budget !== null ? reserveBegins(budget) : null,
    command_risk: risk === null ? null : after(startedAt, risk.length),
    prompt_cache_lifetime: cacheUntil === null ? null : cacheSlice(cacheUntil, settings, boundary),
    soft_deadline: toldAt,
    held_by_others: settings.foregroundAutoAwaitBudgetAware ? jointly(budget, othersHold) : null,
    client_call_limit: bound(calledAt, settings.maxHold),
  });
}

/** Where the configured cap ends the hold, budget or not; later with each output where output extends it. */
export function capEnds({ startedAt, lastOutputAt }: AtBoundary, settings: Settings): Instant {
  const { foregroundAutoAwaitMax: cap, foregroundAutoAwaitAbsoluteMax: most } = settings;
  const fixed = bound(startedAt, cap) ?? never;
  if (extension(settings) === null || cap === null || lastOutputAt === null) return fixed;
  const farthest = most === null ? never : after(startedAt, longer(most, cap));
  return latest(fixed, earliest(after(lastOutputAt, cap), farthest));
}

/** How long after an output the hold still lasts where each output is a new grant; null where it is not. */
export function extension(settings: Settings): Duration | null {
  const { foregroundAutoAwaitExtendsOnOutput: extending, foregroundAutoAwaitMax: cap } = settings;
  return extending && cap !== nothing ? cap : null;
}

/** The end of an auto-await hold if output never stopped: how far the cap can be pushed within the other bounds. */
export function farthestGrant(command: AtBoundary, settings: Settings, budget: RunBudget | null): Instant {
  return autoAwait({ ...command, lastOutputAt: never }, settings, budget).until;
}

/** What is left of the cap under the budget, from the command's start; null when neither bounds it. */
export function effectiveCap(startedAt: Instant, settings: Settings, budget: RunBudget | null): Duration | null {
  const { foregroundAutoAwaitMax: cap, foregroundAutoAwaitBudgetAware: aware } = settings;
  if (!aware || budget === null) return cap;
  const usable = between(startedAt, reserveBegins(budget));
  return cap === null || usable < cap ? usable : cap;
}

/** A wait as it was asked for, after the default and the floor, before any upper bound. */
export interface AskedWait {
  /** As the model named it; the default if it named none. */
  readonly requested: Duration;
  /** After the floor. */
  readonly asked: Duration;
  readonly raised: boolean;
  readonly defaulted: boolean;
}

/** @param requested as the model named it; null when it named none */
export function askedWait(requested: Duration | null, settings: Settings): AskedWait {
  const named = requested ?? settings.processPollDefaultWait;
  const asked = longer(named, settings.processPollMinWait);
  return { requested: named, asked, raised: asked > named, defaulted: requested === null };
}

/** The ceiling that a request exceeds under `process_poll_over_max: refuse`; null when it may be granted. */
export function refusedCeiling(asked: AskedWait, settings: Settings): Duration | null {
  const ceiling = settings.processPollMaxWait;
  return settings.processPollOverMax === "refuse" && ceiling !== null && asked.requested > ceiling ? ceiling : null;
}

/**
 * Until when one `process(wait)` may hold the model; `now` itself inside the reserve.
 *
 * @param cadence the model's own polling cadence, from its profile; null when it states none
 * @param cacheUntil as for a command, and so are `toldAt` and `othersHold`
 */
export function processWait(
  asked: Duration,
  settings: Settings,
  budget: RunBudget | null,
  cadence: Duration | null,
  now: Instant,
  cacheUntil: Instant | null = null,
  toldAt: Instant | null = null,
  othersHold: Duration = nothing,
): Hold<WaitReason> {
  return shortest(now, after(now, asked), {
    process_poll_max_wait: bound(now, settings.processPollMaxWait),
    process_wait_slice: bound(now, sliceOf(settings, budget, cadence)),
    remaining_run_budget: settings.processWaitBudgetAware && budget !== null ? reserveBegins(budget) : null,
    prompt_cache_lifetime: cacheUntil === null ? null : cacheSlice(cacheUntil, settings, now),
    soft_deadline: toldAt,
    held_by_others: settings.processWaitBudgetAware ? jointly(budget, othersHold) : null,
    client_call_limit: bound(now, settings.maxHold),
  });
}

/** Where a hold ends that leaves to the others what they hold of the same budget; null where nobody holds anything. */
function jointly(budget: RunBudget | null, othersHold: Duration): Instant | null {
  return budget === null || othersHold === nothing ? null : before(reserveBegins(budget), othersHold);
}

/** Where a hold ends for the prompt cache; null where it is not to, or would come too late for it anyway. */
function cacheSlice(cacheUntil: Instant, settings: Settings, earliestAnswer: Instant): Instant | null {
  const at = before(cacheUntil, settings.cacheSliceMargin);
  return settings.cacheAwareSlice && at > earliestAnswer ? at : null;
}

/** Until when a run that is done is held open for what it still runs; `never` if nothing bounds it. */
export function heldOpenUntil(settings: Settings, budget: RunBudget | null, now: Instant): Instant {
  const reserve = budget === null ? never : latest(now, reserveBegins(budget));
  return earliest(reserve, bound(now, settings.exitWaitMax) ?? never);
}

/** The slice in force; null when waits are not sliced. */
export function sliceOf(settings: Settings, budget: RunBudget | null, cadence: Duration | null): Duration | null {
  const slice = settings.processWaitSlice;
  if (slice === "auto") return budget === null ? null : AUTO_SLICE;
  return slice === "model_cadence" ? cadence : slice;
}

/**
 * The hold that was asked for, cut at the first of its bounds; a bound of `null` does not apply.
 *
 * What is asked and every bound are first raised to the earliest possible answer. A bound is then a
 * reason when it is earlier than what was asked and stands at `until`; two at one moment are both named.
 */
export function shortest<Reason extends string>(
  earliestAnswer: Instant,
  asked: Instant,
  bounds: Readonly<Record<Reason, Instant | null>>,
): Hold<Reason> {
  const wished = latest(asked, earliestAnswer);
  let cut = wished;
  for (const name in bounds) {
    const bound = bounds[name];
    if (bound !== null) cut = earliest(cut, latest(bound, earliestAnswer));
  }
  if (cut === wished) return { until: wished, clampReasons: [] };
  const clampReasons: Reason[] = [];
  for (const name in bounds) {
    const bound = bounds[name];
    if (bound !== null && latest(bound, earliestAnswer) === cut) clampReasons.push(name);
  }
  return { until: cut, clampReasons };
}

function bound(from: Instant, length: Duration | null): Instant | null {
  return length === null ? null : after(from, length);
}

/** How long a wait that wakes on output stays quiet before it returns. */
export const WAKE_QUIET = milliseconds(2_000);
