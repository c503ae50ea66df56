import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { comeBackAt, isNeverHandedOver, leadingSleep, makesRoom, takesAll } from "../../src/policy/admission.ts";
import { settingsOf, shipped } from "../../src/policy/settings.ts";
import { type Instant, moment, seconds } from "../../src/policy/time.ts";

const at = (amount: number) => moment(seconds(amount));

test("a shell as shipped takes on whatever it is given", () => {
  expect(takesAll(shipped)).toBe(true);
  expect(takesAll(settingsOf({ process_slots: 64 }))).toBe(false);
});

describe("a leading sleep", () => {
  test.each([
    ["sleep 30", 30],
    ["  sleep 2.5 && make", 2.5],
    ["sleep 5m; tail log", 300],
    ["sleep 1h", 3_600],
    ["sleep 30s", 30],
    ["make && sleep 30", null],
    ["sleeper 30", null],
    ["sleep $N", null],
    ["sleep 30x", null],
    ["nosleep 3", null],
    ["", null],
  ])("of %j is %s s", (line, expected) => {
    expect(leadingSleep(line)).toBe(expected === null ? null : seconds(expected));
  });
});

test.each([
  ["sleep 600", true],
  ["git push", true],
  ["cd x && git status | head", true],
  ["sudo -u me git fetch", true],
  ["bash -c 'git pull'", true],
  ["make", false],
  ["echo git", false],
  ["gitk", false],
  ["make; sleep 3", false],
])("%j is never handed over: %s", (line, expected) => {
  const exempting = settingsOf({ hand_over_exempts: "sleep_and_git" });
  expect(isNeverHandedOver(line, exempting)).toBe(expected);
  expect(isNeverHandedOver(line, shipped)).toBe(false);
});

describe("a caller that calls often", () => {
  const gaia = settingsOf({ shell_calls_per_minute: 10, shell_calls_per_ten_seconds: 3 });

  test("is refused the fourth call in ten seconds until the first of them is ten seconds old", () => {
    expect(comeBackAt([at(0), at(1), at(2)], at(3), gaia)).toBe(at(10));
    expect(comeBackAt([at(0), at(1), at(2)], at(10), gaia)).toBeNull();
    expect(comeBackAt([at(0), at(1)], at(3), gaia)).toBeNull();
  });

  test("is refused the eleventh in a minute", () => {
    const ten = Array.from({ length: 10 }, (_, nth) => at(5 * nth));
    expect(comeBackAt(ten, at(50), gaia)).toBe(at(60));
    expect(comeBackAt(ten, at(50), shipped)).toBeNull();
  });

  test("who waits as told never has more calls in any such span than there may be", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 8_000 }), { maxLength: 40 }), (gaps) => {
        const calls: Instant[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          now = comeBackAt(calls, moment(now), gaia) ?? now;
          expect(comeBackAt(calls, moment(now), gaia)).toBeNull();
          calls.push(moment(now));
        }
        for (const [nth, call] of calls.entries()) {
          expect(call - (calls[nth - 3] ?? -60_000)).toBeGreaterThanOrEqual(10_000);
          expect(call - (calls[nth - 10] ?? -60_000)).toBeGreaterThanOrEqual(60_000);
        }
      }),
    );
  });
});

describe("where all slots are taken", () => {
  const kept = (...of: readonly (readonly [name: string, lastCall: number, ended?: boolean])[]) =>
    of.map(([is, lastCall, ended = false]) => ({ is, lastCall, ended }));
  const refusing = settingsOf({ process_slots: 3 });
  const pruning = settingsOf({ process_slots: 4, process_slots_full: "prune", process_slots_protected: 2 });

  test("those that have ended go first, and nobody goes while there is room", () => {
    expect(makesRoom(kept(["a", 1], ["b", 2, true]), refusing)).toEqual([]);
    expect(makesRoom(kept(["a", 1], ["b", 3, true], ["c", 2, true]), refusing)).toEqual(["c"]);
    expect(makesRoom(kept(["a", 1], ["b", 3], ["c", 2]), refusing)).toBeNull();
    expect(makesRoom(kept(["a", 1], ["b", 3], ["c", 2]), shipped)).toEqual([]);
  });

  test("one that is pruned is the one used longest ago, and none of those used last", () => {
    expect(makesRoom(kept(["a", 4], ["b", 3], ["c", 2], ["d", 1]), pruning)).toEqual(["d"]);
    expect(makesRoom(kept(["a", 4], ["b", 3], ["c", 2, true], ["d", 1]), pruning)).toEqual(["c"]);
    expect(makesRoom(kept(["a", 4, true], ["b", 3], ["c", 2], ["d", 1]), pruning)).toEqual(["d"]);
  });
});
