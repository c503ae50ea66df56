import { describe, expect, test } from "vitest";
import { nothing, seconds } from "../../src/policy/time.ts";
import { keyed } from "../../src/random.ts";
import { Provider, type ProviderTerms } from "../../src/world/provider.ts";
import { Requested } from "../../src/world/service.ts";

const ordinary: ProviderTerms = {
  provider: "ordinary",
  latency: null,
  speed: 1,
  inFlight: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  retryAfter: seconds(5),
  errors: null,
  retries: { attempts: 3, firstWait: seconds(1), longestWait: seconds(8), jitter: 0 },
};
const always = { calm: 1, storm: 1, calmLasts: seconds(60), stormLasts: seconds(60) };

const weather = keyed.within(keyed.seeded(1), "provider");
const of = (terms: Partial<ProviderTerms>) => new Provider({ ...ordinary, ...terms }, keyed, weather);
const asked = (provider: Provider, at: number) =>
  new Requested(provider).asks(
    { key: keyed.seeded(at), nth: 1, prompt: 1_000, uncached: 1_000, output: 200, takes: seconds(10), stated: false },
    seconds(at),
  );

/** Looks whenever it is to be looked at, until it is served: at which seconds, and what came of it. */
function course(request: Requested, from: number) {
  const looks: number[] = [];
  for (let now: number = seconds(from); ; now = request.dueAt) {
    looks.push(now / 1_000);
    const service = request.look(now);
    if (service !== null) return { looks, service };
  }
}

const served = {
  queued: nothing,
  retrying: nothing,
  retries: 0,
  rateLimited: 0,
  firstToken: seconds(10),
  failed: false,
};

describe("a request", () => {
  test("is answered once it has been served", () => {
    const request = asked(of({}), 100);
    expect(request.isAnswered(seconds(100))).toBe(false);
    expect(course(request, 100)).toEqual({ looks: [100, 110], service: served });
    expect(request.isAnswered(seconds(110))).toBe(true);
  });

  test("is looked at in between for nothing", () => {
    const request = asked(of({}), 100);
    expect([100, 105, 109.999].map((at) => request.look(seconds(at)))).toEqual([null, null, null]);
    expect(request.look(seconds(110))).toEqual(served);
  });

  test("waits for its turn", () => {
    const provider = of({ inFlight: 1 });
    asked(provider, 0).look(0);
    expect(course(asked(provider, 4), 4)).toEqual({ looks: [4, 20], service: { ...served, queued: seconds(6) } });
  });

  test("that is turned away comes again when it was told to", () => {
    const provider = of({ requestsPerMinute: 1, retries: { ...ordinary.retries, attempts: 20 } });
    asked(provider, 0).look(0);
    // 5 s as it is told, or longer where its own waits are: 1, 2, 4, and then 8 s.
    expect(course(asked(provider, 10), 10)).toEqual({
      looks: [10, 15, 20, 25, 33, 41, 49, 57, 65, 75],
      service: { ...served, retrying: seconds(55), retries: 8, rateLimited: 8 },
    });
  });

  test("gives up after its last attempt, and not before", () => {
    expect(course(asked(of({ errors: always }), 100), 100)).toEqual({
      looks: [100, 101, 103],
      service: { ...served, firstToken: nothing, retrying: seconds(3), retries: 2, failed: true },
    });
  });

  test("has given up at once where it is to be made only once", () => {
    const once = { ...ordinary.retries, attempts: 1 };
    expect(course(asked(of({ errors: always, retries: once }), 100), 100)).toMatchObject({
      looks: [100],
      service: { failed: true, retrying: 0 },
    });
  });
});
