/** Processes that a killed runtime has lost: their name, and what they had printed while somebody listened. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Command } from "../agent/effects.ts";
import { beginning, type Instant, never } from "../policy/time.ts";
import type { Lost } from "../world/leftBehind.ts";
import type { WatchedProcess } from "../world/watched.ts";
import type { LostProcess } from "./session.ts";

export function lostProcess({ process, line, log }: Lost, commandOf: (line: string) => Command): LostProcess {
  const written = sizeOf(log);
  const end = { at: beginning, by: "nobody", code: null, signal: null } as const;
  const watched: WatchedProcess = {
    startedAt: beginning,
    endBy: () => end,
    written: () => written,
    lastOutputAt: (): Instant | null => null,
    quietAt: () => never,
    // Nobody can say whether that was all.
    read(from, limit) {
      const begin = Math.min(Math.max(from, 0), written);
      const bytes = bytesOf(log, begin, Math.min(limit, written - begin));
      return { from: begin, bytes, written, complete: false, marks: [] };
    },
    terminate() {},
    limit() {},
  };
  return { id: process, command: commandOf(line), process: watched };
}

function sizeOf(log: string): number {
  return withFile(log, (file) => fstatSync(file).size) ?? 0;
}

function bytesOf(log: string, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(length, 0));
  const read = withFile(log, (file) => readSync(file, bytes, 0, bytes.length, from)) ?? 0;
  return bytes.subarray(0, read);
}

/** Null where the log is gone: somebody may have tidied up. */
function withFile<Result>(path: string, work: (file: number) => Result): Result | null {
  try {
    const file = openSync(path, "r");
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
