/**
 * Parts that the rest of a file can be looked at without.
 *
 * Where such a part is at fault, this stands in for it while further faults are looked for; `undefined` leaves it out. Nothing of
 * it ever leaves a loading, for that ends in the fault that it stands in for.
 */
import { LONGEST_SECONDS } from "../policy/settings.ts";
import type { FileKind } from "./reading.ts";

export const STAND_INS: Readonly<Record<FileKind, Readonly<Record<string, unknown>>>> = {
  panel: {
    ...{ panel: "panel", question: "question", source: undefined, caveats: undefined, replicates: 1, seed: undefined },
    ...{
      concurrency: undefined,
      cut_grace_seconds: undefined,
      host: undefined,
      cut_reaches: undefined,
      exhibits: undefined,
      hypotheses: undefined,
      published: undefined,
    },
  },
  scenario: {
    ...{ scenario: "scenario", question: "question", source: undefined, outer_limit_seconds: LONGEST_SECONDS },
    ...{ says: undefined, limits: undefined, outside: undefined, deliveries: undefined, model: undefined },
    grading: { tests: 1_000_000, reward: "share", credit: "submitted" },
  },
  population: {
    ...{
      population: "population",
      question: undefined,
      says: undefined,
      source: undefined,
      tasks: 1,
      outer_limit_seconds: LONGEST_SECONDS,
    },
    ...{ limits: undefined, commands_per_task: 1, thinking_seconds: 1, background_job_probability: 0 },
    grading: { tests: 1_000_000, reward: "share", credit: "submitted" },
  },
  profile: {
    ...{ profile: "profile", says: undefined, source: undefined, step_seconds: 1, cadence_seconds: 1 },
    ...{ stops_a_process: "never", in_the_reserve: "ignore", between: undefined, on_ready: undefined },
    ...{
      arguments: undefined,
      reruns: undefined,
      waits_for_conditions: undefined,
      expects: undefined,
      forgets_after_compaction: undefined,
    },
    ...{ context: undefined, oracle: undefined },
  },
  provider: {
    ...{ provider: "provider", says: undefined, source: undefined, date: undefined, latency: undefined },
    ...{ speed: undefined, in_flight: undefined, requests_per_minute: undefined, tokens_per_minute: undefined },
    ...{ retry_after_seconds: undefined, errors: undefined, retries: undefined, cache: undefined, scope: undefined },
    price: { input_usd_per_million: 1, output_usd_per_million: 1 },
  },
  policy: { policy: "policy", says: undefined, source: undefined, date: undefined, budget: undefined },
  arms: {},
  measured: {
    measured: "measured",
    question: "question",
    source: undefined,
    caveats: undefined,
    inferred: undefined,
    pairs: undefined,
    trials_in_a_run: undefined,
    arms: undefined,
    hypotheses: undefined,
  },
};
