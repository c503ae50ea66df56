/**
 * A wait for a condition: looked at again and again within one call, instead of once a call.
 *
 * What is asked out of range is refused, never moved: nobody is to wait by a rule that it did not choose.
 */
import { type RunBudget, reserveBegins } from "./budget.ts";
import { type Hold, shortest } from "./hold.ts";
import type { Settings } from "./settings.ts";
import { after, between, type Duration, type Instant, inSeconds, longer, seconds, shorter } from "./time.ts";

export const CONDITION_REASONS = ["remaining_run_budget", "client_call_limit"] as const;
export type ConditionReason = (typeof CONDITION_REASONS)[number];

/** What a model asks for; null where it names nothing. */
export interface AskedCondition {
  readonly timeout: Duration | null;
  readonly every: Duration | null;
}

export interface ConditionWait extends Hold<ConditionReason> {
  /** As asked, or the default. */
  readonly timeout: Duration;
  readonly every: Duration;
}

/** Until when a condition is waited for, and how often it is looked at; or why it is not. */
export function conditionWait(
  asked: AskedCondition,
  settings: Settings,
  budget: RunBudget | null,
  now: Instant,
): ConditionWait | { readonly refused: string } {
  const { conditionWaitMax: most, conditionProbeEveryMin: least, conditionProbeEveryMax: rarest } = settings;
  const timeout = asked.timeout ?? settings.conditionWaitDefault;
  const every = asked.every ?? settings.conditionProbeEvery;
  if (timeout <= 0 || timeout > most) {
    return { refused: `timeout_seconds is ${inSeconds(timeout)}: expected more than 0, up to ${inSeconds(most)}` };
  }
  if (every < least || every > rarest) {
    return { refused: `every_seconds is ${inSeconds(every)}: expected ${inSeconds(least)} to ${inSeconds(rarest)}` };
  }
  const granted = shortest(now, after(now, timeout), {
    remaining_run_budget: settings.conditionWaitBudgetAware && budget !== null ? reserveBegins(budget) : null,
    client_call_limit: settings.maxHold === null ? null : after(now, settings.maxHold),
  });
  return { ...granted, timeout, every };
}

/** How long one look at a condition may take that runs a command: whole seconds of what is left of the wait, one at least. */
export function probeLimit(now: Instant, until: Instant, { conditionProbeLimit }: Settings): Duration {
  const left = seconds(Math.floor(inSeconds(between(now, until))));
  return longer(LEAST_LOOK, shorter(left, conditionProbeLimit));
}

/** The least that a look needs which runs a command. */
export const LEAST_LOOK = seconds(1);
