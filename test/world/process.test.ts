import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProcessId } from "../../src/agent/effects.ts";
import { type Duration, moment, seconds } from "../../src/policy/time.ts";
import { ScriptedProcess } from "../../src/world/process.ts";
import { commandOf, every, hangs, lasts, lines } from "../aRun.ts";
import { length, someCommand } from "../arbitraries.ts";

const at = (amount: number) => moment(seconds(amount));
const GRACE = seconds(2);

/** Started at 100 s of its trial. */
function started(
  phases: Parameters<typeof commandOf>[0]["phases"],
  { onTerm = 0 as number | null, retain = 2_097_152 } = {},
): ScriptedProcess {
  const command = commandOf({
    phases,
    onTerm: onTerm === null ? null : seconds(onTerm),
    exit: { code: 3, signal: null },
  });
  return new ScriptedProcess(1 as ProcessId, command, at(100), retain);
}

describe("a process that is left alone", () => {
  test("ends by itself at its length, and not a millisecond before", () => {
    const process = started([lasts(20)]);
    expect(process.endBy(at(119.999))).toBeNull();
    expect(process.endBy(at(120))).toEqual({ at: at(120), by: "itself", code: 3, signal: null });
  });

  test("never ends where it hangs", () => {
    expect(started([hangs()]).endBy(at(1e9))).toBeNull();
  });
});

describe("a process that is to be ended", () => {
  test.each([
    ["obeys TERM at once", 0, 120, "SIGTERM"],
    ["obeys TERM late", 1.5, 121.5, "SIGTERM"],
    ["obeys TERM at the very end of the grace", 2, 122, "SIGTERM"],
    ["would obey TERM too late, and is killed after the grace", 2.001, 122, "SIGKILL"],
    ["ignores TERM, and is killed after the grace", null, 122, "SIGKILL"],
  ] as const)("%s", (_, onTerm, dies, signal) => {
    for (const by of ["stop", "limit"] as const) {
      const process = started([hangs()], { onTerm });
      process.terminate(at(120), GRACE, by);
      expect(process.endBy(moment(seconds(dies) - 1))).toBeNull();
      expect(process.endBy(at(dies))).toEqual({ at: at(dies), by, code: null, signal });
    }
  });

  test("has ended by itself when that was due at the limit, or before", () => {
    for (const length of [19, 20]) {
      const process = started([lasts(length)]);
      process.terminate(at(120), GRACE, "limit");
      expect(process.endBy(at(200))).toEqual({ at: at(100 + length), by: "itself", code: 3, signal: null });
    }
  });

  test("that comes to its own end within the grace ends so, but was made to", () => {
    const process = started([lasts(21)], { onTerm: null });
    process.terminate(at(120), GRACE, "limit");
    expect(process.endBy(at(200))).toEqual({ at: at(121), by: "limit", code: 3, signal: null });
  });

  test("is ended by whoever came first", () => {
    const stoppedBefore = started([hangs()], { onTerm: null });
    stoppedBefore.terminate(at(160), GRACE, "limit");
    stoppedBefore.terminate(at(120), GRACE, "stop");
    expect(stoppedBefore.endBy(at(200))).toMatchObject({ at: at(122), by: "stop" });

    const stoppedInTheGrace = started([hangs()], { onTerm: null });
    stoppedInTheGrace.terminate(at(120), GRACE, "limit");
    stoppedInTheGrace.terminate(at(121), GRACE, "stop");
    expect(stoppedInTheGrace.endBy(at(200))).toMatchObject({ at: at(122), by: "limit", signal: "SIGKILL" });

    const stoppedAfter = started([hangs()]);
    stoppedAfter.terminate(at(120), GRACE, "limit");
    stoppedAfter.terminate(at(130), GRACE, "stop");
    expect(stoppedAfter.endBy(at(200))).toMatchObject({ at: at(120), by: "limit" });

    const ownEnd = started([lasts(21)], { onTerm: null });
    ownEnd.terminate(at(120), GRACE, "limit");
    ownEnd.terminate(at(119.5), GRACE, "stop");
    expect(ownEnd.endBy(at(200))).toEqual({ at: at(121), by: "stop", code: 3, signal: null });
  });

  test("prints until it ends, and then no more", () => {
    const process = started([hangs(every(1))], { onTerm: 1.5 });
    process.terminate(at(110), GRACE, "stop");
    expect([109, 110, 111, 112, 200].map((second) => process.written(at(second)))).toEqual([18, 20, 22, 22, 22]);
    expect(process.lastOutputAt(at(200))).toBe(at(111));
  });

  test("ends once, at or after it was told to and within the grace, whatever it does", () => {
    fc.assert(
      fc.property(
        someCommand(),
        length(0, 100),
        length(0, 4),
        fc.constantFrom("stop", "limit"),
        (command, after, grace, by) => {
          const process = new ScriptedProcess(1 as ProcessId, command, moment(0), 100);
          process.terminate(at(after), seconds(grace), by);
          const end = process.endBy(at(after + grace));
          if (command.length !== null && command.length <= seconds(after)) {
            expect(end).toEqual({ at: command.length, by: "itself", ...command.exit });
          } else {
            expect(end!.by).toBe(by);
            expect(end!.at).toBeGreaterThanOrEqual(seconds(after));
            expect(end!.at).toBeLessThanOrEqual(at(after + grace));
          }
        },
      ),
    );
  });
});

describe("output that is kept", () => {
  const process = (retain: number) =>
    started([hangs(lines([1, "first\n"], [2, "second\n"], [3, "third\n"]))], { retain });
  const read = (retain: number, from: number, limit = 100) => {
    const { bytes, marks: _, ...rest } = process(retain).read(from, limit, at(110));
    return { text: new TextDecoder().decode(bytes), ...rest };
  };

  test("is all of it, as long as there is room", () => {
    expect(read(19, 0)).toEqual({ text: "first\nsecond\nthird\n", from: 0, written: 19, complete: true });
  });

  test("is the newest where there is not, and says that it is not complete", () => {
    expect(read(9, 0)).toEqual({ text: "nd\nthird\n", from: 10, written: 19, complete: false });
    expect(read(9, 13)).toEqual({ text: "third\n", from: 13, written: 19, complete: false });
    expect(read(0, 0)).toEqual({ text: "", from: 19, written: 19, complete: false });
  });

  test("is read from where it is asked for, up to the limit, and is nothing beyond its end", () => {
    expect(read(100, 6, 6)).toEqual({ text: "second", from: 6, written: 19, complete: true });
    expect(read(100, 50)).toEqual({ text: "", from: 19, written: 19, complete: true });
    expect(read(100, 3, 0)).toEqual({ text: "", from: 3, written: 19, complete: true });
  });
});

describe("quiet", () => {
  const quiet = (length: number) => ({ length: seconds(length), since: "start" as const });
  const unread = (length: number, cursor: number) => ({ length: seconds(length), since: "unread" as const, cursor });

  test("counts from the last output, or from the start if there was none", () => {
    expect(started([hangs()]).quietAt(quiet(10), at(105))).toBe(at(110));
    const chatty = started([hangs(lines([4, "a"], [12, "b"]))]);
    expect([103, 104, 111.999, 112].map((second) => chatty.quietAt(quiet(10), at(second)))).toEqual([
      at(110),
      at(114),
      at(114),
      at(122),
    ]);
  });

  test("of unread output begins with the first beyond the cursor", () => {
    const chatty = started([hangs(lines([4, "a"], [5, "b"]))]);
    expect(chatty.quietAt(unread(2, 0), at(100))).toBe(at(106));
    expect(chatty.quietAt(unread(2, 0), at(104))).toBe(at(106));
    expect(chatty.quietAt(unread(2, 0), at(105))).toBe(at(107));
    expect(chatty.quietAt(unread(2, 1), at(104))).toBe(at(107));
    expect(chatty.quietAt(unread(2, 2), at(105))).toBe(Number.MAX_SAFE_INTEGER as Duration);
    expect(started([hangs()]).quietAt(unread(2, 0), at(105))).toBe(Number.MAX_SAFE_INTEGER);
  });
});
