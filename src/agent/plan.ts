/** The work of a trial, step by step. Whatever luck shaped it has been drawn before: a plan is certain. */
import type { Duration } from "../policy/time.ts";
import type { Command } from "./effects.ts";

export type Step =
  | { readonly step: "think"; readonly length: Duration }
  | {
      readonly step: "run";
      /** What later steps call it by, and what its draws are keyed by. */
      readonly id: string;
      readonly command: Command;
      readonly background: boolean;
      /** Null: none named. */
      readonly timeout: Duration | null;
      /** The model takes its usual step after the call, whatever came back. */
      readonly thenStep: boolean;
    }
  | { readonly step: "status"; readonly of: string; readonly thenStep: boolean }
  | { readonly step: "commit" }
  | { readonly step: "submit" };

export type Plan = readonly Step[];

export const CREDITS = ["submitted", "committed", "worktree"] as const;
export const REWARDS = ["all_tests", "share"] as const;

/** How a trial is graded. Timeout and reward are separate facts: a trial that was cut off is graded too. */
export interface Grading {
  /** How many tests the grader runs. */
  readonly tests: number;
  readonly reward: (typeof REWARDS)[number];
  /** What counts: what was submitted, what was committed, or whatever lies in the work tree at the end. */
  readonly credit: (typeof CREDITS)[number];
}

/** Whether any step of this plan earns tests by name. */
export function namesTests(plan: Plan): boolean {
  for (const step of plan) if (step.step === "run" && step.command.passes.length > 0) return true;
  return false;
}
