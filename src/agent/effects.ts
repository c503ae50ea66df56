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
import type { Key } from "../random.ts";
import type { Sought } from "./evidence.ts";

/** Counted from 1 in the order an agent starts them, and never used twice in a trial. */
export type ProcessId = number & { readonly [kind]: "process" };
declare const kind: unique symbol;

export const KINDS = ["quick", "long_finite", "server", "hanging"] as const;
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
  /** Where it serves once it is ready, as whoever runs it knows; null: it serves nothing. */
  readonly port: number | null;
  /** Where it runs, if whoever started it said so. */
  readonly cwd?: string | null;
  /** How long a command of its looks usually takes: what a model's estimate is drawn around; null where nobody can tell. */
  readonly usual: Duration | null;
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
  /** It did not come to do what it was to do, as another one holds its port or its lock; left out otherwise. */
  readonly prevented?: true;
  /** The limit that ended it was one on its silence; left out otherwise. */
  readonly silent?: true;
}

/** From `from` on a process is ended once it has been silent for `length`: since its last output, or its start if there was none. */
export interface Silence {
  readonly from: Instant;
  readonly length: Duration;
}

/** A hold that ends in the absence of output. */
export type Quiet =
  /** `length` after the last output, or after the process's start if there was none. */
  | { readonly length: Duration; readonly since: "start" }
  /** `length` after the last output, but only once there is any beyond `cursor` (bytes). */
  | { readonly length: Duration; readonly since: "unread"; readonly cursor: number };

export type Effect<Move = unknown> =
  /** `held`: within a call, so that whoever has made the call may give up on it. It is answered early then. */
  | { readonly effect: "pass"; readonly until: Instant; readonly held?: true }
  | {
      readonly effect: "start";
      readonly process: ProcessId;
      readonly command: Command;
      /** How much of its output a world that keeps it in memory must keep, in bytes. */
      readonly retain: number;
      /** When it counts as over: once its shell has exited and the output was drained, or once nobody holds the output open. */
      readonly overAt: Completion;
    }
  /** Resumes when the process is over, at `until`, or in the quiet; a tie goes to the end, then to the quiet. Stops nothing. */
  | {
      readonly effect: "hold";
      readonly anyOf: readonly [ProcessId];
      readonly until: Instant;
      readonly quiet: Quiet | null;
      /** Resumes as well once this is printed; after an end and before the quiet. Left out: nothing is looked for. */
      readonly sought?: Sought;
    }
  /**
   * Nobody is at work: resumes as soon as any of these processes is over, when something happens outside, or at `until`.
   * `until` = now looks without idling.
   */
  | { readonly effect: "idle"; readonly anyOf: readonly ProcessId[]; readonly until: Instant }
  /**
   * From now on the world ends the process at `at`, or after a silence if that comes first, as far as `reach`, whoever is
   * looking then. Takes the place of an earlier limit, unless that has come.
   */
  | {
      readonly effect: "limit";
      readonly process: ProcessId;
      readonly at: Instant;
      readonly afterSilence: readonly Silence[];
      readonly grace: Duration;
      readonly reach: KillReach;
    }
  /** Ends the process, as far as `reach`: TERM, `grace`, KILL. Resumes once it is over. */
  | { readonly effect: "stop"; readonly process: ProcessId; readonly grace: Duration; readonly reach: KillReach }
  /** Output from byte `from` on, at most `limit` bytes. */
  | { readonly effect: "read"; readonly process: ProcessId; readonly from: number; readonly limit: number }
  /** How much of the CPU a process has used, with all it has started. Takes no time. */
  | { readonly effect: "usage"; readonly process: ProcessId }
  /** Whether anything answers at a port. Takes no time. */
  | { readonly effect: "probe"; readonly port: number }
  /** Several agents side by side. Resumes once all are done, or one of them says that nobody goes on. */
  | { readonly effect: "together"; readonly agents: readonly Sibling[] }
  /**
   * The model's next move. It takes `takes` to come to, unless the world has a provider of its own: then the request is
   * served there, however long that takes.
   */
  | { readonly effect: "ask"; readonly move: Move; readonly takes: Duration; readonly request: ModelRequest | null };

/** What one of several agents returns to have all the others cut off. */
export const NOBODY_GOES_ON = Symbol("nobody goes on");

/** One of several agents side by side. */
export interface Sibling {
  readonly agent: Agent<unknown>;
  /** When it is cut off, if it is not done by then; null: only with the whole trial. */
  readonly until: Instant | null;
}

/** What a model provider has to know of a request. */
export interface ModelRequest {
  /** What its luck is keyed by: `nth` within `key`. Most requests need none, so that it is not made before it is asked for. */
  readonly key: Key;
  readonly nth: number;
  /** Tokens of the whole prompt. */
  readonly prompt: number;
  /** Those of them that are not read from the cache. */
  readonly uncached: number;
  readonly output: number;
  /** How long the model takes for it, where the provider's own latency does not say. */
  readonly takes: Duration;
  /** Whether the plan says how long it takes: then it does so at any provider, and only queues and retries come on top. */
  readonly stated: boolean;
}

/** What becomes of a request at a provider, beside its answer. */
export interface Service {
  /** Waited for a free place, all attempts together. */
  readonly queued: Duration;
  /** Lost on attempts that failed, and on waiting between them. */
  readonly retrying: Duration;
  readonly retries: number;
  /** How many of the retries the provider's rate limits asked for. */
  readonly rateLimited: number;
  /** From the start of the service to the first token. */
  readonly firstToken: Duration;
  /** No attempt succeeded, and the client has given up. */
  readonly failed: boolean;
}

export const COMPLETIONS = ["exit", "end_of_output"] as const;
export type Completion = (typeof COMPLETIONS)[number];

export const KILL_REACHES = ["tree", "group", "process"] as const;
/** How far the end of a process reaches: the whole tree, its group, or the one process that was started. */
export type KillReach = (typeof KILL_REACHES)[number];

export const CUT_REACHES = ["agent", "client"] as const;
/** What the cut at the outer limit reaches: the agent itself, or only the client that speaks to it from outside. */
export type CutReach = (typeof CUT_REACHES)[number];

export interface Passed {
  readonly at: Instant;
}

export interface Held {
  readonly at: Instant;
  readonly why: "exit" | "evidence" | "quiet" | "until" | "cancelled" | "interrupted";
  readonly end: End | null;
  /** Bytes of output so far. */
  readonly written: number;
  readonly lastOutputAt: Instant | null;
}

export interface Idled {
  readonly at: Instant;
  readonly why: "ended" | "until" | "interrupted";
  /** Of the processes asked after those that are over, and whose end was announced. */
  readonly ended: readonly { readonly process: ProcessId; readonly end: End }[];
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
  /** Null where no provider was asked, or none has answered. */
  readonly service: Service | null;
  /** Something from outside broke in before the model had come to its move. */
  readonly interrupted: boolean;
}

export interface Probed {
  readonly at: Instant;
  readonly answers: boolean;
}

export interface Used {
  readonly at: Instant;
  /** Since its start; null where that cannot be told. */
  readonly cpu: Duration | null;
}

export type Answer = Passed | Held | Idled | Stopped | Read | Asked<unknown> | Probed | Used;

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
