/** What every command of the program consists of. */
import type { Flags } from "./flags.ts";

/** The outside, handed in: streams, environment, the words of the command line. */
export interface Outside {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly words: readonly string[];
}

export interface Command {
  /** As yargs spells it: `run <panel>`. */
  readonly usage: string;
  readonly says: string;
  readonly flags: Flags;
  readonly examples: readonly (readonly [string, string])[];
  /** Does it, and answers with the exit code. */
  readonly does: (argv: Readonly<Record<string, unknown>>, outside: Outside) => Promise<number>;
}
