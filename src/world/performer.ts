/**
 * Plays a scripted command as a real one: the same timetable, told as a line for `sh`, at a speed.
 *
 * A small shell, because a Node one takes 70 ms to boot. Moments are counted from the start by the machine's clock,
 * so that what one step is late by does not add up.
 */
import { shellCommand } from "./children.ts";
import type { ProcessPort } from "./live.ts";
import type { Prints, ScriptedCommand } from "./script.ts";
import type { WatchedProcess } from "./watched.ts";

/** Outputs that are spelled out; whatever goes on for longer goes round in a loop. */
const SPELLED_OUT = 400;

/** @param speed how many of the script's milliseconds pass in one real one */
export function played(command: ScriptedCommand, speed: number): string {
  const { prints, length, exit, onTerm } = command;
  const silent = silently(command, speed);
  if (silent !== null) return silent;
  const lines = ["now() { date +%s%N; }", "t0=$(now)", until];
  if (onTerm === null) lines.push("trap '' TERM");
  else if (onTerm > 0) lines.push(`trap 'sleep ${inSeconds(onTerm / speed)}; trap - TERM; kill -TERM $$' TERM`);
  if (prints !== null) {
    let age = -1;
    let written = 0;
    for (let count = 0; count < SPELLED_OUT; count += 1) {
      const next = prints.nextAfter(age);
      if (next === null) break;
      const to = prints.writtenBy(next);
      lines.push(`until_ ${nanoseconds(next, speed)}`, `printf '${octal(prints.slice(written, to).bytes)}'`);
      age = next;
      written = to;
    }
    const next = prints.nextAfter(age);
    if (next !== null) {
      const every = next - age;
      const line = octal(prints.slice(written, prints.writtenBy(next)).bytes);
      const turns = length === null ? ":" : `[ $t -le ${nanoseconds(length, speed)} ]`;
      lines.push(`t=${nanoseconds(next, speed)}`);
      lines.push(`while ${turns}; do until_ $t; printf '${line}'; t=$((t + ${nanoseconds(every, speed)})); done`);
    }
  }
  if (length === null) lines.push("while :; do sleep 3600 & wait $!; done");
  else {
    lines.push(`until_ ${nanoseconds(length, speed)}`);
    lines.push(exit.signal === null ? `exit ${exit.code}` : `trap - TERM; kill -${exit.signal.slice(3)} $$; sleep 60`);
  }
  return lines.join("\n");
}

/** A silent command that obeys TERM at once is one sleep, and needs no clock of its own. */
function silently({ prints, length, exit, onTerm }: ScriptedCommand, speed: number): string | null {
  if (prints !== null || onTerm !== 0) return null;
  if (length === null) return "exec sleep 3600";
  const sleep = `sleep ${inSeconds(length / speed)}`;
  if (exit.signal !== null) return `${sleep}; kill -${exit.signal.slice(3)} $$`;
  return exit.code === 0 ? `exec ${sleep}` : `${sleep}; exit ${exit.code}`;
}

/** Waits until so many nanoseconds after the start; a trap may interrupt it. */
const until = [
  "until_() {",
  "  left=$(($1 - $(now) + t0))",
  "  if [ $left -gt 0 ]; then",
  "    sleep $((left / 1000000000)).$(printf '%09d' $((left % 1000000000))) & wait $!",
  "  fi",
  "}",
].join("\n");

function nanoseconds(length: number, speed: number): number {
  return Math.round((length * 1e6) / speed);
}

function inSeconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(4);
}

/** Bytes as `printf` takes them, whatever they are. */
function octal(bytes: Uint8Array): string {
  return [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/**
 * Real children that play scripted commands: what a replay in the real world runs.
 *
 * What a line gives away to a reader is known of the script only, so it is looked up there.
 */
export function performing(children: ProcessPort, speed: number): ProcessPort {
  return {
    start(id, command, retain, startedAt, wake, overAt) {
      const script = command as ScriptedCommand;
      const child = children.start(id, shellCommand(played(script, speed)), retain, startedAt, wake, overAt);
      return script.prints === null ? child : withMarks(child, script.prints);
    },
  };
}

function withMarks(child: WatchedProcess, prints: Prints): WatchedProcess {
  return {
    startedAt: child.startedAt,
    endBy: (now) => child.endBy(now),
    written: (now) => child.written(now),
    lastOutputAt: (now) => child.lastOutputAt(now),
    quietAt: (quiet, now) => child.quietAt(quiet, now),
    terminate: (at, grace, by, reach) => child.terminate(at, grace, by, reach),
    limit: (limit, now) => child.limit(limit, now),
    cpu: (now) => child.cpu?.(now) ?? null,
    unending: () => child.unending?.() ?? false,
    read(from, limit, now) {
      const piece = child.read(from, limit, now);
      return { ...piece, marks: prints.slice(piece.from, piece.from + piece.bytes.length).marks };
    },
  };
}
