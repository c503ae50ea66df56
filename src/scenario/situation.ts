/**
 * Situations: scenarios and populations as the inside knows them, lengths in milliseconds, chance still undrawn.
 *
 * Plain data, so that it can be sent to a worker and hashed. Nothing here knows of arms: a scenario is a
 * situation, an arm is a way to meet it.
 */
import type { Test } from "../agent/effects.ts";
import type { Profile } from "../agent/model.ts";
import type { Grading } from "../agent/plan.ts";
import type { Duration } from "../policy/time.ts";
import type { Exit, Output } from "../world/script.ts";
import type { Distribution } from "./distribution.ts";

/** A phase whose length is not drawn yet. Its distribution is in seconds, as on paper. */
export type UndrawnPhase =
  | { readonly phase: "run"; readonly seconds: Distribution; readonly output: Output }
  | { readonly phase: "hang"; readonly output: Output };

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
}

/** A step of a plan. Its id is what its draws are keyed by. */
export type UndrawnStep =
  | { readonly step: "think"; readonly id: string; readonly seconds: Distribution }
  | {
      readonly step: "run";
      readonly id: string;
      /** A key of the scenario's commands. */
      readonly command: string;
      readonly background: boolean;
      readonly timeout: Duration | null;
    }
  | { readonly step: "status"; readonly of: string }
  | { readonly step: "commit" }
  | { readonly step: "submit" };

/** What a scenario says of the model, by profile name or `any`: parts that win over the profile there. */
export type ModelChanges = Readonly<Record<string, Partial<Omit<Profile, "profile" | "says">>>>;

export interface Scenario {
  readonly scenario: string;
  readonly question: string;
  readonly source: string | null;
  readonly outerLimit: Duration;
  readonly commands: Readonly<Record<string, UndrawnCommand>>;
  readonly plan: readonly UndrawnStep[];
  readonly model: ModelChanges;
  readonly grading: Grading;
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
}

/** A profile as it holds in a scenario: what the scenario says of it by name wins over what it says of any. */
export function profileIn(model: ModelChanges, profile: Profile): Profile {
  const any = model["any"];
  const own = model[profile.profile];
  return any === undefined && own === undefined ? profile : { ...profile, ...any, ...own };
}
