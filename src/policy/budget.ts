/**
 * What the policy was told of the run around it.
 *
 * A harness may tell how long the whole run lasts. It is converted once, at start-up, into a deadline
 * on the run's own clock; from then on the two moments that matter are that deadline and the start of
 * the finalization reserve before it. `RunBudget | null`: null means *not told*, and nothing else.
 */
import { LONGEST_SECONDS, type Settings } from "./settings.ts";
import {
  after,
  before,
  beginning,
  between,
  type Duration,
  type Instant,
  longer,
  nothing,
  seconds,
  shorter,
} from "./time.ts";

export interface RunBudget {
  /** When the harness ends the run, on the run's own clock. May lie in the past. */
  readonly deadline: Instant;
  /** Kept before the deadline for repair, commit and submission. */
  readonly reserve: Duration;
  /** The whole length of the run as told: the last quarter of it is when results always say what remains. */
  readonly length: Duration;
}

/** What a harness says: one of the two forms, and perhaps a reserve of its own. */
export interface ToldBudget {
  /** Counted from the runtime's start. */
  readonly runBudget?: Duration;
  /** Absolute wall clock, in milliseconds since the epoch. */
  readonly runDeadlineEpoch?: number;
  /** Wins over the reserve of the shell settings. */
  readonly finalizationReserve?: Duration;
}

/**
 * The budget as the core uses it.
 *
 * @param startedEpoch wall clock at the run's beginning, in milliseconds since the epoch; used once
 */
export function runBudget(told: ToldBudget, settings: Settings, startedEpoch = 0): RunBudget {
  const length =
    told.runBudget ??
    (told.runDeadlineEpoch === undefined ? nothing : (Math.max(told.runDeadlineEpoch - startedEpoch, 0) as Duration));
  const deadline = before(after(beginning, length), settings.budgetMargin);
  return { deadline, length, reserve: told.finalizationReserve ?? reserveOf(settings, length) };
}

/** The reserve of a run of this length: fixed, or a share within its limits and at most half the run. */
export function reserveOf(settings: Settings, length: Duration): Duration {
  const share = settings.finalizationReserveFraction;
  if (share === null) return settings.finalizationReserve ?? nothing;
  const wished = Math.round(length * share) as Duration;
  const limited = shorter(longer(wished, settings.finalizationReserveMin), settings.finalizationReserveMax);
  return shorter(limited, Math.floor(length / 2) as Duration);
}

/** What is left until the deadline; nothing once it has passed. */
export function remaining(budget: RunBudget, now: Instant): Duration {
  return between(now, budget.deadline);
}

/** The moment from which on the rest of the run is kept for finishing. */
export function reserveBegins(budget: RunBudget): Instant {
  return before(budget.deadline, budget.reserve);
}

/** What is left before the reserve begins. */
export function usable(budget: RunBudget, now: Instant): Duration {
  return between(now, reserveBegins(budget));
}

/** Whether the reserve has begun; its first millisecond belongs to it. */
export function inReserve(budget: RunBudget | null, now: Instant): boolean {
  return budget !== null && now >= reserveBegins(budget);
}

/** The last quarter of the run as told. */
export function inLastQuarter(budget: RunBudget, now: Instant): boolean {
  return remaining(budget, now) * 4 <= budget.length;
}

/** One place a budget may come from, as it was found there: text from flags and environment, values from files. */
export interface BudgetSource {
  /** How a message names the place: `command line`, `environment`, a file. */
  readonly place: string;
  readonly run_budget_seconds?: unknown;
  readonly run_deadline_epoch_seconds?: unknown;
  readonly finalization_reserve_seconds?: unknown;
}

export type BudgetReading = { readonly told: ToldBudget | null } | { readonly faults: readonly string[] };

const BUDGET_KEYS = ["run_budget_seconds", "run_deadline_epoch_seconds", "finalization_reserve_seconds"] as const;

/** The names under which an environment tells a budget. */
export const BUDGET_ENVIRONMENT: Readonly<Record<(typeof BUDGET_KEYS)[number], string>> = {
  run_budget_seconds: "YIELDPOINT_RUN_BUDGET_SECONDS",
  run_deadline_epoch_seconds: "YIELDPOINT_RUN_DEADLINE_EPOCH_SECONDS",
  finalization_reserve_seconds: "YIELDPOINT_FINALIZATION_RESERVE_SECONDS",
};

/** Ten years; and for an epoch the year 5138, so that one given in milliseconds is noticed. */
const MOST: Readonly<Record<(typeof BUDGET_KEYS)[number], number>> = {
  run_budget_seconds: LONGEST_SECONDS,
  run_deadline_epoch_seconds: 100_000_000_000,
  finalization_reserve_seconds: LONGEST_SECONDS,
};

/**
 * What the first source that says anything says, whole: sources are not mixed.
 *
 * Both forms from one source are refused, and so is anything that is not a finite number of zero or
 * more, with name and value. A deadline already past is no fault: the run starts inside its reserve.
 */
export function readBudget(sources: readonly BudgetSource[]): BudgetReading {
  const source = sources.find((candidate) => BUDGET_KEYS.some((key) => candidate[key] !== undefined));
  if (source === undefined) return { told: null };
  const faults: string[] = [];
  const numbers: Partial<Record<(typeof BUDGET_KEYS)[number], number>> = {};
  for (const key of BUDGET_KEYS) {
    const found = source[key];
    if (found === undefined) continue;
    const number = typeof found === "string" && found.trim() !== "" ? Number(found) : found;
    if (typeof number === "number" && number >= 0 && number <= MOST[key]) numbers[key] = number;
    else {
      const value = typeof found === "number" ? String(found) : (JSON.stringify(found) ?? String(found));
      const tooMuch = typeof number === "number" && number > MOST[key] && number !== Number.POSITIVE_INFINITY;
      const expected = tooMuch ? `${MOST[key]} at most` : "zero or more";
      faults.push(`${source.place}: ${key} is ${value}: expected seconds, ${expected}`);
    }
  }
  if (source.run_budget_seconds !== undefined && source.run_deadline_epoch_seconds !== undefined) {
    faults.push(`${source.place}: run_budget_seconds and run_deadline_epoch_seconds are both given: give one`);
  }
  if (faults.length > 0) return { faults };
  const {
    run_budget_seconds: length,
    run_deadline_epoch_seconds: epoch,
    finalization_reserve_seconds: reserve,
  } = numbers;
  if (length === undefined && epoch === undefined) {
    return {
      faults: [
        `${source.place}: finalization_reserve_seconds is given without a budget: add run_budget_seconds or run_deadline_epoch_seconds`,
      ],
    };
  }
  return {
    told: {
      ...(length === undefined ? {} : { runBudget: seconds(length) }),
      ...(epoch === undefined ? {} : { runDeadlineEpoch: Math.round(epoch * 1_000) }),
      ...(reserve === undefined ? {} : { finalizationReserve: seconds(reserve) }),
    },
  };
}
