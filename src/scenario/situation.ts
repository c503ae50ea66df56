/**
 * Situations: scenarios and populations as the inside knows them, lengths in milliseconds, chance still undrawn.
 *
 * Plain data, so that it can be sent to a worker and hashed. Nothing here knows of arms: a scenario is a
 * situation, an arm is a way to meet it.
 */

import type { Economy } from "../agent/context.ts";
import type { Test } from "../agent/effects.ts";
import type { Profile } from "../agent/model.ts";
import type { Deliveries, Grading, Limits, OutsideEvent } from "../agent/plan.ts";
import type { Distribution } from "../distribution.ts";
import type { Duration } from "../policy/time.ts";
import type { ProviderTerms } from "../world/provider.ts";
import type { Exit, Output } from "../world/script.ts";

/** A phase whose length is not drawn yet. Its distribution is in seconds, as on paper. */
export type UndrawnPhase =
  | { readonly phase: "run"; readonly seconds: Distribution; readonly output: Output; readonly cpu: number }
  | { readonly phase: "hang"; readonly output: Output; readonly cpu: number }
  | { readonly phase: "server"; readonly readyAfter: Distribution; readonly output: Output }
  | { readonly phase: "prompt"; readonly question: Uint8Array; readonly onEndOfInput: Exit | "hang" }
  | {
      readonly phase: "child";
      /** Null: it never ends by itself. */
      readonly seconds: Distribution | null;
      readonly group: "same" | "own";
      readonly holdsOutput: boolean;
    };

/** A command whose phases are not drawn yet. */
export interface UndrawnCommand {
  readonly line: string;
  readonly phases: readonly UndrawnPhase[];
  /** Null: it comes to a clean end, code 0. */
  readonly exit: Exit | null;
  readonly passes: readonly Test[];
  readonly spoils: readonly Test[];
  /** How long after TERM it ends; null: it obeys only KILL. */
  readonly onTerm: Duration | null;
  /** Where it serves once it is ready; null: it serves nothing. */
  readonly port: number | null;
  /** What it holds while it lives, and leaves behind stale when it is killed; null: nothing. */
  readonly lock: string | null;
  /** How likely it is that nobody is told of its end. */
  readonly signalLoss: number;
  /** How long a command of its looks usually takes; null: as long as it does. */
  readonly usual: Duration | null;
}

/** A step of a plan. Its id is what its draws are keyed by. */
export type UndrawnStep =
  | { readonly step: "think"; readonly id: string; readonly seconds: Distribution }
  | { readonly step: "think_steps"; readonly steps: number }
  | UndrawnRun
  | { readonly step: "status"; readonly of: string }
  | { readonly step: "await"; readonly of: string }
  | { readonly step: "probe"; readonly of: string }
  | { readonly step: "until_answers"; readonly of: string; readonly atMost: number }
  /** Again and again until it succeeds: after each thought the work is mended with a probability, and `mended` is run from then on. */
  | {
      readonly step: "until_succeeds";
      readonly id: string;
      readonly run: UndrawnRun;
      /** A key of the scenario's commands: what is run once the work is mended; null: the same, drawn anew. */
      readonly mended: string | null;
      readonly mendsWith: number;
      readonly thought: Distribution;
      readonly atMost: number;
    }
  | { readonly step: "together"; readonly of: readonly (UndrawnRun | UndrawnJob)[] }
  | UndrawnJob
  | { readonly step: "commit" }
  | { readonly step: "submit" };

export interface UndrawnRun {
  readonly step: "run";
  readonly id: string;
  /** A key of the scenario's commands. */
  readonly command: string;
  readonly background: boolean;
  readonly timeout: Duration | null;
  /** A later step awaits it. */
  readonly neededLater: boolean;
  /** Can be left out where time is short; left out: it cannot. */
  readonly optional?: boolean;
  /** Declared to outlive the run; left out: it is not. */
  readonly persist?: boolean;
}

export interface UndrawnJob {
  readonly step: "job";
  readonly id: string;
  readonly plan: readonly UndrawnStep[];
  readonly timeout: Duration | null;
  readonly startTokens: number | null;
}

/** What a scenario says of the model, by profile name or `any`: parts that win over the profile there. */
export type ModelChanges = Readonly<Record<string, Partial<Omit<Profile, "profile" | "says">>>>;

export interface Scenario {
  readonly scenario: string;
  readonly question: string;
  /** What was reported or is feared. */
  readonly says: string | null;
  readonly source: string | null;
  readonly outerLimit: Duration;
  readonly commands: Readonly<Record<string, UndrawnCommand>>;
  readonly plan: readonly UndrawnStep[];
  readonly model: ModelChanges;
  readonly grading: Grading;
  readonly limits: Limits;
  /** What happens from outside, in order of time. */
  readonly outside: readonly OutsideEvent[];
  /** How messages fail to wake the model; null: only where its provider does not answer. */
  readonly deliveries: Deliveries | null;
}

export interface Population {
  readonly population: string;
  readonly question: string | null;
  readonly source: string | null;
  readonly tasks: number;
  readonly outerLimit: Duration;
  readonly commandsPerTask: Distribution;
  /** In total, in seconds; spread evenly before, between and after the commands. */
  readonly thinkingSeconds: Distribution;
  readonly backgroundJobProbability: number;
  readonly mix: readonly { readonly p: number; readonly command: UndrawnCommand }[];
  readonly grading: Grading;
  readonly limits: Limits;
}

/** A model provider: how it serves, what it keeps in its cache, what it charges. */
export interface ModelProvider {
  readonly provider: string;
  readonly says: string;
  readonly terms: ProviderTerms;
  readonly economy: Economy;
  /** Whether each arm has one of its own, under the same weather, or all arms of a world share one. */
  readonly scope: "arm" | "world";
}

/** A profile as it holds in a scenario: what the scenario says of it by name wins over what it says of any. */
export function profileIn(model: ModelChanges, profile: Profile): Profile {
  const any = model["any"];
  const own = model[profile.profile];
  return any === undefined && own === undefined ? profile : { ...profile, ...any, ...own };
}
