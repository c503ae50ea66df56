/**
 * What a model is told without having asked: that a background command is over, that a result lies unread, that something
 * runs past its usual length.
 *
 * A message is made just before a step of the model, from the table of processes as it stands then: what a conversation
 * has lost, a compaction has cut or a user has cleared is told all the same. It comes at the conversation's end. One that finds
 * nobody at work wakes the model, as often as the window allows; one that fails to is tried again.
 */
import {
  batched,
  described,
  givenBack,
  heartbeatText,
  type MessageKind,
  mayWakeAt,
  noticeText,
  noWakes,
  overdueAt,
  reminderText,
  reserved,
  type Told,
  triedAgainAt,
  usualLength,
  utf8Length,
  type Wakes,
} from "../policy/notice.ts";
import type { Settings } from "../policy/settings.ts";
import { between, earliest, type Instant, inSeconds, latest, never } from "../policy/time.ts";
import type { Agent, Effect, Idled } from "./effects.ts";
import type { Record } from "./events.ts";
import { type ManagedProcess, over, processName } from "./processes.ts";

export interface Message {
  readonly kind: MessageKind;
  readonly text: string;
  readonly bytes: number;
  readonly processes: readonly ManagedProcess[];
}

/** A message on its way. */
interface Draft extends Message {
  /** Since when there was something to tell. */
  readonly due: Instant;
  readonly deferred: boolean;
}

/** A process whose end is to be told. */
interface Minded {
  readonly process: ManagedProcess;
  /** When it is overdue and nobody has been told; else `never`. */
  overdueAt: Instant;
  /** No notice tells of its end: somebody has stopped everything, or its delivery was given up. A reminder may. */
  isSilent: boolean;
  /** Whether the window has put off telling of it. */
  deferred: boolean;
}

/** A delivery that has failed: the same message, tried again. */
interface Stuck {
  readonly draft: Draft;
  readonly failures: number;
  readonly first: Instant;
  readonly again: Instant;
}

/** A message as a result of the shell tools carries it. */
export interface NoticeOnResult {
  readonly kind: MessageKind;
  readonly text: string;
  readonly process_ids: readonly string[];
}

export function onResult({ kind, text, processes }: Message): NoticeOnResult {
  return { kind, text, process_ids: processes.map(({ id }) => processName(id)) };
}

export class Messages {
  readonly #settings: Settings;
  readonly #record: Record;
  #minded: Minded[] = [];
  #wakes: Wakes = noWakes;
  #stuck: Stuck | null = null;
  /** Steps of the model since it was last told of anything that is over. */
  #steps = 0;
  /** A result has been read in this turn: nothing is recalled until the next. */
  #hasRead = false;

  constructor(settings: Settings, record: Record) {
    this.#settings = settings;
    this.#record = record;
  }

  /** A result was read: of a command in the background that still runs it will tell. */
  hears(process: ManagedProcess | undefined): void {
    if (
      process !== undefined &&
      process.end === null &&
      (process.background || this.#settings.foregroundAtCap === "background")
    ) {
      this.takesOn(process);
    }
  }

  /** Whether there is anything that a message might be about. */
  get mayTell(): boolean {
    return this.#minded.length > 0;
  }

  /** Whether the end of a process is to be told. */
  minds(process: ManagedProcess): boolean {
    return this.#minded.some((each) => each.process === process);
  }

  /** From now on its end is told, if nobody has read of it by then. */
  takesOn(process: ManagedProcess): void {
    if (process.isRead || this.minds(process)) return;
    const { command, startedAt } = process;
    const overdue = overdueAt(command.line, startedAt, this.#settings);
    this.#minded.push({ process, overdueAt: overdue, isSilent: false, deferred: false });
  }

  /** All that another one minds: whoever it told is gone. */
  inherits(from: Messages): void {
    for (const { process } of from.#minded) this.takesOn(process);
  }

  /** What was ended on purpose wakes nobody: it is recalled, where anything is. */
  silences(): void {
    for (const each of this.#minded) if (!each.process.isTold) each.isSilent = true;
    this.#stuck = null;
  }

  turnBegins(): void {
    this.#hasRead = false;
  }

  /** All that is to be told before a step that begins now. */
  *beforeStep(now: Instant): Agent<readonly Message[]> {
    this.#steps += 1;
    const anyOf = this.#live();
    if (anyOf.length > 0) this.takesIn(((yield { effect: "idle", anyOf, until: now }) as Idled).ended);
    this.#drop();
    const told: Message[] = [];
    const notice = this.#notice();
    if (notice !== null) told.push(this.#tells(notice, now, false));
    for (const overdue of this.#overdue(now)) told.push(this.#tells(overdue, now, false));
    const reminder = this.#reminder(now);
    if (reminder !== null) told.push(this.#tells(reminder, now, false));
    return told;
  }

  // While nobody is at work

  /** What to wait for, where nothing can wake the model at once. */
  idle(now: Instant): Effect {
    return { effect: "idle", anyOf: this.#live(), until: this.#wakesAt(now) };
  }

  /** When there is something to wake the model with, if nothing more ends. */
  #wakesAt(now: Instant): Instant {
    // Whatever else has come due waits behind the message that is tried again.
    if (this.#stuck !== null) return this.#mayWakeAt(this.#stuck.again);
    let at = this.#untold().length > 0 ? this.#mayWakeAt(now) : never;
    for (const { process, overdueAt } of this.#minded) {
      if (process.end === null) at = earliest(at, this.#mayWakeAt(latest(overdueAt, now)));
    }
    return at;
  }

  takesIn(ended: Idled["ended"]): void {
    for (const { process: id, end } of ended) {
      const found = this.#minded.find(({ process }) => process.id === id);
      if (found !== undefined) over(found.process, end);
    }
  }

  /** What may wake the model now; null: nothing, or not yet. It has then taken its place in the window. */
  wakes(now: Instant): Draft | null {
    this.#drop();
    const draft = this.#stuck === null ? (this.#notice() ?? this.#overdue(now)[0] ?? null) : this.#stuck.draft;
    if (draft === null || (this.#stuck !== null && this.#stuck.again > now)) return null;
    if (this.#mayWakeAt(now) > now) {
      for (const each of this.#minded) if (draft.processes.includes(each.process)) each.deferred = true;
      if (this.#stuck !== null) this.#stuck = { ...this.#stuck, draft: { ...draft, deferred: true } };
      return null;
    }
    this.#wakes = reserved(this.#wakes, now, this.#settings);
    return draft;
  }

  /** It has woken the model. */
  hasWoken(draft: Draft, now: Instant): Message {
    this.turnBegins();
    return this.#tells(draft, now, true);
  }

  /** It has not: it is tried again, or given up. */
  hasFailed(draft: Draft, now: Instant): void {
    this.#wakes = givenBack(this.#wakes);
    const failures = (this.#stuck?.failures ?? 0) + 1;
    const first = this.#stuck?.first ?? now;
    const again = triedAgainAt(failures, first, now, this.#settings);
    this.#stuck = again === null ? null : { draft, failures, first, again };
    if (again === null) {
      for (const each of this.#minded) {
        if (!draft.processes.includes(each.process)) continue;
        if (draft.kind === "heartbeat") each.overdueAt = never;
        else each.isSilent = true;
      }
    }
    this.#record({ event: "delivery_failed", at: now, ...about(draft), attempts: failures, again });
  }

  #mayWakeAt(at: Instant): Instant {
    return mayWakeAt(this.#wakes, at, this.#settings);
  }

  #live() {
    return this.#minded.filter(({ process }) => process.end === null).map(({ process }) => process.id);
  }

  /** What has been read, or will never be told of again, is no longer minded. */
  #drop(): void {
    if (this.#minded.some(({ process }) => process.isRead)) this.#hasRead = true;
    const recalls = this.#settings.unreadReminderSteps !== null;
    this.#minded = this.#minded.filter(({ process }) => !process.isRead && (recalls || !process.isTold));
    if (this.#stuck?.draft.processes.every(({ isRead }) => isRead)) this.#stuck = null;
  }

  /** What is over, and nobody has been told, in the order of the ends. */
  #untold(): readonly Minded[] {
    if (this.#settings.completionNotice === "none") return [];
    return this.#minded
      .filter(({ process, isSilent }) => process.end !== null && !process.isTold && !isSilent)
      .sort(inOrder);
  }

  #notice(): Draft | null {
    const untold = this.#untold();
    if (untold.length === 0) return null;
    const batch = batched(untold, ({ process }) => this.#toldOf(process), this.#settings);
    const processes = batch.map(({ process }) => process);
    const text = noticeText(processes.map((process) => this.#toldOf(process)));
    const deferred = batch.some((each) => each.deferred);
    return { kind: "notice", text, bytes: utf8Length(text), processes, due: processes[0]!.end!.at, deferred };
  }

  #overdue(now: Instant): readonly Draft[] {
    return this.#minded
      .filter(({ process, overdueAt }) => process.end === null && overdueAt <= now)
      .map(({ process, overdueAt: due, deferred }): Draft => {
        const { command, startedAt } = process;
        const usual = usualLength(command.line, this.#settings)!;
        const description = described(command.line, this.#settings);
        const text = heartbeatText(processName(process.id), description, between(startedAt, now), usual);
        return { kind: "heartbeat", text, bytes: utf8Length(text), processes: [process], due, deferred };
      });
  }

  #reminder(now: Instant): Draft | null {
    const { unreadReminderSteps: every, unreadReminderTasks: most, completionNotice } = this.#settings;
    if (every === null || this.#hasRead) return null;
    const unread = this.#minded.filter(({ process }) => process.end !== null).sort(inOrder);
    const fresh = unread.find(({ process, isSilent }) => !process.isTold && (isSilent || completionNotice === "none"));
    const told = unread.filter(({ process, isSilent }) => process.isTold || isSilent || completionNotice === "none");
    if (told.length === 0 || (fresh === undefined && this.#steps < every)) return null;
    const processes = told.slice(0, most).map(({ process }) => process);
    const text = reminderText(
      processes.map((process) => this.#toldOf(process)),
      told.length,
    );
    for (const { process } of told) process.isTold = true;
    const due = fresh === undefined ? now : fresh.process.end!.at;
    return { kind: "reminder", text, bytes: utf8Length(text), processes, due, deferred: false };
  }

  #toldOf({ id, status, command, end }: ManagedProcess): Told {
    return {
      process_id: processName(id),
      status,
      description: described(command.line, this.#settings),
      ended_seconds: inSeconds(end!.at),
    };
  }

  #tells(draft: Draft, now: Instant, woke: boolean): Message {
    // A turn that something else has begun tells what had failed to begin one.
    const stuck = this.#stuck?.draft.kind === draft.kind ? this.#stuck : null;
    if (stuck !== null) this.#stuck = null;
    const attempts = 1 + (stuck?.failures ?? 0);
    if (draft.kind === "heartbeat") {
      for (const each of this.#minded) if (draft.processes.includes(each.process)) each.overdueAt = never;
    } else {
      this.#steps = 0;
      for (const process of draft.processes) process.isTold = true;
    }
    this.#record({ event: "told", at: now, ...about(draft), woke, attempts });
    return draft;
  }
}

function about({ kind, due, processes, bytes, deferred }: Draft) {
  return { kind, due, processes: processes.map(({ id }) => id), bytes, deferred };
}

function inOrder({ process: one }: Minded, { process: other }: Minded): number {
  return one.end!.at - other.end!.at || one.id - other.id;
}
