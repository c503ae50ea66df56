import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Answer, Effect, ProcessId } from "../../src/agent/effects.ts";
import { type Shown, showPiece, showUnread, wholeCharacters } from "../../src/agent/output.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { moment, nothing } from "../../src/policy/time.ts";
import { scripted } from "../../src/world/script.ts";
import { commandOf, hangs, inSession, lasts, lines, result } from "../aRun.ts";
import { someBytes } from "../arbitraries.ts";

const utf8 = new TextEncoder();
const decoded = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Performs reads on output of which the newest `retain` bytes are kept. */
function reading<Value>(agent: Generator<Effect, Value, Answer>, written: Uint8Array, retain = written.length): Value {
  let step = agent.next({ at: moment(0) });
  while (step.done !== true) {
    if (step.value.effect !== "read") throw new Error(`output is read, not asked to ${step.value.effect}`);
    const kept = Math.max(written.length - retain, 0);
    const from = Math.min(Math.max(step.value.from, kept), written.length);
    const bytes = written.subarray(from, Math.min(from + step.value.limit, written.length));
    step = agent.next({ at: moment(0), from, bytes, written: written.length, complete: kept === 0, marks: [] });
  }
  return step.value;
}

const it_ = 1 as ProcessId;

function unread(
  text: string | Uint8Array,
  settings: WrittenSettings,
  { cursor = 0, retain = Number.MAX_SAFE_INTEGER } = {},
): Shown {
  const written = typeof text === "string" ? utf8.encode(text) : text;
  return reading(showUnread(it_, cursor, written.length, settingsOf(settings)), written, retain);
}

function piece(text: string | Uint8Array, from: number, limit: number, retain = Number.MAX_SAFE_INTEGER): Shown {
  const written = typeof text === "string" ? utf8.encode(text) : text;
  return reading(showPiece(it_, from, limit), written, retain);
}

describe("output within its budget", () => {
  test("is shown whole, from the cursor on", () => {
    const shown = { complete: true, marks: [], lost: 0 };
    expect(unread("0123456789", { output_budget_bytes: 10 })).toEqual({
      text: "0123456789",
      from: 0,
      next: 10,
      ...shown,
    });
    expect(unread("0123456789", { output_budget_bytes: 3 }, { cursor: 7 })).toEqual({
      text: "789",
      from: 7,
      next: 10,
      ...shown,
    });
  });

  test("shows bytes that are no text as U+FFFD, and they count as themselves", () => {
    expect(unread(Uint8Array.of(0x61, 0xff, 0xc3, 0x62), {})).toMatchObject({ text: "a\ufffd\ufffdb", next: 4 });
  });

  test("keeps a byte order mark, as one more character", () => {
    expect(unread("\ufeffx", {})).toMatchObject({ text: "\ufeffx", next: 4 });
  });
});

describe("output beyond its budget", () => {
  const ten = { output_budget_bytes: 10 };

  test("is shown as head and tail, with both offsets of what is left out", () => {
    expect(unread("abcdefghijklmnopqrstuvwxyz", ten)).toEqual({
      text: "abcde\n[bytes 5 to 21 left out]\nvwxyz",
      from: 0,
      next: 26,
      complete: true,
      marks: [],
      lost: 0,
    });
  });

  test("is shared between head and tail as the setting says", () => {
    const share = (output_head_share: number) =>
      unread("abcdefghijklmnopqrstuvwxyz", { ...ten, output_head_share }).text;
    expect(share(0)).toBe("\n[bytes 0 to 16 left out]\nqrstuvwxyz");
    expect(share(0.25)).toBe("ab\n[bytes 2 to 18 left out]\nstuvwxyz");
    expect(share(1)).toBe("abcdefghij\n[bytes 10 to 26 left out]\n");
  });

  test("counts its offsets from the beginning of the output, not from the cursor", () => {
    expect(unread("0123456789abcdefghijklmnopqrstuvwxyz", ten, { cursor: 10 })).toMatchObject({
      text: "abcde\n[bytes 15 to 31 left out]\nvwxyz",
      from: 10,
      next: 36,
    });
  });

  test("is cut between characters, at the head and at the tail", () => {
    expect(unread("αβγδεζηθ", ten).text).toBe("αβ\n[bytes 4 to 12 left out]\nηθ");
    expect(unread("🐢🐢🐢🐢", ten).text).toBe("🐢\n[bytes 4 to 12 left out]\n🐢");
  });

  test("is not cut any further where its bytes are no text", () => {
    expect(unread(new Uint8Array(20).fill(0x80), ten).text).toBe(
      `${"\ufffd".repeat(5)}\n[bytes 5 to 18 left out]\n${"\ufffd".repeat(2)}`,
    );
  });

  test("of which the beginning is no longer kept begins where it is, and is not complete", () => {
    expect(unread("abcdefghijklmnopqrstuvwxyz", ten, { retain: 20 })).toMatchObject({
      text: "ghijk\n[bytes 11 to 21 left out]\nvwxyz",
      from: 6,
      complete: false,
    });
  });

  test("of which no more is kept than may be shown is shown whole, and nothing is said to be left out twice", () => {
    expect(unread("abcdefghijklmnopqrstuvwxyz", ten, { retain: 8 })).toEqual({
      text: "stuvwxyz",
      from: 18,
      next: 26,
      complete: false,
      marks: [],
      lost: 18,
    });
    expect(unread("abcdefghijklmnopqrstuvwxyz", ten, { retain: 0 })).toMatchObject({ text: "", from: 26, next: 26 });
  });

  test("whatever it is, shows no more than its budget, and all that is not left out", () => {
    const budgets = fc.record({
      output_budget_bytes: fc.integer({ min: 0, max: 30 }),
      output_head_share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(someBytes, { maxLength: 20 }),
        budgets,
        fc.nat(40),
        fc.nat(200),
        (all, settings, cursor, retain) => {
          const written = Buffer.concat(all);
          const from = Math.min(cursor, written.length);
          const shown = unread(written, settings, { cursor: from, retain });
          expect(shown.next).toBe(written.length);
          const gap = /\n\[bytes (\d+) to (\d+) left out\]\n/.exec(shown.text);
          if (gap === null) {
            expect(written.length - shown.from).toBeLessThanOrEqual(settings.output_budget_bytes);
            expect(shown.text).toBe(decoded(written.subarray(shown.from)));
            return;
          }
          const [begins, ends] = [Number(gap[1]), Number(gap[2])];
          expect(begins - shown.from + (written.length - ends)).toBeLessThanOrEqual(settings.output_budget_bytes);
          expect(begins).toBeLessThanOrEqual(ends);
          expect(shown.text.slice(0, gap.index)).toBe(decoded(written.subarray(shown.from, begins)));
          expect(shown.text.slice(gap.index + gap[0].length)).toBe(decoded(written.subarray(ends)));
        },
      ),
    );
  });
});

describe("a piece of output", () => {
  test("is read from its offset up to its limit, and cut back to whole characters", () => {
    expect(piece("abcdef", 2, 3)).toMatchObject({ text: "cde", from: 2, next: 5 });
    expect(piece("αβγ", 0, 5)).toMatchObject({ text: "αβ", from: 0, next: 4 });
    expect(piece("🐢x", 0, 5)).toMatchObject({ text: "🐢x", next: 5 });
  });

  test("that ends with the output is not cut, whatever it ends with", () => {
    expect(piece(Uint8Array.of(0x61, 0xe6), 0, 10)).toMatchObject({ text: "a\ufffd", next: 2 });
  });

  test("smaller than one character still gets on", () => {
    expect(piece("温度", 0, 2)).toMatchObject({ text: "\ufffd", from: 0, next: 2 });
    expect(piece("温度", 2, 2)).toMatchObject({ text: "\ufffd", from: 2, next: 3 });
    expect(piece("温度", 0, 0)).toMatchObject({ text: "", from: 0, next: 0 });
  });

  test("begins later than asked where the beginning is no longer kept", () => {
    expect(piece("abcdefgh", 1, 2, 5)).toEqual({ text: "de", from: 3, next: 5, complete: false, marks: [], lost: 0 });
  });
});

test.each([
  [[0x61, 0xc3], 1, "two bytes, the second missing"],
  [[0x61, 0xe6, 0xb8], 1, "three bytes, the last missing"],
  [[0xf0, 0x9f, 0x90], 0, "four bytes, the last missing"],
  [[0x61, 0xff], 2, "a byte that begins nothing"],
  [[0x61, 0xc0], 2, "a byte that no character begins with"],
  [[0x61, 0xf5], 2, "nor with this one"],
  [[0x80, 0x80, 0x80, 0x80], 4, "the rest of nothing"],
  [[0xc3, 0x61], 2, "a character broken off, and another"],
  [[0xe6, 0xb8, 0xa9], 3, "three bytes, all there"],
  [[0x61, 0x62], 2, "letters"],
  [[], 0, "nothing"],
])("bytes %j hold %d of whole characters: %s", (bytes, whole) => {
  expect(wholeCharacters(Uint8Array.from(bytes))).toBe(whole);
});

describe("read_output", () => {
  const hello = commandOf({ phases: [hangs(lines([1, "hello\n"], [2, "world\n"]))] });
  const read = (offset: number, limit: number | null, settings: WrittenSettings = {}) =>
    inSession({ settings }, function* (hands) {
      yield* hands.exec(hello, { background: true });
      yield* hands.pass(5);
      return result(yield* hands.read(1, offset, limit));
    });

  test("takes any offset within the output, and stays within it", () => {
    const shown = (offset: number) => {
      const { output, offset: from, next_offset } = read(offset, null);
      return [output, from, next_offset];
    };
    expect(shown(0)).toEqual(["hello\nworld\n", 0, 12]);
    expect(shown(6)).toEqual(["world\n", 6, 12]);
    expect(shown(6.9)).toEqual(["world\n", 6, 12]);
    expect(shown(12)).toEqual(["", 12, 12]);
    expect(shown(1e9)).toEqual(["", 12, 12]);
    expect(shown(-3)).toEqual(["hello\nworld\n", 0, 12]);
  });

  test("takes a limit up to that of the settings", () => {
    const output = (limit: number | null) => read(0, limit, { read_output_limit_bytes: 8 }).output;
    expect([output(5), output(8), output(1e9), output(null), output(0), output(-1), output(5.9)]).toEqual([
      "hello",
      "hello\nwo",
      "hello\nwo",
      "hello\nwo",
      "",
      "",
      "hello",
    ]);
  });

  test("says whether the log is complete", () => {
    expect(read(0, null)).toMatchObject({ output_complete: true });
    expect(read(0, null, { output_retained_bytes: 6 })).toMatchObject({
      output: "world\n",
      offset: 6,
      output_complete: false,
    });
  });

  test("moves nothing that exec and wait show", () => {
    const { read, shown } = inSession({}, function* (hands) {
      yield* hands.exec(hello, { background: true });
      yield* hands.pass(5);
      const read = result(yield* hands.read(1, 0));
      return { read, shown: result(yield* hands.status(1)) };
    });
    expect([read.output, shown.output]).toEqual(["hello\nworld\n", "hello\nworld\n"]);
  });

  test("notices that the process is over", () => {
    const over = inSession({}, function* (hands) {
      yield* hands.exec(commandOf({ phases: [lasts(1)] }), {
        background: true,
      });
      yield* hands.pass(5);
      return result(yield* hands.read(1, 0));
    });
    expect(over).toMatchObject({ status: "completed", exit_code: 0 });
  });
});

describe("marks", () => {
  const failing = (text: string) =>
    scripted({
      line: "pytest",
      phases: [
        {
          phase: "hang",
          output: {
            output: "at",
            lines: [
              { at: nothing, line: utf8.encode(text), says: null },
              { at: nothing, line: utf8.encode("FAILED\n"), says: "failure" },
              { at: nothing, line: utf8.encode(text), says: "progress" },
            ],
          },
        },
      ],
    });
  const seen = (text: string, settings: WrittenSettings) =>
    inSession({ settings }, function* (hands) {
      const returned = yield* hands.exec(failing(text));
      return "marks" in returned ? returned.marks : null;
    });

  test("are given away by what is shown, and by nothing that is left out", () => {
    expect(seen("short\n", {})).toEqual(["failure", "progress"]);
    expect(seen("a longer line\n", { output_budget_bytes: 20 })).toEqual(["progress"]);
    expect(seen("a longer line\n", { output_budget_bytes: 0 })).toEqual([]);
  });
});
