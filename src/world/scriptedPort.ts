/** Scripted commands as a live world's processes: functions of its clock's time. For conformance, and for replays. */
import type { Command, Completion, ProcessId } from "../agent/effects.ts";
import { type Instant, never } from "../policy/time.ts";
import { Host, type HostTerms, type Pace } from "./host.ts";
import type { Clock, ProcessPort } from "./live.ts";
import { type Progress, progressOf, ScriptedProcess } from "./process.ts";
import { meets, type ScriptedCommand, stretchesOf } from "./script.ts";
import type { WatchedProcess } from "./watched.ts";

/** @param terms of a host that they share; null: each runs as if alone */
export function scriptedPort(clock: Clock, terms: HostTerms | null = null): ProcessPort {
  const all: ScriptedProcess[] = [];
  const host = terms === null ? null : new LiveHost(clock, terms);
  return {
    start(
      id: ProcessId,
      command: Command,
      retain: number,
      startedAt: Instant,
      wake: () => void,
      overAt: Completion,
    ): WatchedProcess {
      const script = meets(command as ScriptedCommand, all, startedAt);
      const progress = host === null ? null : host.starts(script, startedAt);
      const process = new ScriptedProcess(id, script, startedAt, retain, overAt, progress);
      all.push(process);
      let forget = endTimer(process);
      host?.watches(process, () => {
        forget();
        forget = endTimer(process);
        wake();
      });
      function endTimer(one: ScriptedProcess): () => void {
        const at = one.announcedAt();
        return at === never ? () => {} : clock.at(at, wake);
      }
      function isEnded(dies: Instant): void {
        forget();
        forget = endTimer(process);
        host?.hears(dies);
      }
      return {
        startedAt,
        endBy: (now) => process.endBy(now),
        written: (now) => process.written(now),
        lastOutputAt: (now) => process.lastOutputAt(now),
        quietAt: (quiet, now) => process.quietAt(quiet, now),
        read: (from, limit, now) => process.read(from, limit, now),
        evidenceAt: (sought) => process.evidenceAt(sought),
        announcedAt: () => process.announcedAt(),
        cpu: (now) => process.cpu(now),
        servesAt: (now) => process.servesAt(now),
        terminate(at, grace, by, reach) {
          isEnded(process.terminate(at, grace, by, reach));
        },
        limit(limit, now) {
          isEnded(process.limit(limit, now));
        },
      };
    },
  };
}

/** A host as a live clock turns it: the same machine that the simulated world turns. */
class LiveHost {
  readonly #clock: Clock;
  readonly #host: Host;
  readonly #all: { readonly process: ScriptedProcess; readonly pace: Pace; readonly looksAgain: () => void }[] = [];
  #latest: Pace | null = null;
  #forget: () => void = () => {};

  constructor(clock: Clock, terms: HostTerms) {
    this.#clock = clock;
    this.#host = new Host(terms);
  }

  starts(command: ScriptedCommand, now: Instant): Progress {
    this.#latest = this.#host.starts(now, stretchesOf(command));
    return progressOf(this.#latest, 0);
  }

  watches(process: ScriptedProcess, looksAgain: () => void): void {
    this.#all.push({ process, pace: this.#latest!, looksAgain });
    this.#changed();
  }

  /** Something is ended at a moment, and then no longer wants anything of the host. */
  hears(at: Instant): void {
    if (at !== never) this.#clock.at(at, () => this.#changed());
  }

  #changed(): void {
    const now = this.#clock.now();
    this.#host.turn(now);
    for (const { process, pace } of this.#all) if (process.idleFrom <= now) this.#host.ends(now, pace);
    for (const { process, looksAgain } of this.#all) {
      if (process.endsAt <= now) continue;
      const before = process.endsAt;
      process.goesAnew(now);
      if (process.isLimited && process.endsAt > now && process.endsAt !== before) this.hears(process.endsAt);
      looksAgain();
    }
    this.#forget();
    const next = this.#host.nextChangeAt();
    this.#forget = Number.isFinite(next) ? this.#clock.at(next as Instant, () => this.#changed()) : () => {};
  }
}
