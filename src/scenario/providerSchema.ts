/** How a provider and a host may be written, and what a cut reaches. */
import { z } from "zod";
import { CACHE_MODES } from "../agent/context.ts";
import { CUT_REACHES } from "../agent/effects.ts";
import {
  bound,
  count,
  distribution,
  keys,
  length,
  lengthOrDistribution,
  name,
  number,
  oneOf,
  positive,
  share,
  someLength,
  text,
  wanted,
  words,
} from "./vocabulary.ts";

const none = z.literal("none", { error: wanted("none") });
const perMinute = (what: string) => bound(`a number of ${what} above 0`, { above: 0, most: 1e12 }).optional();
const times = () => number("a factor, zero or more", { least: 0, most: 1_000 });
const price = () => number("a number of US dollars, zero or more", { least: 0, most: 1e6 });

export const providerSchema = keys("a provider", {
  provider: name("the provider"),
  says: text().optional(),
  source: text().optional(),
  date: text().optional(),
  latency: keys("a latency", {
    first_token_seconds: lengthOrDistribution.describe("before the part of the prompt that no cache holds"),
    uncached_tokens_per_second: bound("a number above 0", { above: 0, most: 1e9 })
      .optional()
      .describe("none: an uncached prompt takes no longer than a cached one"),
    output_tokens_per_second: oneOf([positive(), distribution], "a number above 0, or a distribution"),
  })
    .optional()
    .describe("left out: a request takes what the model's own step takes"),
  speed: positive().optional().describe("divides every service time; by default 1"),
  in_flight: bound("a number of requests, a whole number of 1 or more", { least: 1, most: 1e9, whole: true })
    .optional()
    .describe("how many requests are served at once; by default none: all of them"),
  requests_per_minute: perMinute("requests").describe("beyond it a request is refused; by default none"),
  tokens_per_minute: perMinute("tokens").describe("of prompts and outputs together; by default none"),
  retry_after_seconds: length().optional().describe("how long a refusal says to wait; by default 1"),
  errors: keys("errors", {
    calm: share().describe("share of attempts that fail in calm weather"),
    storm: share().describe("share of attempts that fail in a storm"),
    storm_seconds: someLength().describe("mean length of a storm"),
    calm_seconds: someLength().describe("mean length of the calm between storms"),
  }).optional(),
  retries: keys("retries", {
    attempts: count("a number of attempts", 1, 1_000)
      .optional()
      .describe("of one request, the first included; by default 10"),
    first_wait_seconds: length().optional().describe("doubles from wait to wait; by default 1"),
    longest_wait_seconds: length().optional().describe("by default 32"),
    jitter: share().optional().describe("the share by which luck may shorten a wait; by default 0.25"),
  }).optional(),
  cache: oneOf(
    [
      none,
      keys("a cache", {
        lifetime_seconds: someLength().describe("counted from the start of the request that wrote or read it last"),
        mode: words(CACHE_MODES)
          .optional()
          .describe(
            "past its lifetime the prefix is gone at once, or ever more likely until gone_seconds; by default hard",
          ),
        gone_seconds: someLength().optional().describe("for decay: when the prefix is gone for certain"),
        write: times().describe("price of a token written, as a factor on that of input"),
        read: times().describe("price of a token read, as a factor on that of input"),
        least_tokens: count("a number of tokens", 0, 1e9)
          .optional()
          .describe("shorter prompts are not cached; by default 1024"),
      }),
    ],
    "none, or a cache with lifetime_seconds, write and read",
  )
    .optional()
    .describe("by default none"),
  price: keys("a price", { input_usd_per_million: price(), output_usd_per_million: price() }),
  scope: words(["arm", "world"])
    .optional()
    .describe("whether each arm has one of its own, or all share one and so interfere; by default arm"),
});

const cores = () => bound("a number of cores above 0", { above: 0, most: 1e6 });
const speed = () => positive();

export const hostSchema = keys("a host", {
  speed: speed().optional().describe("commands run so many times as fast; by default 1"),
  cores: cores().optional().describe("shared by all commands that run on it; by default none: enough for all"),
}).refine((given) => Object.keys(given).length > 0, { error: "says nothing: expected speed or cores" });

export const cutReachesSchema = words(CUT_REACHES);

/** What a level of a factor may be that changes an arm's provider, its host, or what a cut reaches. */
export const worldLevels = {
  provider_speed: positive(),
  price: times(),
  cache_lifetime: someLength(),
  command_speed: speed(),
  cores: cores(),
  cut_reaches: cutReachesSchema,
} as const;

export type ProviderFile = z.infer<typeof providerSchema>;
export type HostFile = z.infer<typeof hostSchema>;
