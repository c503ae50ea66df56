/**
 * What happened in a trial, in the order it happened.
 *
 * Nothing else is kept: rows, statistics and charts are folds over this list, so any figure in a report
 * can be followed back to the moments it came from. Every call is written down when it is made and
 * again when it returns, since the call that never came back is the one that matters most.
 */
import type { RunBudget } from "../policy/budget.ts";
import type { CommandClass } from "../policy/command.ts";
import type { AutoAwaitReason, WaitReason } from "../policy/hold.ts";
import type { Hint, MessageKind } from "../policy/notice.ts";
import type { CappedRisk } from "../policy/risk.ts";
import type { Duration, Instant } from "../policy/time.ts";
import type { HardTimeoutReason } from "../policy/timeout.ts";
import type { ConditionOutcome } from "./condition.ts";
import type { Command, End, ProcessId, Service } from "./effects.ts";
import type { Limits, OutsideEvent } from "./plan.ts";
import type { ProcessStatus } from "./processes.ts";

export const AUTO_AWAIT_OUTCOMES = [
  "not_needed",
  "process_finished",
  "cap_reached",
  "disabled",
  "terminated",
  "cancelled",
  "failure_evidence",
] as const;
export type AutoAwaitOutcome = (typeof AUTO_AWAIT_OUTCOMES)[number];

export const ACTIONS = ["wait", "status", "stop", "list", "read_output"] as const;
/** What a model may do with its processes. */
export type Action = (typeof ACTIONS)[number];

export const PROCESS_CALLS = [...ACTIONS, "wait_for_condition"] as const;
/** Every call but the one that runs a command. */
export type ProcessCall = (typeof PROCESS_CALLS)[number];

export type Tool = "exec" | ProcessCall;

/** What shortened a hold. */
export type HoldReason = AutoAwaitReason | WaitReason;

/** What shortened anything that a result speaks of. */
export type ClampReason = HoldReason | HardTimeoutReason;

export type TrialEvent =
  | {
      readonly event: "trial_began";
      readonly at: Instant;
      /** What the policy was told; null if it was told nothing. */
      readonly budget: RunBudget | null;
      readonly outerLimit: Duration;
      /** Where the reserve begins, or would if the policy had been told of the outer limit. */
      readonly reserveBegins: Instant;
    }
  | {
      readonly event: "exec_called";
      readonly at: Instant;
      /** Counted from 1 over all tool calls of the trial. */
      readonly call: number;
      /** Null if the call was refused before anything started. */
      readonly process: ProcessId | null;
      readonly command: Command;
      readonly background: boolean;
      /** Which run of this very step it is: 0, and more where a model runs again what it takes not to have run. */
      readonly attempt: number;
      /** Held by the yield rules, held until it ends under a hard timeout, or not held at all. */
      readonly held: "soft" | "hard" | "none";
      /** Null when the command runs under no hard timeout. */
      readonly timeout: Duration | null;
      readonly timeoutClampReasons: readonly HardTimeoutReason[];
      /** The class of the command, where it is that which has set the hard timeout; else left out. */
      readonly commandClass?: CommandClass;
      /** The cap as configured; null when there is none. */
      readonly configuredCap: Duration | null;
    }
  /** The end of an initial hold that the command outlived, and the policy's answer to it. */
  | {
      readonly event: "auto_await_granted";
      readonly at: Instant;
      readonly call: number;
      readonly process: ProcessId;
      readonly startedAt: Instant;
      readonly yieldReason: "idle" | "total";
      readonly effectiveCap: Duration | null;
      readonly until: Instant;
      readonly clampReasons: readonly AutoAwaitReason[];
      /** What calls beside this one may still hold; left out where that does not count. */
      readonly othersHold?: Duration;
      /** The risks that shortened it; left out where none did. */
      readonly risks?: readonly CappedRisk[];
    }
  | {
      readonly event: "process_called";
      readonly at: Instant;
      readonly call: number;
      readonly action: ProcessCall;
      /** Null where an action is about none, or names none that exists. */
      readonly process: ProcessId | null;
      /** As the model asked, or the default; null unless the action is a wait, for a process or for a condition. */
      readonly requested: Duration | null;
      readonly raised: boolean;
      readonly defaulted: boolean;
    }
  | {
      readonly event: "wait_granted";
      readonly at: Instant;
      readonly call: number;
      /** Null where a condition is waited for that is about none. */
      readonly process: ProcessId | null;
      readonly until: Instant;
      readonly clampReasons: readonly WaitReason[];
      /** What calls beside this one may still hold; left out where that does not count. */
      readonly othersHold?: Duration;
    }
  /** The model can look, stop or do something else again. */
  | {
      readonly event: "control_returned";
      readonly at: Instant;
      readonly call: number;
      readonly tool: Tool;
      readonly process: ProcessId | null;
      readonly startedAt: Instant | null;
      readonly status: ProcessStatus | null;
      readonly end: End | null;
      /** Null unless an `exec` returns. */
      readonly outcome: AutoAwaitOutcome | null;
      /** The bounds on the hold in force at its end: those of the last grant. */
      readonly clampReasons: readonly HoldReason[];
      /** Whether the result shows output that was not shown before. */
      readonly freshOutput: boolean;
      /** Whether the result says anything of the run's budget: what remains, a reason, or guidance. */
      readonly budgetSignal: boolean;
      readonly guided: boolean;
      /** Bytes of output that this result should have shown and that nobody can read any more. */
      readonly outputLost: number;
      /** What ended a wait before anything that had been granted or asked; left out where nothing did. */
      readonly endedEarly?: EarlyEnd;
    }
  /** What a wait for a condition came to, before control returns. */
  | {
      readonly event: "condition_watched";
      readonly at: Instant;
      readonly call: number;
      readonly outcome: ConditionOutcome;
      /** How often it was looked at, within this one call. */
      readonly probes: number;
      /** Exit code of the last look; null where it had none. */
      readonly code: number | null;
    }
  /** The model has looked whether anything answers at a port. */
  | {
      readonly event: "probed";
      readonly at: Instant;
      readonly call: number;
      readonly port: number;
      readonly answers: boolean;
    }
  /** A request to the model, as it is sent. Only where tokens are counted. */
  | {
      readonly event: "model_asked";
      readonly at: Instant;
      /** Counted from 1 over all requests of the trial. */
      readonly request: number;
      readonly purpose: Purpose;
      /** Tokens of the whole prompt: those read from the cache, written to it, and neither. */
      readonly prompt: number;
      readonly cacheRead: number;
      readonly cacheWrite: number;
      readonly uncached: number;
      readonly output: number;
      /** Millionths of a US dollar. */
      readonly cost: number;
      /** What of the cost pays for a prefix that had been in the cache and was no longer. */
      readonly pauseTax: number;
      /** Whether the prefix was still in the cache; null where there was none to be there. */
      readonly hit: boolean | null;
    }
  /** The same request, as its answer arrives. */
  | {
      readonly event: "model_answered";
      readonly at: Instant;
      readonly request: number;
      /** Null where no provider was asked. */
      readonly service: Service | null;
    }
  /** A message that nobody asked for has reached the model: before a step of its own, or with a result. */
  | {
      readonly event: "told";
      readonly at: Instant;
      readonly kind: MessageKind;
      /** What a hint points out; left out for any other kind. */
      readonly hint?: Hint;
      /** Since when there was something to tell. */
      readonly due: Instant;
      /** What it is about. */
      readonly processes: readonly ProcessId[];
      /** As UTF-8. */
      readonly bytes: number;
      /** Whether it has woken a model that had ended its turn. */
      readonly woke: boolean;
      /** How often it was tried, this time included. */
      readonly attempts: number;
      /** Whether the window of wake-ups has put it off. */
      readonly deferred: boolean;
    }
  /** A message has failed to wake the model. */
  | {
      readonly event: "delivery_failed";
      readonly at: Instant;
      readonly kind: MessageKind;
      readonly due: Instant;
      readonly processes: readonly ProcessId[];
      readonly bytes: number;
      /** How often it was tried so far. */
      readonly attempts: number;
      readonly deferred: boolean;
      /** When it is tried again; null: not any more. */
      readonly again: Instant | null;
    }
  /** The model has ended its turn, and idles until something wakes it. */
  | { readonly event: "turn_ended"; readonly at: Instant }
  | { readonly event: "woken"; readonly at: Instant; readonly by: WokenBy }
  /** The conversation was compacted, and the model no longer knows of a live process. */
  | { readonly event: "forgot"; readonly at: Instant; readonly process: ProcessId }
  | { readonly event: "job_began"; readonly at: Instant; readonly job: string }
  | { readonly event: "job_ended"; readonly at: Instant; readonly job: string; readonly result: JobResult }
  /** Something from outside that the plan did not have in it. */
  | { readonly event: "happened"; readonly at: Instant; readonly what: OutsideEvent["what"] }
  /** The run is done, and held open for what it still runs. */
  | { readonly event: "exit_held"; readonly at: Instant; readonly until: Instant }
  /** A process that the run was held open for: its end, or null where it was held open for no longer. */
  | { readonly event: "exit_awaited"; readonly at: Instant; readonly process: ProcessId; readonly end: End | null }
  /** The runtime itself has ended a process. */
  | { readonly event: "swept"; readonly at: Instant; readonly process: ProcessId; readonly end: End | null }
  /** The harness ends the trial at a limit other than time. */
  | { readonly event: "limit_reached"; readonly at: Instant; readonly limit: keyof Limits | ShellLimit }
  /** No attempt at a request succeeded: the trial ends, and nobody is to blame for it. */
  | { readonly event: "provider_failed"; readonly at: Instant }
  /** The runtime has ended a live process and forgotten it, to have its slot for another one. How it ends nobody waits for. */
  | { readonly event: "pruned"; readonly at: Instant; readonly process: ProcessId }
  /** A call that the runtime would not carry out, and why. */
  | { readonly event: "call_refused"; readonly at: Instant; readonly call: number; readonly why: string }
  | { readonly event: "committed"; readonly at: Instant }
  /** `partial`: part of the plan was given up to finish in time. */
  | { readonly event: "submitted"; readonly at: Instant; readonly partial: boolean }
  /** The plan is at its end and nothing was submitted. */
  | { readonly event: "gave_up"; readonly at: Instant }
  | { readonly event: "cut_off"; readonly at: Instant }
  /** Whoever used the shell has gone. What became of the work, a shell is not told. */
  | { readonly event: "session_ended"; readonly at: Instant }
  /** What the harness finds once the trial is over: a process whose end nobody saw, or that has not ended (null). */
  | {
      readonly event: "left_behind";
      readonly at: Instant;
      readonly process: ProcessId;
      readonly end: End | null;
      /** Whether it still answers at its port. */
      readonly answers: boolean;
    };

export const EARLY_ENDS = ["failure_evidence"] as const;
/** What may end a wait early, besides the end of its process. */
export type EarlyEnd = (typeof EARLY_ENDS)[number];

/** Limits of the runtime's own that end a run: timeouts in a row, and how long commands may take in all. */
export type ShellLimit = "timeout_strikes" | "command_time";

export const PURPOSES = ["work", "poll", "compaction"] as const;
/** What a request to the model is for: getting on, looking after a live process, or making room. */
export type Purpose = (typeof PURPOSES)[number];

export const WOKEN_BY = ["message", "outside"] as const;
/** What has begun another turn. */
export type WokenBy = (typeof WOKEN_BY)[number];

export const JOB_RESULTS = ["whole", "partial", "salvaged", "trail"] as const;
/** What a child job came to: all of its plan, a part of it, what it had written when its time was up, or the trail of its calls alone. */
export type JobResult = (typeof JOB_RESULTS)[number];

export const EVENT_NAMES = [
  "trial_began",
  "exec_called",
  "auto_await_granted",
  "process_called",
  "wait_granted",
  "control_returned",
  "call_refused",
  "condition_watched",
  "probed",
  "model_asked",
  "model_answered",
  "told",
  "delivery_failed",
  "turn_ended",
  "woken",
  "forgot",
  "job_began",
  "job_ended",
  "happened",
  "exit_held",
  "exit_awaited",
  "swept",
  "pruned",
  "limit_reached",
  "provider_failed",
  "committed",
  "submitted",
  "gave_up",
  "cut_off",
  "session_ended",
  "left_behind",
] as const satisfies readonly TrialEvent["event"][];

/** Where an agent writes down what happens. */
export type Record = (event: TrialEvent) => void;
