/**
 * Looks at a condition until it holds: one call for the model, however many looks.
 *
 * A condition is something that answers, something that has succeeded, or a command whose exit code 0 means yes. The first two
 * cost no time to look at. A command runs beside the managed processes, under a limit of its own, and nobody is shown its id.
 */
import { type ConditionWait, LEAST_LOOK, probeLimit } from "../policy/condition.ts";
import type { Settings } from "../policy/settings.ts";
import { after, between, type Duration, earliest, type Instant, latest, nothing } from "../policy/time.ts";
import type { Agent, Command, End, Held, KillReach, Passed, Probed, ProcessId, Stopped } from "./effects.ts";

export type Condition =
  /** Something answers at this port. */
  | { readonly answersAt: number }
  /** This process has come to its own end, with exit code 0. */
  | { readonly succeeded: ProcessId }
  /** This command exits with 0. */
  | { readonly command: Command };

export const CONDITION_OUTCOMES = ["met", "timed_out", "cannot_be_met", "cancelled"] as const;
/** `cannot_be_met`: it will never hold, or cannot even be looked at. */
export type ConditionOutcome = (typeof CONDITION_OUTCOMES)[number];

export interface Watched {
  readonly outcome: ConditionOutcome;
  readonly at: Instant;
  /** How often it was looked at. */
  readonly probes: number;
  /** Exit code of the last look; null where it had none. */
  readonly code: number | null;
  /** The command that the last look ran, and how much that has printed; null where it ran none. */
  readonly ran: Ran | null;
  /** The end of the process that it is about; null where it is about none, or that has not ended. */
  readonly end: End | null;
}

interface Ran {
  readonly process: ProcessId;
  readonly written: number;
}

/** What a look needs of the shell that it is made for. */
export interface Looking {
  readonly settings: Settings;
  readonly kill: { readonly grace: Duration; readonly reach: KillReach };
  /** An id for a command that nobody manages. */
  readonly reserve: () => ProcessId;
}

interface Look {
  readonly at: Instant;
  /** Null: it does not hold yet. */
  readonly outcome: Exclude<ConditionOutcome, "timed_out"> | null;
  readonly code: number | null;
  readonly ran: Ran | null;
  readonly end: End | null;
}

/** Looks at once, and then every so often. Of looks that take no time the last is at the very end. */
export function* watched(
  condition: Condition,
  { until, every }: Pick<ConditionWait, "until" | "every">,
  looking: Looking,
  began: Instant,
): Agent<Watched> {
  const least = "command" in condition ? LEAST_LOOK : nothing;
  let now = began;
  for (let probes = 1; ; probes += 1) {
    const lookedAt = now;
    const { outcome, ...found }: Look = yield* look(condition, until, looking, now);
    if (outcome !== null) return { outcome, probes, ...found };
    now = found.at;
    const usual = latest(now, after(lookedAt, every));
    const next = between(usual, until) < least ? until : earliest(usual, until);
    if (next > now) {
      now = ((yield { effect: "pass", until: next, held: true }) as Passed).at;
      if (now < next) return { ...found, outcome: "cancelled", probes, at: now };
    }
    if (lookedAt >= until || between(now, until) < least) return { ...found, outcome: "timed_out", probes, at: now };
  }
}

function* look(condition: Condition, until: Instant, looking: Looking, now: Instant): Agent<Look> {
  if ("answersAt" in condition) {
    const { at, answers } = (yield { effect: "probe", port: condition.answersAt }) as Probed;
    return { at, outcome: answers ? "met" : null, code: null, ran: null, end: null };
  }
  if ("succeeded" in condition) {
    const { at, end } = (yield { effect: "hold", anyOf: [condition.succeeded], until: now, quiet: null }) as Held;
    const outcome = end === null ? null : end.by === "itself" && end.code === 0 ? "met" : "cannot_be_met";
    return { at, outcome, code: end === null ? null : end.code, ran: null, end };
  }
  return yield* run(condition.command, until, looking, now);
}

/** Exit codes by which a shell says that a command cannot be run, or is not there. */
const NOT_RUN: readonly (number | null)[] = [126, 127];

function* run(command: Command, until: Instant, { settings, kill, reserve }: Looking, now: Instant): Agent<Look> {
  const process = reserve();
  const { outputRetainedBytes: retain } = settings;
  const { at: startedAt } = (yield { effect: "start", process, command, retain, overAt: "exit" }) as Passed;
  const limit = after(startedAt, probeLimit(now, until, settings));
  const held = (yield { effect: "hold", anyOf: [process], until: limit, quiet: null }) as Held;
  const ran = { process, written: held.written };
  if (held.end !== null) {
    const { code } = held.end;
    const outcome = code === 0 ? "met" : NOT_RUN.includes(code) ? "cannot_be_met" : null;
    return { at: held.at, outcome, code, ran, end: null };
  }
  const { at } = (yield { effect: "stop", process, ...kill }) as Stopped;
  return { at, outcome: held.why === "until" ? null : "cancelled", code: null, ran, end: null };
}
