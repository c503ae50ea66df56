/** `yieldpoint serve` as a client starts it: the official client, the built program, real processes. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { stringify } from "yaml";
import type { WrittenSettings } from "../../src/policy/settings.ts";
import { readStore } from "../../src/telemetry/store.ts";
import type { Ended } from "../program.ts";
import type { Called } from "./inMemory.ts";

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface RealSpec {
  readonly settings?: WrittenSettings;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Left out: a new one. */
  readonly folder?: string;
}

export interface RealServer {
  readonly client: Client;
  readonly pid: number;
  readonly out: string;
  /** What it has said to people so far. */
  readonly said: () => string;
  call(tool: string, given: Record<string, unknown>, options?: RequestOptions): Promise<Called>;
  /** Comes once its process is gone. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

const folders: string[] = [];

/** A folder of the test's own; gone once `cleared` is called. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "yieldpoint-serve-"));
  folders.push(folder);
  return folder;
}

export function cleared(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export async function started({
  settings = {},
  flags = [],
  environment = {},
  folder = aFolder(),
}: RealSpec = {}): Promise<RealServer> {
  const policy = join(folder, "of-the-test.yaml");
  const out = join(folder, "session");
  writeFileSync(policy, stringify({ policy: "of-the-test", says: "what a test needs", shell_execution: settings }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "serve", "--policy", policy, "--out", out, ...flags],
    env: { ...(process.env as Record<string, string>), NO_COLOR: "1", ...environment },
    stderr: "pipe",
    cwd: folder,
  });
  let said = "";
  transport.stderr?.on("data", (piece) => {
    said += String(piece);
  });
  const client = new Client({ name: "test", version: "1.2.3" });
  const gone = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await client.connect(transport);
  await client.listTools();
  return {
    client,
    pid: transport.pid!,
    out,
    said: () => said,
    gone,
    async call(tool, given, options) {
      const answer = await client.callTool({ name: tool, arguments: given }, undefined, options);
      const [first] = answer.content as readonly { readonly text: string }[];
      return { isError: answer.isError === true, text: first?.text ?? "", result: answer.structuredContent };
    },
    close: () => client.close(),
  };
}

/** The program, run without holding up the clients that wait beside it. */
export async function ended(...words: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    for await (const piece of stream) text += String(piece);
    return text;
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, stdout: await stdout!, stderr: await stderr! };
}

/** What a query finds in the session's file. */
export async function asked<Row extends object>(out: string, sql: string): Promise<Row[]> {
  const reading = await readStore(join(out, "experiment.duckdb"));
  try {
    return await reading.rows<Row>(sql);
  } finally {
    await reading.close();
  }
}

/** Whether a process runs; one that is over and that nobody has taken note of does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return !stdout.trim().startsWith("Z");
}
