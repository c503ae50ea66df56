/** One scripted process: started once, ended once, its output a function of the time in between. */
import type { End, Mark, ProcessId, Quiet, Signal } from "../agent/effects.ts";
import { after, type Duration, earliest, type Instant, moment, never } from "../policy/time.ts";
import type { ScriptedCommand } from "./script.ts";
import type { WatchedProcess } from "./watched.ts";

export class ScriptedProcess implements WatchedProcess {
  readonly id: ProcessId;
  readonly command: ScriptedCommand;
  readonly startedAt: Instant;
  /** How much of the newest output is kept, in bytes. */
  readonly #retain: number;
  /** When it ends, as things stand; `never` if it does not. */
  endsAt: Instant;
  #by: End["by"] = "itself";
  /** When TERM reaches it, or has; `never` if nobody ends it. */
  #termAt: Instant = never;
  #signal: Signal | null;
  /** Made once somebody asks after it has come; from then on nothing can change it. */
  #end: End | null = null;
  #code: number | null;
  /** Whether anybody has been told of its end. */
  reported = false;

  constructor(id: ProcessId, command: ScriptedCommand, startedAt: Instant, retain: number) {
    this.id = id;
    this.command = command;
    this.startedAt = startedAt;
    this.#retain = retain;
    this.endsAt = command.length === null ? never : after(startedAt, command.length);
    this.#code = command.exit.code;
    this.#signal = command.exit.signal;
  }

  /** Its end, if it has come. An end due at this very moment has. */
  endBy(now: Instant): End | null {
    if (this.endsAt > now) return null;
    this.#end ??= { at: this.endsAt, by: this.#by, code: this.#code, signal: this.#signal };
    return this.#end;
  }

  /** TERM at a moment, and KILL after the grace. What would end before that still does, by itself. */
  terminate(at: Instant, grace: Duration, by: "limit" | "stop"): void {
    if (this.endsAt <= at) return;
    const { onTerm } = this.command;
    const obeys = onTerm !== null && onTerm <= grace;
    const dies = after(at, obeys ? onTerm : grace);
    // Whoever sends TERM first is the one who ends it.
    if (at < this.#termAt) {
      this.#by = by;
      this.#termAt = at;
    }
    // Its own exit may fall into the grace: that is how it ends, but it was made to.
    if (this.endsAt <= dies) return;
    this.endsAt = dies;
    this.#code = null;
    this.#signal = obeys ? "SIGTERM" : "SIGKILL";
  }

  written(now: Instant): number {
    return this.command.prints?.writtenBy(this.#age(now)) ?? 0;
  }

  lastOutputAt(now: Instant): Instant | null {
    const last = this.command.prints?.lastBy(this.#age(now)) ?? null;
    return last === null ? null : moment(this.startedAt + last);
  }

  /** When the quiet that is asked for has lasted, as things stand: output still to come pushes it on. */
  quietAt(quiet: Quiet, now: Instant): Instant {
    if (quiet.since === "start") return after(this.lastOutputAt(now) ?? this.startedAt, quiet.length);
    if (this.written(now) > quiet.cursor) return after(this.lastOutputAt(now) ?? this.startedAt, quiet.length);
    const next = this.command.prints?.nextAfter(this.#age(now)) ?? null;
    return next === null ? never : after(moment(this.startedAt + next), quiet.length);
  }

  read(
    from: number,
    limit: number,
    now: Instant,
  ): { from: number; bytes: Uint8Array; written: number; complete: boolean; marks: readonly Mark[] } {
    const written = this.written(now);
    const kept = Math.max(written - this.#retain, 0);
    const begin = Math.min(Math.max(from, kept), written);
    const piece = this.command.prints?.slice(begin, Math.min(begin + limit, written));
    return { from: begin, bytes: piece?.bytes ?? EMPTY, written, complete: kept === 0, marks: piece?.marks ?? [] };
  }

  /** Its age, which stops with it. */
  #age(now: Instant): number {
    return earliest(now, this.endsAt) - this.startedAt;
  }
}

const EMPTY = new Uint8Array(0);
