/** Providers and hosts from paper. */
import type { CacheTerms } from "../agent/context.ts";
import { seconds } from "../policy/time.ts";
import type { HostTerms } from "../world/host.ts";
import type { ProviderTerms } from "../world/provider.ts";
import { type Context, distributionOf } from "./distributions.ts";
import type { HostFile, ProviderFile } from "./providerSchema.ts";
import { type Place, part, type Reading } from "./reading.ts";
import type { ModelProvider } from "./situation.ts";

export function providerOf(context: Context, place: Place, file: ProviderFile): ModelProvider {
  const { price, cache } = file;
  return {
    provider: file.provider,
    says: file.says ?? "",
    terms: termsOf(context, place, file),
    economy: {
      cache: cache === undefined || cache === "none" ? null : cacheOf(context.reading, part(place, "cache"), cache),
      price: { input: price.input_usd_per_million, output: price.output_usd_per_million },
    },
    scope: file.scope ?? "arm",
  };
}

/** A bound as it is meant: `none`, or left out, does not apply. */
const orNull = (bound: number | "none" | undefined) => (bound === undefined || bound === "none" ? null : bound);

function termsOf(context: Context, place: Place, file: ProviderFile): ProviderTerms {
  const { latency, errors, retries = {} } = file;
  const { first_wait_seconds: firstWait = 1, longest_wait_seconds: longestWait = Math.max(32, firstWait) } = retries;
  if (longestWait < firstWait) {
    context.reading.fault(
      part(place, "retries", "longest_wait_seconds"),
      `is ${longestWait}: expected ${firstWait} or more, the first wait`,
    );
  }
  const at = part(place, "latency");
  return {
    provider: file.provider,
    latency:
      latency === undefined
        ? null
        : {
            firstToken: distributionOf(context, part(at, "first_token_seconds"), latency.first_token_seconds),
            uncachedTokensPerSecond: orNull(latency.uncached_tokens_per_second),
            outputTokensPerSecond: distributionOf(
              context,
              part(at, "output_tokens_per_second"),
              latency.output_tokens_per_second,
            ),
          },
    speed: file.speed ?? 1,
    inFlight: orNull(file.in_flight),
    requestsPerMinute: orNull(file.requests_per_minute),
    tokensPerMinute: orNull(file.tokens_per_minute),
    retryAfter: seconds(file.retry_after_seconds ?? 1),
    errors:
      errors === undefined
        ? null
        : {
            calm: errors.calm,
            storm: errors.storm,
            stormLasts: seconds(errors.storm_seconds),
            calmLasts: seconds(errors.calm_seconds),
          },
    retries: {
      attempts: retries.attempts ?? 10,
      firstWait: seconds(firstWait),
      longestWait: seconds(longestWait),
      jitter: retries.jitter ?? 0.25,
    },
  };
}

function cacheOf(
  reading: Reading,
  place: Place,
  file: Exclude<NonNullable<ProviderFile["cache"]>, "none">,
): CacheTerms {
  const { lifetime_seconds: lifetime, mode = "hard", gone_seconds: gone } = file;
  if (mode === "decay" && gone === undefined) {
    reading.fault(place, "decays and has no gone_seconds: expected when the prefix is gone for certain");
  } else if (mode === "hard" && gone !== undefined) {
    reading.fault(
      part(place, "gone_seconds"),
      `is ${gone} beside mode hard: expected it with decay only, as a hard cache is gone after its lifetime`,
    );
  } else if (gone !== undefined && gone <= lifetime) {
    reading.fault(part(place, "gone_seconds"), `is ${gone}: expected more than ${lifetime}, the lifetime`);
  }
  return {
    lifetime: seconds(lifetime),
    mode,
    gone: seconds(gone ?? lifetime),
    write: file.write,
    read: file.read,
    least: file.least_tokens ?? 1_024,
  };
}

export function hostOf(file: HostFile): HostTerms {
  return { speed: file.speed ?? 1, cores: orNull(file.cores) };
}
