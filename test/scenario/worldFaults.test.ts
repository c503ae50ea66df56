/** What is said of providers, hosts, and what a panel makes of them. */
import { describe, expect, test } from "vitest";
import { loadPanel, loadProvider } from "../../src/scenario/load.ts";
import { aPanel, aProvider, aScenario, expectedOf, faultsOf, folder } from "./files.ts";

describe("a provider is refused for", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      "a negative price, and half of one",
      { price: "▸{ input_usd_per_million: ▸-1 }" },
      [
        "price.output_usd_per_million is missing: expected a number of US dollars, zero or more",
        "price.input_usd_per_million is -1: expected a number of US dollars, zero or more",
      ],
    ],
    [
      "latencies that are none",
      { latency: "{ first_token_seconds: ▸3s, output_tokens_per_second: ▸0, uncached_tokens_per_second: ▸all }" },
      [
        'latency.first_token_seconds is "3s": expected a length of time in seconds, or a distribution; write 3',
        "latency.output_tokens_per_second is 0: expected a number above 0",
        'latency.uncached_tokens_per_second is "all": expected a number above 0, or none',
      ],
    ],
    [
      "several things at once, in one go",
      {
        speed: "▸0",
        in_flight: "▸1.5",
        requests_per_minute: "▸0",
        tokens_per_minute: "▸many",
        retry_after_seconds: "▸-1",
        errors: "▸{ calm: 0.1, storm: ▸2, storm_seconds: 3 }",
        scope: "▸all",
        "▸ttl": "300",
      },
      [
        "speed is 0: expected a number above 0",
        "in_flight is 1.5: expected a number of requests, a whole number of 1 or more, or none",
        "requests_per_minute is 0: expected a number of requests above 0",
        'tokens_per_minute is "many": expected a number of tokens above 0, or none',
        "retry_after_seconds is -1: expected a length of time in seconds, zero or more",
        "errors.calm_seconds is missing: expected a length of time in seconds, 0.001 or more",
        "errors.storm is 2: expected a probability from 0 to 1",
        'scope is "all": expected arm or world',
        "ttl is not a key of a provider; there are provider, says, source, date, latency, speed, in_flight, requests_per_minute, tokens_per_minute, retry_after_seconds, errors, retries and 3 more",
      ],
    ],
    [
      "retries that become shorter",
      { retries: "{ first_wait_seconds: 9, longest_wait_seconds: ▸3 }" },
      ["retries.longest_wait_seconds is 3: expected 9 or more, the first wait"],
    ],
    [
      "retries that never happen",
      { retries: "{ attempts: ▸0, jitter: ▸2 }" },
      [
        "retries.attempts is 0: expected a number of attempts, a whole number from 1 to 1000",
        "retries.jitter is 2: expected a probability from 0 to 1",
      ],
    ],
    [
      "a cache in a word",
      { cache: "▸no" },
      ['cache is "no": expected none, or a cache with lifetime_seconds, write and read'],
    ],
    [
      "a cache in other units, and of another kind",
      { cache: "▸▸{ ▸lifetime_minutes: 5, mode: ▸soft }" },
      [
        "cache.write is missing: expected a factor, zero or more",
        "cache.read is missing: expected a factor, zero or more",
        "cache.lifetime_minutes is not a key of a cache; did you mean lifetime_seconds?",
        'cache.mode is "soft": expected hard or decay',
      ],
    ],
    [
      "a cache that decays without end",
      { cache: "▸{ lifetime_seconds: 300, mode: decay, write: 1, read: 1 }" },
      ["cache decays and has no gone_seconds: expected when the prefix is gone for certain"],
    ],
    [
      "a cache that decays before its lifetime is over",
      { cache: "{ lifetime_seconds: 300, mode: decay, gone_seconds: ▸300, write: 1, read: 1 }" },
      ["cache.gone_seconds is 300: expected more than 300, the lifetime"],
    ],
    [
      "a hard cache that is gone later than it lives",
      { cache: "{ lifetime_seconds: 300, gone_seconds: ▸400, write: 1, read: 1 }" },
      [
        "cache.gone_seconds is 400 beside mode hard: expected it with decay only, as a hard cache is gone after its lifetime",
      ],
    ],
  ])("%s", (_, changes, faults) => {
    const text = aProvider(changes);
    expect(faultsOf(text, loadProvider)).toEqual(expectedOf(text, faults));
  });

  test("no price at all", () => {
    const text = `▸${aProvider({ price: "" })}`;
    expect(faultsOf(text, loadProvider)).toEqual(
      expectedOf(text, [
        "price is missing: expected a price, with keys like input_usd_per_million and output_usd_per_million",
      ]),
    );
  });
});

const price = "price: { input_usd_per_million: 1, output_usd_per_million: 1 }";
const crossed = (factors: string, more: Readonly<Record<string, string>> = {}) =>
  aPanel({ arms: "", base: "{ policy: control, profile: short, budget: told }", factors, ...more });

describe("a panel is refused for", () => {
  test.each<[string, string, readonly string[]]>([
    ["a host that says nothing", aPanel({ host: "▸{}" }), ["host says nothing: expected speed or cores"]],
    [
      "a host without speed or cores",
      aPanel({ host: "{ speed: ▸0, cores: ▸0 }" }),
      ["host.speed is 0: expected a number above 0", "host.cores is 0: expected a number of cores above 0"],
    ],
    [
      "a provider that there is not",
      aPanel({ provider: "▸five-minuts" }),
      [
        'provider is "five-minuts": there is no provider of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; did you mean five-minutes?',
      ],
    ],
    [
      "a name of another kind of file",
      aPanel({ provider: "▸long" }),
      ['provider is "long": expected a provider, but panels/profiles/long.yaml is a profile'],
    ],
    [
      "a provider of its own that decays without end, without blaming the factors that change it",
      crossed("{ price: [1, 2] }", {
        provider: `{ provider: mine, cache: ▸{ lifetime_seconds: 3, mode: decay, write: 1, read: 1 }, ${price} }`,
      }),
      ["provider.cache decays and has no gone_seconds: expected when the prefix is gone for certain"],
    ],
    [
      "a provider that there is not, without blaming the factors that change it",
      crossed("{ price: [1, 2] }", { provider: "▸one-our" }),
      [
        'provider is "one-our": there is no provider of that name beside the file, in ../scenarios, ../panels, ../panels/policies, ../panels/profiles, ../panels/providers, or among what ships; did you mean one-hour?',
      ],
    ],
    [
      "levels that no provider and no host can have",
      crossed(
        "{ provider: [five-minutes, ▸3], provider_speed: [▸0, ▸fast], price: [▸-1], cache_lifetime: [▸5m], command_speed: [1, ▸1], cores: [▸0, none, ▸many], cut_reaches: [client, ▸nobody, ▸1] }",
      ),
      [
        "factors.provider[1] is 3: expected the name of a provider",
        "factors.provider_speed[0] is 0: expected a number above 0",
        'factors.provider_speed[1] is "fast": expected a number above 0',
        "factors.price[0] is -1: expected a factor, zero or more",
        'factors.cache_lifetime[0] is "5m": expected a length of time in seconds, 0.001 or more; write 300',
        "factors.command_speed[1] is 1 again: expected each level once",
        "factors.cores[0] is 0: expected a number of cores above 0",
        'factors.cores[2] is "many": expected a number of cores above 0, or none',
        'factors.cut_reaches[1] is "nobody": expected agent or client',
        "factors.cut_reaches[2] is 1: expected agent or client",
      ],
    ],
    [
      "cuts that reach something else",
      crossed("{ cap: [10, 240] }", { cut_reaches: "▸container" }),
      ['cut_reaches is "container": expected agent or client'],
    ],
    [
      "cuts that differ undeclared",
      aPanel({
        arms: `[{ arm: a, policy: control, profile: short, budget: told },
          { arm: b, policy: control, profile: short, budget: told, cut_reaches: client }]`,
        factors: "▸[]",
      }),
      [
        "factors leaves out cut_reaches, and arms differ in cut_reaches: agent in a and client in b; declare it, or make them equal",
      ],
    ],
    [
      "a misspelled factor",
      crossed("{ provider_sped: ▸[1] }"),
      ["factors.provider_sped is not a factor; did you mean provider_speed?"],
    ],
    [
      "a factor that is far from any",
      aPanel({ factors: "[cap, habit, slice, budget, ▸weather]" }),
      [
        'factors[4] is "weather", which is not a factor; factors are policy, cap, habit, slice, budget, reserve, provider, provider_speed, price, cache_lifetime, command_speed, cores and cut_reaches, and every settings key',
      ],
    ],
    [
      "prices without a provider, once for all its arms",
      crossed("▸{ price: [1, 2], provider_speed: [1, 2], cap: [10, 20] }"),
      [
        "factors changes provider_speed and price where an arm has no provider: expected one in the panel, or in the arm itself",
      ],
    ],
    [
      "another lifetime of no cache",
      crossed("▸{ cache_lifetime: [60, 600] }", { provider: `{ provider: bare, ${price} }` }),
      ["factors changes cache_lifetime where bare keeps no cache: expected a provider with one"],
    ],
    [
      "a lifetime beyond the end of a decaying cache",
      crossed("▸{ cache_lifetime: [60, 1200] }", {
        provider: `{ provider: slowly, cache: { lifetime_seconds: 300, mode: decay, gone_seconds: 1200, write: 1, read: 1 }, ${price} }`,
      }),
      ["factors changes cache_lifetime to 1200: expected less than 1200, where the cache of slowly is gone"],
    ],
    [
      "arms in different worlds that it does not declare",
      aPanel({
        arms: `[{ arm: a, policy: control, profile: short, budget: told, provider: five-minutes },
          { arm: b, policy: control, profile: short, budget: told, host: { speed: 2, cores: 3 } }]`,
        factors: "▸▸▸[]",
      }),
      [
        "factors leaves out provider, and arms differ in provider: five-minutes in a and none in b; declare it, or make them equal",
        "factors leaves out command_speed, and arms differ in command_speed: 1 in a and 2 in b; declare it, or make them equal",
        "factors leaves out cores, and arms differ in cores: none in a and 3 in b; declare it, or make them equal",
      ],
    ],
    [
      "two providers of one name",
      aPanel({
        arms: `[{ arm: a, policy: control, profile: short, budget: told, provider: { provider: mine, ${price} } },
          { arm: b, policy: control, profile: short, budget: told, provider: { provider: mine, speed: 2, ${price} } }]`,
        factors: "▸[]",
      }),
      [
        "factors leaves out provider, and arms differ in provider: mine is not the same in all of them; declare it, or make them equal",
      ],
    ],
  ])("%s", (_, text, faults) => {
    expect(faultsOf(text, loadPanel)).toEqual(expectedOf(text, faults));
  });

  const two = `[{ arm: a, policy: control, profile: short, budget: told, provider: five-minutes },
    { arm: b, policy: control, profile: short, budget: told }]`;
  const population = `{ population: few, tasks: 1, outer_limit_seconds: 9, limits: ▸{ cost_usd: 1 }, commands_per_task: 0,
    thinking_seconds: 1, command: { mix: [{ p: 1, phases: [{ hang: { output: none } }] }] },
    grading: { tests: 1, reward: share, credit: submitted } }`;
  test.each<[string, string, string, readonly string[]]>([
    ["nothing, where steps are limited", "{ steps: 5 }", aPanel({ scenarios: "[s]" }), []],
    ["nothing, where there is a provider", "{ tokens: 5 }", aPanel({ scenarios: "[s]", provider: "slow" }), []],
    [
      "limits on what nobody counts",
      "{ tokens: 5, cost_usd: 1 }",
      aPanel({ scenarios: "[hung-test-run, ▸s]" }),
      [
        'scenarios[1] is "s", which limits tokens and cost_usd, and nobody counts them without a provider: expected one in the panel',
      ],
    ],
    [
      "limits on what nobody counts in one of its arms, be it for an exhibit",
      "{ tokens: 5 }",
      aPanel({ exhibits: "[▸s]", arms: two, factors: "[provider]" }),
      ['exhibits[0] is "s", which limits tokens, and nobody counts them without a provider: expected one in b too'],
    ],
    [
      "limits of its own population",
      "{ steps: 5 }",
      aPanel({ scenarios: "", population }),
      ["population.limits limits cost_usd, and nobody counts them without a provider: expected one in the panel"],
    ],
  ])("%s", (_, limits, text, faults) => {
    const beside = { "s.yaml": aScenario({ scenario: "s", limits }) };
    expect(faultsOf(text, loadPanel, beside)).toEqual(expectedOf(text, faults));
  });

  test.each([
    [
      "budgeted.cache_lifetime=60",
      "--set budgeted.cache_lifetime=60: changes cache_lifetime where an arm has no provider: expected one in the panel, or in the arm itself",
    ],
    [
      "budgeted.cache_lifetime=soon",
      '--set budgeted.cache_lifetime=soon: cache_lifetime is "soon": expected a length of time in seconds, 0.001 or more',
    ],
    ["budgeted.cores=0", "--set budgeted.cores=0: cores is 0: expected a number of cores above 0"],
    ["budgeted.provider=3", "--set budgeted.provider=3: provider is 3: expected the name of a provider"],
    ["budgeted.profile=3", "--set budgeted.profile=3: profile is 3: expected the name of a profile"],
    [
      "budgeted.provider=one",
      "one: there is no provider of that name here, in scenarios, panels, panels/policies, panels/profiles, panels/providers, or among what ships; did you mean one-hour?",
    ],
    [
      "budgeted.provder=one",
      "--set budgeted.provder=one: provder is nothing that an arm can be set to; did you mean provider?",
    ],
  ])("--set %s on the command line", (set, fault) => {
    const { faults } = folder({});
    expect(faults(() => loadPanel("deepswe-headline", { sets: [set] }))).toEqual([fault]);
  });
});
