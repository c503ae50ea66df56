/**
 * What a served session costs while it only waits, and how soon after a command's exit its client has the answer.
 *
 * The same commands are run by bare `child_process` in between, so that the machine's own share can be seen. A command tells by
 * the wall clock when it is about to exit: what is counted is from then until the client has the result in its hands.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export interface HandBack {
  /** Of one core, while it waits on one process that prints nothing. */
  readonly idleShare: number;
  /** From a command's exit to its result, in milliseconds. */
  readonly served: Quantiles;
  readonly bare: Quantiles;
  readonly commands: number;
}

interface Quantiles {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** Tells the moment in nanoseconds, and exits. */
const TELLS = "exec date +%s%N";
const IDLE_SECONDS = 20;

/**
 * Null where the machine cannot tell: it takes Linux's /proc, and a `date` that knows nanoseconds.
 *
 * @param root of the checkout, built
 */
export async function handBack(root: string, commands = 1_000): Promise<HandBack | null> {
  if (!existsSync("/proc/self/stat") || !/^\d{16,}\n$/.test(bareOnce().output)) return null;
  const folder = mkdtempSync(join(tmpdir(), "yieldpoint-hand-back-"));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, "dist/cli/main.js"), "serve", "--out", join(folder, "session")],
    stderr: "ignore",
  });
  const client = new Client({ name: "bench", version: "0" });
  try {
    await client.connect(transport);
    const idleShare = await idle(client, transport.pid!);
    const served: number[] = [];
    const bare: number[] = [];
    for (let command = 0; command < commands; command += 1) {
      served.push(await servedOnce(client));
      bare.push(await bareAwaited());
    }
    return { idleShare, served: quantiles(served), bare: quantiles(bare), commands };
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function idle(client: Client, pid: number): Promise<number> {
  await call(client, "exec", { command: "sleep 3600", background: true });
  const waiting = call(client, "process", { action: "wait", process_id: "process-1", wait_sec: IDLE_SECONDS + 2 });
  await pause(1_000);
  const before = { used: secondsUsed(pid), at: performance.now() };
  await pause(IDLE_SECONDS * 1_000);
  const share = (secondsUsed(pid) - before.used) / ((performance.now() - before.at) / 1_000);
  await waiting;
  await call(client, "process", { action: "stop", process_id: "process-1" });
  return share;
}

/** Processor time of a process, its own and the system's on its behalf. */
function secondsUsed(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, in parentheses, may hold anything. Counted from the one behind it, these are fields 14 and 15 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
const TICKS = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100;

async function servedOnce(client: Client): Promise<number> {
  const { output } = await call(client, "exec", { command: TELLS });
  return since(String(output));
}

function bareAwaited(): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", "--", TELLS], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (piece) => {
      output += String(piece);
    });
    child.once("error", reject);
    child.once("close", () => resolve(since(output)));
  });
}

function bareOnce(): { readonly output: string } {
  return { output: spawnSync("/bin/sh", ["-c", TELLS], { encoding: "utf8" }).stdout };
}

/** Milliseconds since a moment that was told in nanoseconds. */
function since(told: string): number {
  return performance.timeOrigin + performance.now() - Number(told) / 1e6;
}

async function call(client: Client, name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent } = await client.callTool({ name, arguments: given });
  return structuredContent as Record<string, unknown>;
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) =>
    Number(sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)]!.toFixed(2));
  return { median: at(0.5), p99: at(0.99), longest: at(1) };
}
