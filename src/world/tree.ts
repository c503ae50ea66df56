/**
 * The tree of processes that a command becomes: who belongs to it, wherever they have gone since.
 *
 * Nobody tells us what a command starts, so it is found in the system's table of processes, by four traces: its
 * parent belongs to the tree; its session or its group does (both are ours as a whole, since a command begins a
 * session of its own); it carries the tree's mark in its environment; it was found before. Whoever was found once
 * is known by number *and* start, so a number that was given away again is never taken for it.
 *
 * Not found: a descendant that left session and group, lost its parent and shed the mark (`setsid env -i … &`) before
 * anyone looked. Where the table is `ps` (macOS), sessions are unknown and marks are hidden for the system's own programs,
 * so one that only leaves its group and loses its parent between two looks may be missed there too.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** What every process that a session starts carries in its environment, along with its descendants. */
export const MARK = "YIELDPOINT_SESSION";

/** One process, as the system lists it. */
export interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not say; so may the group be, in a container whose command came from outside. */
  readonly session: number;
  /** When it started, as the system writes it: the same number with another start is another process. */
  readonly started: string;
  /** Over; only its parent has not taken note yet. */
  readonly dead: boolean;
  /** Halted by a signal: it heeds nothing but KILL until it is let go on. */
  readonly halted: boolean;
}

/** The system's table of processes, and a way to reach them. */
export interface ProcessTable {
  readonly self: number;
  /** Whether sessions and the marks of everything that we may signal can be seen. */
  readonly seesAll: boolean;
  /** @param skip numbers that are not worth a look; `skipped` tells which of them are still in use */
  list(skip: ReadonlySet<number>): { readonly seen: readonly Seen[]; readonly skipped: readonly number[] };
  one(pid: number): Seen | null;
  /** The mark in its environment; null if there is none or we may not look, undefined if it cannot be told yet. */
  markOf(pid: number): string | null | undefined;
  /** CPU time used by a process and by those it has started and collected, in milliseconds; left out where it is not told. */
  cpuOf?(pid: number): number | null;
  /** Whether there is anybody in a process group. */
  hasGroup(group: number): boolean;
  /** Sends a signal to a process, or to a group if negative. Whoever is gone or out of reach does not get it. */
  send(pid: number, signal: "SIGTERM" | "SIGKILL" | "SIGCONT"): void;
}

/** The table of the machine we are on. */
export function processTable(): ProcessTable {
  return existsSync("/proc/self/stat") ? procTable() : psTable(["-A", "-E", "-ww"]);
}

/** Linux: read from /proc. */
function procTable(): ProcessTable {
  // A start is told in ticks since the machine's own, which names it only together with the boot.
  const boot = readOf("/proc/sys/kernel/random/boot_id", 64)?.trim() ?? "";
  const one = (pid: number): Seen | null => {
    const stat = readOf(`/proc/${pid}/stat`, 1_024);
    if (stat === null) return null;
    // The name, in parentheses, may hold anything, more of them too.
    const [state, parent, group, session, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      started: `${more[15]}@${boot}`,
      dead: state === "Z" || state === "X",
      halted: state === "T" || state === "t",
    };
  };
  return {
    self: process.pid,
    seesAll: true,
    one,
    list(skip) {
      const seen: Seen[] = [];
      const skipped: number[] = [];
      for (const name of readdirSync("/proc")) {
        const pid = Number(name);
        if (!(pid > 0)) continue;
        if (skip.has(pid)) skipped.push(pid);
        else {
          const found = one(pid);
          if (found !== null) seen.push(found);
        }
      }
      return { seen, skipped };
    },
    markOf(pid) {
      let environment: string;
      try {
        environment = readFileSync(`/proc/${pid}/environ`, "latin1");
      } catch {
        return null;
      }
      // Between one program and the next an environment is empty for a moment.
      return environment === "" ? undefined : markIn(environment, "\0");
    },
    cpuOf(pid) {
      const stat = readOf(`/proc/${pid}/stat`, 1_024);
      if (stat === null) return null;
      const used = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 15);
      return used.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK;
    },
    hasGroup,
    send,
  };
}

/** Linux tells CPU time in hundredths of a second, whatever its own clock does. In milliseconds. */
const TICK = 10;

/** Anywhere else: as `ps` tells it. @param flags that list every process, with its environment and in full width */
export function psTable(flags: readonly string[]): ProcessTable {
  let marks = new Map<number, string | null>();
  const ask = (which: readonly string[], columns: string) => {
    const { stdout } = spawnSync("ps", [...which, "-o", columns], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
    });
    return (stdout ?? "").split("\n").flatMap((line) => {
      const row = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\d+)(?: (.*))?$/.exec(line);
      return row === null ? [] : [row];
    });
  };
  const seenIn = ([, pid, parent, group, state, started]: RegExpExecArray): Seen => ({
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: 0,
    started: started!.replace(/\s+/g, " "),
    dead: state!.startsWith("Z"),
    halted: state!.startsWith("T"),
  });
  return {
    self: process.pid,
    seesAll: false,
    one(pid) {
      const row = ask(["-p", String(pid)], "pid=,ppid=,pgid=,stat=,lstart=")[0];
      return row === undefined ? null : seenIn(row);
    },
    list() {
      const rows = ask(flags, "pid=,ppid=,pgid=,stat=,lstart=,command=");
      marks = new Map(rows.map((row) => [Number(row[1]), markIn(row[6] ?? "", " ")]));
      return { seen: rows.map(seenIn), skipped: [] };
    },
    markOf: (pid) => marks.get(pid),
    hasGroup,
    send,
  };
}

function hasGroup(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or another user's: whoever asked looks again and sees which.
  }
}

function markIn(environment: string, between: string): string | null {
  const key = `${MARK}=`;
  const begins = environment.startsWith(key) ? 0 : environment.indexOf(between + key) + 1;
  if (begins === 0 && !environment.startsWith(key)) return null;
  const ends = environment.indexOf(between, begins);
  return environment.slice(begins + key.length, ends < 0 ? undefined : ends);
}

const buffer = new Uint8Array(1_024);
const latin = new TextDecoder("latin1");

/** The beginning of a file that the kernel makes up; null if there is none (any more). */
function readOf(path: string, atMost: number): string | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    return latin.decode(buffer.subarray(0, readSync(file, buffer, 0, atMost, 0)));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** A mark as a child is given it: after those of the sessions that this session runs in. */
export function markFor(session: string, name: string, inherited: string | undefined): string {
  const own = `${session}/${name}`;
  return inherited === undefined || inherited === "" ? own : `${inherited}:${own}`;
}

/** The beginning of every mark that a session gives. */
export const markOfAll = (session: string) => `${session}/`;

/** What one command has become: a process, and all that came of it. */
export class Family {
  /** The process that was started; null if only the mark tells who belongs here. */
  readonly root: Pick<Seen, "pid" | "started"> | null;
  /** Which marks are its own: one alone, or all that begin so if it ends with a slash. */
  readonly #mark: string;
  #living: readonly Seen[];
  #extinct = false;

  constructor(root: Seen | null, mark: string) {
    this.root = root;
    this.#mark = mark;
    this.#living = root === null ? [] : [root];
  }

  /** Everything of it that lived when the census last looked. */
  get living(): readonly Seen[] {
    return this.#living;
  }

  /** Nothing of it lived at some look, so nothing ever will. */
  get extinct(): boolean {
    return this.#extinct;
  }

  carries(mark: string): boolean {
    const own = this.#mark;
    return mark.split(":").some((one) => (own.endsWith("/") ? one.startsWith(own) : one === own));
  }

  found(living: readonly Seen[]): void {
    this.#living = living;
    this.#extinct = living.length === 0 && this.root !== null;
  }
}

/** Looks through the table of processes for the families of one session. */
export class Census {
  readonly table: ProcessTable;
  readonly families = new Set<Family>();
  /** Never a member, whatever it looks like: the system's first process, we ourselves, and whoever started us. */
  readonly #never = new Set([0, 1]);
  readonly #ownSession: number;
  readonly #ownGroup: number;
  /** Looked at before and nobody's: what is born a stranger stays one. */
  #strangers = new Set<number>();
  #undecided: ReadonlySet<number> = new Set();

  constructor(table: ProcessTable) {
    this.table = table;
    const own = table.one(table.self);
    this.#ownSession = own?.session ?? 0;
    this.#ownGroup = own?.group ?? 0;
    for (let up = own; up !== null && !this.#never.has(up.pid); up = table.one(up.parent)) this.#never.add(up.pid);
  }

  /**
   * Finds who lives now.
   *
   * @param thorough also looks again at the numbers of strangers, in case one has been given away since
   */
  look(thorough: boolean): void {
    const { seen, skipped } = this.table.list(thorough ? new Set() : this.#strangers);
    const alive = seen.filter(({ pid, dead }) => !dead && !this.#never.has(pid));
    const now = new Snapshot(alive, this.#ownSession, this.#ownGroup);
    const known = new Map([...this.families].flatMap(({ living }) => living.map(({ pid, started }) => [pid, started])));
    const marked = new Map<string, Seen[]>();
    const undecided = new Set<number>();
    for (const one of alive) {
      if (known.get(one.pid) === one.started) continue;
      let mark = this.table.markOf(one.pid);
      if (mark === undefined) mark = this.table.markOf(one.pid);
      if (mark === undefined) undecided.add(one.pid);
      else if (mark !== null) push(marked, mark, one);
    }
    const taken = new Set<number>();
    for (const family of this.families) {
      if (family.extinct) continue;
      const carriers = [...marked].flatMap(([mark, those]) => (family.carries(mark) ? those : []));
      const members = now.closure([...now.stillThere(family.living), ...now.ofRoot(family.root), ...carriers]);
      for (const { pid } of members) taken.add(pid);
      family.found(members);
    }
    const strangers = alive.filter(({ pid }) => {
      // Whose environment is still empty at a second look has none.
      return !taken.has(pid) && (!undecided.has(pid) || this.#undecided.has(pid));
    });
    this.#strangers = new Set([...skipped, ...strangers.map(({ pid }) => pid)]);
    this.#undecided = undecided;
  }
}

/** Everything alive at one moment, by every trace that is followed. */
class Snapshot {
  readonly #byPid = new Map<number, Seen>();
  readonly #byParent = new Map<number, Seen[]>();
  readonly #bySession = new Map<number, Seen[]>();
  readonly #byGroup = new Map<number, Seen[]>();

  constructor(alive: readonly Seen[], ownSession: number, ownGroup: number) {
    for (const one of alive) {
      this.#byPid.set(one.pid, one);
      push(this.#byParent, one.parent, one);
      if (one.session !== 0 && one.session !== ownSession) push(this.#bySession, one.session, one);
      if (one.group !== 0 && one.group !== ownGroup) push(this.#byGroup, one.group, one);
    }
  }

  stillThere(members: readonly Seen[]): Seen[] {
    return members.flatMap(({ pid, started }) => {
      const now = this.#byPid.get(pid);
      return now?.started === started ? [now] : [];
    });
  }

  /** Whoever is in the session or the group that a root began, unless its number is somebody else's by now. */
  ofRoot(root: Family["root"]): Seen[] {
    if (root === null) return [];
    const now = this.#byPid.get(root.pid);
    if (now !== undefined && now.started !== root.started) return [];
    return [...(this.#bySession.get(root.pid) ?? []), ...(this.#byGroup.get(root.pid) ?? [])];
  }

  /** These, and all that is theirs: children, and whoever shares a session or a group. */
  closure(first: readonly Seen[]): Seen[] {
    const members = new Map<number, Seen>();
    const queue = [...first];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (members.has(next.pid)) continue;
      members.set(next.pid, next);
      queue.push(...(this.#byParent.get(next.pid) ?? []));
      queue.push(...(this.#bySession.get(next.session) ?? []));
      queue.push(...(this.#byGroup.get(next.group) ?? []));
    }
    return [...members.values()];
  }
}

function push<Key extends number | string>(lists: Map<Key, Seen[]>, key: Key, one: Seen): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}
