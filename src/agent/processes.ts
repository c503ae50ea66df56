/**
 * The managed processes of one trial: what was started, what became of it, how far it was read.
 *
 * The table is the source of truth about unread results; what a model remembers is not.
 */
import { beginning, type Instant } from "../policy/time.ts";
import type { Command, End, ProcessId } from "./effects.ts";

export const PROCESS_STATUSES = [
  "running",
  "completed",
  "failed",
  "terminated",
  "timed_out",
  "cancelled",
  "already_exited",
  "termination_failed",
  "lost",
] as const;
export type ProcessStatus = (typeof PROCESS_STATUSES)[number];

export interface ManagedProcess {
  readonly id: ProcessId;
  readonly command: Command;
  readonly startedAt: Instant;
  readonly background: boolean;
  /** Declared to outlive the run. */
  readonly persist: boolean;
  /** Null while it runs, as far as anyone has looked. */
  end: End | null;
  status: ProcessStatus;
  /** Everything before this byte has been shown. */
  cursor: number;
  /** Whether a result has shown that it is over. */
  isRead: boolean;
  /** Whether a message has told, or recalled, that it is over. */
  isTold: boolean;
  /** The number of the last call that was about it. */
  lastCall: number;
}

/** Notes an end; the first one counts. */
export function over(process: ManagedProcess, end: End): void {
  if (process.end !== null) return;
  process.end = end;
  process.status = statusAfter(end);
}

/** `process-8`: the name a process has for life. */
export function processName(id: ProcessId): string {
  return `process-${id}`;
}

/** The id behind a name, whether or not there is such a process; null if it is no name of one. */
export function processId(name: string): ProcessId | null {
  const digits = /^process-([1-9]\d{0,8})$/.exec(name)?.[1];
  return digits === undefined ? null : (Number(digits) as ProcessId);
}

export class Processes {
  /** By id; null from the moment an id is taken until its process has started. */
  readonly #all: (ManagedProcess | null)[] = [];

  /** Takes the next id, before its process is started: calls may run side by side. */
  reserve(): ProcessId {
    return this.#all.push(null) as ProcessId;
  }

  add(
    id: ProcessId,
    command: Command,
    startedAt: Instant,
    background: boolean,
    call: number,
    persist = false,
  ): ManagedProcess {
    const process: ManagedProcess = {
      id,
      command,
      startedAt,
      background,
      persist,
      end: null,
      status: "running",
      cursor: 0,
      isRead: false,
      isTold: false,
      lastCall: call,
    };
    this.#all[id - 1] = process;
    return process;
  }

  /** Its slot is needed: nobody knows it any more. */
  forget(id: ProcessId): void {
    this.#all[id - 1] = null;
  }

  /** A process of an earlier session: its name stays its own, and nobody saw its end. */
  adopt(id: ProcessId, command: Command): void {
    while (this.#all.length < id) this.#all.push(null);
    const end: End = { at: beginning, by: "nobody", code: null, signal: null };
    this.#all[id - 1] = {
      id,
      command,
      startedAt: beginning,
      background: true,
      persist: false,
      end,
      status: statusAfter(end),
      cursor: 0,
      isRead: false,
      isTold: false,
      lastCall: 0,
    };
  }

  find(id: ProcessId): ManagedProcess | undefined {
    return this.#all[id - 1] ?? undefined;
  }

  /** In the order of their ids. */
  list(): readonly ManagedProcess[] {
    return this.#all.filter((process) => process !== null);
  }
}

/** What a process counts as once it has ended. */
export function statusAfter(end: End): ProcessStatus {
  if (end.by === "limit") return "timed_out";
  if (end.by === "stop") return "terminated";
  if (end.by === "nobody") return "lost";
  return end.code === 0 ? "completed" : "failed";
}
