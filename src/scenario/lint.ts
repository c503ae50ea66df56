/** Checks a file, whatever its kind, with all that it refers to. */
import { FileFaults } from "./fault.ts";
import { check } from "./load.ts";
import type { FileKind } from "./reading.ts";

export interface Lint {
  /** Null where the faults leave it open. */
  readonly kind: FileKind | null;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** What is wrong and what is odd about a file. */
export function lintFile(path: string): Lint {
  try {
    return { ...check(path), faults: [] };
  } catch (thrown) {
    if (!(thrown instanceof FileFaults)) throw thrown;
    return { kind: null, faults: thrown.faults, warnings: [] };
  }
}
