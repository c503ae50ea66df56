/**
 * A stub for the model: habits as data, and the one function that turns what was seen into a move.
 *
 * The stub sees what the runtime shows it, result fields and output, and nothing else: never the
 * script of a command, never the clock. Whatever luck it needs is a keyed draw, so that two trials
 * differ only in what the policy and the world did.
 */
import { type Duration, inSeconds, seconds } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import type { ClampReason } from "./events.ts";
import type { Carried, ExecResult, WaitResult } from "./shell.ts";

/** One length for certain, or several with their probabilities, which add up to 1. */
export type Lengths = Duration | readonly { readonly length: Duration; readonly p: number }[];

export interface WaitRule {
  /** From which wait on one process this rule holds, counted from 1; the last rule that has begun holds. */
  readonly from: number;
  readonly length: Lengths;
}

/** Conditions that hold together; null where a condition is not asked for. */
export interface StopRule {
  /** At least so many waits on the process came back running with nothing new. */
  readonly quietWaits: number | null;
  /** The last result says it has run longer than this. */
  readonly running: Duration | null;
  /** Output that was shown gave away a failure. */
  readonly failureSeen: boolean | null;
}

export const IN_THE_RESERVE = ["stop_and_go_on", "finish", "ignore"] as const;

/** How a model behaves around processes. */
export interface Profile {
  readonly profile: string;
  readonly says: string;
  /** How long the model takes to come to a move once a process came back running. */
  readonly step: Duration;
  /** How often it looks by itself, if it has such a cadence. */
  readonly cadence: Duration | null;
  readonly waits: readonly WaitRule[];
  /** Stops a process as soon as one of these rules holds; never if there is none. */
  readonly stopsAProcess: readonly StopRule[];
  readonly inTheReserve: (typeof IN_THE_RESERVE)[number];
}

/** What the model has seen of one live process. */
export interface Seen {
  /** How many waits on it have returned. */
  waits: number;
  quietWaits: number;
  failureSeen: boolean;
  /** As the last result said. */
  elapsed: Duration;
}

export type Move =
  | { readonly move: "wait"; readonly length: Duration }
  | { readonly move: "stop" }
  /** Stops the process and gives up the rest of the plan but commit and submission. */
  | { readonly move: "stop_and_finish" };

const STOP: Move = { move: "stop" };
const FINISH: Move = { move: "stop_and_finish" };

/**
 * What a model does next about a process that is still running.
 *
 * @param knowsReserve whether any result of this trial has spoken of the finalization reserve
 * @param key of this process's waits: the draw for wait n is the n-th of it
 */
export function nextMove(profile: Profile, seen: Seen, knowsReserve: boolean, luck: Draws, key: Key): Move {
  if (knowsReserve && profile.inTheReserve !== "ignore") return profile.inTheReserve === "finish" ? FINISH : STOP;
  if (profile.stopsAProcess.some((rule) => holds(rule, seen))) return STOP;
  const ordinal = seen.waits + 1;
  return { move: "wait", length: chosen(ruleFor(profile.waits, ordinal), luck, key, ordinal) };
}

function holds({ quietWaits, running, failureSeen }: StopRule, seen: Seen): boolean {
  return (
    (quietWaits === null || seen.quietWaits >= quietWaits) &&
    (running === null || seen.elapsed > running) &&
    (failureSeen === null || seen.failureSeen === failureSeen)
  );
}

function ruleFor(rules: readonly WaitRule[], ordinal: number): Lengths {
  let found = rules[0]!;
  for (const rule of rules) if (rule.from <= ordinal) found = rule;
  return found.length;
}

function chosen(lengths: Lengths, luck: Draws, key: Key, ordinal: number): Duration {
  if (typeof lengths === "number") return lengths;
  let left = luck.uniform(key, ordinal);
  for (const { length, p } of lengths) {
    left -= p;
    if (left < 0) return length;
  }
  return lengths[lengths.length - 1]!.length;
}

/** A process that came back running for the first time. */
export function firstSight({ result, marks }: Carried<ExecResult>): Seen {
  return {
    waits: 0,
    quietWaits: 0,
    failureSeen: marks.includes("failure"),
    elapsed: seconds(result.elapsed_seconds),
  };
}

/** Takes in what a wait brought. */
export function afterWait(seen: Seen, wait: Carried<WaitResult>): void {
  seen.waits += 1;
  if (!wait.freshOutput) seen.quietWaits += 1;
  if (wait.marks.includes("failure")) seen.failureSeen = true;
  seen.elapsed = seconds(wait.result.elapsed_seconds);
}

/** Whether a result speaks of the reserve: by a clamp reason or by guidance. Nothing else tells a model of it. */
export function speaksOfReserve(result: {
  readonly clamp_reasons?: readonly ClampReason[];
  readonly guidance?: unknown;
}): boolean {
  return result.guidance !== undefined || (result.clamp_reasons?.includes("remaining_run_budget") ?? false);
}

/** How a choice of lengths reads: `3600 s (p 0.6) or 240 s (p 0.4)`. */
export function inWords(lengths: Lengths): string {
  if (typeof lengths === "number") return `${inSeconds(lengths)} s`;
  return lengths.map(({ length, p }) => `${inSeconds(length)} s (p ${p})`).join(" or ");
}
