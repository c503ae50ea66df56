/**
 * What a result tells the model besides its facts: what remains of the run, and what to do in the reserve.
 *
 * Advice only. The runtime never commits by itself, and never stops a process because time is short.
 */
import { inLastQuarter, inReserve, type RunBudget } from "./budget.ts";
import type { Settings } from "./settings.ts";
import type { Instant } from "./time.ts";

export interface Guidance {
  readonly code: "finalization_reserve";
  readonly actions: readonly ("inspect_output" | "stop_process" | "commit" | "finish")[];
  readonly text: string;
}

const inTheReserve: Guidance = {
  code: "finalization_reserve",
  actions: ["inspect_output", "stop_process", "commit", "finish"],
  text:
    "What is left of this run is reserved for finishing, so nothing is waited for any more. " +
    "Read the output there is, stop the processes you no longer need, commit, and finish.",
};

/** The advice that goes with a process still running once the reserve has begun; null before, and without a budget. */
export function guidance(budget: RunBudget | null, now: Instant): Guidance | null {
  return inReserve(budget, now) ? inTheReserve : null;
}

/** Whether a result says what remains of the run. */
export function showsRemaining(settings: Settings, budget: RunBudget, clamped: boolean, now: Instant): boolean {
  switch (settings.remainingBudgetOnResults) {
    case "always":
      return true;
    case "never":
      return false;
    case "when_clamped":
      return clamped || inLastQuarter(budget, now);
  }
}
