/**
 * A process as a world watches it, and how a hold on it stands.
 *
 * Both worlds ask the same three questions in the same order: has it ended, has the quiet lasted, is the
 * time up? At one moment the end comes before the quiet, and the quiet before the time.
 */
import type { Effect, End, Held, Idled, KillReach, ProcessId, Quiet, Read, Silence } from "../agent/effects.ts";
import { Evidence, type Sought, type Standing } from "../agent/evidence.ts";
import { after, type Duration, earliest, type Instant, latest, milliseconds, never } from "../policy/time.ts";

/** Once a shell has exited, and something it has started holds its output open: so much silence, and it counts as over. */
export const DRAIN_QUIET = milliseconds(250);

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
  /** TERM at a moment, now or later; KILL after the grace; as far as `reach`. */
  terminate(at: Instant, grace: Duration, by: "limit" | "stop", reach: KillReach): void;
  /** Ends it at a moment, or after a silence; takes the place of an earlier limit, unless that has come. */
  limit(limit: LimitEffect, now: Instant): void;
  /** When what is sought will have been printed, as things stand; left out where nobody can know. */
  evidenceAt?(sought: Sought): Instant;
  /** When whoever holds it is told of its end; `never` if nobody is. Left out where everybody is told at once. */
  announcedAt?(): Instant;
  /** Whether it answers at the port it serves; left out where nobody can know. */
  servesAt?(now: Instant): boolean;
  /** CPU time used by it and all it has started, since its start; null, or left out, where nobody can tell. */
  cpu?(now: Instant): Duration | null;
  /** Whether not even KILL has ended it, and nobody waits for that any longer; left out where that cannot be. */
  unending?(): boolean;
}

export type HoldEffect = Extract<Effect, { effect: "hold" }>;
export type LimitEffect = Extract<Effect, { effect: "limit" }>;

/** When the first of these silences has lasted, if nothing more is heard after `heard`; `never` if there are none. */
export function silentAt(silences: readonly Silence[], heard: Instant): Instant {
  let at = never;
  for (const { from, length } of silences) at = earliest(at, latest(from, after(heard, length)));
  return at;
}

/** Whether a client is kept waiting by it, and may give up. */
export function isHeld(effect: Effect): boolean {
  return effect.effect === "hold" || (effect.effect === "pass" && effect.held === true);
}

/** Why a hold ends now; null: it lasts. */
export function holdEnds(
  { until, quiet, sought }: HoldEffect,
  process: WatchedProcess,
  now: Instant,
): Held["why"] | null {
  if (process.endBy(now) !== null) return "exit";
  if (sought !== undefined && evidenceAt(sought, process, now) <= now) return "evidence";
  if (quiet !== null && process.quietAt(quiet, now) <= now) return "quiet";
  return until <= now ? "until" : null;
}

/** Whether a process has ended, and whoever holds it has been told. */
export function isAnnounced(process: WatchedProcess, now: Instant): boolean {
  return process.announcedAt === undefined ? process.endBy(now) !== null : process.announcedAt() <= now;
}

/** Whether a hold that was begun before ends now. An end of which nobody is told does not end it; whoever looks at it sees that. */
export function isDue(effect: HoldEffect, process: WatchedProcess, now: Instant): boolean {
  return isAnnounced(process, now) || nextLook(effect, process, now) <= now;
}

/** When a hold that lasts may end without anything else happening; `never` if it takes something else. */
export function nextLook({ until, quiet, sought }: HoldEffect, process: WatchedProcess, now: Instant): Instant {
  const looks = quiet === null ? until : earliest(until, process.quietAt(quiet, now));
  return sought === undefined ? looks : earliest(looks, evidenceAt(sought, process, now));
}

/** When what is sought is printed; `never` if that takes an output that nobody can foresee. */
function evidenceAt(sought: Sought, process: WatchedProcess, now: Instant): Instant {
  if (process.evidenceAt !== undefined) return process.evidenceAt(sought);
  return hasPrinted(sought, process, now) ? now : never;
}

/** How far what a process has printed was searched. */
interface Search {
  readonly evidence: Evidence;
  standing: Standing;
  bytes: number;
  /** Up to which byte the last of the texts reached; 0 if there was none. */
  foundTo: number;
}

const searches = new WeakMap<WatchedProcess, Search>();
/** How many bytes are searched at once. */
const AT_ONCE = 65_536;

/** Whether it has printed what is sought. Nothing is read twice, however often it is asked. */
function hasPrinted({ evidence, cursor }: Sought, process: WatchedProcess, now: Instant): boolean {
  let search = searches.get(process);
  if (search === undefined || search.evidence !== evidence) {
    search = { evidence, standing: Evidence.begin, bytes: 0, foundTo: 0 };
    searches.set(process, search);
  }
  const written = process.written(now);
  while (search.bytes < written) {
    const { from, bytes } = process.read(search.bytes, Math.min(AT_ONCE, written - search.bytes), now);
    if (bytes.length === 0) break;
    for (const [index, byte] of bytes.entries()) {
      search.standing = evidence.read(search.standing, byte);
      if (evidence.isComplete(search.standing)) search.foundTo = from + index + 1;
    }
    search.bytes = from + bytes.length;
  }
  return search.foundTo > cursor;
}

export type IdleEffect = Extract<Effect, { effect: "idle" }>;

/** What an agent that idles is answered now, whatever has woken it. */
export function idled({ anyOf, until }: IdleEffect, processOf: (id: ProcessId) => WatchedProcess, now: Instant): Idled {
  const ended = anyOf.flatMap((process) => {
    const watched = processOf(process);
    return isAnnounced(watched, now) ? [{ process, end: watched.endBy(now)! }] : [];
  });
  const why = ended.length > 0 ? "ended" : until <= now ? "until" : "interrupted";
  return { at: now, why, ended };
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
