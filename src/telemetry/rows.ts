/**
 * Rows as a fold over the events of a trial. Here, and nowhere else, moments become columns.
 *
 * Nothing is remembered between trials. A call that the harness cut off keeps its row: its actual time is
 * the time until the cut, its status `cut_off`.
 */
import type { Kind } from "../agent/effects.ts";
import type { TrialEvent } from "../agent/events.ts";
import type { Grade } from "../agent/grading.ts";
import { journalLine } from "../agent/journal.ts";
import { type RunBudget, remaining } from "../policy/budget.ts";
import type { AutoAwaitReason, WaitReason } from "../policy/hold.ts";
import { between, earliest, type Instant, latest, never } from "../policy/time.ts";
import { type Batch, type Dictionaries, openBatch } from "./table.ts";
import { events, type Outcome, processWaits, shellInvocations, trials } from "./tables.ts";

export type TrialBatch = Batch<typeof trials.columns>;
export type InvocationBatch = Batch<typeof shellInvocations.columns>;
export type WaitBatch = Batch<typeof processWaits.columns>;
export type EventBatch = Batch<typeof events.columns>;

export const openTrials = (dictionaries: Dictionaries): TrialBatch => openBatch(trials, dictionaries);
export const openInvocations = (dictionaries: Dictionaries): InvocationBatch =>
  openBatch(shellInvocations, dictionaries);
export const openWaits = (dictionaries: Dictionaries): WaitBatch => openBatch(processWaits, dictionaries);
export const openEvents = (dictionaries: Dictionaries): EventBatch => openBatch(events, dictionaries);

/** What a trial's own events do not say. */
export interface TrialFacts {
  readonly trialId: number;
  readonly experimentId: string;
  readonly arm: string;
  readonly scenario: string;
  readonly kind: Kind;
  readonly replicate: number;
  readonly pairKey: number;
  /** Milliseconds since the world began. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Slots of its arm taken while it ran, on average. */
  readonly concurrency: number;
  /** Null: not graded. */
  readonly grade: Grade | null;
}

/** Where the calls of a trial go, where they are kept one by one. */
export interface CallBatches {
  readonly invocations: InvocationBatch;
  readonly waits: WaitBatch;
}

/** Puts one trial into the batches. `calls` is null where only trials are kept. */
export function foldTrial(
  trialEvents: readonly TrialEvent[],
  facts: TrialFacts,
  into: TrialBatch,
  calls: CallBatches | null,
): void {
  const fold = new TrialFold(facts.trialId, calls);
  for (let index = 0; index < trialEvents.length; index += 1) fold.take(trialEvents[index]!);
  fold.close(facts, into);
}

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;

interface OpenCall {
  readonly exec: Of<"exec_called"> | null;
  readonly autoAwait: Of<"auto_await_granted"> | null;
  readonly process: Of<"process_called"> | null;
  readonly wait: Of<"wait_granted"> | null;
}

/** Milliseconds, by the part of the ledger. */
interface Shared {
  initialHold: number;
  autoAwait: number;
  hardHold: number;
  wait: number;
  otherTool: number;
}

const NOTHING_SHARED: Readonly<Shared> = { initialHold: 0, autoAwait: 0, hardHold: 0, wait: 0, otherTool: 0 };

class TrialFold {
  readonly #trialId: number;
  readonly #calls: CallBatches | null;

  #budget: RunBudget | null = null;
  #reserveBegins: Instant = never;

  // The call that is open, and what the policy granted it.
  #exec: Of<"exec_called"> | null = null;
  #autoAwait: Of<"auto_await_granted"> | null = null;
  #process: Of<"process_called"> | null = null;
  #wait: Of<"wait_granted"> | null = null;
  /** Its siblings that are open too, by their number. Only a served session has any. */
  #aside: Map<number, OpenCall> | null = null;
  /** Of the ledger, what calls gave up to siblings that ended after them. */
  #shared: Shared | null = null;

  #outcome: Outcome = "gave_up";
  #committed = false;
  #requests = 0;
  #toolCalls = 0;
  #initialHold = 0;
  #autoAwaited = 0;
  #hardHold = 0;
  #waited = 0;
  #otherTool = 0;
  #capCrossings = 0;
  #budgetClampedAutoAwaits = 0;
  #budgetClampedWaits = 0;
  #slices = 0;
  #returnedRunning = 0;
  #waitActions = 0;
  #processCalls = 0;
  #lowInformation = 0;
  #longestGap = 0;
  #heldInReserve = 0;
  #initialInReserve = 0;
  #hardInReserve = 0;
  #firstSignal: Instant | null = null;
  #stopped = 0;
  #leftRunning = 0;
  /** Milliseconds held on processes that have not come to their own end, so far as anybody has seen. */
  readonly #heldOn = new Map<number, number>();

  constructor(trialId: number, calls: CallBatches | null) {
    this.#trialId = trialId;
    this.#calls = calls;
  }

  take(event: TrialEvent): void {
    switch (event.event) {
      case "trial_began":
        this.#budget = event.budget;
        this.#reserveBegins = event.reserveBegins;
        return;
      case "exec_called":
        if (this.#exec !== null || this.#process !== null) this.#putAside();
        this.#exec = event;
        this.#autoAwait = null;
        return;
      case "auto_await_granted":
        if (this.#aside !== null) this.#turnTo(event.call);
        this.#autoAwait = event;
        return;
      case "process_called":
        if (this.#exec !== null || this.#process !== null) this.#putAside();
        this.#process = event;
        this.#wait = null;
        return;
      case "wait_granted":
        if (this.#aside !== null) this.#turnTo(event.call);
        this.#wait = event;
        return;
      case "control_returned":
        if (this.#aside !== null) this.#turnTo(event.call);
        if (event.budgetSignal) this.#firstSignal ??= event.at;
        this.#over(event.at, event, event.status);
        return;
      case "call_refused":
        if (this.#aside !== null) this.#turnTo(event.call);
        this.#over(event.at, null, "refused");
        return;
      case "committed":
        this.#committed = true;
        this.#requests += 1;
        return;
      case "submitted":
        this.#outcome = event.partial ? "partial" : "submitted";
        this.#requests += 1;
        return;
      case "gave_up":
        this.#outcome = "gave_up";
        return;
      case "cut_off":
        this.#outcome = "outer_timeout";
        this.#allOver(event.at);
        return;
      case "session_ended":
        this.#outcome = "ended";
        this.#allOver(event.at);
        return;
      case "left_behind":
        if (event.end === null) this.#leftRunning += 1;
        else if (event.end.by === "itself") this.#heldOn.delete(event.process);
        else if (event.end.by !== "nobody") this.#stopped += 1;
        return;
    }
  }

  /** The open call, if there is one, is over. */
  #over(at: Instant, returned: Of<"control_returned"> | null, status: CallStatus): void {
    if (this.#exec !== null) this.#execOver(this.#exec, at, returned, status);
    else if (this.#process !== null) this.#processOver(this.#process, at, returned, status);
    this.#exec = null;
    this.#process = null;
  }

  /** Every call that is open ends with the trial. */
  #allOver(at: Instant): void {
    this.#over(at, null, "cut_off");
    if (this.#aside === null) return;
    for (const call of [...this.#aside.keys()]) {
      this.#turnTo(call);
      this.#over(at, null, "cut_off");
    }
  }

  #putAside(): void {
    const call = (this.#exec ?? this.#process)!.call;
    this.#aside ??= new Map();
    const open = { exec: this.#exec, autoAwait: this.#autoAwait, process: this.#process, wait: this.#wait };
    this.#aside.set(call, open);
    this.#exec = null;
    this.#process = null;
  }

  /** Takes up the call that an event belongs to. */
  #turnTo(call: number): void {
    const open = this.#exec ?? this.#process;
    if (open !== null && open.call === call) return;
    if (open !== null) this.#putAside();
    const sibling = this.#aside!.get(call);
    if (sibling === undefined) return;
    this.#aside!.delete(call);
    this.#exec = sibling.exec;
    this.#autoAwait = sibling.autoAwait;
    this.#process = sibling.process;
    this.#wait = sibling.wait;
  }

  /** From when on the time of the call at hand belongs to siblings that end after it; `never` if there are none. */
  #sharedFrom(): Instant {
    if (this.#aside === null) return never;
    let from: Instant = never;
    for (const { exec, process } of this.#aside.values()) from = earliest(from, (exec ?? process)!.at);
    return from;
  }

  /** What the ledger has counted of a stretch goes to a sibling. */
  #share(part: keyof Shared, from: Instant, to: Instant): void {
    const shared = this.#sharedFrom();
    if (shared >= to) return;
    this.#shared ??= { initialHold: 0, autoAwait: 0, hardHold: 0, wait: 0, otherTool: 0 };
    this.#shared[part] += between(latest(from, shared), to);
  }

  #execOver(called: Of<"exec_called">, at: Instant, returned: Of<"control_returned"> | null, status: CallStatus): void {
    const granted = this.#autoAwait;
    const held = between(called.at, at);
    this.#toolCalls += 1;
    if (held > this.#longestGap) this.#longestGap = held;
    if (called.held === "soft") {
      const boundary = granted === null ? at : granted.at;
      this.#initialHold += between(called.at, boundary);
      if (this.#aside !== null) this.#share("initialHold", called.at, boundary);
      this.#initialInReserve += this.#inReserve(called.at, boundary);
      if (granted !== null) {
        this.#autoAwaited += between(boundary, at);
        if (this.#aside !== null) this.#share("autoAwait", boundary, at);
        this.#heldInReserve += this.#inReserve(boundary, at);
      }
    } else if (called.held === "hard") {
      this.#hardHold += held;
      if (this.#aside !== null) this.#share("hardHold", called.at, at);
      this.#hardInReserve += this.#inReserve(called.at, at);
    } else {
      this.#otherTool += held;
      if (this.#aside !== null) this.#share("otherTool", called.at, at);
    }

    const end = returned === null ? null : returned.end;
    const running = returned !== null && end === null && !called.background;
    if (running) this.#returnedRunning += 1;
    if (running || returned?.outcome === "terminated") this.#countReturn(returned!);
    if (called.process !== null) this.#note(called.process, held, end);
    if (this.#calls !== null) this.#pushInvocation(this.#calls.invocations, called, at, returned, status, running);
  }

  #countReturn({ outcome, clampReasons }: Of<"control_returned">): void {
    if (outcome === "cancelled") return;
    if (clampReasons.includes("remaining_run_budget")) this.#budgetClampedAutoAwaits += 1;
    else if ((outcome === "cap_reached" || outcome === "terminated") && clampReasons.length === 0)
      this.#capCrossings += 1;
  }

  #processOver(
    called: Of<"process_called">,
    at: Instant,
    returned: Of<"control_returned"> | null,
    status: CallStatus,
  ): void {
    const granted = this.#wait;
    const held = between(called.at, at);
    const isWait = called.action === "wait";
    this.#toolCalls += 1;
    this.#processCalls += 1;
    if (held > this.#longestGap) this.#longestGap = held;
    if (this.#aside !== null) this.#share(isWait ? "wait" : "otherTool", called.at, at);
    if (isWait) {
      this.#waited += held;
      this.#heldInReserve += this.#inReserve(called.at, at);
    } else this.#otherTool += held;
    if (isWait || called.action === "status") this.#waitActions += 1;
    if (granted !== null) {
      if (granted.clampReasons.includes("process_wait_slice")) this.#slices += 1;
      if (granted.clampReasons.includes("remaining_run_budget")) this.#budgetClampedWaits += 1;
    }
    const low = isWait && returned !== null && returned.end === null && !returned.freshOutput;
    if (low) this.#lowInformation += 1;
    if (called.process !== null) this.#note(called.process, held, returned === null ? null : returned.end);
    if (this.#calls !== null) this.#pushWait(this.#calls.waits, called, at, returned, status, low);
  }

  /** Time held on a process, which counts unless the process comes to its own end after all. */
  #note(process: number, held: number, end: Of<"control_returned">["end"]): void {
    if (end !== null && end.by === "itself") {
      this.#heldOn.delete(process);
      return;
    }
    const before = this.#heldOn.get(process);
    if (end !== null && end.by !== "nobody" && !this.#ended.has(process)) {
      this.#ended.add(process);
      this.#stopped += 1;
    }
    this.#heldOn.set(process, (before ?? 0) + held);
  }

  /** Processes whose end at another's hand has been counted. */
  readonly #ended = new Set<number>();

  /** How much of a stretch lies inside the reserve. */
  #inReserve(from: Instant, to: Instant): number {
    return between(from > this.#reserveBegins ? from : this.#reserveBegins, to);
  }

  #remaining(at: Instant): number | null {
    return this.#budget === null ? null : remaining(this.#budget, at);
  }

  #pushInvocation(
    { columns: to }: InvocationBatch,
    called: Of<"exec_called">,
    at: Instant,
    returned: Of<"control_returned"> | null,
    status: CallStatus,
    running: boolean,
  ): void {
    const granted = this.#autoAwait;
    const soft = called.held === "soft" && status !== "refused";
    const end = returned === null ? null : returned.end;
    to.trial_id.push(this.#trialId);
    to.call_index.push(called.call);
    to.process_id.push(called.process);
    to.command.push(called.command.line);
    to.kind.push(called.command.kind);
    to.background.push(called.background);
    to.called_seconds.push(called.at);
    to.returned_seconds.push(status === "cut_off" ? null : at);
    to.foreground_initial_yield_seconds.push(granted === null ? null : between(granted.startedAt, granted.at));
    to.initial_yield_reason.push(granted === null ? null : granted.yieldReason);
    to.configured_auto_await_cap_seconds.push(called.configuredCap);
    to.effective_auto_await_cap_seconds.push(granted === null ? null : granted.effectiveCap);
    to.foreground_auto_await_elapsed_seconds.push(granted === null ? null : between(granted.at, at));
    to.auto_await_outcome.push(returned === null ? null : returned.outcome);
    to.auto_await_clamp_reasons.push(
      !soft ? null : (((returned ?? granted)?.clampReasons as readonly AutoAwaitReason[] | undefined) ?? []),
    );
    to.hard_timeout_seconds.push(called.timeout);
    to.hard_timeout_clamp_reasons.push(called.timeout === null ? null : called.timeoutClampReasons);
    to.remaining_run_seconds_before.push(this.#remaining(called.at));
    to.remaining_run_seconds_after.push(status === "cut_off" ? null : this.#remaining(at));
    to.returned_running.push(running);
    to.time_to_first_control_seconds.push(returned === null ? null : between(called.at, at));
    to.exit_code.push(end === null ? null : end.code);
    to.signal.push(end === null ? null : end.signal);
    to.status.push(status ?? "running");
  }

  #pushWait(
    { columns: to }: WaitBatch,
    called: Of<"process_called">,
    at: Instant,
    returned: Of<"control_returned"> | null,
    status: CallStatus,
    low: boolean,
  ): void {
    const granted = this.#wait;
    const isWait = called.action === "wait";
    to.trial_id.push(this.#trialId);
    to.call_index.push(called.call);
    to.process_id.push(called.process);
    to.action.push(called.action);
    to.called_seconds.push(called.at);
    to.returned_seconds.push(status === "cut_off" ? null : at);
    to.requested_wait_seconds.push(called.requested);
    to.effective_wait_seconds.push(granted === null ? null : between(called.at, granted.until));
    to.actual_wait_seconds.push(isWait ? between(called.at, at) : null);
    to.wait_clamped.push(granted === null ? null : granted.clampReasons.length > 0);
    to.wait_clamp_reasons.push(granted === null ? null : (granted.clampReasons as readonly WaitReason[]));
    to.wait_raised.push(isWait ? called.raised : null);
    to.wait_defaulted.push(isWait ? called.defaulted : null);
    to.process_status_after_wait.push(status);
    to.remaining_run_seconds_before.push(this.#remaining(called.at));
    to.remaining_run_seconds_after.push(status === "cut_off" ? null : this.#remaining(at));
    to.low_information.push(low);
    to.guided.push(returned === null ? false : returned.guided);
  }

  close(facts: TrialFacts, { columns: to }: TrialBatch): void {
    const duration = facts.endedAt - facts.startedAt;
    const reserveBegins = Math.max(this.#reserveBegins, 0);
    const entered = duration >= reserveBegins;
    let unfinished = 0;
    for (const held of this.#heldOn.values()) unfinished += held;
    const shared = this.#shared ?? NOTHING_SHARED;
    const initialHold = this.#initialHold - shared.initialHold;
    const autoAwait = this.#autoAwaited - shared.autoAwait;
    const hardHold = this.#hardHold - shared.hardHold;
    const wait = this.#waited - shared.wait;
    const otherTool = this.#otherTool - shared.otherTool;
    const untold = this.#outcome === "ended";
    to.trial_id.push(facts.trialId);
    to.experiment_id.push(facts.experimentId);
    to.arm.push(facts.arm);
    to.scenario.push(facts.scenario);
    to.kind.push(facts.kind);
    to.replicate.push(facts.replicate);
    to.pair_key.push(facts.pairKey);
    to.started_seconds.push(facts.startedAt);
    to.ended_seconds.push(facts.endedAt);
    to.duration_seconds.push(duration);
    to.outcome.push(this.#outcome);
    to.outer_timeout.push(this.#outcome === "outer_timeout");
    to.reward.push(facts.grade === null ? null : facts.grade.reward);
    to.tests_passed.push(facts.grade === null ? 0 : facts.grade.testsPassed);
    to.tests_total.push(facts.grade === null ? 0 : facts.grade.testsTotal);
    to.finalized.push(untold ? null : this.#outcome === "submitted" || this.#outcome === "partial");
    to.committed.push(untold ? null : this.#committed);
    to.tool_calls.push(this.#toolCalls);
    to.provider_calls.push(this.#toolCalls + this.#requests);
    to.total_foreground_auto_await_seconds.push(this.#autoAwaited);
    to.auto_await_cap_crossings.push(this.#capCrossings);
    to.budget_clamped_auto_await_count.push(this.#budgetClampedAutoAwaits);
    to.total_process_wait_seconds.push(this.#waited);
    to.budget_clamped_process_wait_count.push(this.#budgetClampedWaits);
    to.wait_slice_count.push(this.#slices);
    to.time_entered_finalization_reserve.push(this.#budget !== null && entered ? reserveBegins : null);
    to.model_seconds.push(duration - initialHold - autoAwait - hardHold - wait - otherTool);
    to.initial_hold_seconds.push(initialHold);
    to.auto_await_seconds.push(autoAwait);
    to.hard_hold_seconds.push(hardHold);
    to.process_wait_seconds.push(wait);
    to.other_tool_seconds.push(otherTool);
    to.calls_returned_running.push(this.#returnedRunning);
    to.wait_actions.push(this.#waitActions);
    to.uses_process_tool.push(this.#processCalls > 0);
    to.low_information_waits.push(this.#lowInformation);
    to.longest_control_gap_seconds.push(this.#longestGap);
    to.held_on_unfinished_seconds.push(unfinished);
    to.held_in_reserve_seconds.push(this.#heldInReserve);
    to.initial_held_in_reserve_seconds.push(this.#initialInReserve);
    to.hard_held_in_reserve_seconds.push(this.#hardInReserve);
    to.reserve_used_seconds.push(Math.max(duration - reserveBegins, 0));
    to.first_budget_signal_seconds.push(this.#firstSignal);
    to.processes_stopped.push(this.#stopped);
    to.processes_left_running.push(this.#leftRunning);
    to.realised_concurrency.push(facts.concurrency);
  }
}

/** Null for a call that is about no process. */
type CallStatus = Of<"control_returned">["status"] | "cut_off" | "refused";

/** Whose events these are. */
export interface EventOwner {
  readonly trialId: number | null;
  /** The scenario it is an exhibit of; null for a trial of the panel. */
  readonly exhibit: string | null;
  readonly arm: string;
  readonly seed: number;
  readonly replicate: number;
}

/** Every event of a trial with its journal line, for timelines. */
export function pushEvents(trialEvents: readonly TrialEvent[], owner: EventOwner, { columns: to }: EventBatch): void {
  for (const [index, event] of trialEvents.entries()) {
    to.trial_id.push(owner.trialId);
    to.exhibit.push(owner.exhibit);
    to.arm.push(owner.arm);
    to.seed.push(owner.seed);
    to.replicate.push(owner.replicate);
    to.event_index.push(index);
    to.at_seconds.push(event.at);
    to.event.push(event.event);
    to.call_index.push("call" in event ? event.call : null);
    to.process_id.push("process" in event ? event.process : null);
    to.until_seconds.push("until" in event && event.until !== never ? event.until : null);
    to.journal.push(journalLine(event));
  }
}

/** Fields of events that are moments or lengths: on paper they are seconds, and say so. */
const TIMES = new Set([
  "at",
  "until",
  "startedAt",
  "requested",
  "effectiveCap",
  "configuredCap",
  "timeout",
  "outerLimit",
  "reserveBegins",
  "deadline",
  "reserve",
  "length",
]);

/** An event as JSON spells it: the wire's names, seconds, `null` for what does not apply or never comes. */
export function eventOnPaper(event: TrialEvent): Record<string, unknown> {
  return onPaper(event);
}

function onPaper(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (name === "command") return ["command", (value as { readonly line: string }).line];
      const wire = name.replace(/At$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (TIMES.has(name)) {
        return [`${wire}_seconds`, value === null || value === never ? null : (value as number) / 1_000];
      }
      return [wire, typeof value === "object" && value !== null && !Array.isArray(value) ? onPaper(value) : value];
    }),
  );
}
