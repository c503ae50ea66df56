/** One scripted process: started once, ended once, its output a function of the time in between. */
import type { Completion, End, KillReach, Mark, ProcessId, Quiet, Signal } from "../agent/effects.ts";
import type { Sought } from "../agent/evidence.ts";
import { after, type Duration, earliest, type Instant, latest, moment, never, unboxed } from "../policy/time.ts";
import type { Pace } from "./host.ts";
import type { Descendant, ScriptedCommand } from "./script.ts";
import { DRAIN_QUIET, type LimitEffect, silentAt, type WatchedProcess } from "./watched.ts";

/** How far a script has come as time goes by, where that is not one for one: on a host that others use too. */
export interface Progress {
  /** Milliseconds of the script done by a moment of the trial. */
  done(now: Instant): number;
  /** When so much of it is, or was, done, as things stand; `never` if it will not be. */
  when(script: number): Instant;
}

/** @param startedAt the trial's beginning, on the host's clock */
export function progressOf(pace: Pace, startedAt: number): Progress {
  return {
    done: (now) => pace.elapsed(now + startedAt),
    when(script) {
      const at = pace.when(script);
      return Number.isFinite(at) ? moment(at - startedAt) : never;
    },
  };
}

/** Somebody wants a process ended. */
interface Order {
  /** When TERM is sent. */
  readonly at: Instant;
  /** When it has taken hold at the latest. */
  readonly dies: Instant;
  readonly by: "limit" | "stop";
  readonly reach: KillReach;
  /** Whether it is a silence that has lasted too long. */
  readonly silent: boolean;
}

/** What becomes of a process that somebody wants ended. */
interface Fate {
  /** In order of time. A host may change how fast things go, so what they come to is worked out anew. */
  orders: readonly Order[];
  by: End["by"];
  silent: boolean;
  /** When TERM reaches it, or has; `never` if it is over before. */
  termAt: Instant;
  reach: KillReach;
  /** When a kill takes hold, or has; `never` if none does. */
  diesAt: Instant;
  /** Whether it is a kill that ends its shell, and with which signal; null: it comes to its own end. */
  killedBy: Signal | null;
}

export class ScriptedProcess implements WatchedProcess {
  readonly id: ProcessId;
  readonly command: ScriptedCommand;
  readonly startedAt: Instant;
  /** How much of the newest output is kept, in bytes. */
  readonly #retain: number;
  readonly #overAt: Completion;
  readonly #progress: Progress | null;
  /** When it counts as over, as things stand; `never` if it does not. */
  endsAt: Instant;
  /** When its own shell ends: nothing is printed after that. */
  #shellEnds: Instant;
  /** Null: nobody wants it ended. */
  #fate: Fate | null = null;
  /** The limit it runs under, and what is wanted of it because of that, as things stand; null: none. */
  #limit: LimitEffect | null = null;
  #limitOrder: Order | null = null;
  /** Made once somebody asks after it has come; from then on nothing can change it. */
  #end: End | null = null;
  /** Whether anybody has been told of its end. */
  reported = false;

  constructor(
    id: ProcessId,
    command: ScriptedCommand,
    startedAt: Instant,
    retain: number,
    overAt: Completion = "exit",
    progress: Progress | null = null,
  ) {
    this.id = id;
    this.command = command;
    this.startedAt = startedAt;
    this.#retain = retain;
    this.#overAt = overAt;
    this.#progress = progress;
    this.#shellEnds = this.#ownEnd();
    this.endsAt = this.#over();
  }

  /** Its end, if it has come. An end due at this very moment has. */
  endBy(now: Instant): End | null {
    if (this.endsAt > now) return null;
    this.#end ??= this.#ended();
    return this.#end;
  }

  /**
   * TERM at a moment, and KILL after the grace. What would end before that still does, by itself.
   *
   * @returns when that has taken hold, if it is not over before
   */
  terminate(at: Instant, grace: Duration, by: "limit" | "stop", reach: KillReach): Instant {
    const order = this.#order(at, grace, by, reach);
    if (this.#end !== null) return order.dies;
    this.#isOrdered([...(this.#fate?.orders ?? []), order]);
    return order.dies;
  }

  /**
   * Ends it at a moment, or after a silence; takes the place of an earlier limit, unless that has come.
   *
   * @returns when that has taken hold, as things stand, if it is not over before
   */
  limit(limit: LimitEffect, now: Instant): Instant {
    if (this.#end !== null || (this.#limitOrder !== null && this.#limitOrder.at <= now)) return never;
    this.#limit = limit;
    this.#limitStands(now);
    return this.#limitOrder?.dies ?? never;
  }

  /** Works out when its limit ends it, given what it prints and how fast it gets on. */
  #limitStands(now: Instant): void {
    const limit = this.#limit!;
    const { at, afterSilence, grace, reach } = limit;
    let ends = never;
    if (afterSilence.length > 0) {
      const { prints } = this.command;
      const heard = this.lastOutputAt(now) ?? this.startedAt;
      ends =
        prints === null
          ? silentAt(afterSilence, heard)
          : prints.silenceEnds(afterSilence, heard, this.#done(now), (script) => this.#when(script));
      // A silence that has lasted already ends it now.
      if (ends < now) ends = now;
    }
    const order = this.#order(earliest(at, ends), grace, "limit", reach, ends < at);
    const others = this.#fate?.orders.filter((other) => other !== this.#limitOrder) ?? [];
    this.#limitOrder = order;
    this.#isOrdered(order.at === never ? others : [...others, order]);
  }

  #order(at: Instant, grace: Duration, by: Order["by"], reach: KillReach, silent = false): Order {
    const { onTerm } = this.command;
    return { at, dies: after(at, onTerm !== null && onTerm <= grace ? onTerm : grace), by, reach, silent };
  }

  #isOrdered(orders: Order[]): void {
    orders.sort((one, other) => one.at - other.at);
    this.#fate = { orders, ...UNDECIDED };
    this.#settle();
  }

  /** The host has changed how fast things go: its ends stand elsewhere now. */
  goesAnew(now: Instant): void {
    const order = this.#limitOrder;
    const isOpen = this.isLimited && order !== null && order.at > now && this.endsAt > now;
    if (isOpen) this.#limitStands(now);
    else this.#settle();
  }

  /** What its own script and everybody who wants it ended come to. What somebody has seen stays as it was. */
  #settle(): void {
    if (this.#end !== null) return;
    const fate = this.#fate;
    if (fate !== null) Object.assign(fate, UNDECIDED);
    this.#shellEnds = this.#ownEnd();
    this.endsAt = this.#over();
    if (fate !== null) for (const order of fate.orders) this.#obeys(order, fate);
  }

  #obeys({ at, dies, by, reach, silent }: Order, fate: Fate): void {
    if (this.endsAt <= at) return;
    // Whoever sends TERM first is the one who ends it.
    if (fate.termAt === never) {
      fate.by = by;
      fate.silent = silent;
      fate.termAt = at;
    }
    // Its own exit may fall into the grace: that is how it ends, but it was made to.
    if (this.endsAt <= dies) return;
    fate.diesAt = dies;
    fate.reach = reach;
    if (this.#shellEnds > dies) {
      const { onTerm } = this.command;
      this.#shellEnds = dies;
      fate.killedBy = onTerm !== null && dies === after(at, onTerm) ? "SIGTERM" : "SIGKILL";
    }
    this.endsAt = this.#over();
  }

  /**
   * When whoever holds it is told of its end. Where the signal is lost nobody is, unless somebody made it end, or comes to end
   * it and finds it over; otherwise it is seen when somebody looks.
   */
  announcedAt(): Instant {
    if (!this.command.signalLost) return this.endsAt;
    const fate = this.#fate;
    if (fate === null) return never;
    return fate.termAt === never ? (fate.orders.find(({ at }) => at >= this.endsAt)?.at ?? never) : this.endsAt;
  }

  /** Whether a limit may end it after a silence, so that its end hangs on when it prints. */
  get isLimited(): boolean {
    return this.#limit !== null && this.#limit.afterSilence.length > 0;
  }

  /** From when on nothing of it wants a core: what a kill has not reached goes on for as long as it would have. */
  get idleFrom(): Instant {
    return this.#isOrphaned ? never : this.#shellEnds;
  }

  /** Whether a kill ends its shell and nothing else, so that the command itself lives on. */
  get #isOrphaned(): boolean {
    return this.#isKilled && this.#fate!.reach === "process";
  }

  get #isKilled(): boolean {
    return this.#fate !== null && this.#fate.killedBy !== null;
  }

  /** Whether it answers at its port: what a kill has not reached does, too. */
  servesAt(now: Instant): boolean {
    const { readyAt } = this.command;
    if (readyAt === null || this.#when(readyAt) > now) return false;
    return this.#shellEnds > now || this.#isOrphaned;
  }

  /** Whether what it holds while it lives is still held: by itself, or by what a kill has not reached. */
  holdsPort(now: Instant): boolean {
    return this.#shellEnds > now || this.#isOrphaned;
  }

  /** Whether its lock is taken: by itself while it lives, by nobody for good where it was killed. */
  holdsLock(now: Instant): boolean {
    return this.#shellEnds > now || this.#isKilled;
  }

  /** Whether anything that it has started, or all of it, has outlived its end. */
  get survivors(): number {
    return (this.#isOrphaned ? 1 : 0) + this.command.descendants.filter((child) => this.#outlives(child)).length;
  }

  written(now: Instant): number {
    return this.command.prints?.writtenBy(this.#done(now)) ?? 0;
  }

  lastOutputAt(now: Instant): Instant | null {
    const last = this.command.prints?.lastBy(this.#done(now)) ?? null;
    return last === null ? null : this.#when(last);
  }

  /** What its script has used of the CPU: so many cores for as long as each stretch of it has lasted. */
  cpu(now: Instant): Duration {
    let left = this.#done(now);
    let used = 0;
    for (const { cpu, lasts } of this.command.stretches ?? []) {
      used += cpu * Math.min(left, lasts);
      left -= lasts;
      if (left <= 0) break;
    }
    return Math.round(used) as Duration;
  }

  /** When the quiet that is asked for has lasted, as things stand: output still to come pushes it on. */
  quietAt(quiet: Quiet, now: Instant): Instant {
    if (quiet.since === "start") return after(this.lastOutputAt(now) ?? this.startedAt, quiet.length);
    if (this.written(now) > quiet.cursor) return after(this.lastOutputAt(now) ?? this.startedAt, quiet.length);
    const next = this.command.prints?.nextAfter(this.#done(now)) ?? null;
    return next === null ? never : after(this.#when(next), quiet.length);
  }

  evidenceAt({ evidence, cursor }: Sought): Instant {
    const printed = this.command.prints?.printsAfter(cursor, evidence) ?? null;
    if (printed === null) return never;
    const at = this.#when(printed);
    // A shell that has ended prints nothing more.
    return at > this.#shellEnds ? never : at;
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

  #ended(): End {
    const { exit, descendants, prevented } = this.command;
    const fate = this.#fate;
    const killed = this.#isKilled;
    const end: End = {
      at: unboxed(this.endsAt),
      by: fate === null ? "itself" : fate.by,
      code: killed ? null : exit.code,
      signal: killed ? fate!.killedBy : exit.signal,
    };
    // Of nearly all there is no more to tell.
    const silent = fate?.silent === true;
    if (!killed && !prevented && !silent && descendants.length === 0) return end;
    const { survivors } = this;
    const heldOpen = descendants.some((child) => child.holdsOutput && this.#outlives(child));
    return {
      ...end,
      ...(survivors === 0 ? null : { survivors }),
      ...(heldOpen ? { heldOpen: true as const } : null),
      ...(prevented ? { prevented: true as const } : null),
      ...(silent ? { silent: true as const } : null),
    };
  }

  /** When its script comes to its end. */
  #ownEnd(): Instant {
    const { length } = this.command;
    return length === null ? never : this.#when(length);
  }

  /** When it counts as over: its shell's end, later where something holds its output open. */
  #over(): Instant {
    const { descendants } = this.command;
    if (descendants.length === 0) return this.#shellEnds;
    let held = this.#shellEnds;
    for (const child of descendants) {
      if (child.holdsOutput && this.#when(child.startsAt) <= this.#shellEnds)
        held = latest(held, this.#childEnds(child));
    }
    // A shell that has exited leaves its output to be drained, and no longer than that.
    return this.#overAt === "end_of_output" || held === this.#shellEnds
      ? held
      : earliest(held, after(this.#shellEnds, DRAIN_QUIET));
  }

  #childEnds({ startsAt, endsAt, group }: Descendant): Instant {
    // A child waits silently: it lasts as long as it says, however fast its parent gets on.
    const own = endsAt === null ? never : after(this.#when(startsAt), (endsAt - startsAt) as Duration);
    const fate = this.#fate;
    if (fate === null) return own;
    const reached = fate.reach === "tree" || (fate.reach === "group" && group === "same");
    return reached ? earliest(own, fate.diesAt) : own;
  }

  #outlives(child: Descendant): boolean {
    return this.#when(child.startsAt) <= this.#shellEnds && this.#childEnds(child) > this.endsAt;
  }

  /** How much of its script is done, which stops with its shell. */
  #done(now: Instant): number {
    const until = earliest(now, this.#shellEnds);
    return this.#progress === null ? until - this.startedAt : this.#progress.done(until);
  }

  #when(script: number): Instant {
    return this.#progress === null ? moment(this.startedAt + script) : this.#progress.when(script);
  }
}

const EMPTY = new Uint8Array(0);

const UNDECIDED = {
  by: "itself",
  silent: false,
  termAt: never,
  reach: "tree",
  diesAt: never,
  killedBy: null,
} as const satisfies Omit<Fate, "orders">;
