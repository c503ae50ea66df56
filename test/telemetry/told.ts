/** Events written by hand: whatever a test does not name is the ordinary. Moments in milliseconds, as events have them. */
import type { Command, End, ProcessId, Service } from "../../src/agent/effects.ts";
import type { Action, Purpose, TrialEvent } from "../../src/agent/events.ts";
import { beginning, type Duration, type Instant, moment } from "../../src/policy/time.ts";
import type { TrialFacts } from "../../src/telemetry/rows.ts";
import { type Rows, rowsOf } from "../rowsOf.ts";

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;
type More<Name extends TrialEvent["event"]> = Partial<Omit<Of<Name>, "event" | "at">>;

/** What a trial's events come to. */
export function folded(
  events: readonly TrialEvent[],
  endedAt: number,
  more: Pick<TrialFacts, "service" | "oracle"> = {},
): Rows {
  return rowsOf({ events, startedAt: 0, endedAt, concurrency: 1 }, null, more);
}

export const at = (milliseconds: number): Instant => moment(milliseconds);
export const lasting = (milliseconds: number) => milliseconds as Duration;

export const began = (more: More<"trial_began"> = {}): TrialEvent => ({
  event: "trial_began",
  at: beginning,
  budget: null,
  outerLimit: lasting(5_400_000),
  reserveBegins: at(4_800_000),
  ...more,
});

export const aCommand: Command = { line: "pytest -q", kind: "quick", passes: [], spoils: [], port: null, usual: null };

export const exec = (when: number, call: number, more: More<"exec_called"> = {}): TrialEvent => ({
  event: "exec_called",
  at: at(when),
  call,
  process: call as ProcessId,
  command: aCommand,
  background: false,
  attempt: 0,
  held: "soft",
  timeout: null,
  timeoutClampReasons: [],
  configuredCap: null,
  ...more,
});

export const autoAwait = (when: number, call: number): TrialEvent => ({
  event: "auto_await_granted",
  at: at(when),
  call,
  process: call as ProcessId,
  startedAt: at(when),
  yieldReason: "idle",
  effectiveCap: null,
  until: at(when + 240_000),
  clampReasons: [],
});

export const calls = (when: number, call: number, action: Action, process = 1): TrialEvent => ({
  event: "process_called",
  at: at(when),
  call,
  action,
  process: process as ProcessId,
  requested: action === "wait" ? lasting(240_000) : null,
  raised: false,
  defaulted: false,
});

export const returns = (when: number, call: number, more: More<"control_returned"> = {}): TrialEvent => ({
  event: "control_returned",
  at: at(when),
  call,
  tool: "exec",
  process: call as ProcessId,
  startedAt: beginning,
  status: more.end === undefined || more.end === null ? "running" : "completed",
  end: null,
  outcome: null,
  clampReasons: [],
  freshOutput: false,
  budgetSignal: false,
  guided: false,
  outputLost: 0,
  ...more,
});

export const ended = (when: number, by: End["by"] = "itself"): End => ({
  at: at(when),
  by,
  code: by === "itself" ? 0 : null,
  signal: by === "itself" ? null : "SIGKILL",
});

export const asked = (
  when: number,
  request: number,
  purpose: Purpose = "work",
  more: More<"model_asked"> = {},
): TrialEvent => ({
  event: "model_asked",
  at: at(when),
  request,
  purpose,
  prompt: 0,
  cacheRead: 0,
  cacheWrite: 0,
  uncached: 0,
  output: 0,
  cost: 0,
  pauseTax: 0,
  hit: null,
  ...more,
});

export const served = (more: Partial<Service> = {}): Service => ({
  queued: lasting(0),
  retrying: lasting(0),
  retries: 0,
  rateLimited: 0,
  firstToken: lasting(0),
  failed: false,
  ...more,
});

export const answered = (when: number, request: number, service: Service | null = null): TrialEvent => ({
  event: "model_answered",
  at: at(when),
  request,
  service,
});

export const left = (when: number, process: number, more: More<"left_behind"> = {}): TrialEvent => ({
  event: "left_behind",
  at: at(when),
  process: process as ProcessId,
  end: null,
  answers: false,
  ...more,
});

export const jobBegan = (when: number, job: string): TrialEvent => ({ event: "job_began", at: at(when), job });
export const jobEnded = (when: number, job: string, result: Of<"job_ended">["result"] = "whole"): TrialEvent => ({
  event: "job_ended",
  at: at(when),
  job,
  result,
});
export const submitted = (when: number): TrialEvent => ({ event: "submitted", at: at(when), partial: false });
export const cutOff = (when: number): TrialEvent => ({ event: "cut_off", at: at(when) });
