/**
 * What a runtime leaves behind when it is killed, and how the next one clears it away.
 *
 * As long as a session lives, a register beside its logs says which processes run: number, start, mark. A line is added
 * whenever one starts or ends, and a line that was not finished counts for nothing (to replace the whole by rename
 * each time would cost two milliseconds a command). Whoever starts next in the same folder ends those that are still
 * there and learns which were lost. A number that was given away again is safe: where marks can be seen, only what carries the
 * dead session's mark is touched; where they cannot, number and start must both be those written down.
 *
 * Not found: a process that had replaced its own environment, and whose kin has too.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { ProcessId } from "../agent/effects.ts";
import { processName } from "../agent/processes.ts";
import { type Duration, seconds } from "../policy/time.ts";
import { realClock } from "./clock.ts";
import { Patrol } from "./ending.ts";
import type { Clock } from "./live.ts";
import { Census, Family, markFor, markOfAll, type ProcessTable, processTable, type Seen } from "./tree.ts";

interface Entry {
  readonly process: ProcessId;
  readonly line: string;
  readonly pid: number;
  readonly started: string;
  /** Whether it had ended, and only what it had started was left. */
  readonly over: boolean;
}

/** A line of the register. */
type Line =
  /** The first of all. */
  | { readonly session: string; readonly runtime: Pick<Seen, "pid" | "started"> }
  | { readonly started: Omit<Entry, "over"> }
  | { readonly outlived: ProcessId }
  | { readonly ended: ProcessId }
  /** In good order; nothing counts after it. */
  | { readonly closed: true };

/** What the lines of a register come to. */
interface Written {
  readonly session: string;
  /** Who keeps the register; null once it has ended in good order. */
  readonly runtime: Pick<Seen, "pid" | "started"> | null;
  readonly processes: readonly Entry[];
}

const registerOf = (folder: string) => join(folder, "processes.jsonl");
const logsIn = (folder: string) => join(folder, "processes");
export const logOf = (folder: string, process: ProcessId) => join(logsIn(folder), `${processName(process)}.log`);
export const pipeOf = (folder: string, number: number) => join(logsIn(folder), `pipe-${number}`);
const OURS = /^(process-\d+\.log|pipe-\d+)$/;

/** A folder that cannot be taken, and why. The caller's to mend. */
export class FolderInUse extends Error {
  constructor(why: string) {
    super(why);
    this.name = "FolderInUse";
  }
}

/** The register of a session that lives. */
export class Register {
  #file: number | null;

  /** Takes a folder for a session; what an earlier one logged there is replaced. */
  constructor(folder: string, session: string, table: ProcessTable) {
    const earlier = read(folder);
    if (earlier !== null) {
      refuseIfAlive(folder, earlier, table);
      if (earlier.runtime !== null) {
        throw new FolderInUse(`${folder} holds what a killed runtime left behind: reclaim it first`);
      }
      for (const name of existsSync(logsIn(folder)) ? readdirSync(logsIn(folder)) : []) {
        if (OURS.test(name)) rmSync(join(logsIn(folder), name), { force: true });
      }
    }
    mkdirSync(logsIn(folder), { recursive: true });
    const { pid, started } = table.one(table.self) ?? { pid: table.self, started: "" };
    begin(folder, [{ session, runtime: { pid, started } }]);
    this.#file = openSync(registerOf(folder), "a");
  }

  started(process: ProcessId, line: string, { pid, started }: Pick<Seen, "pid" | "started">): void {
    this.#add({ started: { process, line, pid, started } });
  }

  /** It has ended; something that it started has not. */
  outlived(process: ProcessId): void {
    this.#add({ outlived: process });
  }

  /** Nothing of it is left. */
  ended(process: ProcessId): void {
    this.#add({ ended: process });
  }

  /** The session has ended in good order: nothing of it is left, or nothing that can be helped. */
  close(): void {
    this.#add({ closed: true });
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #add(line: Line): void {
    try {
      if (this.#file !== null) writeSync(this.#file, written(line));
    } catch {
      // A full disk must not take a command down that would run without this; the marks are still there.
    }
  }
}

/** A process that a killed runtime had started. Its own end nobody saw: its status is `lost`. */
export interface Lost {
  readonly process: ProcessId;
  readonly line: string;
  readonly pid: number;
  /** What it printed for as long as somebody listened. */
  readonly log: string;
}

export interface Reclaimed {
  readonly lost: readonly Lost[];
  /** Processes that still lived and were ended, descendants among them. */
  readonly ended: readonly number[];
  /** Processes that not even KILL has ended. */
  readonly unended: readonly number[];
}

export interface ReclaimOptions {
  readonly grace?: Duration;
  readonly table?: ProcessTable;
  readonly clock?: Clock;
}

/**
 * Clears away what an earlier runtime left in a folder: ends what still runs, keeps the logs of what was lost.
 * A folder that no session ever took is left as it is; one whose runtime lives is refused.
 */
export async function reclaim(folder: string, options: ReclaimOptions = {}): Promise<Reclaimed> {
  const { grace = seconds(2), table = processTable(), clock = realClock() } = options;
  const earlier = read(folder);
  if (earlier === null || earlier.runtime === null) return { lost: [], ended: [], unended: [] };
  refuseIfAlive(folder, earlier, table);
  const { session, runtime, processes } = earlier;
  const patrol = new Patrol(new Census(table), clock, clock);
  const rooted = table.seesAll ? [] : rootedFamilies(session, processes, table);
  const marked = new Family(null, markOfAll(session));
  for (const family of [...rooted, marked]) patrol.census.families.add(family);
  patrol.look(true);
  const found = [...rooted, marked].flatMap(({ living }) => living.map(({ pid }) => pid));
  await patrol.endAll(rooted, grace);
  await patrol.endAll([marked], grace);
  patrol.close();
  const unended = new Set([...rooted, marked].flatMap(({ living }) => living.map(({ pid }) => pid)));
  const kept = keepLogs(folder, session);
  const lost = processes
    .filter(({ over }) => !over)
    .map(({ process, line, pid }) => ({ process, line, pid, log: join(kept, `${processName(process)}.log`) }));
  begin(folder, [{ session, runtime }, { closed: true }]);
  const ended = [...new Set(found)].filter((pid) => !unended.has(pid));
  return { lost, ended, unended: [...unended] };
}

/** Families of what is written down, where number and start say that it is the same process still. */
function rootedFamilies(session: string, processes: readonly Entry[], table: ProcessTable): Family[] {
  return processes.flatMap(({ process, pid, started }) => {
    const now = table.one(pid);
    const mark = markFor(session, processName(process), undefined);
    return now === null || now.started !== started ? [] : [new Family(now, mark)];
  });
}

/** The logs of a session whose processes were lost go beside those of the next one, under its own name. */
function keepLogs(folder: string, session: string): string {
  const kept = join(folder, `processes-of-${session}`);
  if (!existsSync(logsIn(folder))) return kept;
  mkdirSync(kept, { recursive: true });
  for (const name of readdirSync(logsIn(folder))) {
    if (!OURS.test(name)) continue;
    if (name.endsWith(".log")) renameSync(join(logsIn(folder), name), join(kept, name));
    else rmSync(join(logsIn(folder), name));
  }
  return kept;
}

function refuseIfAlive(folder: string, { runtime }: Written, table: ProcessTable): void {
  if (runtime === null) return;
  const now = table.one(runtime.pid);
  if (now !== null && !now.dead && now.started === runtime.started) {
    throw new FolderInUse(`${folder} is in use: the runtime that took it lives, as process ${runtime.pid}`);
  }
}

function read(folder: string): Written | null {
  const path = registerOf(folder);
  if (!existsSync(path)) return null;
  const lines = readFileSync(path, "utf8").split("\n").flatMap(parsed);
  const first = lines[0];
  if (first === undefined || !("session" in first) || !SESSION.test(first.session)) {
    throw new FolderInUse(`${path} is no register of processes: take it away, or name another folder`);
  }
  const { session } = first;
  const processes = new Map<ProcessId, Entry>();
  let runtime: Written["runtime"] = first.runtime;
  for (const line of lines.slice(1)) {
    if ("started" in line) processes.set(line.started.process, { ...line.started, over: false });
    else if ("ended" in line) processes.delete(line.ended);
    else if ("closed" in line) runtime = null;
    else if ("outlived" in line) {
      const entry = processes.get(line.outlived);
      if (entry !== undefined) processes.set(entry.process, { ...entry, over: true });
    }
  }
  return { session, runtime, processes: [...processes.values()] };
}

/** A line as it was written; none if it was not finished. */
function parsed(line: string): Line[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? [value as Line] : [];
  } catch {
    return [];
  }
}

/** Begins with a new line itself, so that one before it that was not finished spoils nothing but itself. */
const written = (line: Line) => `\n${JSON.stringify(line)}\n`;

/** A new register takes the place of an old one whole. */
function begin(folder: string, lines: readonly Line[]): void {
  const path = registerOf(folder);
  writeFileSync(`${path}.new`, lines.map(written).join(""), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** What a session may be called: it goes into a mark, and into the name of a folder. */
export const SESSION = /^[\w.-]+$/;
