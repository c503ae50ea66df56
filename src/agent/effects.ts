/**
 * What an agent may ask of the world it is in.
 *
 * There are two kinds of world: simulated ones, where hours pass in a millisecond, and live ones, with
 * processes and a clock. Whatever is true of one is true of the other. The set is closed and stands
 * here, with the code that asks; the worlds that answer depend on it.
 *
 * Every answer carries `at`, the only clock an agent has.
 */
import type { Duration, Instant } from "../policy/time.ts";

/** Counted from 1 in the order an agent starts them, and never used twice in a trial. */
export type ProcessId = number & { readonly [kind]: "process" };
declare const kind: unique symbol;

export const KINDS = ["quick", "long_finite", "hanging"] as const;
export type Kind = (typeof KINDS)[number];

/** A command as an agent sees it. What it will do is the world's business. */
export interface Command {
  /** The line that a shell would run. */
  readonly line: string;
  /** What kind of command it turns out to be; null where nobody knows. For the record only: no policy, no habit reads it. */
  readonly kind: Kind | null;
  /** Tests that pass once the command has come to its own end. For the record only. */
  readonly passes: readonly Test[];
  /** Tests that no longer pass once it has. For the record only. */
  readonly spoils: readonly Test[];
}

/** A test that a grader runs, by number or name. */
export type Test = number | string;

/** What a line of output gives away to whoever reads it. */
export const MARKS = ["progress", "failure", "ready"] as const;
export type Mark = (typeof MARKS)[number];

/** Signals that may end a process, as far as anything here tells them apart. */
export const SIGNALS = [
  "SIGTERM",
  "SIGKILL",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGABRT",
  "SIGSEGV",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGPIPE",
  "SIGALRM",
  "SIGUSR1",
  "SIGUSR2",
  "SIGTRAP",
  "SIGSYS",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGVTALRM",
  "SIGPROF",
  "SIGIO",
  "SIGPWR",
  "SIGSTKFLT",
  "SIGEMT",
] as const;
export type Signal = (typeof SIGNALS)[number];

/**
 * How a process ended, and at whose hand: its own, a limit the policy set, or a stop. Nobody's where the runtime that had
 * started it was killed: what became of it then was not seen.
 */
export interface End {
  readonly at: Instant;
  readonly by: "itself" | "limit" | "stop" | "nobody";
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: Signal | null;
  /** How many processes that it had started lived on, as far as a world can find them; left out if none. */
  readonly survivors?: number;
  /** One of them kept the output open, so more may follow; left out if none. */
  readonly heldOpen?: true;
}

/** A hold that ends in the absence of output. */
export type Quiet =
  /** `length` after the last output, or after the process's start if there was none. */
  | { readonly length: Duration; readonly since: "start" }
  /** `length` after the last output, but only once there is any beyond `cursor` (bytes). */
  | { readonly length: Duration; readonly since: "unread"; readonly cursor: number };

export type Effect<Move = unknown> =
  | { readonly effect: "pass"; readonly until: Instant }
  | {
      readonly effect: "start";
      readonly process: ProcessId;
      readonly command: Command;
      /** How much of its output a world that keeps it in memory must keep, in bytes. */
      readonly retain: number;
    }
  /** Resumes when the process is over, at `until`, or in the quiet; a tie goes to the end, then to the quiet. Stops nothing. */
  | {
      readonly effect: "hold";
      readonly anyOf: readonly [ProcessId];
      readonly until: Instant;
      readonly quiet: Quiet | null;
    }
  /** From now on the world ends the tree at `at`, whoever is looking then. */
  | { readonly effect: "limit"; readonly process: ProcessId; readonly at: Instant; readonly grace: Duration }
  /** Ends the tree: TERM, `grace`, KILL. Resumes once it is over. */
  | { readonly effect: "stop"; readonly process: ProcessId; readonly grace: Duration }
  /** Output from byte `from` on, at most `limit` bytes. */
  | { readonly effect: "read"; readonly process: ProcessId; readonly from: number; readonly limit: number }
  /** The model's next move, which it takes `takes` to come to. */
  | { readonly effect: "ask"; readonly move: Move; readonly takes: Duration };

export interface Passed {
  readonly at: Instant;
}

export interface Held {
  readonly at: Instant;
  readonly why: "exit" | "quiet" | "until" | "cancelled";
  readonly end: End | null;
  /** Bytes of output so far. */
  readonly written: number;
  readonly lastOutputAt: Instant | null;
}

export interface Stopped {
  readonly at: Instant;
  /** Null when even KILL did not end it. */
  readonly end: End | null;
}

export interface Read {
  readonly at: Instant;
  /** Where the bytes begin: later than asked when the beginning is no longer kept. */
  readonly from: number;
  readonly bytes: Uint8Array;
  /** Bytes written so far. */
  readonly written: number;
  /** Whether everything ever written can still be read. */
  readonly complete: boolean;
  readonly marks: readonly Mark[];
}

export interface Asked<Move> {
  readonly at: Instant;
  readonly move: Move;
}

export type Answer = Passed | Held | Stopped | Read | Asked<unknown>;

/**
 * A course of action that asks effects of its world, one after the other, and is answered each.
 *
 * The answer that belongs to an effect is fixed above. A generator has one type for all its answers,
 * so whoever asks names the one it gets: `(yield { effect: "hold", … }) as Held`.
 */
export type Agent<Result> = Generator<Effect, Result, Answer>;

/** Thrown into an agent by its world at the outer limit; caught in `trial.ts` and nowhere else. */
export class CutOff extends Error {
  readonly at: Instant;
  constructor(at: Instant) {
    super("cut off by the outer harness");
    this.name = "CutOff";
    this.at = at;
  }
}
