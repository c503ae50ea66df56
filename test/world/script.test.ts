import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seconds } from "../../src/policy/time.ts";
import { kindOf, scripted } from "../../src/world/script.ts";
import { command, commandOf, every, hangs, lasts, leaves, lines, prompts, serves } from "../aRun.ts";
import { anyPhases } from "../arbitraries.ts";
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

describe("a server", () => {
  const server = commandOf({
    phases: [lasts(2), serves(3, lines([1, "booting\n"], [3, "ready\n", "ready"]))],
    port: 80,
  });

  test("is there for whoever asks from its ready moment on, counted from the command's start, and never ends", () => {
    expect(server).toMatchObject({ kind: "server", length: null, readyAt: 5_000, port: 80 });
    expect(server.prints!.slice(0, server.prints!.writtenBy(5_000)).marks).toEqual(["ready"]);
  });

  test("whose port is taken gets as far as listening, says so, and exits 1", () => {
    const { clash } = server;
    expect(clash).toMatchObject({ length: 2_000, exit: { code: 1, signal: null }, port: null, readyAt: null });
    const { bytes, marks } = clash!.prints!.slice(0, clash!.prints!.writtenBy(2_000));
    expect([text(bytes), marks]).toEqual(["cannot listen on port 80: it is taken\n", ["failure"]]);
  });
});

describe("a lock", () => {
  test("that is taken stops a command at once, whatever its phases", () => {
    const { clash } = commandOf({ phases: [lasts(20)], lock: "build.lock", passes: [1] });
    expect(clash).toMatchObject({ length: 0, exit: { code: 1, signal: null }, lock: null, passes: [] });
    const { prints } = clash!;
    expect(text(prints!.slice(0, prints!.writtenBy(0)).bytes)).toBe("cannot get the lock build.lock: it is taken\n");
  });

  test("is no matter to a command that wants none", () => {
    expect(commandOf({ phases: [lasts(20)] }).clash).toBeNull();
  });
});

describe("a prompt", () => {
  test("writes its question, and finds its input closed: it exits as it says, and the rest is never reached", () => {
    const asks = command(lasts(2), prompts("sure? ", { code: 3, signal: null }), lasts(9, every(1)));
    expect(asks).toMatchObject({ length: 2_000, exit: { code: 3, signal: null }, kind: "quick" });
    expect(text(asks.prints!.slice(0, asks.prints!.writtenBy(99_000)).bytes)).toBe("sure? ");
  });

  test("or hangs", () => {
    expect(command(prompts("sure? ", "hang"), lasts(9))).toMatchObject({ length: null, kind: "hanging" });
  });
});

describe("a child", () => {
  test("takes none of the command's own time, and lasts from where it was started", () => {
    const { length, descendants } = command(
      lasts(2),
      leaves(30),
      leaves(null, { group: "own", holdsOutput: false }),
      lasts(1),
    );
    expect(length).toBe(3_000);
    expect(descendants).toEqual([
      { startsAt: 2_000, endsAt: 32_000, group: "same", holdsOutput: true },
      { startsAt: 2_000, endsAt: null, group: "own", holdsOutput: false },
    ]);
  });
});

describe("what a command says of itself", () => {
  test.each([
    ["its own length", [lasts(20)], undefined, 20_000],
    ["that of its finite phases, where it never ends", [lasts(20), hangs()], undefined, 20_000],
    ["a minute, where nobody can tell", [hangs()], undefined, 60_000],
    ["whatever is stated", [hangs()], seconds(300), 300_000],
  ] as const)("its usual length is %s", (_, phases, usual, expected) => {
    expect(commandOf({ phases, ...(usual === undefined ? null : { usual }) }).usual).toBe(expected);
  });

  test("it wants cores in the phases that say so, and none else", () => {
    expect(command(lasts(5), lasts(10, undefined, 2), hangs()).stretches).toEqual([
      { cpu: 0, lasts: 5_000 },
      { cpu: 2, lasts: 10_000 },
      { cpu: 0, lasts: Number.POSITIVE_INFINITY },
    ]);
    expect(command(lasts(5), hangs()).stretches).toBeNull();
  });
});

describe("whatever its phases, a script", () => {
  test("lasts as long as when performed millisecond by millisecond, and has printed as much by any moment", () => {
    fc.assert(
      fc.property(anyPhases, fc.array(moments, { minLength: 1, maxLength: 5 }), (phases, asked) => {
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
      fc.property(anyPhases, moments, fc.nat(), fc.nat(), (phases, at, a, b) => {
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
