/**
 * A process as a world watches it, and how a hold on it stands.
 *
 * Both worlds ask the same three questions in the same order: has it ended, has the quiet lasted, is the
 * time up? At one moment the end comes before the quiet, and the quiet before the time.
 */
import type { Effect, End, Held, Quiet, Read } from "../agent/effects.ts";
import { type Duration, earliest, type Instant } from "../policy/time.ts";

export interface WatchedProcess {
  readonly startedAt: Instant;
  /** Its end, if it has come. An end due at this very moment has. */
  endBy(now: Instant): End | null;
  /** Bytes of output so far. */
  written(now: Instant): number;
  lastOutputAt(now: Instant): Instant | null;
  /** When the quiet asked for has lasted, as things stand; `never` if that takes an output that nobody can foresee. */
  quietAt(quiet: Quiet, now: Instant): Instant;
  read(from: number, limit: number, now: Instant): Omit<Read, "at">;
  /** TERM at a moment, now or later; KILL after the grace. */
  terminate(at: Instant, grace: Duration, by: "limit" | "stop"): void;
  /** Whether not even KILL has ended it, and nobody waits for that any longer; left out where that cannot be. */
  unending?(): boolean;
}

export type HoldEffect = Extract<Effect, { effect: "hold" }>;

/** Why a hold ends now; null: it lasts. */
export function holdEnds({ until, quiet }: HoldEffect, process: WatchedProcess, now: Instant): Held["why"] | null {
  if (process.endBy(now) !== null) return "exit";
  if (quiet !== null && process.quietAt(quiet, now) <= now) return "quiet";
  return until <= now ? "until" : null;
}

/** When a hold that lasts may end without anything else happening; `never` if it takes something else. */
export function nextLook({ until, quiet }: HoldEffect, process: WatchedProcess, now: Instant): Instant {
  return quiet === null ? until : earliest(until, process.quietAt(quiet, now));
}

/** What the agent is answered. */
export function held(process: WatchedProcess, why: Held["why"], now: Instant): Held {
  return {
    at: now,
    why,
    end: process.endBy(now),
    written: process.written(now),
    lastOutputAt: process.lastOutputAt(now),
  };
}
