import { describe, expect, test } from "vitest";
import { type CacheTerms, type ContextTerms, Conversation, type Economy } from "../../src/agent/context.ts";
import type { Purpose } from "../../src/agent/events.ts";
import { moment, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { aRun, commandOf, hangs, lasts, lines, only, type RunSpec, runs, submits, thinks } from "../aRun.ts";

const terms: ContextTerms = {
  start: 100_000,
  step: 0,
  poll: 0,
  stepOutput: 0,
  pollOutput: 0,
  bytesPerToken: 4,
  window: 272_000,
  compactsAt: 0.9,
  kept: 20_000,
  summary: 4_000,
};
/** Five minutes, written at 1.25 and read at 0.10 of the price. */
const fiveMinutes: CacheTerms = {
  lifetime: seconds(300),
  mode: "hard",
  gone: seconds(300),
  write: 1.25,
  read: 0.1,
  least: 1_024,
};
const economy: Economy = { cache: fiveMinutes, price: { input: 5, output: 25 } };

/** Requests at these seconds, one after the other. */
function requests(
  at: readonly number[],
  context: Partial<ContextTerms> = {},
  { cache = fiveMinutes as CacheTerms | null, purpose = "work" as Purpose, luck = 1 } = {},
) {
  const talk = new Conversation({ ...terms, ...context }, { ...economy, cache });
  const key = keyed.seeded(luck);
  return at.map((second, n) => talk.request(purpose, moment(seconds(second)), n + 1, keyed, key, n));
}

describe("a request", () => {
  test("sends the whole conversation, which grows with each, more by work than by a poll", () => {
    const growing = { step: 1_750, poll: 60 };
    expect(requests([0, 1, 2], growing).map(({ prompt }) => prompt)).toEqual([100_000, 101_750, 103_500]);
    expect(requests([0, 1, 2], growing, { purpose: "poll" }).map(({ prompt }) => prompt)).toEqual([
      100_000, 100_060, 100_120,
    ]);
  });

  test("writes what is new to the cache, and reads the rest from it", () => {
    expect(requests([0, 12], { step: 1_750, stepOutput: 214 })).toEqual([
      {
        event: "model_asked",
        at: 0,
        request: 1,
        purpose: "work",
        prompt: 100_000,
        cacheRead: 0,
        cacheWrite: 100_000,
        uncached: 0,
        output: 214,
        cost: 5 * 1.25 * 100_000 + 25 * 214,
        pauseTax: 0,
        hit: null,
      },
      {
        event: "model_asked",
        at: seconds(12),
        request: 2,
        purpose: "work",
        prompt: 101_750,
        cacheRead: 100_000,
        cacheWrite: 1_750,
        uncached: 0,
        output: 214,
        cost: Math.round(5 * (0.1 * 100_000 + 1.25 * 1_750) + 25 * 214),
        pauseTax: 0,
        hit: true,
      },
    ]);
  });

  test("that misses the cache costs exactly 12.5 times one that hits it, on the prefix", () => {
    const [, hit] = requests([0, 299.999]);
    const [, miss] = requests([0, 300]);
    expect([hit!.hit, miss!.hit]).toEqual([true, false]);
    expect(miss!.cost / hit!.cost).toBe(12.5);
    // What the pause has cost: the difference.
    expect(miss!.pauseTax).toBe(miss!.cost - hit!.cost);
    expect(hit!.pauseTax).toBe(0);
  });

  test("pays for a pause only what had been there", () => {
    const [, miss] = requests([0, 400], { step: 50_000 });
    expect(miss).toMatchObject({ cacheRead: 0, cacheWrite: 150_000, hit: false });
    expect(miss!.pauseTax).toBe(5 * (1.25 - 0.1) * 100_000);
  });
});

describe("the cache", () => {
  test("lives from the start of the request that used it last: every hit refreshes it", () => {
    expect(requests([0, 290, 580, 870, 1_170]).map(({ hit }) => hit)).toEqual([null, true, true, true, false]);
  });

  test("is written again by a miss", () => {
    expect(requests([0, 400, 500]).map(({ hit }) => hit)).toEqual([null, false, true]);
  });

  test("may live for an hour", () => {
    const hour = { ...fiveMinutes, lifetime: seconds(3_600), gone: seconds(3_600), write: 2 };
    expect(requests([0, 3_599.999, 7_200], {}, { cache: hour }).map(({ hit }) => hit)).toEqual([null, true, false]);
  });

  test.each([
    [300, 1],
    [675, 0.75],
    [1_050, 0.5],
    [1_425, 0.25],
  ])("that decays until 1,800 s still has its prefix after %d s with probability %d", (gap, share) => {
    const decaying = { ...fiveMinutes, mode: "decay", gone: seconds(1_800) } as const;
    let hits = 0;
    for (let luck = 0; luck < 2_000; luck += 1) {
      if (requests([0, gap], {}, { cache: decaying, luck })[1]!.hit === true) hits += 1;
    }
    expect(Math.abs(hits / 2_000 - share)).toBeLessThanOrEqual(4 * Math.sqrt((share * (1 - share)) / 2_000));
    expect(requests([0, 299.999], {}, { cache: decaying })[1]!.hit).toBe(true);
    expect(requests([0, 1_800], {}, { cache: decaying })[1]!.hit).toBe(false);
  });

  test("decays by luck of its own, which is not that of the provider's answer", () => {
    const decaying = { ...fiveMinutes, mode: "decay", gone: seconds(1_800) } as const;
    let answers = 0;
    let hits = 0;
    for (let luck = 0; luck < 4_000; luck += 1) {
      if (requests([0, 1_050], {}, { cache: decaying, luck })[1]!.hit !== true) continue;
      hits += 1;
      // What a provider draws its first token by.
      answers += keyed.uniform(keyed.within(keyed.seeded(luck), 1), 0);
    }
    expect(Math.abs(answers / hits - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / hits));
  });

  test("takes no prompt under its least", () => {
    const [small, , grown, again] = requests([0, 1, 2, 3], { start: 1_000, step: 12 });
    expect(small).toMatchObject({ prompt: 1_000, uncached: 1_000, cacheWrite: 0, hit: null });
    expect(grown).toMatchObject({ prompt: 1_024, uncached: 0, cacheWrite: 1_024, hit: null });
    expect(again).toMatchObject({ prompt: 1_036, cacheRead: 1_024, cacheWrite: 12, hit: true });
  });

  test("may be none: everything is paid for in full, and nothing is hit or missed", () => {
    for (const one of requests([0, 1, 9_999], {}, { cache: null })) {
      expect(one).toMatchObject({
        cacheRead: 0,
        cacheWrite: 0,
        uncached: 100_000,
        cost: 500_000,
        pauseTax: 0,
        hit: null,
      });
    }
  });

  test("has nothing for a model that takes over, and for a conversation that begins anew", () => {
    const talk = new Conversation({ ...terms, step: 500 }, economy);
    const ask = (at: number) => talk.request("work", moment(seconds(at)), 1, keyed, keyed.seeded(at), 0);
    ask(0);
    talk.handOver();
    expect(ask(1)).toMatchObject({ prompt: 100_500, cacheRead: 0, hit: null, pauseTax: 0 });
    talk.clear();
    expect(ask(2)).toMatchObject({ prompt: 100_000, cacheRead: 0, hit: null, pauseTax: 0 });
  });
});

describe("a compaction", () => {
  test("is due once the window is fuller than it may be, and not before", () => {
    const talk = new Conversation({ ...terms, start: 244_800, step: 1 }, economy);
    expect(talk.isFull).toBe(false);
    talk.request("work", moment(0), 1, keyed, keyed.seeded(1), 0);
    expect(talk.isFull).toBe(true);
  });

  test("keeps the newest and a summary, which is what it puts out; the cache has none of that", () => {
    const talk = new Conversation({ ...terms, start: 250_000 }, economy);
    const ask = (purpose: Purpose, at: number) => talk.request(purpose, moment(at), 1, keyed, keyed.seeded(at), 0);
    ask("work", 0);
    expect(ask("compaction", 1)).toMatchObject({ prompt: 250_000, cacheRead: 250_000, output: 4_000, hit: true });
    expect(talk.tokens).toBe(24_000);
    expect(ask("work", 2)).toMatchObject({ prompt: 24_000, cacheRead: 0, cacheWrite: 24_000, hit: null });
  });

  test("makes no conversation longer", () => {
    const talk = new Conversation({ ...terms, start: 9_000, window: 10_000, compactsAt: 0.5 }, economy);
    talk.request("compaction", moment(0), 1, keyed, keyed.seeded(1), 0);
    expect(talk.tokens).toBe(9_000);
  });
});

test("output that is shown adds its bytes, four to a token", () => {
  const talk = new Conversation(terms, economy);
  for (const bytes of [0, 1, 4, 16_000]) talk.shows(bytes);
  expect(talk.tokens).toBe(100_000 + 0 + 1 + 1 + 4_000);
});

describe("over a whole trial", () => {
  const step12 = { step: seconds(12), context: terms };
  const asked = (spec: RunSpec) => only(aRun(spec), "model_asked");
  const off = { foreground_auto_await_max_seconds: 0 } as const;

  test("a step of 12 s and a wait of 288 s miss a cache of 300 s; 287.999 s hit it", () => {
    const hits = (wait: number) => {
      const waits = [{ from: 1, length: seconds(wait) }];
      const plan = [runs(commandOf({ phases: [hangs()] })), submits];
      return asked({ settings: off, economy, plan, profile: { ...step12, waits }, outerLimit: 1_000 }).map(
        ({ hit }) => hit,
      );
    };
    expect(hits(287.999)).toEqual([null, true, true, true, true]);
    expect(hits(288)).toEqual([null, true, false, false, false]);
  });

  test("a foreground hold of six minutes is a pause, whatever the model was told", () => {
    const plan = [thinks(12), runs(commandOf({ phases: [lasts(360)] })), thinks(12), submits];
    const settings = { foreground_auto_await_max_seconds: "none" } as const;
    const bills = asked({ settings, economy, plan, profile: step12 });
    expect(bills.map(({ at, hit, pauseTax }) => [at / 1_000, hit, pauseTax])).toEqual([
      [0, null, 0],
      [372, false, 5 * 1.15 * 100_000],
    ]);
  });

  test("output shown by a result is sent with the next request", () => {
    const plan = [runs(commandOf({ phases: [lasts(5, lines([1, "x".repeat(400)]))] })), thinks(12), submits];
    expect(asked({ economy, plan, profile: step12 }).map(({ prompt }) => prompt)).toEqual([100_000, 100_100]);
  });

  test("90 polls of one second each cost 21.6 million tokens of input, 240,119 a turn; slices cost a thirtieth", () => {
    // The log that this is compared with: 21,610,789 tokens in 90 turns of 5.3 s beside a command of 9.5 minutes.
    const context = { ...terms, start: 237_280 - 1_750, step: 1_750, poll: 60, pollOutput: 42 };
    const polls = (waits: number, settings: RunSpec["settings"] = {}) =>
      asked({
        settings: { ...off, process_poll_min_wait_seconds: 0, ...settings },
        economy,
        plan: [runs(commandOf({ phases: [lasts(570)] })), submits],
        profile: { step: seconds(5.3), context, waits: [{ from: 1, length: seconds(waits) }] },
      }).filter(({ purpose }) => purpose === "poll");
    const input = (bills: ReturnType<typeof polls>) => bills.reduce((sum, { prompt }) => sum + prompt, 0);
    const every = polls(1);
    expect(Math.abs(every.length / 90 - 1)).toBeLessThan(0.05);
    expect(Math.abs(input(every) / 21_610_789 - 1)).toBeLessThan(0.05);
    expect(Math.abs(input(every) / every.length / 240_119 - 1)).toBeLessThan(0.05);
    expect(every.every(({ hit }) => hit === true)).toBe(true);
    const sliced = polls(3_600, { process_wait_slice_seconds: 240 });
    expect(sliced).toHaveLength(3);
    expect(input(sliced)).toBeLessThan(900_000);
  });

  test("a provider's latency is what a step takes, and an uncached prefix makes it longer", () => {
    const provider = {
      latency: {
        firstToken: { distribution: "fixed", value: 2 },
        uncachedTokensPerSecond: 10_000,
        outputTokensPerSecond: { distribution: "fixed", value: 50 },
      },
    } as const;
    const plan = [{ step: "think_steps", steps: 3 } as const, submits];
    const context = { ...terms, stepOutput: 100 };
    const events = aRun({ plan, economy, provider, profile: { step: seconds(12), context } });
    // 100,000 tokens in 10 s, 2 s to the first token, 2 s of output; then all of it is cached.
    expect(only(events, "model_answered").map(({ at, service }) => [at / 1_000, service?.firstToken])).toEqual([
      [14, 12_000],
      [18, 2_000],
      [22, 2_000],
    ]);
  });
});
