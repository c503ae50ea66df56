/** A script performed the slow way, millisecond after millisecond: what the fast way is compared with. */
import type { Mark } from "../../src/agent/effects.ts";
import type { Phase } from "../../src/world/script.ts";

export interface Line {
  /** Milliseconds since the start. */
  readonly at: number;
  readonly line: Uint8Array;
  readonly says: Mark | null;
}

/** Every line printed up to and including a moment, in order; and the command's own length if that is less. */
export function performed(
  phases: readonly Phase[],
  upTo: number,
): { readonly lines: Line[]; readonly length: number | null } {
  const lines: Line[] = [];
  let began = 0;
  for (const phase of phases) {
    if (phase.phase === "child") continue;
    if (phase.phase === "prompt") {
      if (began <= upTo) lines.push({ at: began, line: phase.question, says: null });
      return { lines, length: phase.onEndOfInput === "hang" ? null : began };
    }
    const { output } = phase;
    const ends = phase.phase === "run" ? began + phase.length : Number.POSITIVE_INFINITY;
    if (output.output === "every") {
      for (let at = began + output.every; at <= Math.min(ends, upTo); at += output.every)
        lines.push({ at, line: output.line, says: null });
    } else if (output.output === "at") {
      for (const { at, line, says } of output.lines)
        if (began + at <= Math.min(ends, upTo)) lines.push({ at: began + at, line, says });
    }
    if (phase.phase !== "run") return { lines, length: null };
    began = ends;
  }
  return { lines, length: began };
}
