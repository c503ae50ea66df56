/** Real commands: the fault table of real processes, and the cases that only they can show. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Agent, End, ProcessId } from "../../src/agent/effects.ts";
import { Shell } from "../../src/agent/shell.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { after, beginning, milliseconds, seconds } from "../../src/policy/time.ts";
import { type ChildrenOptions, childrenPort, shellCommand } from "../../src/world/children.ts";
import { realClock } from "../../src/world/clock.ts";
import { FolderInUse, reclaim } from "../../src/world/leftBehind.ts";
import { LiveWorld } from "../../src/world/live.ts";
import { Spool } from "../../src/world/spool.ts";
import { MARK, type ProcessTable, processTable, psTable } from "../../src/world/tree.ts";
import type { WatchedProcess } from "../../src/world/watched.ts";
import { Hands, result } from "../aRun.ts";

const onLinux = existsSync("/proc/self/stat");
const table = processTable();
/** As it is where there is nothing but `ps`. */
const psAlone = psTable(onLinux ? ["axeww"] : ["-A", "-E", "-ww"]);

/** What a test has opened, and what is to be done about it afterwards. */
const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "yieldpoint-children-"));
  open.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let count = 0;
const another = () => {
  count += 1;
  return count;
};
/** A name, or a long sleep, that nobody else on this machine has. */
const aSession = () => `t${process.pid}-${another()}`;
const aNap = () => `sleep ${600 + another()}.${String(process.pid).padStart(7, "0")}`;

/** How many processes have these words for their command line. */
function living(words: string): number {
  const all = execFileSync("ps", ["-A", "-ww", "-o", "stat=,args="], { encoding: "utf8" }).split("\n");
  return all.filter((line) => !line.startsWith("Z") && line.replace(/^\S+\s+/, "") === words).length;
}

const there = (words: string, many = 1) =>
  vi.waitFor(() => expect(living(words)).toBe(many), { timeout: 3_000, interval: 20 });

function busyFor(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

/** A session of real processes, driven without any policy. */
function aPort(options: Partial<ChildrenOptions> = {}) {
  const folder = options.folder ?? aFolder();
  const clock = realClock();
  const port = childrenPort({
    clock,
    folder,
    session: aSession(),
    environment: process.env,
    cwd: folder,
    ...options,
  });
  open.push(() => port.endAll(milliseconds(100)));
  let processes = 0;
  return {
    ...{ clock, folder, port },
    start(line: string, cwd: string | null = null): Started {
      processes += 1;
      const id = processes as ProcessId;
      let woken: () => void = () => {};
      const watched = port.start(id, shellCommand(line, cwd), 0, clock.now(), () => woken(), "exit");
      const over = new Promise<void>((resolve) => {
        woken = () => {
          if (watched.endBy(clock.now()) !== null || watched.unending?.() === true) resolve();
        };
        woken();
      });
      return {
        ...{ id, watched, log: join(folder, "processes", `process-${id}.log`) },
        end: async () => {
          await over;
          return watched.endBy(clock.now());
        },
        printed: () => Buffer.from(watched.read(0, 1 << 20, clock.now()).bytes).toString("latin1"),
        stop: (grace = 300) => watched.terminate(clock.now(), milliseconds(grace), "stop", "tree"),
      };
    },
  };
}

interface Started {
  readonly id: ProcessId;
  readonly watched: WatchedProcess;
  readonly log: string;
  end(): Promise<End | null>;
  printed(): string;
  stop(grace?: number): void;
}

/** The shell tools on real processes, one call after the other. */
function aShell(written: WrittenSettings = {}, options: Partial<ChildrenOptions> = {}) {
  const { clock, port, folder } = aPort(options);
  const world = new LiveWorld(clock, port);
  const settings = settingsOf(written);
  const hands = new Hands(new Shell({ settings, budget: null, cadence: null, record: () => {} }));
  return {
    ...{ clock, port, folder },
    /** What a call came to, and how long it took in seconds. */
    async call<Value>(work: (hands: Hands) => Agent<Parameters<typeof result<Value>>[0]>) {
      const began = clock.now();
      hands.now = began;
      const shown = result(await world.run(work(hands)).done);
      return { ...shown, took: (clock.now() - began) / 1_000 };
    },
  };
}

const line = (text: string) => shellCommand(text);

/** Control comes back soon, as a test has to wait for it. */
const soon: WrittenSettings = {
  foreground_idle_yield_seconds: 0.3,
  foreground_total_yield_seconds: 0.3,
  foreground_auto_await_max_seconds: 0.6,
  process_poll_min_wait_seconds: 0,
  kill_grace_seconds: 0.3,
};

describe("how a command ends is told as it was", () => {
  test.each([
    ["true", { code: 0, signal: null }],
    ["exit 3", { code: 3, signal: null }],
    ["exit 255", { code: 255, signal: null }],
    ["no-such-program-at-all", { code: 127, signal: null }],
    ["false | true", { code: 0, signal: null }],
    ["kill -KILL $$", { code: null, signal: "SIGKILL" }],
    ["kill -TERM $$", { code: null, signal: "SIGTERM" }],
    ["ulimit -c 0; kill -SEGV $$", { code: null, signal: "SIGSEGV" }],
    ["sh -c 'kill -TERM $$'; exit $?", { code: 143, signal: null }],
    ["-x", { code: 127, signal: null }],
  ])("%s", async (words, end) => {
    expect(await aPort().start(words).end()).toEqual({ at: expect.any(Number), by: "itself", ...end });
  });

  test.each([
    ["a folder that is none", "true", "/no/such/folder", "/no/such/folder"],
    ["a line that no system takes", "true \0", null, "null bytes"],
  ])("one that cannot be started, for %s, says why", async (_, words, cwd, says) => {
    const it = aPort().start(words, cwd);
    expect(await it.end()).toMatchObject({ by: "itself", code: 127 });
    expect(it.printed()).toMatch(/^cannot run this: /);
    expect(it.printed()).toContain(says);
  });
});

describe("what a command finds", () => {
  test("no input, whichever way it asks", async () => {
    const it = aPort().start('cat; read line; echo "read: $?"');
    expect(await it.end()).toMatchObject({ code: 0 });
    expect(it.printed()).toBe("read: 1\n");
  });

  test("its folder, the environment it is given, and the session's mark after those it runs in", async () => {
    const elsewhere = aFolder();
    const environment = { PATH: process.env["PATH"], GREETING: "good day", [MARK]: "outer/process-7" };
    const it = aPort({ environment, session: "inner" }).start(
      `pwd; echo $GREETING; echo $HOME; echo $${MARK}`,
      elsewhere,
    );
    await it.end();
    expect(it.printed().split("\n").slice(0, 4)).toEqual([
      elsewhere,
      "good day",
      "",
      "outer/process-7:inner/process-1",
    ]);
  });

  test("a session of its own, so that no terminal and no group of ours is in reach", async () => {
    const it = aPort().start("ps -o pid=,pgid= -p $$; [ -t 1 ] || echo no terminal; kill -TERM 0");
    expect(await it.end()).toMatchObject({ code: null, signal: "SIGTERM", by: "itself" });
    const [pid, group] = it.printed().trim().split(/\s+/);
    expect(group).toBe(pid);
    expect(it.printed()).toContain("no terminal");
  });
});

describe("output", () => {
  test("of both kinds is one, in order, and can be reopened by name", async () => {
    const it = aPort().start("echo 1; echo 2 >&2; echo 3; echo 4 >/dev/stderr; echo 5 >/dev/stdout");
    await it.end();
    expect(it.printed()).toBe("1\n2\n3\n4\n5\n");
    expect(readFileSync(it.log, "utf8")).toBe("1\n2\n3\n4\n5\n");
  });

  test("without a newline is there at once, and wakes whoever waits for it", async () => {
    const { clock, port } = aPort();
    const began = clock.now();
    const woken = new Promise<void>((resolve) => {
      const look = () => {
        if (watched.written(clock.now()) > 0) resolve();
      };
      const watched = port.start(1 as ProcessId, line(`printf 'Password: '; ${aNap()}`), 0, began, look, "exit");
      expect(watched.lastOutputAt(began)).toBeNull();
      open.push(() => {
        expect(watched.lastOutputAt(clock.now())).toBeGreaterThanOrEqual(began);
        expect(watched.quietAt({ since: "start", length: seconds(1) }, clock.now())).toBe(
          after(watched.lastOutputAt(clock.now())!, seconds(1)),
        );
      });
    });
    await woken;
    expect(clock.now()).toBeLessThan(2_000);
  });

  test("split within characters, or none at all, adds up by the byte and shows whole", async () => {
    const { call, port, folder } = aShell({ ...soon, foreground_auto_await_max_seconds: 30 });
    // é in two halves, a byte that begins nothing, € in three parts, and a broken end: no newline anywhere.
    const words = ["\\303", "\\251", "\\377", "\\342", "\\202", "\\254", "\\360\\237"];
    const all = [0xc3, 0xa9, 0xff, 0xe2, 0x82, 0xac, 0xf0, 0x9f];
    const slowly = words.map((word) => `printf '${word}'`).join("; sleep 0.1; ");
    const exec = await call((hands) => hands.exec(line(slowly)));
    expect(exec).toMatchObject({
      status: "completed",
      output: "é\uFFFD€\uFFFD",
      next_offset: 8,
      output_complete: true,
    });
    expect([...readFileSync(join(folder, "processes/process-1.log"))]).toEqual(all);
    let pieces = "";
    for (let offset = 0; offset < 8; ) {
      const piece = await call((hands) => hands.read(1, offset, 3));
      expect(piece.offset).toBe(offset);
      pieces += piece.output;
      offset = piece.next_offset;
    }
    expect(pieces).toBe("é\uFFFD€\uFFFD");
    const end = await call((hands) => hands.read(1, 1_000_000_000));
    expect(end).toMatchObject({ output: "", next_offset: 8 });
    expect(port.survivors().size).toBe(0);
  });

  test("of 500 MB is whole in its file, and takes no memory", async () => {
    const it = aPort();
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    open.push(() => clearInterval(watch));
    const { watched, end, log } = it.start("yes 0123456789abcdef | head -c 500000000");
    expect(await end()).toMatchObject({ code: 0 });
    expect(watched.written(it.clock.now())).toBe(500_000_000);
    expect(statSync(log).size).toBe(500_000_000);
    expect((most - before) / 1e6).toBeLessThan(100);
    const tail = watched.read(499_999_990, 1_000, it.clock.now());
    expect(tail).toMatchObject({ from: 499_999_990, written: 500_000_000, complete: true });
    expect(Buffer.from(tail.bytes).toString()).toBe(
      "0123456789abcdef\n"
        .repeat(2)
        .slice(499_999_990 % 17)
        .slice(0, 10),
    );
    const compared = spawnSync("sh", ["-c", `yes 0123456789abcdef | head -c 500000000 | cmp - ${log}`]);
    expect(compared.status).toBe(0);
  });

  test("beyond the most that is kept is let go, and said to be; the command is not held up", async () => {
    const { call, port } = aShell(soon, { mostOutput: 1_000 });
    const exec = await call((hands) => hands.exec(line("head -c 300000 /dev/zero | tr '\\0' x; exit 4")));
    expect(exec).toMatchObject({ status: "failed", exit_code: 4, output_complete: false, next_offset: 1_000 });
    expect(exec.output).toBe("x".repeat(1_000));
    expect(port.survivors().size).toBe(0);
  });

  test.runIf(onLinux)("on a full disk is said to be incomplete, not lost in silence", () => {
    const spool = new Spool("/dev/full", 1_000);
    expect(spool.complete).toBe(true);
    spool.append(new Uint8Array(10));
    expect(spool).toMatchObject({ complete: false, written: 0 });
    spool.close();
  });

  test("whose log somebody has cut is said to be incomplete", async () => {
    const { start, clock } = aPort();
    const it = start("echo one; echo two");
    await it.end();
    writeFileSync(it.log, "one\n");
    const { bytes, complete, written } = it.watched.read(0, 100, clock.now());
    expect(Buffer.from(bytes).toString()).toBe("one\n");
    expect({ complete, written }).toEqual({ complete: false, written: 8 });
  });
});

/** C15: the three ways in which a descendant outlives the shell that started it. */
const forms = [
  ["in the same group", (nap: string) => `${nap} & echo started`, true],
  ["in a group of its own", (nap: string) => `setsid ${nap} & echo started`, true],
  ["with all three descriptors redirected", (nap: string) => `${nap} </dev/null >/dev/null 2>&1 & echo started`, false],
  [
    "with all three redirected, in a group of its own",
    (nap: string) => `setsid ${nap} </dev/null >/dev/null 2>&1 & echo started`,
    false,
  ],
] as const;

describe("C15: a descendant that outlives the shell", () => {
  test.each(forms)("%s: the call is over within 2.1 s, the descendant lives and is told of", async (_, form, holds) => {
    const nap = aNap();
    const { call, port } = aShell();
    const exec = await call((hands) => hands.exec(line(form(nap)), { timeout: 120 }));
    expect(exec.took).toBeLessThanOrEqual(2.1);
    expect(exec).toMatchObject({ status: "completed", exit_code: 0, output: "started\n", output_complete: true });
    expect(exec.elapsed_seconds).toBeLessThanOrEqual(exec.took);
    expect(living(nap)).toBe(1);
    const pids = port.survivors().get(1 as ProcessId);
    expect(pids).toHaveLength(1);
    expect(table.one(pids![0]!)).not.toBeNull();
    expect(await port.endAll()).toEqual([]);
    expect(living(nap)).toBe(0);
    expect(holds).toBeTypeOf("boolean");
  });

  test.each(forms)("%s: the end says so", async (_, form, holds) => {
    const nap = aNap();
    const end = await aPort().start(form(nap)).end();
    expect(end).toEqual({
      ...{ at: expect.any(Number), by: "itself", code: 0, signal: null, survivors: 1 },
      ...(holds ? { heldOpen: true } : null),
    });
  });

  test("and prints all the while: over within 2.1 s; it is read on, and no broken pipe ends it", async () => {
    const { clock, start } = aPort();
    const it = start("i=0; while :; do i=$((i + 1)); echo line $i; sleep 0.05; done & exit 6");
    expect(await it.end()).toMatchObject({ by: "itself", code: 6, heldOpen: true });
    const written = it.watched.written(clock.now());
    expect(clock.now()).toBeLessThanOrEqual(2_100);
    await vi.waitFor(() => expect(it.watched.written(clock.now())).toBeGreaterThan(written + 20), { timeout: 3_000 });
    expect(it.watched.read(0, 14, clock.now()).complete).toBe(true);
    expect(it.printed().startsWith("line 1\nline 2\n")).toBe(true);
  });

  test("only just: what it still prints belongs to the result", async () => {
    const it = aPort().start("(sleep 0.15; echo last words) & echo first");
    const end = await it.end();
    expect(it.printed()).toBe("first\nlast words\n");
    expect(end).not.toHaveProperty("heldOpen");
  });

  test("only just, while the runtime was busy: what is there is read before the time is up", async () => {
    const it = aPort().start("(sleep 0.2; echo last words) & echo first");
    await vi.waitFor(() => expect(it.printed()).toBe("first\n"));
    await pause(50);
    // In an immediate, so that timers come before the pipe is looked at again.
    await new Promise<void>((resolve) => setImmediate(() => resolve(busyFor(600))));
    expect(await it.end()).not.toHaveProperty("heldOpen");
    expect(it.printed()).toBe("first\nlast words\n");
  });

  test("though the runtime has been busy, all that the shell printed comes before its end", async () => {
    const it = aPort().start(`${aNap()} & head -c 60000 /dev/zero | tr '\\0' x`);
    busyFor(1_700);
    await it.end();
    expect(it.printed()).toHaveLength(60_000);
  });
});

/** An orphan that has nothing in common with whoever started it but the session. */
const inAGroup = (nap: string) => `sh -c 'env -i perl -e "setpgrp; exec qw(${nap})" &'`;

describe("C15 as others do it: a call that lasts until nobody holds its output open", () => {
  /** As C15 was reported: a limit on the call, and a kill that reaches the group of the shell. */
  const faulty: WrittenSettings = { completion: "end_of_output", kill_reaches: "group", kill_grace_seconds: 0.3 };

  test("in the same group: it lasts until its limit", async () => {
    const nap = aNap();
    const { call } = aShell(faulty);
    const exec = await call((hands) => hands.exec(line(`${nap} & echo started`), { timeout: 1 }));
    expect(exec.took).toBeGreaterThanOrEqual(1);
    expect(exec.took).toBeLessThanOrEqual(2);
    expect(exec).toMatchObject({ status: "timed_out", exit_code: 0, output: "started\n" });
    expect(living(nap)).toBe(0);
  });

  test("in a group of its own: past its limit, which does not reach that far", async () => {
    const nap = aNap();
    const { call, port } = aShell({ ...faulty, max_hold_seconds: 30 });
    const exec = await call((hands) =>
      hands.shell.exec(
        {
          command: line(`setsid ${nap} & echo started`),
          background: false,
          timeout: seconds(0.5),
          maxHold: seconds(2),
        },
        hands.now,
      ),
    );
    expect(exec.took).toBeGreaterThanOrEqual(2);
    expect(exec.status).toBe("running");
    expect(living(nap)).toBe(1);
    await port.endAll();
    expect(living(nap)).toBe(0);
  });

  test("with all three descriptors redirected: at once", async () => {
    const nap = aNap();
    const { call, port } = aShell(faulty);
    const words = `${nap} </dev/null >/dev/null 2>&1 & echo started`;
    const exec = await call((hands) => hands.exec(line(words), { timeout: 60 }));
    expect(exec.took).toBeLessThanOrEqual(2.1);
    expect(exec).toMatchObject({ status: "completed", surviving_processes: 1 });
    await port.endAll();
  });
});

describe("an end that does not reach everything", () => {
  test.each([
    ["process", "its shell", 1],
    ["group", "its group", 0],
  ] as const)("%s: ends %s", async (reach, _, left) => {
    const nap = aNap();
    const { call, port } = aShell({ ...soon, kill_reaches: reach });
    await call((hands) => hands.exec(line(`${nap} & echo started; wait`)));
    const stopped = await call((hands) => hands.stop(1));
    expect(stopped.status).toBe("terminated");
    expect(stopped.took).toBeLessThanOrEqual(2.1);
    expect(living(nap)).toBe(left);
    expect(stopped.surviving_processes ?? 0).toBe(left);
    await port.endAll();
    expect(living(nap)).toBe(0);
  });

  test("KILL follows where TERM is not heard, and reaches no further", async () => {
    const nap = aNap();
    const { call, port } = aShell({ ...soon, kill_reaches: "process" });
    await call((hands) => hands.exec(line(`trap '' TERM; ${nap} & echo started; while :; do sleep 0.1; done`)));
    const stopped = await call((hands) => hands.stop(1));
    expect(stopped).toMatchObject({ status: "terminated", signal: "SIGKILL" });
    expect(living(nap)).toBe(1);
    await port.endAll();
  });
});

describe("being ended", () => {
  test("TERM that is ignored: KILL after the grace, to the whole tree", async () => {
    const [one, two] = [aNap(), aNap()];
    const { clock, start } = aPort();
    const it = start(`trap '' TERM; setsid ${one} & ${two} & echo ready; while :; do sleep 0.1; done`);
    await vi.waitFor(() => expect(it.printed()).toBe("ready\n"));
    const stopped = clock.now();
    it.stop(500);
    const end = await it.end();
    expect(end).toEqual({ at: expect.any(Number), by: "stop", code: null, signal: "SIGKILL" });
    expect(clock.now() - stopped).toBeGreaterThanOrEqual(500);
    expect(clock.now() - stopped).toBeLessThan(2_500);
    expect([living(one), living(two)]).toEqual([0, 0]);
  });

  test("TERM that only a descendant ignores: not over before that one is", async () => {
    const nap = aNap();
    const { clock, start } = aPort();
    const it = start(`setsid sh -c "trap '' TERM; ${nap}" & ${aNap()}`);
    await there(nap);
    const stopped = clock.now();
    it.stop(500);
    expect(await it.end()).toMatchObject({ by: "stop", signal: "SIGTERM" });
    expect(clock.now() - stopped).toBeGreaterThanOrEqual(500);
    expect(living(nap)).toBe(0);
  });

  test("TERM that is obeyed: over at once, with the code it chose", async () => {
    const { clock, start } = aPort();
    const it = start(`trap 'echo bye; exit 7' TERM; echo ready; while :; do :; done`);
    await vi.waitFor(() => expect(it.printed()).toBe("ready\n"));
    const stopped = clock.now();
    it.stop(10_000);
    expect(await it.end()).toMatchObject({ by: "stop", code: 7, signal: null });
    expect(clock.now() - stopped).toBeLessThan(5_000);
    expect(it.printed()).toBe("ready\nbye\n");
  });

  test("one that is halted hears TERM all the same", async () => {
    const { clock, start } = aPort();
    const it = start(`echo ready; kill -STOP $$; ${aNap()}`);
    await vi.waitFor(() => expect(it.printed()).toBe("ready\n"));
    await pause(100);
    it.stop(10_000);
    expect(await it.end()).toMatchObject({ by: "stop", signal: "SIGTERM" });
    expect(clock.now()).toBeLessThan(8_000);
  });

  test.each([
    ["in the group", (nap: string) => `${nap} & wait`],
    ["in a group of its own", (nap: string) => `perl -e 'setpgrp; exec qw(${nap})' & wait`],
    ["orphaned, with an empty environment, in a group of its own", (nap: string) => `${inAGroup(nap)}; ${aNap()}`],
    [
      "that another session has orphaned so",
      (nap: string) => `setsid sh <<'END' & ${aNap()}\n${inAGroup(nap)}; ${aNap()}\nEND\n`,
    ],
    ["in a session of its own", (nap: string) => `setsid ${nap} & wait`],
    ["orphaned, in a session of its own", (nap: string) => `(setsid ${nap} &); ${aNap()}`],
    ["with an empty environment, in a session of its own", (nap: string) => `setsid env -i ${nap} & wait`],
    [
      "orphaned with an empty environment, in a session of its own, once it was seen",
      (nap: string) => `(setsid env -i ${nap} & sleep 0.7); ${aNap()}`,
    ],
    ["of a descendant's descendant", (nap: string) => `sh -c 'sh -c "setsid ${nap} & wait" & wait' & wait`],
    ["of a pipeline whose first part hangs", (nap: string) => `${nap} | head -1`],
  ])("reaches a descendant %s", async (_, form) => {
    const nap = aNap();
    const it = aPort().start(form(nap));
    await there(nap);
    await pause(form(nap).includes("0.7") ? 1_000 : 50);
    it.stop();
    expect(await it.end()).toMatchObject({ by: "stop", signal: "SIGTERM" });
    expect(living(nap)).toBe(0);
  });

  test("reaches nobody else: neither a sibling, nor one that outlived another command, nor a stranger", async () => {
    const [sibling, outliving, strange] = [aNap(), aNap(), aNap()];
    const stranger = spawn("sh", ["-c", `exec ${strange}`], { stdio: "ignore" });
    open.push(() => stranger.kill("SIGKILL"));
    const { start } = aPort();
    start(sibling);
    await start(`setsid ${outliving} & true`).end();
    const it = start(`${aNap()} & ${aNap()}`);
    await there(sibling);
    it.stop();
    await it.end();
    expect([sibling, outliving, strange].map(living)).toEqual([1, 1, 1]);
  });

  test("after an end of its own, of which the news is still on its way, changes nothing", async () => {
    const it = aPort().start("exit 5");
    busyFor(300);
    it.stop();
    expect(await it.end()).toMatchObject({ by: "itself", code: 5, signal: null });
  });

  test("by a limit: at its moment, and not at all once the command is over", async () => {
    const { clock, start } = aPort();
    const [long, short] = [start(`echo kept; ${aNap()}`), start("sleep 0.1; exit 9")];
    for (const { watched } of [long, short])
      watched.terminate(after(beginning, milliseconds(900)), seconds(1), "limit", "tree");
    expect(await short.end()).toMatchObject({ by: "itself", code: 9 });
    const end = await long.end();
    expect(end).toMatchObject({ by: "limit", code: null, signal: "SIGTERM" });
    expect(end!.at).toBeGreaterThanOrEqual(900);
    expect(clock.now()).toBeLessThan(2_500);
    expect(long.printed()).toMatch(/^kept\n/);
  });

  test("by whoever comes first: a stop before the limit is a stop", async () => {
    const { start } = aPort();
    const it = start(aNap());
    it.watched.terminate(after(beginning, milliseconds(60_000)), seconds(1), "limit", "tree");
    it.stop();
    expect(await it.end()).toMatchObject({ by: "stop" });
  });

  test("that fails even at KILL is said within bounded time, and the process stays listed", async () => {
    const spared: ProcessTable = { ...table, send: () => {} };
    const { call, port } = aShell({ ...soon, kill_grace_seconds: 0.1 }, { table: spared });
    const nap = aNap();
    const exec = await call((hands) => hands.exec(line(`trap '' TERM; exec ${nap}`)));
    expect(exec.status).toBe("running");
    const stop = await call((hands) => hands.stop(1));
    expect(stop).toMatchObject({ status: "termination_failed", exit_code: null });
    expect(stop.took).toBeLessThan(4);
    const again = await call((hands) => hands.stop(1));
    expect(again).toMatchObject({ status: "termination_failed" });
    expect(again.took).toBeLessThan(1);
    expect(await call((hands) => hands.status(1))).toMatchObject({ status: "running" });
    // Should it give in after all, its end is told like any other.
    execFileSync("pkill", ["-KILL", "-f", `^${nap}$`]);
    expect(await call((hands) => hands.wait(1, 20))).toMatchObject({ status: "terminated", signal: "SIGKILL" });
    expect(await port.endAll(milliseconds(0))).toEqual([]);
  });

  test("where only ps tells of processes, reaches the group and the descendants all the same", async () => {
    const naps = [aNap(), aNap(), aNap()];
    const it = aPort({ table: psAlone }).start(
      `${naps[0]} & setsid ${naps[1]} & sh -c "trap '' TERM; ${naps[2]}" & wait`,
    );
    for (const nap of naps) await there(nap);
    it.stop();
    expect(await it.end()).toMatchObject({ by: "stop" });
    expect(naps.map(living)).toEqual([0, 0, 0]);
  });
});

describe("C17: five seconds that take over two minutes", () => {
  test("a command that prints a lot and leaves a child that holds the pipe: 5.1 to 7 s, tree dead, 10 KB shown", async () => {
    const nap = aNap();
    const prints = "i=0; while [ $i -lt 40 ]; do head -c 20000 /dev/zero | tr '\\0' x; sleep 0.1; i=$((i + 1)); done";
    const { call, port, folder } = aShell({ output_budget_bytes: 10_000, kill_grace_seconds: 0.5 });
    const exec = await call((hands) =>
      hands.exec(line(`setsid sh -c "trap '' TERM; ${nap}" & ${prints}; wait`), { timeout: 5 }),
    );
    expect(exec).toMatchObject({ status: "timed_out", output_complete: true });
    expect(exec.took).toBeGreaterThanOrEqual(5);
    expect(exec.took).toBeLessThanOrEqual(7);
    expect(living(nap)).toBe(0);
    expect(exec.output.length).toBeLessThanOrEqual(10_000 + 100);
    const kept = statSync(join(folder, "processes/process-1.log")).size;
    expect(kept).toBeGreaterThan(100_000);
    expect(exec.next_offset).toBe(kept);
    expect(port.survivors().size).toBe(0);
  });
});

describe("across the hand-over", () => {
  test("C10: a silent hang without any timeout returns control at the default bound; it is listed, and stop works", async () => {
    const nap = aNap();
    const { call } = aShell(soon);
    const exec = await call((hands) => hands.exec(line(nap)));
    expect(exec).toMatchObject({ status: "running", auto_await_outcome: "cap_reached", exit_code: null, output: "" });
    expect(exec.took).toBeGreaterThanOrEqual(0.6);
    expect(exec.took).toBeLessThan(2);
    expect((await call((hands) => hands.list())).processes).toMatchObject([
      { process_id: "process-1", status: "running" },
    ]);
    expect(living(nap)).toBe(1);
    expect(await call((hands) => hands.stop(1))).toMatchObject({ status: "terminated", signal: "SIGTERM" });
    expect(living(nap)).toBe(0);
    expect(await call((hands) => hands.stop(1))).toMatchObject({ status: "already_exited", signal: "SIGTERM" });
  });

  test("C18: a server is handed over with its address, alive; to run it again would have clashed", async () => {
    const nap = aNap();
    const server = `mkdir port-8000 || exit 1; sleep 0.2; echo listening on http://localhost:8000; ${nap}`;
    const { call, port } = aShell(soon);
    const exec = await call((hands) => hands.exec(line(server)));
    expect(exec).toMatchObject({ status: "running", output: "listening on http://localhost:8000\n" });
    expect((await call((hands) => hands.status(1))).status).toBe("running");
    expect(living(nap)).toBe(1);
    expect(await call((hands) => hands.exec(line(server)))).toMatchObject({ status: "failed", exit_code: 1 });
    expect((await call((hands) => hands.list())).processes.map(({ status }) => status)).toEqual(["running", "failed"]);
    expect(await call((hands) => hands.stop(1))).toMatchObject({ status: "terminated" });
    expect(living(nap)).toBe(0);
    expect(port.survivors().size).toBe(0);
  });

  test.each([
    ["the exit code of a late failure", "sleep 0.9; exit 1", { status: "failed", exit_code: 1, signal: null }],
    ["a late death by signal", "sleep 0.9; kill -ABRT $$", { status: "failed", exit_code: null, signal: "SIGABRT" }],
    ["a late success", "sleep 0.9; exit 0", { status: "completed", exit_code: 0, signal: null }],
  ])("C20: %s is carried", async (_, words, end) => {
    const { call } = aShell(soon);
    expect(await call((hands) => hands.exec(line(`ulimit -c 0; ${words}`)))).toMatchObject({
      status: "running",
      exit_code: null,
    });
    const wait = await call((hands) => hands.wait(1, 20));
    expect(wait).toMatchObject(end);
    expect(wait.took).toBeLessThan(5);
    expect(wait.elapsed_seconds).toBeGreaterThanOrEqual(0.9);
  });

  test("C20: one command in two spellings has one fate", async () => {
    const { call } = aShell(soon);
    const spellings = ["(sleep 1; echo done) | tail -2", "(sleep 1; echo done) | tail -2; exit $?"];
    for (const [index, words] of spellings.entries()) {
      const exec = await call((hands) => hands.exec(line(words)));
      expect(exec).toMatchObject({ status: "running", auto_await_outcome: "cap_reached", clamp_reasons: [] });
      const wait = await call((hands) => hands.wait(index + 1, 20));
      expect(wait).toMatchObject({ status: "completed", exit_code: 0, signal: null, output: "done\n" });
    }
  });

  test("a pipeline whose first part hangs is handed over, and stopped as one", async () => {
    const nap = aNap();
    const { call } = aShell(soon);
    expect(await call((hands) => hands.exec(line(`(echo one; ${nap}) | cat`)))).toMatchObject({
      status: "running",
      output: "one\n",
    });
    expect(await call((hands) => hands.stop(1))).toMatchObject({ status: "terminated" });
    expect(living(nap)).toBe(0);
  });

  test("output before and after is all there, once, in order", async () => {
    const { call } = aShell(soon);
    const exec = await call((hands) => hands.exec(line("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done")));
    expect(exec.status).toBe("running");
    const wait = await call((hands) => hands.wait(1, 20));
    expect(exec.output + wait.output).toBe("1\n2\n3\n4\n5\n6\n7\n8\n");
    expect(wait.offset).toBe(exec.next_offset);
  });
});

describe("the time of day", () => {
  test("set back and forth while somebody waits has no effect", async () => {
    const jumps = [-86_400_000, 86_400_000, -3_600_000, 0];
    let looks = 0;
    const real = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => {
      looks += 1;
      return real() + jumps[looks % jumps.length]!;
    });
    open.push(() => vi.restoreAllMocks());
    const { call } = aShell(soon);
    const exec = await call((hands) => hands.exec(line("sleep 1.2; exit 3")));
    expect(exec).toMatchObject({ status: "running", auto_await_outcome: "cap_reached" });
    expect(exec.took).toBeGreaterThanOrEqual(0.6);
    expect(exec.took).toBeLessThan(1.2);
    const wait = await call((hands) => hands.wait(1, 20));
    expect(wait).toMatchObject({ status: "failed", exit_code: 3 });
    expect(wait.elapsed_seconds).toBeGreaterThanOrEqual(1.2);
    expect(wait.elapsed_seconds).toBeLessThan(3);
  });

  test("is asked by nothing that a live session is made of", () => {
    const folder = fileURLToPath(new URL("../../src/world/", import.meta.url));
    for (const file of ["live", "clock", "watched", "children", "ending", "tree", "spool", "leftBehind"]) {
      const source = readFileSync(join(folder, `${file}.ts`), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
      expect(source, file).not.toMatch(/\bDate\b|mtime|ctime|birthtime/);
    }
  });
});

describe("when the runtime ends, nothing that it started is left", () => {
  test.each(["returns", "throws", "exits"])("and it %s", async (how) => {
    const folder = aFolder();
    const [one, two] = [aNap(), aNap()];
    const runtime = aRuntime(how, folder, aSession(), one, `setsid sh -c "trap '' TERM; ${two}" & true`);
    await runtime.started;
    await runtime.over;
    expect([living(one), living(two)]).toEqual([0, 0]);
    expect(await reclaim(folder)).toEqual({ lost: [], ended: [], unended: [] });
  });
});

describe("a runtime that was killed", () => {
  test("leaves what the next start in its folder finds, ends, and calls lost", async () => {
    const folder = aFolder();
    const naps = [aNap(), aNap(), aNap(), aNap()];
    const runtime = aRuntime(
      ...(["hangs", folder, aSession()] as const),
      ...[`echo before; ${naps[0]}`, `trap '' TERM; setsid ${naps[1]} & while :; do sleep 0.1; done`],
      ...[`(setsid ${naps[2]} &)`, `setsid ${naps[3]} & exit 2`, "exit 1"],
    );
    await runtime.started;
    await expect(reclaim(folder)).rejects.toThrow(FolderInUse);
    expect(() => aPort({ folder })).toThrow(`${folder} is in use`);
    runtime.kill();
    await runtime.over;
    for (const nap of naps) expect(living(nap)).toBe(1);
    expect(() => aPort({ folder })).toThrow("reclaim it first");

    const { lost, ended, unended } = await reclaim(folder, { grace: milliseconds(300) });
    expect(naps.map(living)).toEqual([0, 0, 0, 0]);
    expect(lost.map(({ process, line: words }) => [process, words.slice(0, 11)])).toEqual([
      [1, "echo before"],
      [2, "trap '' TER"],
    ]);
    expect(readFileSync(lost[0]!.log, "utf8")).toBe("before\n");
    expect(ended.length).toBeGreaterThanOrEqual(6);
    expect(unended).toEqual([]);

    expect(await reclaim(folder)).toEqual({ lost: [], ended: [], unended: [] });
    expect(await aPort({ folder }).start("exit 8").end()).toMatchObject({ code: 8 });
    expect(readFileSync(lost[0]!.log, "utf8")).toBe("before\n");
  });

  /** A stranger, and a register that names it: as it is but for what is written over that. */
  async function named(as: ProcessTable, written: object) {
    const folder = aFolder();
    const nap = aNap();
    const stranger = spawn("sh", ["-c", `exec ${nap}`], { stdio: "ignore", detached: true });
    open.push(() => stranger.kill("SIGKILL"));
    await there(nap);
    const { pid, started } = as.one(stranger.pid!)!;
    const lines = [
      { session: "killed", runtime: { pid: 999_999_999, started: "then" } },
      { started: { process: 1, line: nap, pid, started, ...written } },
    ];
    // The last line was not finished when the runtime was killed.
    writeFileSync(join(folder, "processes.jsonl"), `${lines.map((one) => JSON.stringify(one)).join("\n")}\n{"ended":`);
    const { lost, ended } = await reclaim(folder, { table: as });
    return { lost: lost.length, ended: ended.length, living: living(nap) };
  }

  const recycled = { started: "Mon Jan  1 00:00:00 2001" };

  test("is not taken for whoever has its number since", async () => {
    expect(await named(table, recycled)).toEqual({ lost: 1, ended: 0, living: 1 });
    expect(await named(psAlone, recycled)).toEqual({ lost: 1, ended: 0, living: 1 });
  });

  test("is known by its mark where marks can be seen, and by number and start where they cannot", async () => {
    if (onLinux) expect(await named(table, {})).toEqual({ lost: 1, ended: 0, living: 1 });
    expect(await named(psAlone, {})).toEqual({ lost: 1, ended: 1, living: 0 });
  });

  test("and a folder with somebody else's file of that name is not touched", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, "processes.jsonl"), '{"mine":1}\n');
    mkdirSync(join(folder, "processes"));
    writeFileSync(join(folder, "processes/notes.txt"), "mine");
    await expect(reclaim(folder)).rejects.toThrow("is no register of processes");
    expect(() => aPort({ folder })).toThrow("is no register of processes");
    expect(readFileSync(join(folder, "processes/notes.txt"), "utf8")).toBe("mine");
  });
});

describe("of 200 processes", () => {
  /** Everything that could leak, counted. */
  const held = (): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {
      descriptors: onLinux ? readdirSync("/proc/self/fd").length : 0,
      listeners: process.listenerCount("exit"),
    };
    for (const resource of process.getActiveResourcesInfo()) counts[resource] = (counts[resource] ?? 0) + 1;
    return counts;
  };

  /** What is held more of than before, once handles have had their time to close. */
  const grown = async (before: ReturnType<typeof held>) => {
    await pause(100);
    return Object.fromEntries(
      Object.entries(held()).flatMap(([what, many]) => {
        const more = many - (before[what] ?? 0);
        return more > 0 ? [[what, more]] : [];
      }),
    );
  };

  test.each([
    ["that were stopped", (nap: string) => nap, true],
    ["that came to their own end", () => "echo done", false],
  ])("%s no descriptor, timer, child or listener is left", async (_, form, stops) => {
    await pause(200);
    const before = held();
    const nap = aNap();
    const { port, start, clock } = aPort();
    const all = Array.from({ length: 200 }, () => start(form(nap)));
    for (const { watched } of all) watched.terminate(after(clock.now(), seconds(600)), seconds(1), "limit", "tree");
    if (stops) {
      await there(nap, 200);
      for (const { stop } of all) stop(2_000);
    }
    const ends = await Promise.all(all.map(({ end }) => end()));
    expect(new Set(ends.map((end) => end?.by))).toEqual(new Set([stops ? "stop" : "itself"]));
    if (!stops) expect(all.every(({ printed }) => printed() === "done\n")).toBe(true);
    // While the session is still open, nothing of any of them is held on to but its register …
    expect(await grown(before)).toEqual({ listeners: 1, ...(onLinux ? { descriptors: 1 } : null) });
    expect(port.survivors().size).toBe(0);
    // … and once it is closed, nothing at all.
    await port.endAll();
    expect(await grown(before)).toEqual({});
    expect(living(nap)).toBe(0);
    expect(clock.now()).toBeLessThan(30_000);
  });

  test("a wait ends with the line that shows a failure, though it came in two pieces; what was shown does not end the next", async () => {
    const { call } = aShell({
      failure_evidence: "FAILED",
      failure_evidence_ends_waits: true,
      process_poll_min_wait_seconds: 0,
    });
    const said = `sleep 0.2; printf 'x FAI'; sleep 0.2; echo 'LED y'; ${aNap()}`;
    await call((hands) => hands.exec(line(said), { background: true }));
    const wait = await call((hands) => hands.wait(1, 60));
    expect(wait).toMatchObject({ status: "running", ended_early: "failure_evidence", output: "x FAILED y\n" });
    expect(wait.took).toBeLessThan(5);
    expect(await call((hands) => hands.wait(1, 1))).toMatchObject({ status: "running", output: "" });
  });

  test("ends all but what is to be kept, with what that has started; by mark alone as well", async () => {
    const { port, start } = aPort();
    const [kept, ended, strayed] = [aNap(), aNap(), aNap()];
    const { id } = start(`${kept} & ${kept}`);
    start(ended);
    await start(`setsid ${strayed} > /dev/null 2>&1 &`).end();
    await there(kept, 2);
    await there(ended);
    await there(strayed);
    try {
      expect(await port.endAll(milliseconds(100), new Set([id]))).toEqual([]);
      expect([living(kept), living(ended), living(strayed)]).toEqual([2, 0, 0]);
    } finally {
      execFileSync("pkill", ["-KILL", "-f", `^${kept}$`]);
    }
  });

  test("pipes are few: one serves again once nobody is left who could hold it", async () => {
    const { port, start, folder } = aPort();
    const pipes = () => readdirSync(join(folder, "processes")).filter((name) => name.startsWith("pipe-")).length;
    await start(`${aNap()} & true`).end();
    const few = pipes();
    for (let more = 0; more < 20; more += 1) await start("true").end();
    expect(pipes()).toBe(few);
    await port.endAll(milliseconds(100));
    expect(pipes()).toBe(0);
  });
});

/** A runtime in a process of its own. */
function aRuntime(how: string, folder: string, session: string, ...lines: readonly string[]) {
  const program = fileURLToPath(new URL("../fixtures/children/runtime.mjs", import.meta.url));
  const runtime: ChildProcess = spawn(process.execPath, [program, how, folder, session, ...lines], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  open.push(() => runtime.kill("SIGKILL"));
  return {
    started: new Promise<void>((resolve) => runtime.stdout!.once("data", () => resolve())),
    over: new Promise<void>((resolve) => runtime.once("exit", () => resolve())),
    kill: () => runtime.kill("SIGKILL"),
  };
}
