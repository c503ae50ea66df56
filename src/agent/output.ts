/**
 * How much of a process's output a result shows, and which part.
 *
 * Offsets are bytes of the output as written. A cut never splits a character, and bytes that are no
 * UTF-8 show as U+FFFD but count as themselves, so pieces read by offset add up to what was written.
 */
import type { Settings } from "../policy/settings.ts";
import type { Agent, Mark, ProcessId, Read } from "./effects.ts";

export interface Shown {
  readonly text: string;
  /** Where the shown piece begins; after what was no longer kept, if anything was lost. */
  readonly from: number;
  readonly next: number;
  readonly complete: boolean;
  readonly marks: readonly Mark[];
  /** Bytes that should have been shown and that nobody can read any more. */
  readonly lost: number;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Nothing new: the usual answer, made without asking the world for bytes. */
export function nothingNew(cursor: number): Shown {
  return { text: "", from: cursor, next: cursor, complete: true, marks: [], lost: 0 };
}

/** Everything unread is thrown away: what an error without its output shows. */
export function allLost(cursor: number, written: number): Shown {
  return { text: "", from: written, next: written, complete: false, marks: [], lost: written - cursor };
}

/**
 * Head and tail of everything unread, within the output budget; both offsets of what is left out are named.
 *
 * @param written bytes written so far, all of which count as shown afterwards
 */
export function* showUnread(process: ProcessId, cursor: number, written: number, settings: Settings): Agent<Shown> {
  const { outputBudgetBytes: budget, outputHeadShare: share } = settings;
  if (written - cursor <= budget) return yield* showAll(process, cursor, written);
  const headLimit = Math.floor(budget * share);
  const head = (yield { effect: "read", process, from: cursor, limit: headLimit }) as Read;
  // Where the beginning is no longer kept, what remains may fit after all.
  if (written - head.from <= budget) {
    const rest = yield* showAll(process, head.from, written);
    return { ...rest, lost: head.from - cursor };
  }
  const tail = (yield {
    effect: "read",
    process,
    from: written - (budget - headLimit),
    limit: budget - headLimit,
  }) as Read;
  const headBytes = head.bytes.subarray(0, wholeCharacters(head.bytes));
  const tailBytes = tail.bytes.subarray(continuationBytes(tail.bytes));
  const headEnds = head.from + headBytes.length;
  const tailBegins = tail.from + (tail.bytes.length - tailBytes.length);
  return {
    text: `${decode(headBytes)}\n[bytes ${headEnds} to ${tailBegins} left out]\n${decode(tailBytes)}`,
    from: head.from,
    next: written,
    complete: head.complete && tail.complete,
    marks: [...head.marks, ...tail.marks],
    lost: head.from - cursor,
  };
}

function* showAll(process: ProcessId, from: number, written: number): Agent<Shown> {
  const all = (yield { effect: "read", process, from, limit: written - from }) as Read;
  const { bytes, complete, marks } = all;
  return { text: decode(bytes), from: all.from, next: written, complete, marks, lost: all.from - from };
}

/** A piece of output by explicit offset, cut back to whole characters. */
export function* showPiece(process: ProcessId, from: number, limit: number): Agent<Shown> {
  const piece = (yield { effect: "read", process, from, limit }) as Read;
  const more = piece.from + piece.bytes.length < piece.written;
  const whole = wholeCharacters(piece.bytes);
  // A piece smaller than one character must still get on, so it is then shown as it is.
  const kept = more && whole > 0 ? piece.bytes.subarray(0, whole) : piece.bytes;
  return {
    text: decode(kept),
    from: piece.from,
    next: piece.from + kept.length,
    complete: piece.complete,
    marks: piece.marks,
    lost: 0,
  };
}

function decode(bytes: Uint8Array): string {
  return bytes.length === 0 ? "" : decoder.decode(bytes);
}

/** How many bytes remain when a character cut in two at the end is left out. */
export function wholeCharacters(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= Math.min(4, end); back += 1) {
    const byte = bytes[end - back]!;
    if (byte < 0x80) return end;
    if (byte >= 0xc0) return lengthOf(byte) > back ? end - back : end;
  }
  return end;
}

/** How many bytes at the beginning are the rest of a character that began before. */
function continuationBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && count < bytes.length && (bytes[count]! & 0xc0) === 0x80) count += 1;
  return count;
}

/** How long the character is that begins with this byte; 1 for a byte that begins none. */
function lengthOf(first: number): number {
  if (first >= 0xf0 && first < 0xf5) return 4;
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
}
