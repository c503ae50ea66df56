/** The work of a trial, step by step. Whatever luck shaped it has been drawn before: a plan is certain. */
import type { Duration, Instant } from "../policy/time.ts";
import type { Command } from "./effects.ts";

export type Step =
  | { readonly step: "think"; readonly length: Duration }
  /** As many steps of the model, each as long as its profile or its provider makes it. */
  | { readonly step: "think_steps"; readonly steps: number }
  | RunStep
  | { readonly step: "status"; readonly of: string; readonly thenStep: boolean }
  /** From here on the plan needs what a process was started for: it is waited for, if it still runs. */
  | { readonly step: "await"; readonly of: string }
  /** One look at whether a process that serves answers yet; the model takes its usual step after it. */
  | { readonly step: "probe"; readonly of: string }
  /** Looks again and again until it answers, so many times at most. */
  | { readonly step: "until_answers"; readonly of: string; readonly atMost: number }
  /** Runs commands one after the other until one succeeds, with thought in between: `thoughts[n]` after `attempts[n]`. */
  | {
      readonly step: "until_succeeds";
      readonly attempts: readonly RunStep[];
      readonly thoughts: readonly Duration[];
    }
  /** Several calls in one step of the model, and child jobs, side by side. */
  | { readonly step: "together"; readonly of: readonly (RunStep | JobStep)[] }
  | JobStep
  | { readonly step: "commit" }
  | { readonly step: "submit" };

/** A nested agent with a plan of its own; what it came to reaches its parent when it is done. */
export interface JobStep {
  readonly step: "job";
  readonly id: string;
  readonly plan: Plan;
  /** Cut off then, counted from its start; null: no limit of its own. */
  readonly timeout: Duration | null;
  /** Tokens it begins with; null: as the profile says. */
  readonly startTokens: number | null;
}

export interface RunStep {
  readonly step: "run";
  /** What later steps call it by, and what its draws are keyed by. */
  readonly id: string;
  readonly command: Command;
  readonly background: boolean;
  /** Null: none named. */
  readonly timeout: Duration | null;
  /** The model takes its usual step after the call, whatever came back. */
  readonly thenStep: boolean;
  /** A later step says where it is needed: until then a model may work on something else. Left out: at once. */
  readonly neededLater?: boolean;
  /** Can be left out where time is short. Left out: it cannot. */
  readonly optional?: boolean;
  /** Declared to outlive the run. Left out: it is not. */
  readonly persist?: boolean;
}

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
  /** A port that must answer once the trial is over, or nothing is earned; null: none. */
  readonly service: number | null;
}

/** What the harness limits beside time; null: not limited. */
export interface Limits {
  /** Requests to the model. */
  readonly steps: number | null;
  /** Tokens of all requests, in and out. */
  readonly tokens: number | null;
  /** Millionths of a US dollar. */
  readonly cost: number | null;
}

export const UNLIMITED: Limits = { steps: null, tokens: null, cost: null };

/** How messages fail to wake a model, beside a provider that does not answer. */
export interface Deliveries {
  /** So many at first. */
  readonly failFirst: number;
  /** Of those after them: how likely each is to. */
  readonly failWith: number;
}

export const OUTSIDE_EVENTS = ["user_stop", "clear", "switch", "user_background", "headless_exit", "restart"] as const;
/**
 * What happens from outside: the user breaks in, clears the conversation, switches the model, or moves what is held to the
 * background; the runtime exits where nobody would restart it, or is restarted.
 */
export interface OutsideEvent {
  readonly at: Instant;
  readonly what: (typeof OUTSIDE_EVENTS)[number];
}

/** Whether any step of this plan earns tests by name. */
export function namesTests(plan: Plan): boolean {
  for (const step of plan) {
    // Populations have nothing but plain runs, by the hundred thousand.
    if (step.step === "run" ? earns(step) : runsOf(step).some(earns)) return true;
  }
  return false;
}

const earns = ({ command }: RunStep) => command.passes.length > 0;

const NO_RUNS: readonly RunStep[] = [];

/** Every command that a step may run. */
export function runsOf(step: Step): readonly RunStep[] {
  switch (step.step) {
    case "run":
      return [step];
    case "until_succeeds":
      return step.attempts;
    case "together":
      return step.of.flatMap(runsOf);
    case "job":
      return step.plan.flatMap(runsOf);
    default:
      return NO_RUNS;
  }
}
