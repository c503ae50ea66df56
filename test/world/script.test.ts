import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seconds } from "../../src/policy/time.ts";
import { kindOf, scripted } from "../../src/world/script.ts";
import { command, commandOf, every, hangs, lasts, lines } from "../aRun.ts";
import { somePhases } from "../arbitraries.ts";
import { performed } from "./naive.ts";

/** Longer than three phases last, and the first output of a fourth. */
const HORIZON = 1_000_000;
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const moments = fc.oneof(fc.integer({ min: 0, max: 400 }).map(seconds), fc.integer({ min: 0, max: 400_000 }));

describe("a script", () => {
  test("lasts as long as its phases together, and for ever once one hangs", () => {
    expect(command(lasts(2), lasts(3.5)).length).toBe(5_500);
    expect(command(lasts(2), hangs(), lasts(3)).length).toBeNull();
    expect(command().length).toBe(0);
  });

  test("exits clean and obeys TERM at once, unless it says otherwise", () => {
    expect(command(lasts(1))).toMatchObject({ exit: { code: 0, signal: null }, onTerm: 0, passes: [], spoils: [] });
    expect(commandOf({ phases: [], exit: { code: 1, signal: null }, onTerm: null, passes: [1] })).toMatchObject({
      exit: { code: 1, signal: null },
      onTerm: null,
      passes: [1],
    });
  });

  test.each([
    [9.999, "quick"],
    [10, "long_finite"],
    [3_600, "long_finite"],
    [null, "hanging"],
  ] as const)("of %s s is %s", (length, kind) => {
    expect(kindOf(length === null ? null : seconds(length))).toBe(kind);
  });

  test("that says nothing prints nothing", () => {
    expect(command(lasts(5), hangs()).prints).toBeNull();
    expect(command(lasts(0.5, every(1))).prints).toBeNull();
  });

  test("prints first after one interval, and last in its last millisecond", () => {
    const { prints } = command(lasts(10, every(5, "tick\n")), hangs());
    expect([4_999, 5_000, 9_999, 10_000, 99_000].map((at) => prints!.writtenBy(at))).toEqual([0, 5, 5, 10, 10]);
    expect([4_999, 5_000, 9_999, 10_000, 99_000].map((at) => prints!.lastBy(at))).toEqual([
      null,
      5_000,
      5_000,
      10_000,
      10_000,
    ]);
    expect([0, 4_999, 5_000, 10_000].map((at) => prints!.nextAfter(at))).toEqual([5_000, 5_000, 10_000, null]);
  });

  test("leaves out what a phase does not live to say", () => {
    const { prints } = command(
      lasts(10, lines([1, "a"], [10, "b"], [10.001, "never"])),
      lasts(5, lines([0, "c"], [5, "d"])),
    );
    expect(text(prints!.slice(0, prints!.writtenBy(15_000)).bytes)).toBe("abcd");
  });

  test("goes on printing for ever where it hangs", () => {
    const { prints } = command(lasts(3, lines([1, "start\n"])), hangs(every(60, "still here\n")));
    expect(prints!.writtenBy(3_000 + 3_600_000)).toBe(6 + 60 * 11);
    expect(text(prints!.slice(6 + 59 * 11, 6 + 60 * 11).bytes)).toBe("still here\n");
  });

  test("gives its marks away with the end of the line that carries them", () => {
    const line = new TextEncoder().encode("FAILED\n");
    const { prints } = scripted({
      line: "pytest",
      phases: [{ phase: "hang", output: { output: "at", lines: [{ at: seconds(1), line, says: "failure" }] } }],
    });
    expect([prints!.slice(0, 7).marks, prints!.slice(0, 6).marks, prints!.slice(6, 7).marks]).toEqual([
      ["failure"],
      [],
      ["failure"],
    ]);
  });
});

describe("whatever its phases, a script", () => {
  test("lasts as long as when performed millisecond by millisecond, and has printed as much by any moment", () => {
    fc.assert(
      fc.property(somePhases(), fc.array(moments, { minLength: 1, maxLength: 5 }), (phases, asked) => {
        const { length, prints } = scripted({ line: "it", phases });
        const whole = performed(phases, HORIZON);
        expect(length).toBe(whole.length);
        for (const at of asked) {
          const { lines } = performed(phases, at);
          expect(prints?.writtenBy(at) ?? 0).toBe(lines.reduce((sum, { line }) => sum + line.length, 0));
          expect(prints?.lastBy(at) ?? null).toBe(lines.at(-1)?.at ?? null);
          const next = whole.lines.find((line) => line.at > at)?.at ?? null;
          expect(prints?.nextAfter(at) ?? null).toBe(next);
        }
      }),
    );
  });

  test("has the bytes, and the marks of the lines that end in them, in any stretch of its output", () => {
    fc.assert(
      fc.property(somePhases(), moments, fc.nat(), fc.nat(), (phases, at, a, b) => {
        const { prints } = scripted({ line: "it", phases });
        const { lines } = performed(phases, at);
        const whole = Buffer.concat(lines.map(({ line }) => line));
        const [from, to] = [a % (whole.length + 1), b % (whole.length + 1)].sort((x, y) => x - y) as [number, number];
        const piece = prints?.slice(from, to) ?? { bytes: new Uint8Array(), marks: [] };
        expect(Buffer.from(piece.bytes)).toEqual(whole.subarray(from, to));
        let end = 0;
        const ending = lines.filter(({ line }) => {
          end += line.length;
          return end > from && end <= to;
        });
        expect(piece.marks).toEqual(ending.map(({ says }) => says).filter((says) => says !== null));
      }),
    );
  });
});
