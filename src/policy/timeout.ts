/**
 * Hard timeouts: the destructive kind.
 *
 * Reaching one ends the command's whole process tree. It has nothing to do with handing control back,
 * except that a foreground command with a hard timeout is usually held until it ends or is ended.
 */
import { type RunBudget, reserveBegins } from "./budget.ts";
import { initialTotalBoundary } from "./hold.ts";
import type { Settings } from "./settings.ts";
import { after, between, type Duration, earliest, type Instant, inSeconds, latest, nothing } from "./time.ts";

export const HARD_TIMEOUT_REASONS = ["hard_timeout_max", "remaining_run_budget"] as const;
export type HardTimeoutReason = (typeof HARD_TIMEOUT_REASONS)[number];

export interface HardTimeout {
  /** Counted from the command's start. */
  readonly length: Duration;
  /** Whether the command is held until it ends or is ended, instead of being handed back. */
  readonly suppressesYield: boolean;
  readonly clampReasons: readonly HardTimeoutReason[];
}

export type HardTimeoutDecision =
  | { readonly timeout: HardTimeout | null }
  /** Not clamped but refused, so that no command is killed at a limit its caller did not choose. */
  | { readonly refused: string };

export interface TimeoutCall {
  /** As the caller named it; null if it named none. */
  readonly requested: Duration | null;
  readonly background: boolean;
  readonly startedAt: Instant;
}

/** What hard timeout a command runs under. A background command has one only if its caller names it. */
export function hardTimeout(call: TimeoutCall, settings: Settings, budget: RunBudget | null): HardTimeoutDecision {
  const wished = call.requested ?? (call.background ? null : settings.hardTimeoutDefault);
  if (wished === null) return { timeout: null };
  const most = settings.hardTimeoutMax;
  const tooLong = most !== null && wished > most;
  if (wished <= nothing || (tooLong && settings.hardTimeoutOutOfRange === "refuse")) {
    const upTo = most === null ? "" : `, up to ${inSeconds(most)}`;
    return { refused: `timeout_seconds is ${inSeconds(wished)}: expected more than 0${upTo}` };
  }
  const asked = after(call.startedAt, wished);
  const longest = tooLong ? after(call.startedAt, most) : asked;
  const reserve =
    settings.hardTimeoutBudgetAware && budget !== null ? latestStop(call.startedAt, settings, budget) : asked;
  const cut = earliest(longest, reserve);
  // As with holds: a bound is a reason when it cuts what was asked, and two at one moment are both named.
  const clampReasons: HardTimeoutReason[] = [];
  if (cut < asked && longest === cut) clampReasons.push("hard_timeout_max");
  if (cut < asked && reserve === cut) clampReasons.push("remaining_run_budget");
  return {
    timeout: {
      length: between(call.startedAt, cut),
      suppressesYield: settings.hardTimeoutSuppressesYield && !call.background,
      clampReasons,
    },
  };
}

/** Where the reserve begins, but never so early that a command is killed before its initial hold could end. */
function latestStop(startedAt: Instant, settings: Settings, budget: RunBudget): Instant {
  return latest(reserveBegins(budget), initialTotalBoundary(startedAt, settings));
}
