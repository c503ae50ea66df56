/** Public reports about looking instead of being told, and about being told too often or never: both ways of each. */
import { describe, expect, test } from "vitest";
import { observed, the } from "./observed.ts";

describe("C28: a brute force that will never be done, looked at every 80 s", () => {
  const all = observed("c28-brute-force");

  test("is looked at until the time is up, where a look says only that it runs", () => {
    const faulty = the(all, "faulty");
    expect(faulty).toMatchObject({ told: [], outerTimeout: true, finalized: false, left: 1, reward: 0 });
    expect(faulty.status).toHaveLength(15);
  });

  test("is stopped after the fourth look, at 920 s, and another way takes 18 s", () => {
    expect(the(all, "right")).toMatchObject({
      status: [680, 760, 840, 920],
      told: [[920, "quiet_polls"]],
      outerTimeout: false,
      reward: 1,
      seconds: 1_000 + 18,
    });
  });
});

describe("C29: a command of 25 minutes, and a notifier that is armed", () => {
  const all = observed("c29-mostly-polls");

  test("is looked at 79 times all the same, and the notice never has anything to say", () => {
    const faulty = the(all, "faulty");
    expect(faulty.status).toHaveLength(79);
    expect(faulty).toMatchObject({ turns: 82, told: [], woken: [] });
    expect(faulty.inputTokens).toBeGreaterThan(16_000_000);
  });

  test("is looked at until a hint is heeded; then the model ends its turn, and is woken once", () => {
    const rights = Array.from({ length: 20 }, (_, n) => the(observed("c29-mostly-polls", n + 1), "right"));
    for (const right of rights) {
      expect(right.woken).toEqual([1_500]);
      expect(right.told.at(-1)).toEqual([1_518.75, "notice"]);
      expect(right.status.length).toBeLessThanOrEqual(6);
      expect(right.turns).toBeLessThanOrEqual(9);
    }
    // Nine of ten heed the first.
    expect(rights.filter(({ told }) => told.length === 2).length).toBeGreaterThanOrEqual(15);
  });
});

describe("C34: three jobs done at 60 s, and twenty exchanges more", () => {
  const all = observed("c34-reminders-for-ever");
  const [silent, faulty, right] = [the(all, "silent"), the(all, "faulty"), the(all, "right")];

  test("are recalled before every step, each time by a message that stays: tokens grow with the square of the exchanges", () => {
    expect(faulty.told.map(([at]) => at)).toEqual(Array.from({ length: 21 }, (_, n) => 60 + 20 * n));
    expect(faulty.told.every(([, kind]) => kind === "reminder")).toBe(true);
    const added = faulty.inputTokens - silent.inputTokens;
    // 327 bytes are 82 tokens; the first is sent 21 times, the last once.
    expect(faulty.messageBytes).toBe(21 * 327);
    expect(added).toBe(((21 * 22) / 2) * 82);
  });

  test("are told by one notice, and recalled once in 15 steps", () => {
    expect(right.told).toEqual([
      [60, "notice"],
      [360, "reminder"],
    ]);
    expect((right.inputTokens - silent.inputTokens) / (faulty.inputTokens - silent.inputTokens)).toBeLessThan(0.13);
  });
});

describe("C36: a model that has ended its turn", () => {
  const all = observed("c36-no-message");

  test("sleeps to the end of its time, where its job never ends or its message was given up after three tries", () => {
    const idle = { woken: [], told: [], outerTimeout: true, seconds: 9_000, reward: 0 };
    expect(the(all, "faulty", "never-ends")).toMatchObject({ ...idle, undelivered: [], left: 1 });
    expect(the(all, "faulty", "undelivered")).toMatchObject({ ...idle, undelivered: [600, 601, 603] });
  });

  test("is woken by the watchdog's end at 3,600 s, or by the fourth try", () => {
    expect(the(all, "right", "never-ends")).toMatchObject({
      woken: [3_600],
      told: [[3_610, "notice"]],
      reward: 1,
      left: 0,
    });
    expect(the(all, "right", "undelivered")).toMatchObject({
      undelivered: [600, 601, 603],
      woken: [608],
      told: [[618, "notice"]],
      reward: 1,
    });
  });

  test("or told after ten minutes that it still runs, long before the watchdog", () => {
    expect(the(all, "heartbeat", "never-ends")).toMatchObject({
      woken: [600],
      told: [[610, "heartbeat"]],
      reward: 1,
      seconds: 730,
    });
  });
});

describe("C37: a push that ticks every 30 s, in a conversation of 150,000 tokens", () => {
  const all = observed("c37-woken-by-every-tick");

  test("has the whole conversation sent for every tick", () => {
    const faulty = the(all, "faulty");
    expect(faulty).toMatchObject({ waits: 10, turns: 13, reward: 1 });
    expect(faulty.inputTokens).toBe(1_993_770);
  });

  test("or once, when it is done", () => {
    const right = the(all, "right");
    expect(right).toMatchObject({ waits: 0, turns: 5, woken: [300], told: [[302, "notice"]], reward: 1 });
    expect(right.inputTokens).toBe(762_530);
  });
});
