/**
 * A command told as a timetable: phases in order, each with a length and what it prints.
 *
 * A script is a function of the time since its start. What a process has written by a moment, when it
 * ends, whether an output is due: all of it is asked of the script, so nothing has to happen in
 * between, and two worlds that ask at the same moments get the same answers.
 */
import type { Command, Kind, Mark, Signal, Test } from "../agent/effects.ts";
import { type Duration, seconds } from "../policy/time.ts";

/** Output at fixed moments of a phase, or again and again for as long as the phase lasts. */
export type Output =
  | { readonly output: "none" }
  /** First after one interval, then after each; up to and including the phase's last millisecond. */
  | { readonly output: "every"; readonly every: Duration; readonly line: Uint8Array }
  | { readonly output: "at"; readonly lines: readonly OutputLine[] };

export interface OutputLine {
  /** Since the beginning of the phase; in ascending order within it. */
  readonly at: Duration;
  readonly line: Uint8Array;
  readonly says: Mark | null;
}

export type Phase =
  | { readonly phase: "run"; readonly length: Duration; readonly output: Output }
  | { readonly phase: "hang"; readonly output: Output };

/** Where the command comes to its own end; without one it exits with code 0. */
export interface Exit {
  readonly code: number | null;
  readonly signal: Signal | null;
}

export const SILENT: Output = { output: "none" };

/** A command that the simulated world can run. */
export interface ScriptedCommand extends Command {
  /** Its own length; null: it never ends by itself. */
  readonly length: Duration | null;
  readonly exit: Exit;
  /** How long after TERM it ends; null: it obeys only KILL. */
  readonly onTerm: Duration | null;
  readonly prints: Prints | null;
}

/** Under this a finite command counts as quick. */
const QUICK = seconds(10);

/** The kind of a command, from what it does. */
export function kindOf(length: Duration | null): Kind {
  if (length === null) return "hanging";
  return length < QUICK ? "quick" : "long_finite";
}

const CLEAN: Exit = { code: 0, signal: null };
const AT_ONCE = 0 as Duration;
const NO_TESTS: readonly Test[] = [];

export interface ScriptSpec {
  readonly line: string;
  readonly phases: readonly Phase[];
  readonly exit?: Exit;
  readonly onTerm?: Duration | null;
  readonly passes?: readonly Test[];
  readonly spoils?: readonly Test[];
}

/** A command from its phases. Phases after one that hangs are never reached. */
export function scripted(spec: ScriptSpec): ScriptedCommand {
  const bursts: Burst[] = [];
  let now = 0;
  let bytes = 0;
  let length: Duration | null = null;
  for (const phase of spec.phases) {
    const lasts = phase.phase === "hang" ? Number.POSITIVE_INFINITY : phase.length;
    for (const burst of burstsOf(phase.output, now, lasts, bytes)) {
      bursts.push(burst);
      bytes = burst.byte + burst.count * burst.line.length;
    }
    now += lasts;
    if (phase.phase === "hang") break;
  }
  if (Number.isFinite(now)) length = now as Duration;
  return {
    line: spec.line,
    kind: kindOf(length),
    passes: spec.passes ?? NO_TESTS,
    spoils: spec.spoils ?? NO_TESTS,
    length,
    exit: spec.exit ?? CLEAN,
    onTerm: spec.onTerm === undefined ? AT_ONCE : spec.onTerm,
    prints: bursts.length === 0 ? null : new Prints(bursts),
  };
}

/** A line printed `count` times, `every` apart. */
interface Burst {
  /** When the first is printed, since the command's start. */
  readonly first: number;
  readonly every: number;
  /** May be infinite. */
  readonly count: number;
  readonly line: Uint8Array;
  readonly says: Mark | null;
  /** Bytes printed before this burst. */
  readonly byte: number;
}

function* burstsOf(output: Output, begins: number, lasts: number, bytes: number): Generator<Burst> {
  if (output.output === "every") {
    const count = Math.floor(lasts / output.every);
    if (count > 0) {
      yield { first: begins + output.every, every: output.every, count, line: output.line, says: null, byte: bytes };
    }
  } else if (output.output === "at") {
    let byte = bytes;
    for (const { at, line, says } of output.lines) {
      if (at > lasts) break;
      yield { first: begins + at, every: 1, count: 1, line, says, byte };
      byte += line.length;
    }
  }
}

/** Everything a command prints, as a function of the time since its start, in milliseconds. */
export class Prints {
  readonly #bursts: readonly Burst[];

  constructor(bursts: readonly Burst[]) {
    this.#bursts = bursts;
  }

  /** Bytes printed up to and including a moment. */
  writtenBy(elapsed: number): number {
    let bytes = 0;
    for (const burst of this.#bursts) {
      const printed = printedBy(burst, elapsed);
      if (printed === 0) break;
      bytes = burst.byte + printed * burst.line.length;
    }
    return bytes;
  }

  /** The last output up to and including a moment; null if there was none. */
  lastBy(elapsed: number): number | null {
    let last: number | null = null;
    for (const burst of this.#bursts) {
      const printed = printedBy(burst, elapsed);
      if (printed === 0) break;
      last = burst.first + (printed - 1) * burst.every;
    }
    return last;
  }

  /** The first output after a moment; null if there will be none. */
  nextAfter(elapsed: number): number | null {
    for (const burst of this.#bursts) {
      const printed = printedBy(burst, elapsed);
      if (printed < burst.count) return burst.first + printed * burst.every;
    }
    return null;
  }

  /** Bytes `from` up to `to`, which must have been printed. */
  slice(from: number, to: number): { readonly bytes: Uint8Array; readonly marks: readonly Mark[] } {
    const bytes = new Uint8Array(Math.max(to - from, 0));
    const marks: Mark[] = [];
    let filled = 0;
    for (const burst of this.#bursts) {
      const { line, byte, says } = burst;
      if (line.length === 0 || from + filled >= to) continue;
      const ends = byte + burst.count * line.length;
      if (from + filled >= ends) continue;
      while (from + filled < Math.min(to, ends)) {
        const within = (from + filled - byte) % line.length;
        const take = Math.min(line.length - within, to - from - filled);
        bytes.set(line.subarray(within, within + take), filled);
        filled += take;
        if (says !== null && within + take === line.length) marks.push(says);
      }
    }
    return { bytes, marks };
  }
}

function printedBy({ first, every, count }: Burst, elapsed: number): number {
  if (elapsed < first) return 0;
  return Math.min(Math.floor((elapsed - first) / every) + 1, count);
}
