/**
 * Parts that the rest of a file can be looked at without.
 *
 * Where such a part is at fault, this stands in for it while further faults are looked for; `undefined` leaves it out. Nothing of
 * it ever leaves a loading, for that ends in the fault that it stands in for.
 */
import type { FileKind } from "./reading.ts";

export const STAND_INS: Readonly<Record<FileKind, Readonly<Record<string, unknown>>>> = {
  panel: {
    ...{ panel: "panel", question: "question", source: undefined, caveats: undefined, replicates: 1, seed: undefined },
    ...{
      concurrency: undefined,
      cut_grace_seconds: undefined,
      exhibits: undefined,
      hypotheses: undefined,
      published: undefined,
    },
  },
  scenario: {
    ...{ scenario: "scenario", question: "question", source: undefined, outer_limit_seconds: 1, model: undefined },
    grading: { tests: 1_000_000, reward: "share", credit: "submitted" },
  },
  population: {
    ...{
      population: "population",
      question: undefined,
      says: undefined,
      source: undefined,
      tasks: 1,
      outer_limit_seconds: 1,
    },
    ...{ commands_per_task: 1, thinking_seconds: 1, background_job_probability: 0 },
    grading: { tests: 1_000_000, reward: "share", credit: "submitted" },
  },
  profile: { profile: "profile", says: undefined, source: undefined, step_seconds: 1, cadence_seconds: undefined },
  policy: { policy: "policy", says: undefined, source: undefined, date: undefined, budget: undefined },
  arms: {},
};
