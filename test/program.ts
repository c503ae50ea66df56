/** The program as users meet it: built, in a process of its own. */
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `yieldpoint` with these words, from the top of the checkout unless told otherwise. */
export function yieldpoint(words: readonly string[], options: SpawnSyncOptions = {}): Ended {
  const program = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: root,
    maxBuffer: 1 << 28,
    ...options,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", ...options.env },
  });
  return { code: status, stdout, stderr };
}

/** Whether expected output kept in files is to be written anew; the difference is then the review. */
export const writing = process.env["JOURNALS"] === "write";
