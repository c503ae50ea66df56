/**
 * A command told as a timetable: phases in order, each with a length and what it prints.
 *
 * A script is a function of the time since its start. What a process has written by a moment, when it
 * ends, whether an output is due: all of it is asked of the script, so nothing has to happen in
 * between, and two worlds that ask at the same moments get the same answers.
 */
import type { Command, Kind, Mark, Signal, Silence, Test } from "../agent/effects.ts";
import { Evidence } from "../agent/evidence.ts";
import { type Duration, type Instant, never, seconds } from "../policy/time.ts";
import type { Stretch } from "./host.ts";
import { silentAt } from "./watched.ts";

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
  | { readonly phase: "run"; readonly length: Duration; readonly output: Output; readonly cpu?: number }
  | { readonly phase: "hang"; readonly output: Output; readonly cpu?: number }
  /** Ready after so long, and from then on there for whoever asks; never ends by itself. */
  | { readonly phase: "server"; readonly readyAfter: Duration; readonly output: Output }
  /** Asks something of whoever sits at the keyboard. Nobody does: its input is closed. */
  | { readonly phase: "prompt"; readonly question: Uint8Array; readonly onEndOfInput: Exit | "hang" }
  /** Starts a process of its own that may outlive it, and goes on at once. */
  | {
      readonly phase: "child";
      readonly lasts: Duration | null;
      readonly group: "same" | "own";
      readonly holdsOutput: boolean;
    };

/** A process that a command has started, and that may outlive it. */
export interface Descendant {
  /** Since the command's start. */
  readonly startsAt: Duration;
  /** Since the command's start; null: never by itself. */
  readonly endsAt: Duration | null;
  readonly group: "same" | "own";
  readonly holdsOutput: boolean;
}

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
  /** From when on it answers at its port, since its start; null: never. */
  readonly readyAt: Duration | null;
  readonly descendants: readonly Descendant[];
  /** Nobody is told when it ends; whoever looks sees it. */
  readonly signalLost: boolean;
  /** What it holds while it lives, and leaves behind stale if it is killed; null: nothing. */
  readonly lock: string | null;
  /** What becomes of it instead where its port or its lock is taken; null: nothing of it can be. */
  readonly clash: ScriptedCommand | null;
  /** Whether this is what becomes of another one instead. */
  readonly prevented: boolean;
  /** What it wants of a host; null: no core at any time. */
  readonly stretches: readonly Stretch[] | null;
}

/** What most commands have none of: one empty list for all of them. */
export const PLAIN = { passes: [], spoils: [], descendants: [] } as const satisfies Partial<ScriptedCommand>;

/** Under this a finite command counts as quick. */
const QUICK = seconds(10);

/** The kind of a command, from what it does. */
export function kindOf(length: Duration | null): Kind {
  if (length === null) return "hanging";
  return length < QUICK ? "quick" : "long_finite";
}

const CLEAN: Exit = { code: 0, signal: null };
const CLASH: Exit = { code: 1, signal: null };
const AT_ONCE = 0 as Duration;
/** What nobody knows the length of is usually taken for a minute's work. */
export const UNKNOWN = seconds(60);

export interface ScriptSpec {
  readonly line: string;
  readonly phases: readonly Phase[];
  readonly exit?: Exit;
  readonly onTerm?: Duration | null;
  readonly passes?: readonly Test[];
  readonly spoils?: readonly Test[];
  /** Where it serves once it is ready. */
  readonly port?: number | null;
  readonly lock?: string | null;
  readonly signalLost?: boolean;
  readonly usual?: Duration | null;
}

/** A command from its phases. Phases after one that never ends are never reached. */
export function scripted(spec: ScriptSpec): ScriptedCommand {
  const { port = null, lock = null } = spec;
  const bursts: Burst[] = [];
  const descendants: Descendant[] = [];
  const stretches: Stretch[] = [];
  let now = 0;
  let bytes = 0;
  let servesFrom: number | null = null;
  let exit = spec.exit ?? CLEAN;
  for (const phase of spec.phases) {
    if (phase.phase === "child") {
      const endsAt = phase.lasts === null ? null : ((now + phase.lasts) as Duration);
      descendants.push({ startsAt: now as Duration, endsAt, group: phase.group, holdsOutput: phase.holdsOutput });
      continue;
    }
    const lasts = lengthOf(phase);
    for (const burst of burstsOf(outputOf(phase), now, lasts, bytes)) {
      bursts.push(burst);
      bytes = burst.byte + burst.count * burst.line.length;
    }
    if (phase.phase === "server") servesFrom = now + phase.readyAfter;
    if (lasts > 0) stretches.push({ cpu: "cpu" in phase ? (phase.cpu ?? 0) : 0, lasts });
    now += lasts;
    if (phase.phase === "prompt" && phase.onEndOfInput !== "hang") {
      exit = phase.onEndOfInput;
      break;
    }
    if (lasts === Number.POSITIVE_INFINITY) break;
  }
  const length = Number.isFinite(now) ? (now as Duration) : null;
  const finite = stretches.reduce((sum, { lasts }) => (Number.isFinite(lasts) ? sum + lasts : sum), 0);
  // In the order in which a drawn command has its fields, so that both are of one shape.
  return {
    line: spec.line,
    kind: servesFrom === null ? kindOf(length) : "server",
    passes: spec.passes ?? PLAIN.passes,
    spoils: spec.spoils ?? PLAIN.spoils,
    port,
    usual: spec.usual ?? length ?? (finite > 0 ? (finite as Duration) : UNKNOWN),
    length,
    exit,
    onTerm: spec.onTerm === undefined ? AT_ONCE : spec.onTerm,
    prints: bursts.length === 0 ? null : new Prints(bursts),
    readyAt: servesFrom as Duration | null,
    descendants: descendants.length === 0 ? PLAIN.descendants : descendants,
    signalLost: spec.signalLost ?? false,
    prevented: false,
    lock,
    clash: port === null && lock === null ? null : clashing(spec),
    stretches: stretches.some(({ cpu }) => cpu > 0) ? stretches : null,
  };
}

function lengthOf(phase: Exclude<Phase, { phase: "child" }>): number {
  if (phase.phase === "run") return phase.length;
  if (phase.phase === "prompt") return phase.onEndOfInput === "hang" ? Number.POSITIVE_INFINITY : 0;
  return Number.POSITIVE_INFINITY;
}

function outputOf(phase: Exclude<Phase, { phase: "child" }>): Output {
  if (phase.phase !== "prompt") return phase.output;
  return { output: "at", lines: [{ at: AT_ONCE, line: phase.question, says: null }] };
}

const encoder = new TextEncoder();

/** The same command where its lock or its port is taken: a lock stops it at once, a port when it comes to serve. */
function clashing({ port = null, lock = null, ...spec }: ScriptSpec): ScriptedCommand {
  const says = (line: string): Phase => ({
    phase: "run",
    length: AT_ONCE,
    output: { output: "at", lines: [{ at: AT_ONCE, line: encoder.encode(`${line}\n`), says: "failure" }] },
  });
  const serves = spec.phases.findIndex(({ phase }) => phase === "server");
  const phases =
    lock !== null || serves < 0
      ? [says(`cannot get the lock ${lock}: it is taken`)]
      : [...spec.phases.slice(0, serves), says(`cannot listen on port ${port}: it is taken`)];
  const { onTerm } = spec;
  const instead = scripted({ line: spec.line, phases, exit: CLASH, ...(onTerm === undefined ? {} : { onTerm }) });
  return { ...instead, prevented: true };
}

/** What a command wants of a host; nothing but time, if it does not say. */
export function stretchesOf({ stretches, length }: ScriptedCommand): readonly Stretch[] {
  return stretches ?? [{ cpu: 0, lasts: length ?? Number.POSITIVE_INFINITY }];
}

/** A process that may hold what another one wants. */
interface Holder {
  readonly command: ScriptedCommand;
  holdsPort(now: Instant): boolean;
  holdsLock(now: Instant): boolean;
}

/** What a command does here and now: something else, where its port or its lock is taken. */
export function meets(command: ScriptedCommand, others: readonly Holder[], now: Instant): ScriptedCommand {
  const { port, lock, clash } = command;
  if (clash === null) return command;
  const taken = others.some(
    (other) =>
      (port !== null && other.command.port === port && other.holdsPort(now)) ||
      (lock !== null && other.command.lock === lock && other.holdsLock(now)),
  );
  return taken ? clash : command;
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

  /**
   * When the first of some silences has lasted, as things stand; `never` if output comes in time for ever. An output at
   * that very moment comes first.
   *
   * @param heard the last output so far, or the start
   * @param done how much of the script that was
   * @param when the moment at which so much of the script is done
   */
  silenceEnds(silences: readonly Silence[], heard: Instant, done: number, when: (script: number) => Instant): Instant {
    let last = heard;
    for (const burst of this.#bursts) {
      const printed = (nth: number) => when(burst.first + nth * burst.every);
      for (let nth = printedBy(burst, done); nth < burst.count; nth += 1) {
        const next = printed(nth);
        if (next === never) return silentAt(silences, last);
        const ends = silentAt(silences, last);
        if (ends < next) return ends;
        last = next;
        // What comes again and again is looked at where it may first be too rare, or at its end.
        const gap = nth + 1 < burst.count ? printed(nth + 1) - next : 0;
        const short = silences.filter(({ length }) => length < gap);
        if (gap === 0) continue;
        if (short.length === 0 && burst.count === Number.POSITIVE_INFINITY) return never;
        const from = Math.min(...short.map((silence) => silence.from));
        const skipped = short.length === 0 ? burst.count - 2 - nth : Math.floor((from - next) / gap) - 1;
        if (skipped <= 0) continue;
        nth = Math.min(nth + skipped, burst.count - 2);
        last = printed(nth);
      }
    }
    return silentAt(silences, last);
  }

  /** When, beyond so many bytes, one of the texts is first complete; null if never. */
  printsAfter(bytes: number, evidence: Evidence): number | null {
    let standing = Evidence.begin;
    for (const burst of this.#bursts) {
      const { first, every, count, line, byte } = burst;
      if (line.length === 0) continue;
      // What lies further back than the longest text is of no matter, and neither is what is printed over and over again.
      const back = Math.max(Math.floor((bytes - evidence.longest - byte) / line.length), 0);
      const from = Math.min(back, count);
      if (from > 0) standing = Evidence.begin;
      const lines = Math.min(count, Math.max(from, Math.ceil((bytes - byte) / line.length)) + evidence.longest + 2);
      for (let at = from; at < lines; at += 1) {
        for (const [index, next] of line.entries()) {
          standing = evidence.read(standing, next);
          if (evidence.isComplete(standing) && byte + at * line.length + index + 1 > bytes) return first + at * every;
        }
      }
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
