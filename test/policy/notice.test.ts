import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  batched,
  described,
  givenBack,
  hintFor,
  mayWakeAt,
  noticeText,
  noWakes,
  overdueAt,
  reserved,
  retryAfter,
  type Told,
  triedAgainAt,
  usualLength,
  utf8Length,
  type Wakes,
} from "../../src/policy/notice.ts";
import { settingsOf, type WrittenSettings } from "../../src/policy/settings.ts";
import { inSeconds, moment, never, seconds } from "../../src/policy/time.ts";

const at = (second: number) => moment(seconds(second));
const encoder = new TextEncoder();

/** When wake-ups happen that are wanted at these seconds, one after the other, and each as early as it may. */
function wakeUps(wanted: readonly number[], layer: WrittenSettings): number[] {
  const settings = settingsOf(layer);
  let wakes: Wakes = noWakes;
  let now = at(0);
  return wanted.map((second) => {
    if (at(second) > now) now = at(second);
    now = mayWakeAt(wakes, now, settings);
    wakes = reserved(wakes, now, settings);
    return inSeconds(now);
  });
}

describe("the window of wake-ups", () => {
  test("has three places, and lets the fourth in once it is over: fixed, counted from the first", () => {
    expect(wakeUps([10, 20, 50, 55, 56], { notice_window: "fixed" })).toEqual([10, 20, 50, 70, 70]);
  });

  test("sliding, gives each place back a minute after it was taken", () => {
    expect(wakeUps([10, 20, 50, 55, 56, 57], { notice_window: "sliding" })).toEqual([10, 20, 50, 70, 80, 110]);
  });

  test("fixed, may see six wake-ups in little more than a moment; sliding never", () => {
    expect(wakeUps([0, 59, 59, 60, 60, 60], { notice_window: "fixed" })).toEqual([0, 59, 59, 60, 60, 60]);
    expect(wakeUps([0, 59, 59, 60, 60, 60], { notice_window: "sliding" })).toEqual([0, 59, 59, 60, 119, 119]);
  });

  test("has a place again once a delivery has failed, and stays the window it was", () => {
    const settings = settingsOf({ notice_wakes: 1 });
    const taken = reserved(noWakes, at(10), settings);
    expect(mayWakeAt(taken, at(11), settings)).toBe(at(70));
    const back = givenBack(taken);
    expect(mayWakeAt(back, at(11), settings)).toBe(at(11));
    expect(mayWakeAt(reserved(back, at(40), settings), at(41), settings)).toBe(at(70));
  });

  const moments = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 40 }).map((all) => all.sort((a, b) => a - b));

  test("sliding, is never overfull: no stretch of its length holds more", () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 90 }), (wanted, most, length) => {
        const rules = { notice_window: "sliding", notice_wakes: most, notice_window_length_seconds: length } as const;
        const woken = wakeUps(wanted, rules);
        for (const from of woken) {
          expect(woken.filter((second) => second >= from && second < from + length).length).toBeLessThanOrEqual(most);
        }
      }),
    );
  });

  test("fixed, is cut at its length from the first wake-up in it, and none holds more", () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 90 }), (wanted, most, length) => {
        const rules = { notice_window: "fixed", notice_wakes: most, notice_window_length_seconds: length } as const;
        let began = Number.NEGATIVE_INFINITY;
        let count = 0;
        for (const second of wakeUps(wanted, rules)) {
          if (second >= began + length) [began, count] = [second, 0];
          count += 1;
          expect(count).toBeLessThanOrEqual(most);
        }
      }),
    );
  });

  test("puts nothing off for longer than it must: with a place free nobody waits", () => {
    fc.assert(
      fc.property(moments, fc.constantFrom("fixed" as const, "sliding" as const), (wanted, window) => {
        const woken = wakeUps(wanted, { notice_window: window });
        for (const [n, second] of woken.entries()) {
          const asked = Math.max(wanted[n]!, woken[n - 1] ?? 0);
          if (second > asked)
            expect(woken.slice(0, n).filter((before) => before > asked - 60).length).toBeGreaterThan(2);
        }
      }),
    );
  });
});

describe("a delivery that fails", () => {
  test("is tried again after 1, 2 and 5 s, then after 60 s, doubling to 300", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 2_000].map((failures) => inSeconds(retryAfter(failures)))).toEqual([
      1, 2, 5, 60, 120, 240, 300, 300, 300,
    ]);
  });

  test("is given up where the next try would come later than so long after the first", () => {
    const settings = settingsOf({ delivery_gives_up_after_seconds: 300 });
    expect(triedAgainAt(4, at(100), at(110), settings)).toBe(at(170));
    expect(triedAgainAt(5, at(100), at(170), settings)).toBe(at(290));
    expect(triedAgainAt(6, at(100), at(290), settings)).toBeNull();
    expect(triedAgainAt(60, at(100), at(90_000), settingsOf())).toBe(at(90_300));
  });
});

const finished = (description: string, n = 1): Told => ({
  process_id: `process-${n}`,
  status: "completed",
  description,
  ended_seconds: 12.5,
});

describe("what a notice says", () => {
  test("counts bytes as UTF-8 does, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).length);
      }),
    );
  });

  test("quotes a command whole if it fits, and cuts it at a character if it does not", () => {
    const settings = settingsOf();
    expect(described("npm run build", settings)).toBe("npm run build");
    expect(described("é".repeat(128), settings)).toBe("é".repeat(128));
    // 253 bytes are left beside the ellipsis: 126 characters of two, and one byte that is none.
    expect(described("é".repeat(129), settings)).toBe(`${"é".repeat(126)}…`);
    expect(described(`a${"🐢".repeat(64)}`, settings)).toBe(`a${"🐢".repeat(63)}…`);
    expect(described("a\nb\u0000c", settings)).toBe("a b c");
  });

  test("never more than 256 bytes of a command, nor half a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.integer({ min: 4, max: 256 }), (line, most) => {
        const text = described(line, settingsOf({ notice_description_bytes: most }));
        expect(encoder.encode(text).length).toBeLessThanOrEqual(most);
        expect(/\p{Cs}/u.test(text)).toBe(false);
      }),
    );
  });

  test("names 32 commands at most", () => {
    const many = Array.from({ length: 40 }, (_, n) => finished("make", n));
    expect(batched(many, (each) => each, settingsOf())).toEqual(many.slice(0, 32));
  });

  test("and takes 8,192 bytes at most, in order, one command at least", () => {
    const settings = settingsOf();
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { minLength: 1, maxLength: 50 }),
        (lines) => {
          const all = lines.map((line, n) => finished(described(line, settings), n));
          const batch = batched(all, (each) => each, settings);
          expect(batch).toEqual(all.slice(0, batch.length));
          expect(batch.length).toBeGreaterThanOrEqual(1);
          expect(batch.length).toBeLessThanOrEqual(32);
          expect(encoder.encode(noticeText(batch)).length).toBeLessThanOrEqual(8_192);
          const more = all.slice(0, batch.length + 1);
          if (more.length > batch.length && batch.length < 32)
            expect(encoder.encode(noticeText(more)).length).toBeGreaterThan(8_192);
        },
      ),
    );
  });
});

describe("a command that takes long", () => {
  const settings = settingsOf({ heartbeat: true, usual_length_test_seconds: 300, usual_length_build_seconds: 900 });

  test("is overdue past the usual length of its class, if its class has one", () => {
    expect(usualLength("pytest -q", settings)).toBe(seconds(300));
    expect(overdueAt("pytest -q", at(100), settings)).toBe(at(400));
    expect(overdueAt("make && pytest", at(0), settings)).toBe(at(900));
    expect(overdueAt("sleep 9999", at(0), settings)).toBe(never);
    expect(overdueAt("pytest -q", at(100), { ...settings, heartbeat: false })).toBe(never);
  });
});

describe("a look that finds nothing new", () => {
  const looks = { count: 4, unhinted: 4, silentSince: at(600), repeated: true };
  const quiet = settingsOf({ quiet_poll_hint_after: 4, repeated_read_hint: true });

  test("points to stop after so many in a row, once the process has been silent for long enough", () => {
    expect(hintFor(looks, at(920), quiet)).toBe("quiet_polls");
    expect(hintFor({ ...looks, unhinted: 3 }, at(920), quiet)).toBe("repeated_read");
    expect(hintFor(looks, at(899), quiet)).toBe("repeated_read");
    expect(hintFor(looks, at(900), quiet)).toBe("quiet_polls");
  });

  test("points to something better to do where it repeats the last, and to nothing where hints are off", () => {
    expect(hintFor({ ...looks, unhinted: 1, repeated: false }, at(920), quiet)).toBeNull();
    expect(hintFor(looks, at(920), settingsOf())).toBeNull();
  });
});
