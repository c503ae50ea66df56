import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Completion, KillReach, ProcessId } from "../../src/agent/effects.ts";
import { type Duration, moment, never, seconds } from "../../src/policy/time.ts";
import { type Progress, ScriptedProcess } from "../../src/world/process.ts";
import { command, commandOf, every, hangs, lasts, leaves, lines, serves } from "../aRun.ts";
import { length, someCommand } from "../arbitraries.ts";

const at = (amount: number) => moment(seconds(amount));
const GRACE = seconds(2);

/** Started at 100 s of its trial. */
function started(
  phases: Parameters<typeof commandOf>[0]["phases"],
  {
    onTerm = 0,
    retain = 2_097_152,
    overAt = "exit",
    ...more
  }: {
    readonly onTerm?: number | null;
    readonly retain?: number;
    readonly overAt?: Completion;
    readonly port?: number;
    readonly lock?: string;
    readonly signalLost?: boolean;
  } = {},
): ScriptedProcess {
  const command = commandOf({
    phases,
    onTerm: onTerm === null ? null : seconds(onTerm),
    exit: { code: 3, signal: null },
    ...more,
  });
  return new ScriptedProcess(1 as ProcessId, command, at(100), retain, overAt);
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
      process.terminate(at(120), GRACE, by, "tree");
      expect(process.endBy(moment(seconds(dies) - 1))).toBeNull();
      expect(process.endBy(at(dies))).toEqual({ at: at(dies), by, code: null, signal });
    }
  });

  test("has ended by itself when that was due at the limit, or before", () => {
    for (const length of [19, 20]) {
      const process = started([lasts(length)]);
      process.terminate(at(120), GRACE, "limit", "tree");
      expect(process.endBy(at(200))).toEqual({ at: at(100 + length), by: "itself", code: 3, signal: null });
    }
  });

  test("that comes to its own end within the grace ends so, but was made to", () => {
    const process = started([lasts(21)], { onTerm: null });
    process.terminate(at(120), GRACE, "limit", "tree");
    expect(process.endBy(at(200))).toEqual({ at: at(121), by: "limit", code: 3, signal: null });
  });

  test("is ended by whoever came first", () => {
    const stoppedBefore = started([hangs()], { onTerm: null });
    stoppedBefore.terminate(at(160), GRACE, "limit", "tree");
    stoppedBefore.terminate(at(120), GRACE, "stop", "tree");
    expect(stoppedBefore.endBy(at(200))).toMatchObject({ at: at(122), by: "stop" });

    const stoppedInTheGrace = started([hangs()], { onTerm: null });
    stoppedInTheGrace.terminate(at(120), GRACE, "limit", "tree");
    stoppedInTheGrace.terminate(at(121), GRACE, "stop", "tree");
    expect(stoppedInTheGrace.endBy(at(200))).toMatchObject({ at: at(122), by: "limit", signal: "SIGKILL" });

    const stoppedAfter = started([hangs()]);
    stoppedAfter.terminate(at(120), GRACE, "limit", "tree");
    stoppedAfter.terminate(at(130), GRACE, "stop", "tree");
    expect(stoppedAfter.endBy(at(200))).toMatchObject({ at: at(120), by: "limit" });

    const ownEnd = started([lasts(21)], { onTerm: null });
    ownEnd.terminate(at(120), GRACE, "limit", "tree");
    ownEnd.terminate(at(119.5), GRACE, "stop", "tree");
    expect(ownEnd.endBy(at(200))).toEqual({ at: at(121), by: "stop", code: 3, signal: null });
  });

  test("prints until it ends, and then no more", () => {
    const process = started([hangs(every(1))], { onTerm: 1.5 });
    process.terminate(at(110), GRACE, "stop", "tree");
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
          process.terminate(at(after), seconds(grace), by, "tree");
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

describe("whatever a kill does not reach", () => {
  /** A server on a port, ready at 110 s, that is killed at 120 s. */
  const killed = (reach: KillReach, ...children: ReturnType<typeof leaves>[]) => {
    const process = started([...children, serves(10)], { port: 80 });
    process.terminate(at(120), GRACE, "limit", reach);
    return process;
  };
  const both = [leaves(50), leaves(null, { group: "own" })];

  test.each([
    ["tree", null, null],
    ["group", 1, true],
    ["process", 3, true],
  ] as const)("of a %s lives on: %s processes, and holds the output open: %s", (reach, survivors, heldOpen) => {
    const end = killed(reach, ...both).endBy(at(200));
    // While something holds the output open it is drained, for a quarter of a second.
    expect(end).toEqual({
      at: at(heldOpen === null ? 120 : 120.25),
      by: "limit",
      code: null,
      signal: "SIGTERM",
      ...(survivors === null ? null : { survivors }),
      ...(heldOpen === null ? null : { heldOpen }),
    });
  });

  test("goes on serving, and keeps its port", () => {
    const seen = (reach: KillReach) => {
      const process = killed(reach);
      return [109.999, 110, 119.999, 120, 500].map((second) => [
        process.servesAt(at(second)),
        process.holdsPort(at(second)),
      ]);
    };
    const alive = [
      [false, true],
      [true, true],
      [true, true],
    ];
    expect(seen("process")).toEqual([...alive, [true, true], [true, true]]);
    for (const reach of ["tree", "group"] as const)
      expect(seen(reach)).toEqual([...alive, [false, false], [false, false]]);
  });

  test("is what somebody has seen of it, whoever wants it ended afterwards", () => {
    const process = killed("process");
    expect(process.endBy(at(200))).toMatchObject({ survivors: 1 });
    process.terminate(at(300), GRACE, "stop", "tree");
    expect([process.endBy(at(400))?.survivors, process.servesAt(at(400)), process.holdsPort(at(400))]).toEqual([
      1,
      true,
      true,
    ]);
  });

  test("is nothing where the shell had ended by itself, whatever its signal", () => {
    const crashed = new ScriptedProcess(
      1 as ProcessId,
      commandOf({ phases: [leaves(300), lasts(5)], exit: { code: null, signal: "SIGSEGV" }, lock: "lock" }),
      at(100),
      100,
      "end_of_output",
    );
    crashed.terminate(at(120), GRACE, "limit", "process");
    expect(crashed.holdsLock(at(130))).toBe(false);
    expect(crashed.endBy(at(500))).toEqual({ at: at(400), by: "limit", code: null, signal: "SIGSEGV" });
  });
});

describe("a lock", () => {
  const locking = () => started([lasts(50)], { lock: "build.lock" });

  test("is held while its process lives, and let go at its own end", () => {
    const process = locking();
    expect([100, 149.999, 150, 500].map((second) => process.holdsLock(at(second)))).toEqual([true, true, false, false]);
  });

  test("is left behind for ever by a kill", () => {
    const process = locking();
    process.terminate(at(120), GRACE, "stop", "tree");
    expect([100, 120, 9_999].map((second) => process.holdsLock(at(second)))).toEqual([true, true, true]);
  });
});

describe("a process that counts as over once nobody holds its output open", () => {
  const over = (...phases: Parameters<typeof commandOf>[0]["phases"]) =>
    started(phases, { overAt: "end_of_output" }).endsAt - at(100);

  test("outlives its shell by a child that does, and by no other", () => {
    expect(over(leaves(30), lasts(5))).toBe(30_000);
    expect(over(lasts(5), leaves(30))).toBe(35_000);
    expect(over(leaves(3), lasts(5))).toBe(5_000);
    expect(over(leaves(30, { holdsOutput: false }), lasts(5))).toBe(5_000);
    expect(over(leaves(null), lasts(5))).toBe(never - at(100));
  });

  test("prints nothing more once its shell has ended", () => {
    const process = started([leaves(30), lasts(5, every(1)), lasts(0)], { overAt: "end_of_output" });
    expect([103, 105, 130].map((second) => process.written(at(second)))).toEqual([6, 10, 10]);
  });
});

describe("an end whose signal is lost", () => {
  const lost = (length: number) => started([lasts(length)], { signalLost: true });

  test("is announced to nobody, and is there for whoever looks", () => {
    expect(lost(20).announcedAt()).toBe(never);
    expect(lost(20).endBy(at(120))).toMatchObject({ at: at(120), by: "itself" });
  });

  test("is announced when somebody comes to end the process, and finds it over", () => {
    const process = lost(20);
    process.terminate(at(160), GRACE, "limit", "tree");
    expect(process.announcedAt()).toBe(at(160));
    expect(process.endBy(at(160))).toMatchObject({ at: at(120), by: "itself" });
  });

  test("is announced where somebody has made it end", () => {
    const process = lost(20);
    process.terminate(at(110), GRACE, "limit", "tree");
    expect(process.announcedAt()).toBe(at(110));
  });
});

describe("a limit on silence", () => {
  const silence = (from: number, length: number) => ({ from: at(from), length: seconds(length) });
  const limit = (
    process: ScriptedProcess,
    silences: readonly ReturnType<typeof silence>[],
    latest = never,
    now = 100,
  ) =>
    process.limit(
      { effect: "limit", process: process.id, at: latest, afterSilence: silences, grace: GRACE, reach: "tree" },
      at(now),
    );

  test.each([
    ["counts from the start where nothing is printed", [hangs()], 150],
    ["counts from the last output", [hangs(lines([10, "a"], [59, "b"]))], 209],
    ["is reset by an output at its very end", [hangs(lines([50, "a"]))], 200],
    ["is not by one a millisecond later", [hangs(lines([50.001, "a"]))], 150],
    ["never ends what prints in time", [hangs(every(50))], null],
    ["ends what prints too rarely in its first gap", [hangs(every(51))], 150],
    ["counts over the end of a phase", [lasts(95, every(10)), hangs()], 240],
    ["is nothing to what ends in time", [lasts(50)], null],
    ["looks at what comes after much that is in time", [lasts(100_000, every(10)), hangs(lines([49, "a"]))], 100_199],
  ] as const)("%s", (_, phases, ends) => {
    const process = started(phases);
    limit(process, [silence(100, 50)]);
    const end = process.endBy(at(1e6));
    if (ends === null) expect(end?.by ?? "itself").toBe("itself");
    else expect(end).toEqual({ at: at(ends), by: "limit", code: null, signal: "SIGTERM", silent: true });
  });

  test("that begins late ends nothing before, however silent it was", () => {
    const process = started([hangs(lines([70, "a"]))]);
    limit(process, [silence(220, 60)], at(820));
    expect(process.endBy(at(1e6))).toMatchObject({ at: at(230), silent: true });
    const long = started([hangs()]);
    limit(long, [silence(220, 60)], at(820));
    expect(long.endBy(at(1e6))).toMatchObject({ at: at(220), silent: true });
    const chatty = started([hangs(every(59))]);
    limit(chatty, [silence(220, 60)], at(820));
    expect(chatty.endBy(at(1e6))).toEqual({ at: at(820), by: "limit", code: null, signal: "SIGTERM" });
  });

  test("takes the place of an earlier one, unless that has come", () => {
    const process = started([hangs()]);
    limit(process, [], at(160));
    limit(process, [], at(400), 159);
    limit(process, [], at(500), 400);
    expect(process.endBy(at(1e6))).toMatchObject({ at: at(400), by: "limit" });
  });

  test("that has lasted already when it is set ends it at once", () => {
    const process = started([hangs()]);
    limit(process, [silence(100, 50)], never, 300);
    expect(process.endBy(at(300))).toMatchObject({ at: at(300), silent: true });
  });

  test("ends whatever command at the moment that counting millisecond by millisecond finds", () => {
    const small = fc.integer({ min: 1, max: 30 }).map((ms) => ms / 1_000);
    const output = fc.oneof(
      small.map((interval) => every(interval)),
      fc
        .array(small, { maxLength: 4 })
        .map((moments) => lines(...[...moments].sort((a, b) => a - b).map((t) => [t, "x"] as const))),
    );
    const phases = fc
      .array(
        fc.tuple(
          small.map((l) => 4 * l),
          output,
        ),
        { maxLength: 4 },
      )
      .map((parts) => parts.map(([l, o]) => lasts(l, o)));
    fc.assert(
      fc.property(
        phases,
        output,
        fc.array(
          fc.tuple(
            small.map((from) => 10 * from),
            small,
          ),
          { minLength: 1, maxLength: 2 },
        ),
        (parts, last, limits) => {
          const process = started([...parts, hangs(last)]);
          const twin = started([...parts, hangs(last)]);
          const silences = limits.map(([from, length]) => silence(100 + from, length));
          limit(process, silences);
          let expected: number | null = null;
          for (let now = at(100) as number; now < at(102) && expected === null; now += 1) {
            const heard = twin.lastOutputAt(moment(now)) ?? at(100);
            if (silences.some(({ from, length }) => from <= now && now - heard >= length)) expected = now;
          }
          expect(process.endBy(at(102))?.at ?? null).toBe(expected);
        },
      ),
    );
  });
});

describe("on a host that goes slower or faster", () => {
  /** Goes at half the speed from 150 s on, once that is known. */
  const slowing = () => {
    let isKnown = false;
    const progress: Progress = {
      done: (now) => (isKnown && now > at(150) ? 50_000 + (now - at(150)) / 2 : now - at(100)),
      when: (script) =>
        isKnown && script > 50_000 ? moment(at(150) + 2 * (script - 50_000)) : moment(at(100) + script),
    };
    const process = new ScriptedProcess(1 as ProcessId, command(lasts(100)), at(100), 100, "exit", progress);
    return {
      process,
      slows: () => {
        isKnown = true;
        process.goesAnew(at(105));
      },
    };
  };

  test("a process ends later", () => {
    const { process, slows } = slowing();
    expect(process.endsAt).toBe(at(200));
    slows();
    expect(process.endBy(at(249.999))).toBeNull();
    expect(process.endBy(at(250))).toMatchObject({ at: at(250), by: "itself" });
  });

  test("a limit that would not have come to pass does", () => {
    const { process, slows } = slowing();
    process.terminate(at(220), GRACE, "limit", "tree");
    expect(process.endsAt).toBe(at(200));
    slows();
    expect(process.endBy(at(300))).toMatchObject({ at: at(220), by: "limit", signal: "SIGTERM" });
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
