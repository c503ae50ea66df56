/**
 * Real commands: children of this process, each a session of its own, with all that comes of them.
 *
 * A command is over when its shell is, not when its output is at an end: a descendant may hold the pipe open for hours.
 * What the pipe still holds is waited for, shortly, and then the end is told, together with who outlived it. Whoever
 * outlives a command is left alone and read on, and is ended with the session. Being ended is different: it is over once
 * nothing of the tree is left, wherever its members have gone.
 *
 * Output goes through a named pipe. Node's own would be a socket, and then `echo … > /dev/stderr` fails.
 *
 * Not found or not told: a descendant that left session and group, lost its parent and shed its environment before
 * anyone looked (`tree.ts`); death by a real-time signal, which Node tells as exit code 0; and a session whose runtime is
 * process 1 leaves zombies, as nobody collects orphans there (run it under an init).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync, statSync } from "node:fs";
import { Socket, type SocketConstructorOpts } from "node:net";
import type { Command, Completion, End, KillReach, ProcessId, Quiet, Read, Signal } from "../agent/effects.ts";
import { processName } from "../agent/processes.ts";
import { after, type Duration, earliest, type Instant, latest, milliseconds, never, seconds } from "../policy/time.ts";
import { realClock } from "./clock.ts";
import { Patrol } from "./ending.ts";
import { BrokenPromise } from "./kernel.ts";
import { logOf, pipeOf, Register, SESSION } from "./leftBehind.ts";
import type { Clock, ProcessPort } from "./live.ts";
import { Spool } from "./spool.ts";
import { Census, Family, MARK, markFor, markOfAll, type ProcessTable, processTable, type Seen } from "./tree.ts";
import { DRAIN_QUIET, type LimitEffect, silentAt, type WatchedProcess } from "./watched.ts";

/** A command that a real shell runs. */
export interface ShellCommand extends Command {
  /** Where it runs; null: where the session does. */
  readonly cwd: string | null;
}

/** A command line for a real shell. What it will do, nobody knows. */
export function shellCommand(line: string, cwd: string | null = null): ShellCommand {
  return { line, cwd, kind: null, passes: [], spoils: [], port: null, usual: null };
}

export interface ChildrenOptions {
  /** What limits and graces are counted by, and every moment that is told. */
  readonly clock: Clock;
  /** Gets `processes.jsonl` and `processes/process-N.log`. Only one session at a time can have it. */
  readonly folder: string;
  /** Names the session in the environment of everything it starts; no two sessions have one name. */
  readonly session: string;
  /** What a command finds in its environment, but for the mark. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where commands run that do not say. */
  readonly cwd: string;
  /** How much of the output of one process is kept, in bytes. What is beyond it is let go, and said to be. */
  readonly mostOutput?: number;
  /** What the machine is measured by: how long a pipe takes to run dry, and a process to be gone. */
  readonly realTime?: Clock;
  readonly table?: ProcessTable;
}

export interface ChildrenPort extends ProcessPort {
  /** Processes that outlived the command that started them, by its id; as of now. */
  survivors(): ReadonlyMap<ProcessId, readonly number[]>;
  /**
   * Ends everything that the session has started, and the session: TERM, the grace, KILL. Nothing starts any more.
   * Comes back with whoever not even KILL has ended.
   *
   * @param kept commands that are to outlive the session, with all they have started; what they print is lost from then on
   */
  endAll(grace?: Duration, kept?: ReadonlySet<ProcessId>): Promise<readonly number[]>;
}

/** A gigabyte four times over: more than anybody reads, less than a disk. */
const MOST_OUTPUT = 4 * 2 ** 30;

/**
 * Opens a session. What an earlier one left in the folder is to be reclaimed before (`leftBehind.ts`).
 *
 * Should the runtime exit without `endAll`, whatever still runs is killed on the way out. A signal that ends the
 * runtime must be caught by whoever owns it; nothing helps against KILL but the next runtime.
 */
export function childrenPort(options: ChildrenOptions): ChildrenPort {
  return new Session(options);
}

class Session implements ChildrenPort {
  readonly clock: Clock;
  readonly realTime: Clock;
  readonly table: ProcessTable;
  readonly register: Register;
  readonly patrol: Patrol;
  readonly pipes: Pipes;
  readonly options: ChildrenOptions;
  readonly #children = new Map<ProcessId, Child>();
  #over: Promise<readonly number[]> | null = null;

  constructor(options: ChildrenOptions) {
    const { clock, folder, session, realTime = realClock(), table = processTable() } = options;
    if (!SESSION.test(session)) throw new BrokenPromise(`${session} is no name for a session`);
    this.options = options;
    this.clock = clock;
    this.realTime = realTime;
    this.table = table;
    this.register = new Register(folder, session, table);
    this.pipes = new Pipes(folder, options.environment);
    this.patrol = new Patrol(new Census(table), clock, realTime, (family) => this.#extinct(family));
    atExit.add(this.#killNow);
  }

  #extinct(family: Family): void {
    for (const [id, child] of this.#children) if (child.family === family) this.register.ended(id);
  }

  start(
    id: ProcessId,
    command: Command,
    _retain: number,
    startedAt: Instant,
    wake: () => void,
    overAt: Completion,
  ): WatchedProcess {
    if (this.#over !== null) throw new BrokenPromise("a session that has ended starts nothing");
    const child = new Child(this, id, command, startedAt, wake, overAt);
    this.#children.set(id, child);
    return child;
  }

  survivors(): ReadonlyMap<ProcessId, readonly number[]> {
    this.patrol.look(true);
    const outlived = [...this.#children].flatMap(([id, { family, isOver }]) =>
      isOver && family !== null && family.living.length > 0 ? [[id, family.living.map(({ pid }) => pid)] as const] : [],
    );
    return new Map(outlived);
  }

  endAll(grace: Duration = seconds(2), kept: ReadonlySet<ProcessId> = NOBODY): Promise<readonly number[]> {
    this.#over ??= this.#endAll(grace, kept);
    return this.#over;
  }

  async #endAll(grace: Duration, kept: ReadonlySet<ProcessId>): Promise<readonly number[]> {
    const children: Child[] = [];
    for (const [id, child] of this.#children) {
      if (kept.has(id)) child.release();
      else children.push(child);
    }
    const ended = children.map((child) => child.ended);
    for (const child of children) child.terminate(this.clock.now(), grace, "stop", "tree");
    await Promise.all(ended);
    const stay = new Set([...kept].map((id) => this.#children.get(id)?.family));
    const outlived = [...this.patrol.census.families].filter((family) => family.living.length > 0 && !stay.has(family));
    await this.patrol.endAll(outlived, grace);
    const rest = this.#givenAwayByMark(kept);
    await this.patrol.endAll(rest, grace);
    this.#close();
    return [...new Set([...outlived, ...rest].flatMap(({ living }) => living.map(({ pid }) => pid)))];
  }

  /** Whatever only the session's mark gives away; that of each command alone, where some are kept. */
  #givenAwayByMark(kept: ReadonlySet<ProcessId>): readonly Family[] {
    const { session } = this.options;
    if (kept.size === 0) return [new Family(null, markOfAll(session))];
    const ended = [...this.#children.keys()].filter((id) => !kept.has(id));
    return ended.map((id) => new Family(null, markFor(session, processName(id), undefined)));
  }

  #close(): void {
    this.patrol.close();
    for (const child of this.#children.values()) child.close();
    this.pipes.close();
    this.register.close();
    atExit.remove(this.#killNow);
  }

  readonly #killNow = (): void => {
    this.patrol.census.families.add(new Family(null, markOfAll(this.options.session)));
    this.patrol.killNow();
    this.#close();
  };
}

/** What every open session does when the runtime exits, whatever the reason; one listener, however many there are. */
const atExit = {
  sessions: new Set<() => void>(),
  add(killNow: () => void): void {
    if (this.sessions.size === 0) process.on("exit", killAllNow);
    this.sessions.add(killNow);
  },
  remove(killNow: () => void): void {
    this.sessions.delete(killNow);
    if (this.sessions.size === 0) process.off("exit", killAllNow);
  },
};

function killAllNow(): void {
  for (const killNow of [...atExit.sessions]) killNow();
}

const NOBODY: ReadonlySet<ProcessId> = new Set();

/** How long the pipe of a shell that has exited is read for at most, while somebody else still holds it. */
const DRAIN = milliseconds(1_500);
/** What a look for survivors may take at the end of every command, in milliseconds. */
const AFFORDABLE = 20;

class Child implements WatchedProcess {
  readonly startedAt: Instant;
  /** Comes true once it is over, or cannot be ended. */
  readonly ended: Promise<void>;
  #isEnded!: () => void;
  /** Null if it could not be started. */
  family: Family | null = null;
  readonly #session: Session;
  readonly #id: ProcessId;
  /** Null if it could not be started. */
  #process: ChildProcess | null = null;
  readonly #spool: Spool;
  readonly #wake: () => void;
  readonly #overAt: Completion;
  #wakeDue = false;
  #pipe: Pipe | null = null;
  #lastOutputAt: Instant | null = null;
  /** In real time. */
  #lastHeardAt: Instant;
  #exit: Pick<End, "at" | "code" | "signal"> | null = null;
  #by: End["by"] = "itself";
  /** Whether a limit that ends it is one on its silence. */
  #silent = false;
  #ending: "none" | "under way" | "gone" | "failed" = "none";
  #limit: { readonly at: Instant; readonly forget: () => void } | null = null;
  /** Takes back the KILL that is to follow a TERM which does not reach the whole tree. */
  #forgetKill: () => void = () => {};
  /** When reading on began after the end of the shell, or of the tree, in real time. */
  #drainsSince: Instant | null = null;
  #forgetDrain: () => void = () => {};
  #end: End | null = null;

  constructor(
    session: Session,
    id: ProcessId,
    command: Command,
    startedAt: Instant,
    wake: () => void,
    overAt: Completion,
  ) {
    const { folder, mostOutput = MOST_OUTPUT } = session.options;
    this.startedAt = startedAt;
    this.#session = session;
    this.#id = id;
    this.#wake = wake;
    this.#overAt = overAt;
    this.#lastHeardAt = session.realTime.now();
    this.#spool = new Spool(logOf(folder, id), mostOutput);
    this.ended = new Promise((resolve) => {
      this.#isEnded = resolve;
    });
    try {
      this.#start(command.line, (command as Partial<ShellCommand>).cwd ?? session.options.cwd);
    } catch (error) {
      this.#couldNotStart(error);
    }
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  endBy(_now: Instant): End | null {
    return this.#end;
  }

  unending(): boolean {
    return this.#end === null && this.#ending === "failed";
  }

  written(_now: Instant): number {
    return this.#spool.written;
  }

  lastOutputAt(_now: Instant): Instant | null {
    return this.#lastOutputAt;
  }

  quietAt(quiet: Quiet, _now: Instant): Instant {
    if (quiet.since === "unread" && this.#spool.written <= quiet.cursor) return never;
    return after(this.#lastOutputAt ?? this.startedAt, quiet.length);
  }

  read(from: number, limit: number, _now: Instant): Omit<Read, "at"> {
    const begin = Math.min(Math.max(from, 0), this.#spool.written);
    const bytes = this.#spool.read(begin, limit);
    return { from: begin, bytes, written: this.#spool.written, complete: this.#spool.complete, marks: NONE };
  }

  terminate(at: Instant, grace: Duration, by: "limit" | "stop", reach: KillReach): void {
    if (this.#end !== null || this.family === null) return;
    if (at > this.#session.clock.now()) this.#terminateLater(at, grace, by, reach);
    else if (reach === "tree") this.#terminateNow(this.family, grace, by);
    else this.#terminatePart(this.family, grace, by, reach);
  }

  cpu(_now: Instant): Duration | null {
    const { patrol, table } = this.#session;
    const { family } = this;
    if (family === null || table.cpuOf === undefined) return null;
    patrol.look();
    let used = 0;
    for (const { pid } of family.living) used += table.cpuOf(pid) ?? 0;
    return milliseconds(used);
  }

  limit(limit: LimitEffect, _now: Instant): void {
    if (this.#end !== null || this.family === null || this.#ending !== "none") return;
    if (this.#exit !== null && this.#overAt === "exit") return;
    this.#limit?.forget();
    const { clock } = this.#session;
    const { at, afterSilence, grace, reach } = limit;
    const silent = silentAt(afterSilence, this.#lastOutputAt ?? this.startedAt);
    const looks = earliest(at, silent);
    const forget = clock.at(looks, () => {
      this.#limit = null;
      const now = clock.now();
      const isSilent = silentAt(afterSilence, this.#lastOutputAt ?? this.startedAt) <= now;
      if (at > now && !isSilent) this.limit(limit, now);
      else {
        if (this.#by === "itself") this.#silent = at > now;
        this.terminate(now, grace, "limit", reach);
      }
    });
    this.#limit = { at: looks, forget };
  }

  /** Nothing more is heard of it. */
  /** It is to outlive the runtime, which does not wait for it any more. */
  release(): void {
    this.#process?.unref();
  }

  close(): void {
    this.#limit?.forget();
    this.#forgetKill();
    this.#forgetDrain();
    this.#pipe?.close();
    this.#spool.close();
  }

  #start(line: string, cwd: string): void {
    const { options, pipes, table } = this.#session;
    // Node would blame the shell.
    if (!statSync(cwd).isDirectory()) throw new Error(`${cwd} is no folder`);
    const mark = markFor(options.session, processName(this.#id), options.environment[MARK]);
    const pipe = pipes.open();
    let child: ChildProcess;
    try {
      child = spawn("/bin/sh", ["-c", "--", line], {
        cwd,
        detached: true,
        env: { ...options.environment, [MARK]: mark },
        stdio: ["ignore", pipe.writer, pipe.writer],
      });
    } catch (error) {
      pipe.close();
      throw error;
    } finally {
      pipe.isHandedOver();
    }
    child.once("error", (error) => {
      if (child.pid === undefined) this.#couldNotStart(error);
    });
    if (child.pid === undefined) {
      pipe.close();
      return;
    }
    this.#pipe = pipe;
    this.#process = child;
    child.once("exit", (code, signal) => this.#exited(code, signal as Signal | null));
    pipe.read(
      (bytes) => this.#hears(bytes),
      (whole) => {
        if (!whole) this.#spool.lose();
        this.#settle();
      },
    );
    this.#watch(line, mark, table.one(child.pid) ?? seenNoMore(child.pid));
  }

  #watch(line: string, mark: string, root: Seen): void {
    this.family = new Family(root, mark);
    this.#session.register.started(this.#id, line, root);
    this.#session.patrol.watch(this.family);
  }

  /** As shells say it: 127, and a line that says why. */
  #couldNotStart(error: unknown): void {
    this.#spool.append(new TextEncoder().encode(`cannot run this: ${(error as Error).message}\n`));
    this.#spool.close();
    const at = this.#session.clock.now();
    this.#lastOutputAt = at;
    this.#isOver({ at, by: "itself", code: 127, signal: null });
  }

  #hears(bytes: Uint8Array): void {
    this.#spool.append(bytes);
    this.#lastOutputAt = this.#session.clock.now();
    this.#lastHeardAt = this.#session.realTime.now();
    if (this.#wakeDue) return;
    this.#wakeDue = true;
    this.#session.clock.soon(() => {
      this.#wakeDue = false;
      this.#wake();
    });
  }

  #terminateLater(at: Instant, grace: Duration, by: "limit" | "stop", reach: KillReach): void {
    if ((this.#exit !== null && this.#overAt === "exit") || this.#ending !== "none") return;
    if (this.#limit !== null && this.#limit.at <= at) return;
    this.#limit?.forget();
    const forget = this.#session.clock.at(at, () => {
      this.#limit = null;
      this.terminate(at, grace, by, reach);
    });
    this.#limit = { at, forget };
  }

  #terminateNow(family: Family, grace: Duration, by: "limit" | "stop"): void {
    const { clock, patrol, table } = this.#session;
    this.#limit?.forget();
    this.#limit = null;
    const killAt = after(clock.now(), grace);
    if (this.#ending !== "none") {
      patrol.hasten(family, killAt);
      return;
    }
    // It may have come to its own end, and the news not to us.
    const itself = this.#exit !== null || (family.root !== null && table.one(family.root.pid)?.dead === true);
    // A limit has nothing to say about what outlives a command; whoever stops means all of it.
    if (itself && by === "limit" && this.#overAt === "exit") return;
    if (!itself && this.#by === "itself") this.#by = by;
    this.#ending = "under way";
    this.#forgetDrain();
    this.#drainsSince = null;
    patrol.end(family, killAt, (gone) => {
      this.#ending = gone ? "gone" : "failed";
      if (gone) return this.#settle();
      this.#isEnded();
      this.#wake();
    });
  }

  /** Ends the shell, or its group, and nobody else: what others do, and what a panel may want to see. */
  #terminatePart({ root }: Family, grace: Duration, by: "limit" | "stop", reach: "group" | "process"): void {
    const { clock, table } = this.#session;
    this.#limit?.forget();
    this.#limit = null;
    if (root === null) return;
    if (this.#exit !== null && (by === "limit" || reach === "process") && this.#overAt === "exit") return;
    if (this.#by === "itself") this.#by = by;
    // The shell leads its group, and has given it its number.
    const whom = reach === "group" ? -root.pid : root.pid;
    const send = (signal: "SIGTERM" | "SIGKILL") => {
      // A number that is free again may be anybody's by now.
      if (reach === "group" || this.#exit === null) table.send(whom, signal);
    };
    send("SIGTERM");
    this.#forgetKill();
    this.#forgetKill = clock.at(after(clock.now(), grace), () => {
      if (this.#end === null) send("SIGKILL");
    });
    this.#settle();
  }

  #exited(code: number | null, signal: Signal | null): void {
    this.#exit = { at: this.#session.clock.now(), code, signal };
    if (this.#ending === "none" && this.#overAt === "exit") {
      this.#limit?.forget();
      this.#limit = null;
    }
    this.#session.patrol.soon();
    this.#settle();
  }

  /** Tells the end, if it has come: the shell is over, nothing is being ended, and the pipe is dry, or not worth waiting for. */
  #settle(): void {
    if (this.#end !== null) this.#hearsNoMore();
    if (this.#end !== null || this.#exit === null) return;
    if (this.#ending === "under way" || this.#ending === "failed") return;
    const isDry = this.#pipe === null || this.#pipe.isDry;
    const gone = this.#ending === "gone";
    if (!isDry && !gone && this.#overAt === "end_of_output") return;
    if (!isDry && !this.#drained()) return;
    const { code, signal, at } = this.#exit;
    const left = this.#ending === "none" ? this.#outlivedBy(isDry) : 0;
    this.#isOver({
      at: this.#by === "itself" ? at : this.#session.clock.now(),
      by: this.#by,
      code,
      signal,
      ...(left > 0 ? { survivors: left } : null),
      ...(isDry ? null : { heldOpen: true }),
      ...(this.#by === "limit" && this.#silent ? { silent: true } : null),
    });
  }

  /** Whether enough has been read after the end; if not, looks again when it may be. */
  #drained(): boolean {
    const { realTime } = this.#session;
    const now = realTime.now();
    this.#drainsSince ??= now;
    const quiet = after(latest(this.#lastHeardAt, this.#drainsSince), DRAIN_QUIET);
    const until = earliest(quiet, after(this.#drainsSince, DRAIN));
    if (until <= now) return true;
    this.#forgetDrain();
    // What the pipe holds at this very moment is read before the time is up.
    this.#forgetDrain = realTime.at(until, () => realTime.soon(() => this.#settle()));
    return false;
  }

  /** How many processes it leaves, as far as they are found. */
  #outlivedBy(isDry: boolean): number {
    const { patrol, table } = this.#session;
    const { family } = this;
    if (family === null || family.root === null) return 0;
    // Where looking takes long, only if there is a reason to.
    if (isDry && patrol.cost > AFFORDABLE && !table.hasGroup(family.root.pid)) return 0;
    patrol.look();
    return family.living.length;
  }

  #isOver(end: End): void {
    const { patrol, register } = this.#session;
    this.#end = end;
    this.#limit?.forget();
    this.#forgetKill();
    this.#forgetDrain();
    const { family } = this;
    if (family !== null) {
      if (!family.extinct) register.outlived(this.#id);
      patrol.unwatch(family);
    }
    this.#hearsNoMore();
    this.#isEnded();
    this.#wake();
  }

  /** Once it is over, only those that it left may still be heard, and nobody waits for them. */
  #hearsNoMore(): void {
    const pipe = this.#pipe;
    if (pipe === null) return;
    const { isDry } = pipe;
    if (!isDry && this.#ending === "none") {
      pipe.unref();
      return;
    }
    // Who holds it still was to be ended and was not found: perhaps a broken pipe ends it.
    if (!isDry) this.#spool.lose();
    pipe.close(isDry && this.family?.extinct === true);
    this.#pipe = null;
    this.#spool.close();
  }
}

const NONE: readonly never[] = [];

/** A process that the table does not show, though it was started just now. */
function seenNoMore(pid: number): Seen {
  return { pid, parent: 0, group: pid, session: pid, started: "", dead: false, halted: false };
}

/** As much as a pipe holds. What comes is written before anybody else reads, so one is enough for all. */
const buffer = new Uint8Array(65_536);

/** Node itself cannot. */
const MAKES_PIPES = "mkfifo";
/** How many pipes are made in one go, at first and at most. */
const FEW = 8;
const MANY = 64;

/** Named pipes for one session. One that has run dry, with nobody left who ever held it, is used again. */
class Pipes {
  readonly #folder: string;
  readonly #environment: ChildrenOptions["environment"];
  readonly #free: string[] = [];
  #made = 0;

  constructor(folder: string, environment: ChildrenOptions["environment"]) {
    this.#folder = folder;
    this.#environment = environment;
    // Made ready beforehand, so that the first command is not late.
    try {
      this.#make(FEW);
    } catch {
      // Whoever needs one will be told why there is none.
    }
  }

  open(): Pipe {
    if (this.#free.length === 0) this.#make(Math.min(Math.max(this.#made, FEW), MANY));
    const path = this.#free.pop()!;
    return new Pipe(path, (again) => {
      if (again) this.#free.push(path);
      else rmSync(path, { force: true });
    });
  }

  close(): void {
    for (const path of this.#free.splice(0)) rmSync(path, { force: true });
  }

  #make(count: number): void {
    const paths = Array.from({ length: count }, (_, number) => pipeOf(this.#folder, this.#made + number));
    const { status, stderr, error } = spawnSync(MAKES_PIPES, ["-m", "600", ...paths], {
      encoding: "utf8",
      env: this.#environment,
    });
    if (status !== 0) throw new Error(`no pipe can be made in ${this.#folder}: ${error?.message ?? stderr.trim()}`);
    this.#made += count;
    this.#free.push(...paths);
  }
}

/** One way from a command to us. */
class Pipe {
  /** For the command; ours only until it has been handed over. */
  readonly writer: number;
  readonly #reader: number;
  readonly #released: (again: boolean) => void;
  #socket: Socket | null = null;
  #isDry = false;
  #isClosed = false;

  constructor(path: string, released: (again: boolean) => void) {
    this.#released = released;
    this.#reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      this.writer = openSync(path, constants.O_WRONLY);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Nobody holds the other end any more, and all that came was read. */
  get isDry(): boolean {
    return this.#isDry;
  }

  isHandedOver(): void {
    closeSync(this.writer);
  }

  /** @param dry told at the end: whether all was read */
  read(hears: (bytes: Uint8Array) => void, dry: (whole: boolean) => void): void {
    const onread = {
      buffer,
      callback: (length: number) => {
        if (!this.#isClosed) hears(buffer.subarray(0, length));
        return true;
      },
    };
    this.#socket = new Socket({ fd: this.#reader, readable: true, writable: false, onread } as SocketConstructorOpts);
    let whole = true;
    this.#socket.on("error", () => {
      whole = false;
    });
    this.#socket.once("close", () => {
      if (this.#isClosed) return;
      this.#isDry = true;
      dry(whole);
    });
    this.#socket.resume();
  }

  /** The program need not wait for it. */
  unref(): void {
    this.#socket?.unref();
  }

  /** @param again whether it may be used again: nobody is left who could know it */
  close(again = false): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#socket === null) closeSync(this.#reader);
    else this.#socket.destroy();
    this.#released(again);
  }
}
