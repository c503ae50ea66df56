import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Distribution } from "../../src/distribution.ts";
import { seconds } from "../../src/policy/time.ts";
import { type Draws, type Key, keyed } from "../../src/random.ts";
import { BrokenPromise } from "../../src/world/kernel.ts";
import { type Attempted, Provider, type ProviderRequest, type ProviderTerms } from "../../src/world/provider.ts";

const ordinary: ProviderTerms = {
  provider: "ordinary",
  latency: null,
  speed: 1,
  inFlight: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  retryAfter: seconds(0),
  errors: null,
  retries: { attempts: 10, firstWait: seconds(1), longestWait: seconds(32), jitter: 0 },
};

/** A storm of five minutes a day, which fails all attempts. */
const daily = { calm: 0, storm: 1, calmLasts: seconds(86_400), stormLasts: seconds(300) };
const always = { ...daily, calm: 1 };

/** Luck under which whatever is exponential comes out at its mean. */
const middling: Draws = { ...keyed, uniform: () => 1 - Math.exp(-1) };

const weather = keyed.within(keyed.seeded(1), "provider");

const provider = (terms: Partial<ProviderTerms> = {}, luck: Draws = keyed) =>
  new Provider({ ...ordinary, ...terms }, luck, weather);

const keyOf = (n: number): Key => keyed.within(keyed.within(keyed.seeded(1), "request"), n);

/** The n-th request: 10 s, where no latency is stated. */
const request = (n = 0, what: Partial<ProviderRequest> = {}): ProviderRequest => ({
  key: keyOf(n),
  prompt: 0,
  uncached: 0,
  output: 0,
  takes: seconds(10),
  ...what,
});

const fixed = (value: number): Distribution => ({ distribution: "fixed", value });

const answers = (startsAt: number, firstTokenAt: number, at: number): Attempted => ({
  outcome: "answers",
  startsAt: seconds(startsAt),
  firstTokenAt: seconds(firstTokenAt),
  at: seconds(at),
});
const again = (at: number, why: "rate_limited" | "error"): Attempted => ({ outcome: "again", at: seconds(at), why });

/** The n-th request at each of these moments, in seconds; each is a first attempt. */
const asked = (of: Provider, moments: readonly number[], what: Partial<ProviderRequest> = {}) =>
  moments.map((moment, n) => of.next(seconds(moment), request(n, what), 1));

/** How far a figure lies from what it should be, as a share of that. */
const deviation = (figure: number, expected: number) => Math.abs(figure / expected - 1);

const outcomes = (all: readonly Attempted[]) => all.map(({ outcome }) => outcome);

describe("an answer", () => {
  const latency = { firstToken: fixed(3.1), uncachedTokensPerSecond: 10_000, outputTokensPerSecond: fixed(40.7) };
  const prompt = { prompt: 50_000, uncached: 20_000, output: 407 };

  test("takes what the request says where no latency is stated, and is seen whole", () => {
    expect(provider().next(5_000, request(), 1)).toEqual(answers(5, 15, 15));
  });

  test("takes 3.1 s to its first token, 2 s for 20,000 uncached tokens and 10 s for 407 tokens of output", () => {
    expect(provider({ latency }).next(5_000, request(0, prompt), 1)).toEqual(answers(5, 10.1, 20.1));
  });

  test("takes no longer for a prompt that was cached, or where no rate of reading is stated", () => {
    expect(provider({ latency }).next(0, request(0, { ...prompt, uncached: 0 }), 1)).toEqual(answers(0, 3.1, 13.1));
    const unread = { ...latency, uncachedTokensPerSecond: null };
    expect(provider({ latency: unread }).next(0, request(0, prompt), 1)).toEqual(answers(0, 3.1, 13.1));
  });

  test("takes half as long at speed 2", () => {
    expect(provider({ latency, speed: 2 }).next(0, request(0, prompt), 1)).toEqual(answers(0, 2.55, 7.55));
    expect(provider({ speed: 2 }).next(0, request(), 1)).toEqual(answers(0, 5, 5));
  });

  test("of no tokens is over with its first, at whatever rate", () => {
    const standing = { ...latency, outputTokensPerSecond: fixed(0) };
    expect(provider({ latency: standing }).next(0, request(), 1)).toEqual(answers(0, 3.1, 3.1));
  });

  test("takes ten years at most", () => {
    const standing = { ...latency, outputTokensPerSecond: fixed(0) };
    expect(provider({ latency: standing }).next(0, request(0, prompt), 1)).toEqual(answers(0, 5.1, 315_360_000));
  });

  test("takes a millisecond at least, unless it is said to take nothing", () => {
    expect(provider({ speed: 1e9 }).next(0, request(0, { takes: seconds(1) }), 1)).toEqual(answers(0, 0.001, 0.001));
    expect(provider().next(0, request(0, { takes: seconds(0) }), 1)).toEqual(answers(0, 0, 0));
    expect(provider({ latency: { ...latency, firstToken: fixed(0) } }).next(0, request(), 1)).toEqual(
      answers(0, 0, 0.001),
    );
  });

  test("takes as long as its request's luck has it, on whichever attempt and after whatever else", () => {
    const slow: Distribution = { distribution: "exponential", mean: 10 };
    const luckily = { latency: { ...latency, firstToken: slow, outputTokensPerSecond: slow } };
    const first = provider(luckily).next(0, request(1, prompt), 1);
    const busy = provider(luckily);
    expect(busy.next(0, request(2, prompt), 1)).not.toEqual(first);
    expect(busy.next(0, request(1, prompt), 3)).toEqual(first);
  });
});

describe("a queue", () => {
  test("of one place serves one after the other", () => {
    expect(asked(provider({ inFlight: 1 }), [0, 0, 4, 30, 45])).toEqual([
      answers(0, 10, 10),
      answers(10, 20, 20),
      answers(20, 30, 30),
      answers(30, 40, 40),
      answers(45, 55, 55),
    ]);
  });

  test("of two places serves at the one that falls free first", () => {
    const two = provider({ inFlight: 2 });
    const lengths = [10, 4, 10, 1, 1];
    expect(lengths.map((takes, n) => two.next(0, request(n, { takes: seconds(takes) }), 1))).toEqual([
      answers(0, 10, 10),
      answers(0, 4, 4),
      answers(4, 14, 14),
      answers(10, 11, 11),
      answers(11, 12, 12),
    ]);
  });

  test("has no place for an attempt that is refused or fails", () => {
    const refusing = provider({ inFlight: 1, requestsPerMinute: 1 });
    expect(outcomes(asked(refusing, [0, 5]))).toEqual(["answers", "again"]);
    expect(refusing.next(60_000, request(2), 1)).toEqual(answers(60, 70, 70));
    const stormy = provider({ inFlight: 1, errors: daily }, middling);
    expect(outcomes(asked(stormy, [86_400, 86_699]))).toEqual(["again", "again"]);
    expect(stormy.next(seconds(86_700), request(2), 1)).toEqual(answers(86_700, 86_710, 86_710));
  });

  test("is not turned back in time", () => {
    const busy = provider({ inFlight: 1 });
    busy.next(10, request(), 1);
    expect(() => busy.next(9, request(), 1)).toThrow(BrokenPromise);
  });
});

describe("a rate limit", () => {
  test("of 2 requests a minute lets two through at once, and one more every 30 s", () => {
    const limited = provider({ requestsPerMinute: 2, retryAfter: seconds(5) });
    expect(asked(limited, [0, 0, 0, 29.999, 30, 30, 59.999, 60])).toEqual([
      answers(0, 10, 10),
      answers(0, 10, 10),
      again(5, "rate_limited"),
      again(34.999, "rate_limited"),
      answers(30, 40, 40),
      again(35, "rate_limited"),
      again(64.999, "rate_limited"),
      answers(60, 70, 70),
    ]);
  });

  test("saves up no more than a minute's", () => {
    const limited = provider({ requestsPerMinute: 2 });
    expect(outcomes(asked(limited, [3_600, 3_600, 3_600]))).toEqual(["answers", "answers", "again"]);
  });

  test("of tokens counts prompt and output, cached or not", () => {
    const limited = provider({ tokensPerMinute: 60_000 });
    const [prompt, output] = [30_000, 10_000];
    expect(outcomes(asked(limited, [0, 0, 19.999, 20], { prompt, uncached: 0, output }))).toEqual([
      "answers",
      "again",
      "again",
      "answers",
    ]);
  });

  test("that refuses takes nothing from the other's bucket", () => {
    const limited = provider({ requestsPerMinute: 2, tokensPerMinute: 100 });
    limited.next(0, request(0, { prompt: 100 }), 1);
    // 90 tokens would do for the request, none are left for the prompt.
    expect(limited.next(0, request(1, { prompt: 90 }), 1).outcome).toBe("again");
    expect(limited.next(0, request(2, { prompt: 0 }), 1).outcome).toBe("answers");
    expect(limited.next(0, request(3, { prompt: 0 }), 1).outcome).toBe("again");
  });

  test("lets more than a minute's through when its bucket is full, and then waits until that is made good", () => {
    const limited = provider({ tokensPerMinute: 1_000 });
    expect(limited.next(0, request(0, { prompt: 3_000 }), 1).outcome).toBe("answers");
    expect(limited.next(179_999, request(1, { prompt: 1_000 }), 1).outcome).toBe("again");
    expect(limited.next(180_000, request(2, { prompt: 1_000 }), 1).outcome).toBe("answers");
  });

  test("is asked again after the back-off or after its own wait, whichever is longer", () => {
    const waits = (retryAfter: number) => {
      const limited = provider({ requestsPerMinute: 1, retryAfter: seconds(retryAfter) });
      limited.next(0, request(), 1);
      return [1, 2, 3, 4].map((attempt) => limited.next(0, request(1), attempt).at / 1_000);
    };
    expect(waits(0)).toEqual([1, 2, 4, 8]);
    expect(waits(3)).toEqual([3, 3, 4, 8]);
  });
});

describe("an attempt that fails", () => {
  test("is made again after 1, 2, 4, 8, 16, 32 s and 32 s, and for the tenth time in vain", () => {
    const failing = provider({ errors: always });
    let now = 0;
    const waits = [1, 2, 4, 8, 16, 32, 32, 32, 32].map((wait, before) => {
      const attempted = failing.next(now, request(), before + 1);
      expect(attempted).toEqual({ outcome: "again", at: now + wait * 1_000, why: "error" });
      now = attempted.at;
      return wait;
    });
    expect(failing.next(now, request(), 10)).toEqual({ outcome: "fails", at: 159_000 });
    expect(waits.reduce((sum, wait) => sum + wait)).toBe(159);
  });

  test("is the last one at once where there is one attempt", () => {
    const once = { ...ordinary.retries, attempts: 1 };
    expect(provider({ errors: always, retries: once }).next(7, request(), 1)).toEqual({ outcome: "fails", at: 7 });
    const limited = provider({ requestsPerMinute: 1, retries: once });
    expect(outcomes(asked(limited, [0, 0]))).toEqual(["answers", "fails"]);
  });

  test("waits up to a quarter less where there is jitter, each time by its own luck", () => {
    const retries = { ...ordinary.retries, firstWait: seconds(8), longestWait: seconds(8), jitter: 0.25 };
    const failing = provider({ errors: always, retries: { ...retries, attempts: 1_001 } });
    const waits = Array.from({ length: 1_000 }, (_, before) => failing.next(0, request(), before + 1).at);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(6_000);
    expect(Math.min(...waits)).toBeLessThan(6_020);
    expect(Math.max(...waits)).toBeLessThanOrEqual(8_000);
    expect(Math.max(...waits)).toBeGreaterThan(7_980);
    expect(deviation(waits.reduce((sum, wait) => sum + wait) / 1_000, 7_000)).toBeLessThan(0.01);
  });

  test("never waits less than the refusal says, whatever the jitter", () => {
    const retries = { ...ordinary.retries, jitter: 1 };
    const limited = provider({ requestsPerMinute: 1, retryAfter: seconds(30), retries });
    expect(asked(limited, [0, 0])[1]).toEqual(again(30, "rate_limited"));
  });

  test("counts against the limits", () => {
    const failing = provider({ errors: always, requestsPerMinute: 1 });
    expect(failing.next(0, request(0), 1)).toMatchObject({ why: "error" });
    expect(failing.next(0, request(1), 1)).toMatchObject({ why: "rate_limited" });
  });
});

describe("the weather", () => {
  test("is calm at first, stormy after a day of calm, and calm again after five minutes of storm", () => {
    const stormy = provider({ errors: daily }, middling);
    const moments = [0, 86_399.999, 86_400, 86_699.999, 86_700, 173_099.999, 173_100];
    expect(outcomes(asked(stormy, moments))).toEqual([
      "answers",
      "answers",
      "again",
      "again",
      "answers",
      "answers",
      "again",
    ]);
  });

  test("of one key is the same for every provider, however often it is asked", () => {
    const hourly = { ...daily, calmLasts: seconds(3_000), stormLasts: seconds(600) };
    const often = provider({ errors: hourly });
    const rarely = provider({ errors: hourly, speed: 3 });
    const isStormy = (of: Provider, now: number) => of.next(now, request(now), 1).outcome === "again";
    const storms: boolean[] = [];
    for (let now = 0; now < 100_000_000; now += 10_000) {
      const stormy = isStormy(often, now);
      if (now % 1_000_000 === 0) {
        expect(isStormy(rarely, now)).toBe(stormy);
        storms.push(stormy);
      }
    }
    expect(new Set(storms)).toEqual(new Set([false, true]));
    const elsewhere = new Provider({ ...ordinary, errors: hourly }, keyed, keyed.seeded(2));
    expect(storms.map((_, n) => isStormy(elsewhere, n * 1_000_000))).not.toEqual(storms);
  });

  test("is stormy for its share of the time, and each state fails its share of attempts", () => {
    const errors = { calm: 0.03, storm: 0.2, calmLasts: seconds(900), stormLasts: seconds(300) };
    const shares = provider({ errors });
    const states = provider({ errors: { ...errors, calm: 0, storm: 1 } });
    const attempts = { calm: 0, storm: 0 };
    const failed = { calm: 0, storm: 0 };
    const n = 500_000;
    for (let i = 0; i < n; i++) {
      const state = states.next(i * 20_000, request(i), 1).outcome === "again" ? "storm" : "calm";
      attempts[state] += 1;
      if (shares.next(i * 20_000, request(i), 1).outcome === "again") failed[state] += 1;
    }
    // Some 8,300 storms. The standard errors of these are about 1 %, 1 % and 0.6 %.
    expect(deviation(attempts.storm / n, 0.25)).toBeLessThan(0.05);
    expect(deviation(failed.calm / attempts.calm, 0.03)).toBeLessThan(0.05);
    expect(deviation(failed.storm / attempts.storm, 0.2)).toBeLessThan(0.03);
  });

  test("that always changes at once stands still for nobody", () => {
    const restless = { ...daily, calmLasts: seconds(0), stormLasts: seconds(0) };
    expect(outcomes(asked(provider({ errors: restless }), [0, 0.001, 0.002, 0.003]))).toEqual([
      "answers",
      "again",
      "answers",
      "again",
    ]);
  });
});

test("a request has luck of its own for its first token, its output, and each attempt's failure and wait", () => {
  const n = 5_000;
  const even: Distribution = { distribution: "uniform", from: 1, to: 2 };
  const answering = provider({
    latency: { firstToken: even, uncachedTokensPerSecond: null, outputTokensPerSecond: even },
  });
  const halfFails = provider({ errors: { ...always, calm: 0.5, storm: 0.5 } });
  const allFail = provider({ errors: always, retries: { ...ordinary.retries, jitter: 1 } });
  const drawn = Array.from({ length: n }, (_, i) => {
    const answer = answering.next(0, request(i, { output: 10 }), 1) as Extract<Attempted, { outcome: "answers" }>;
    const failures = [1, 2].map((attempt) => (halfFails.next(0, request(i), attempt).outcome === "again" ? 1 : 0));
    const waits = [1, 2].map((attempt) => allFail.next(0, request(i), attempt).at);
    return [answer.firstTokenAt, answer.at - answer.firstTokenAt, ...failures, ...waits];
  });
  const standard = drawn[0]!.map((_, which) => {
    const mean = drawn.reduce((sum, one) => sum + one[which]!, 0) / n;
    const spread = Math.sqrt(drawn.reduce((sum, one) => sum + (one[which]! - mean) ** 2, 0) / n);
    return drawn.map((one) => (one[which]! - mean) / spread);
  });
  standard.forEach((one, which) => {
    for (const other of standard.slice(which + 1)) {
      // Five standard errors of what does not hang together.
      expect(Math.abs(one.reduce((sum, value, i) => sum + value * other[i]!, 0) / n)).toBeLessThan(5 / Math.sqrt(n));
    }
  });
});

const someMoment = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((s) => s * 1_000),
  fc.integer({ min: 0, max: 60_000 }),
);
const someTokens = fc.oneof(fc.constantFrom(0, 1, 500, 1_000), fc.integer({ min: 0, max: 2_000 }));

/** Requests in order of time, several at one moment. */
const someCalls = fc
  .array(
    fc.record({
      now: someMoment,
      n: fc.nat(20),
      attempt: fc.integer({ min: 1, max: 4 }),
      prompt: someTokens,
      cached: fc.constantFrom(0, 0.5, 1),
      output: someTokens,
      takes: fc.oneof(fc.constantFrom(0, 1, 10), fc.integer({ min: 0, max: 20 })).map(seconds),
    }),
    { maxLength: 25 },
  )
  .map((calls) =>
    calls
      .sort((a, b) => a.now - b.now)
      .map(({ now, n, attempt, prompt, cached, output, takes }) => ({
        now,
        attempt,
        request: { key: keyOf(n), prompt, uncached: Math.round(prompt * (1 - cached)), output, takes },
      })),
  );

const someService: fc.Arbitrary<Pick<ProviderTerms, "latency" | "speed">> = fc.record({
  latency: fc.option(
    fc.record({
      firstToken: fc.constantFrom<Distribution>(fixed(2), { distribution: "exponential", mean: 4 }),
      uncachedTokensPerSecond: fc.option(fc.constantFrom(100, 1_000)),
      outputTokensPerSecond: fc.constantFrom<Distribution>(fixed(50), { distribution: "uniform", from: 20, to: 200 }),
    }),
  ),
  speed: fc.oneof(fc.constantFrom(0.5, 1, 2, 3), fc.double({ min: 0.1, max: 10, noNaN: true })),
});

const someLimits: fc.Arbitrary<Omit<ProviderTerms, "provider" | "latency" | "speed">> = fc.record({
  inFlight: fc.option(fc.integer({ min: 1, max: 4 })),
  requestsPerMinute: fc.option(fc.constantFrom(0.5, 1, 10, 60)),
  tokensPerMinute: fc.option(fc.constantFrom(1_000, 7_000, 20_000)),
  retryAfter: fc.constantFrom(0, 2, 20).map(seconds),
  errors: fc.option(fc.constant({ calm: 0.05, storm: 0.6, calmLasts: seconds(20), stormLasts: seconds(10) })),
  retries: fc.constantFrom(ordinary.retries, {
    attempts: 3,
    firstWait: seconds(0.5),
    longestWait: seconds(1),
    jitter: 0.5,
  }),
});

type Served = { readonly now: number } & Extract<Attempted, { outcome: "answers" }>;

/** All answers, and when each was asked for. */
const served = (of: Provider, calls: readonly { now: number; attempt: number; request: ProviderRequest }[]): Served[] =>
  calls.flatMap(({ now, attempt, request }) => {
    const attempted = of.next(now, request, attempt);
    return attempted.outcome === "answers" ? [{ now, ...attempted }] : [];
  });

describe("whatever is asked of it, a provider", () => {
  test("answers at whole milliseconds: no turn before the request, no token before the turn, no end before the first", () => {
    fc.assert(
      fc.property(someCalls, someService, someLimits, (calls, service, limits) => {
        const one = provider({ ...service, ...limits });
        for (const { now, request, attempt } of calls) {
          const attempted = one.next(now, request, attempt);
          const { at } = attempted;
          const { startsAt, firstTokenAt } =
            attempted.outcome === "answers" ? attempted : { startsAt: now, firstTokenAt: now };
          const course = [now, startsAt, firstTokenAt, at];
          expect(course.every(Number.isInteger)).toBe(true);
          expect(course).toEqual(course.toSorted((a, b) => a - b));
          if (attempted.outcome === "answers" && request.takes > 0) expect(at).toBeGreaterThan(startsAt);
        }
      }),
    );
  });

  test("says the same again under the same luck", () => {
    fc.assert(
      fc.property(someCalls, someService, someLimits, (calls, service, limits) => {
        const [one, other] = [provider({ ...service, ...limits }), provider({ ...service, ...limits })];
        for (const { now, request, attempt } of calls) {
          expect(other.next(now, request, attempt)).toEqual(one.next(now, request, attempt));
        }
      }),
    );
  });

  test("serves first come first served, never more than it has places for, and lets nobody wait for nothing", () => {
    fc.assert(
      fc.property(someCalls, someService, fc.integer({ min: 1, max: 4 }), (calls, service, inFlight) => {
        const all = served(provider({ ...service, inFlight }), calls);
        const inServiceAt = (moment: number) =>
          all.filter(({ startsAt, at }) => startsAt <= moment && moment < at).length;
        all.forEach(({ now, startsAt }, place) => {
          if (place > 0) expect(startsAt).toBeGreaterThanOrEqual(all[place - 1]!.startsAt);
          expect(inServiceAt(startsAt)).toBeLessThanOrEqual(inFlight);
          if (startsAt > now) expect(inServiceAt(startsAt - 1)).toBe(inFlight);
        });
      }),
    );
  });

  test("never answers later for being faster", () => {
    fc.assert(
      fc.property(
        someCalls,
        someService,
        fc.option(fc.integer({ min: 1, max: 4 })),
        fc.double({ min: 1, max: 5, noNaN: true }),
        (calls, service, inFlight, times) => {
          const stated = served(provider({ ...service, inFlight }), calls);
          const faster = served(provider({ ...service, inFlight, speed: service.speed * times }), calls);
          expect(faster.length).toBe(stated.length);
          faster.forEach((one, n) => {
            expect(one.startsAt).toBeLessThanOrEqual(stated[n]!.startsAt);
            expect(one.firstTokenAt).toBeLessThanOrEqual(stated[n]!.firstTokenAt);
            expect(one.at).toBeLessThanOrEqual(stated[n]!.at);
          });
        },
      ),
    );
  });

  test("lets no more through in any time than a full bucket and what flows in, and refuses only what is above that", () => {
    fc.assert(
      fc.property(someCalls, fc.constantFrom(1, 3, 10), fc.constantFrom(2_000, 5_000), (calls, perMinute, tokens) => {
        const limited = provider({ requestsPerMinute: perMinute, tokensPerMinute: tokens });
        const through: { now: number; amount: number }[] = [];
        const room = (now: number, limit: number, amount: (of: { amount: number }) => number) => {
          // The least that the bucket may hold, over all moments since which it may have been full.
          const since = [0, ...through.map(({ now }) => now)];
          return Math.min(
            ...since.map((from) => {
              const taken = through.filter((one) => one.now >= from).reduce((sum, one) => sum + amount(one), 0);
              return limit + (limit * (now - from)) / 60_000 - taken;
            }),
            limit,
          );
        };
        for (const { now, request, attempt } of calls) {
          const amount = request.prompt + request.output;
          const requests = room(now, perMinute, () => 1);
          const left = room(now, tokens, (one) => one.amount);
          const fits = requests > 1 - 1e-9 && left > Math.min(amount, tokens) - 1e-9;
          const passes = limited.next(now, request, attempt).outcome === "answers";
          expect(passes).toBe(fits);
          if (passes) through.push({ now, amount });
        }
      }),
    );
  });
});

describe("the mean wait in a queue of Poisson arrivals and exponential service", () => {
  /** Erlang, *Solution of some problems in the theory of probabilities* (1917): the share that has to wait. */
  function erlangC(places: number, load: number): number {
    let lost = 1;
    for (let n = 1; n <= places; n++) lost = (load * lost) / (n + load * lost);
    return lost / (1 - (load / places) * (1 - lost));
  }

  // The standard error of such a mean wait is about 0.5 % for one place and 0.9 % for five.
  const n = 3_000_000;
  const mean = 10_000;

  test.each([
    { places: 1, utilisation: 0.7 },
    { places: 2, utilisation: 0.75 },
    { places: 5, utilisation: 0.8 },
  ])("before $places places used to $utilisation is Erlang's, within 2 %", ({ places, utilisation }) => {
    const queue = provider({
      inFlight: places,
      latency: {
        firstToken: { distribution: "exponential", mean: mean / 1_000 },
        uncachedTokensPerSecond: null,
        outputTokensPerSecond: fixed(1),
      },
    });
    const [arrivals, requests] = ["arrivals", "requests"].map((name) => keyed.within(keyed.seeded(1), name)) as [
      Key,
      Key,
    ];
    let clock = 0;
    let wait = 0;
    let waited = 0;
    for (let i = 0; i < n; i++) {
      clock -= (mean / (places * utilisation)) * Math.log1p(-keyed.uniform(arrivals, i));
      const now = Math.round(clock);
      const key = keyed.within(requests, i);
      const attempted = queue.next(now, { key, prompt: 0, uncached: 0, output: 0, takes: seconds(0) }, 1);
      if (attempted.outcome !== "answers") throw new Error("nothing refuses it");
      wait += attempted.startsAt - now;
      if (attempted.startsAt > now) waited += 1;
    }
    const share = erlangC(places, places * utilisation);
    const expected = (share * mean) / (places * (1 - utilisation));
    expect(deviation(waited / n, share)).toBeLessThan(0.01);
    expect(deviation(wait / n, expected)).toBeLessThan(0.02);
  });
});
