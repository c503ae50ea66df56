/**
 * Rows as a fold over the events of a trial. Here, and nowhere else, moments become columns.
 *
 * Nothing is remembered between trials. A call that the harness cut off keeps its row: its actual time is
 * the time until the cut, its status `cut_off`.
 */
import type { End, Kind, Service } from "../agent/effects.ts";
import type { ProcessCall, TrialEvent } from "../agent/events.ts";
import type { Grade } from "../agent/grading.ts";
import { journalLine } from "../agent/journal.ts";
import { type RunBudget, remaining } from "../policy/budget.ts";
import type { AutoAwaitReason, WaitReason } from "../policy/hold.ts";
import type { MessageKind } from "../policy/notice.ts";
import { after, beginning, between, type Duration, earliest, type Instant, never } from "../policy/time.ts";
import { doneAfterCut, NOTHING } from "./afterCut.ts";
import { type Batch, type Dictionaries, openBatch } from "./table.ts";
import { events, notices, type Outcome, processWaits, providerRequests, shellInvocations, trials } from "./tables.ts";

export type TrialBatch = Batch<typeof trials.columns>;
export type InvocationBatch = Batch<typeof shellInvocations.columns>;
export type WaitBatch = Batch<typeof processWaits.columns>;
export type RequestBatch = Batch<typeof providerRequests.columns>;
export type NoticeBatch = Batch<typeof notices.columns>;
export type EventBatch = Batch<typeof events.columns>;

export const openTrials = (dictionaries: Dictionaries): TrialBatch => openBatch(trials, dictionaries);
export const openInvocations = (dictionaries: Dictionaries): InvocationBatch =>
  openBatch(shellInvocations, dictionaries);
export const openWaits = (dictionaries: Dictionaries): WaitBatch => openBatch(processWaits, dictionaries);
export const openRequests = (dictionaries: Dictionaries): RequestBatch => openBatch(providerRequests, dictionaries);
export const openNotices = (dictionaries: Dictionaries): NoticeBatch => openBatch(notices, dictionaries);
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
  /** The port at which something must answer once the trial is over, as the grading asks; left out: none. */
  readonly service?: number | null;
  /** What the oracle would have come to; left out: nobody can tell. */
  readonly oracle?: { readonly reward: number; readonly length: Duration } | null;
  /** What the agent did after the cut, where that had not reached it; left out: nothing. */
  readonly afterCut?: readonly TrialEvent[] | undefined;
}

/** Where the calls and requests of a trial go, where they are kept one by one. */
export interface CallBatches {
  readonly invocations: InvocationBatch;
  readonly waits: WaitBatch;
  /** Left out: nobody counts tokens. */
  readonly requests?: RequestBatch;
  /** Left out: nobody is told of anything. */
  readonly notices?: NoticeBatch;
}

/** Puts one trial into the batches. `calls` is null where only trials are kept. */
export function foldTrial(
  trialEvents: readonly TrialEvent[],
  facts: TrialFacts,
  into: TrialBatch,
  calls: CallBatches | null,
): void {
  const fold = new TrialFold(trialEvents, facts, calls);
  for (let index = 0; index < trialEvents.length; index += 1) fold.take(trialEvents[index]!, index);
  fold.close(into);
}

type Of<Name extends TrialEvent["event"]> = Extract<TrialEvent, { event: Name }>;
type Called = Of<"exec_called"> | Of<"process_called">;

interface OpenCall {
  readonly exec: Of<"exec_called"> | null;
  readonly autoAwait: Of<"auto_await_granted"> | null;
  readonly process: Of<"process_called"> | null;
  readonly wait: Of<"wait_granted"> | null;
}

const LIMITS = {
  steps: "step_limit",
  tokens: "token_limit",
  cost: "cost_limit",
  timeout_strikes: "timeout_strikes",
  command_time: "command_time_limit",
} as const;

class TrialFold {
  readonly #events: readonly TrialEvent[];
  readonly #facts: TrialFacts;
  readonly #calls: CallBatches | null;

  #budget: RunBudget | null = null;
  #outerLimit: Instant = never;
  #reserveBegins: Instant = never;

  // The call that is open, and what the policy granted it.
  #exec: Of<"exec_called"> | null = null;
  #autoAwait: Of<"auto_await_granted"> | null = null;
  #process: Of<"process_called"> | null = null;
  #wait: Of<"wait_granted"> | null = null;
  /** Its siblings that are open too, by their number. Only served sessions, calls of one step and child jobs have any. */
  #aside: Map<number, OpenCall> | null = null;
  /** The request that is open. */
  #asked: Of<"model_asked"> | null = null;
  /** Those that are over, with their services and when they were answered (null: never), in that order. */
  readonly #askedOver: Of<"model_asked">[] = [];
  readonly #servedBy: (Service | null)[] = [];
  readonly #answeredAt: (Instant | null)[] = [];
  /** Those of child jobs that are open too, by their number. */
  #askedAside: Map<number, Of<"model_asked">> | null = null;

  // The time ledger, in milliseconds: of calls and requests side by side each moment is that of the one that ends last.
  #inModel = 0;
  #inQueue = 0;
  #inRetry = 0;
  #inInitialHold = 0;
  #inAutoAwait = 0;
  #inHardHold = 0;
  #inWait = 0;
  #inOtherTool = 0;
  /** Nobody at work, and no call under way: the model has ended its turn, or the run is held open for what still runs. */
  #inIdle = 0;

  #outcome: Outcome = "gave_up";
  #committed = false;
  #acts = 0;
  #toolCalls = 0;
  #autoAwaited = 0;
  #waited = 0;
  #capCrossings = 0;
  #budgetClampedAutoAwaits = 0;
  #riskShortened = 0;
  /** Processes handed back because of a risk of which nobody knows whether they are finite; null: none was. */
  #perhapsFinite: Set<number> | null = null;
  #budgetClampedWaits = 0;
  #slices = 0;
  #returnedRunning = 0;
  #waitActions = 0;
  #polls = 0;
  #probes = 0;
  #processCalls = 0;
  #lowInformation = 0;
  #longestGap = 0;
  #heldInReserve = 0;
  #initialInReserve = 0;
  #hardInReserve = 0;
  #firstSignal: Instant | null = null;
  #reruns = 0;
  #outputLost = 0;
  #jobsEnded = 0;
  /** How many messages of each kind; null: none. */
  #told: Map<MessageKind, number> | null = null;
  #messageBytes = 0;
  #wakeUps = 0;
  #failedDeliveries = 0;
  /** Since when the model has ended its turn; null: it has not. */
  #idleSince: Instant | null = null;

  #requests = 0;
  #uncached = 0;
  #cacheWrite = 0;
  #cacheRead = 0;
  #output = 0;
  #pollTokens = 0;
  #cost = 0;
  #pauseTax = 0;
  #peakContext = 0;
  #compactions = 0;
  #retries = 0;

  #stopped = 0;
  #finiteKilled = 0;
  #wasted = 0;
  #leftRunning = 0;
  #orphaned = 0;
  /** Processes whose survivors have been counted; null: none had any. */
  #left: Set<number> | null = null;
  /** Milliseconds held on processes that have not come to their own end, so far as anybody has seen. */
  readonly #heldOn = new Map<number, number>();
  /** Processes whose end at another's hand has been counted. */
  readonly #ended = new Set<number>();
  /** What waits for conditions came to, by their calls. */
  #conditions: Map<number, Of<"condition_watched">> | null = null;
  /** Since when processes run that somebody set out to end in vain. */
  #resisting: Map<number, Instant> | null = null;
  /** Processes that serve at the port that the grading asks for. */
  #services: Set<number> | null = null;

  constructor(trialEvents: readonly TrialEvent[], facts: TrialFacts, calls: CallBatches | null) {
    this.#events = trialEvents;
    this.#facts = facts;
    this.#calls = calls;
  }

  /** @param index of the event in the trial */
  take(event: TrialEvent, index: number): void {
    // What happens most stands first: a switch over words asks after one after the other.
    switch (event.event) {
      case "model_asked":
        if (this.#asked !== null) this.#putRequestAside(this.#asked);
        this.#asked = event;
        return;
      case "model_answered": {
        const asked = this.#takeRequest(event.request);
        if (asked !== null) this.#requestOver(asked, event.at, event.service, event.at);
        return;
      }
      case "trial_began":
        this.#budget = event.budget;
        this.#outerLimit = after(event.at, event.outerLimit);
        this.#reserveBegins = event.reserveBegins;
        return;
      case "exec_called":
        if (this.#exec !== null || this.#process !== null) this.#putAside();
        this.#exec = event;
        this.#autoAwait = null;
        if (event.process !== null) this.#begins(event, event.process);
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
        this.#outputLost += event.outputLost;
        if (event.status === "termination_failed") this.#resists(event.process!);
        this.#over(event.at, event, event.status);
        return;
      case "call_refused":
        if (this.#aside !== null) this.#turnTo(event.call);
        this.#over(event.at, null, "refused");
        return;
      case "condition_watched":
        this.#conditions ??= new Map();
        this.#conditions.set(event.call, event);
        return;
      case "probed":
        this.#toolCalls += 1;
        this.#probes += 1;
        return;
      case "told":
        this.#told ??= new Map();
        this.#told.set(event.kind, (this.#told.get(event.kind) ?? 0) + 1);
        this.#messageBytes += event.bytes;
        if (event.woke) this.#wakeUps += 1;
        this.#pushNotice(event, event.at);
        return;
      case "delivery_failed":
        this.#failedDeliveries += 1;
        if (event.again === null) this.#pushNotice(event, null);
        return;
      case "turn_ended":
        this.#idleSince = event.at;
        return;
      case "woken":
        this.#idleOver(event.at);
        return;
      case "job_ended":
        this.#jobsEnded += 1;
        if (event.result === "salvaged" || event.result === "trail") this.#jobCut(event, index);
        return;
      case "exit_awaited":
        this.#wasHeldOpen(event.at, index);
        if (event.end !== null) this.#ends(event.process, event.end, null);
        return;
      case "swept":
        this.#sweeps(event, index);
        return;
      case "committed":
        this.#committed = true;
        this.#acts += 1;
        return;
      case "submitted":
        this.#outcome = event.partial ? "partial" : "submitted";
        this.#acts += 1;
        return;
      case "gave_up":
        this.#outcome = "gave_up";
        return;
      case "limit_reached":
        this.#outcome = LIMITS[event.limit];
        return;
      case "provider_failed":
        this.#outcome = "infrastructure";
        return;
      case "cut_off":
        this.#outcome = "outer_timeout";
        this.#wasHeldOpen(event.at, index);
        this.#allOver(event.at);
        return;
      case "session_ended":
        this.#outcome = "ended";
        this.#allOver(event.at);
        return;
      case "left_behind":
        if (event.end !== null) this.#ends(event.process, event.end, null);
        else {
          this.#leftRunning += 1;
          if (!(event.answers && this.#services?.has(event.process))) this.#orphaned += 1;
        }
        return;
      // Told by what follows.
      case "exit_held":
      case "forgot":
      case "pruned":
      case "job_began":
      case "happened":
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

  /**
   * Every call and every request that is open ends with the trial. They end in one moment, and to the ledger in this order:
   * being held is worth more to know than being thought about.
   */
  #allOver(at: Instant): void {
    this.#idleOver(at);
    for (const asked of this.#openRequests()) this.#requestCut(asked, at);
    for (const { call } of this.#openCalls()) this.#callCut(call, at);
  }

  /** Whoever idles has nothing else under way. */
  #idleOver(at: Instant): void {
    if (this.#idleSince !== null) this.#inIdle += between(this.#idleSince, at);
    this.#idleSince = null;
  }

  /** A child job was cut off: whatever it was at ends with it, which is what nothing is heard of any more. */
  #jobCut({ at, job }: Of<"job_ended">, index: number): void {
    let began: Instant = at;
    for (let before = index - 1; before >= 0 && began === at; before -= 1) {
      const event = this.#events[before]!;
      if (event.event === "job_began" && event.job === job) began = event.at;
    }
    const calls = new Set<number>();
    const requests = new Set<number>();
    for (let later = index + 1; later < this.#events.length; later += 1) {
      const event = this.#events[later]!;
      if ("call" in event) calls.add(event.call);
      else if (event.event === "model_answered") requests.add(event.request);
    }
    for (const asked of this.#openRequests()) {
      if (asked.at >= began && !requests.has(asked.request)) this.#requestCut(asked, at);
    }
    for (const { call, at: calledAt } of this.#openCalls()) {
      if (calledAt >= began && !calls.has(call)) this.#callCut(call, at);
    }
  }

  /** By their number. */
  #openCalls(): readonly Called[] {
    const open = this.#exec ?? this.#process;
    if (this.#aside === null) return open === null ? NONE : [open];
    const aside = Array.from(this.#aside.values(), ({ exec, process }) => (exec ?? process)!);
    return [...(open === null ? NONE : [open]), ...aside].sort((a, b) => a.call - b.call);
  }

  #callCut(call: number, at: Instant): void {
    this.#turnTo(call);
    this.#over(at, null, "cut_off");
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

  /**
   * Since when something else has been open, besides the call at hand: from then on each moment belongs to what ends later.
   *
   * @param call the call at hand, where it counts too; else null
   */
  #othersSince(call: Called | null): Instant {
    let since = call === null ? never : call.at;
    if (this.#asked !== null) since = earliest(since, this.#asked.at);
    if (this.#aside !== null) {
      for (const { exec, process } of this.#aside.values()) since = earliest(since, (exec ?? process)!.at);
    }
    if (this.#askedAside !== null) for (const { at } of this.#askedAside.values()) since = earliest(since, at);
    return since;
  }

  // Requests

  #putRequestAside(asked: Of<"model_asked">): void {
    this.#askedAside ??= new Map();
    this.#askedAside.set(asked.request, asked);
  }

  #takeRequest(request: number): Of<"model_asked"> | null {
    const latest = this.#asked;
    if (latest !== null && latest.request === request) {
      this.#asked = null;
      return latest;
    }
    const asked = this.#askedAside?.get(request) ?? null;
    this.#askedAside?.delete(request);
    return asked;
  }

  /** By their number. */
  #openRequests(): readonly Of<"model_asked">[] {
    if (this.#asked === null && this.#askedAside === null) return NONE;
    const open = [...(this.#asked === null ? NONE : [this.#asked]), ...(this.#askedAside?.values() ?? NONE)];
    return open.sort((a, b) => a.request - b.request);
  }

  /** What was sent is paid for, whether or not its answer comes. */
  #pays({ purpose, prompt, uncached, cacheWrite, cacheRead, output, cost, pauseTax }: Of<"model_asked">): void {
    this.#requests += 1;
    this.#uncached += uncached;
    this.#cacheWrite += cacheWrite;
    this.#cacheRead += cacheRead;
    this.#output += output;
    this.#cost += cost;
    this.#pauseTax += pauseTax;
    if (prompt > this.#peakContext) this.#peakContext = prompt;
    if (purpose === "poll") this.#pollTokens += prompt + output;
    else if (purpose === "compaction") this.#compactions += 1;
  }

  #requestCut(asked: Of<"model_asked">, at: Instant): void {
    this.#takeRequest(asked.request);
    this.#requestOver(asked, at, null, null);
  }

  /** A provider first turns a request away, then lets it wait for a place, then serves it. */
  #requestOver(asked: Of<"model_asked">, at: Instant, service: Service | null, answeredAt: Instant | null): void {
    this.#pays(asked);
    if (service !== null) this.#retries += service.retries;
    if (this.#calls?.requests !== undefined) {
      this.#askedOver.push(asked);
      this.#servedBy.push(service);
      this.#answeredAt.push(answeredAt);
    }
    const alone = this.#exec === null && this.#process === null && this.#asked === null;
    if (alone && this.#aside === null && this.#askedAside === null && isServedAtOnce(service)) {
      this.#inModel += between(asked.at, at);
      return;
    }
    const since = this.#othersSince(this.#exec ?? this.#process);
    const letIn = service === null ? asked.at : earliest(after(asked.at, service.retrying), at);
    const served = service === null ? asked.at : earliest(after(letIn, service.queued), at);
    this.#inRetry += own(asked.at, letIn, since);
    this.#inQueue += own(letIn, served, since);
    this.#inModel += own(served, at, since);
  }

  // Calls

  #execOver(called: Of<"exec_called">, at: Instant, returned: Of<"control_returned"> | null, status: CallStatus): void {
    const granted = this.#autoAwait;
    const held = between(called.at, at);
    this.#toolCalls += 1;
    if (held > this.#longestGap) this.#longestGap = held;
    const since = this.#othersSince(null);
    if (called.held === "soft") {
      const boundary = granted === null ? at : granted.at;
      this.#inInitialHold += own(called.at, boundary, since);
      this.#initialInReserve += this.#inReserve(called.at, boundary);
      if (granted !== null) {
        this.#inAutoAwait += own(boundary, at, since);
        this.#autoAwaited += between(boundary, at);
        this.#heldInReserve += this.#inReserve(boundary, at);
      }
    } else if (called.held === "hard") {
      this.#inHardHold += own(called.at, at, since);
      this.#hardInReserve += this.#inReserve(called.at, at);
    } else this.#inOtherTool += own(called.at, at, since);

    const end = returned === null ? null : returned.end;
    const running = returned !== null && end === null && !called.background;
    if (running) this.#returnedRunning += 1;
    if (running || returned?.outcome === "terminated") this.#countReturn(returned!);
    if (running && returned!.clampReasons.includes("command_risk")) this.#countRisk(called, returned!);
    if (called.process !== null) this.#note(called.process, held, end, called.at);
    if (this.#calls !== null) this.#pushInvocation(this.#calls.invocations, called, at, returned, status, running);
  }

  #countReturn({ outcome, clampReasons }: Of<"control_returned">): void {
    if (outcome === "cancelled") return;
    if (clampReasons.includes("remaining_run_budget")) this.#budgetClampedAutoAwaits += 1;
    else if ((outcome === "cap_reached" || outcome === "terminated") && clampReasons.length === 0)
      this.#capCrossings += 1;
  }

  /** A risk is a guess: here it is counted where it was wrong. */
  #countRisk({ command, process }: Of<"exec_called">, { outcome }: Of<"control_returned">): void {
    if (outcome === "cancelled") return;
    if (command.kind === "quick" || command.kind === "long_finite") this.#riskShortened += 1;
    else if (command.kind === null && process !== null) {
      this.#perhapsFinite ??= new Set();
      this.#perhapsFinite.add(process);
    }
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
    const counted = own(called.at, at, this.#othersSince(null));
    if (isWait) {
      this.#inWait += counted;
      this.#waited += held;
      this.#heldInReserve += this.#inReserve(called.at, at);
    } else this.#inOtherTool += counted;
    if (LOOKS.has(called.action)) {
      this.#polls += 1;
      if (called.action !== "read_output") this.#waitActions += 1;
    }
    if (granted !== null) {
      if (granted.clampReasons.includes("process_wait_slice")) this.#slices += 1;
      if (granted.clampReasons.includes("remaining_run_budget")) this.#budgetClampedWaits += 1;
    }
    const low = isWait && returned !== null && returned.end === null && !returned.freshOutput;
    if (low) this.#lowInformation += 1;
    if (called.process !== null) {
      this.#note(called.process, held, returned === null ? null : returned.end, returned?.startedAt ?? null);
    }
    if (this.#calls !== null) this.#pushWait(this.#calls.waits, called, at, returned, status, low);
  }

  // Processes

  #begins({ command, attempt }: Of<"exec_called">, process: number): void {
    if (attempt > 0) this.#reruns += 1;
    const { service } = this.#facts;
    if (command.port === null || command.port !== service) return;
    this.#services ??= new Set();
    this.#services.add(process);
  }

  /** Time held on a process, which counts unless the process comes to its own end after all. */
  #note(process: number, held: number, end: End | null, startedAt: Instant | null): void {
    if (end !== null) this.#ends(process, end, startedAt);
    if (end === null || end.by !== "itself") this.#heldOn.set(process, (this.#heldOn.get(process) ?? 0) + held);
  }

  /** @param startedAt null where it has to be looked up */
  #ends(process: number, end: End, startedAt: Instant | null): void {
    this.#resisting?.delete(process);
    if (end.survivors !== undefined) this.#leaves(process, end.survivors);
    if (end.by === "itself" && this.#perhapsFinite?.delete(process)) this.#riskShortened += 1;
    if (end.by === "itself") this.#heldOn.delete(process);
    else if (end.by !== "nobody" && !this.#ended.has(process)) {
      this.#ended.add(process);
      this.#stopped += 1;
      const kind = this.#startOf(process)?.command.kind;
      if (kind === "quick" || kind === "long_finite") this.#finiteKilled += 1;
      this.#wasted += between(startedAt ?? this.#startedAt(process), end.at);
    }
  }

  /** What a process had started, and what has outlived it, as its end says: told once, however often it is looked at. */
  #leaves(process: number, survivors: number): void {
    this.#left ??= new Set();
    if (this.#left.has(process)) return;
    this.#left.add(process);
    this.#orphaned += survivors;
  }

  /** Not even KILL has ended it. */
  #resists(process: number): void {
    this.#resisting ??= new Map();
    this.#resisting.set(process, this.#startedAt(process));
  }

  #startOf(process: number): Of<"exec_called"> | undefined {
    return this.#events.find(
      (event): event is Of<"exec_called"> => event.event === "exec_called" && event.process === process,
    );
  }

  #startedAt(process: number): Instant {
    return this.#startOf(process)?.at ?? beginning;
  }

  /** Where a run was held open until now, since the event before, nobody was at work. */
  #wasHeldOpen(at: Instant, index: number): void {
    const before = this.#events[index - 1];
    if (before?.event === "exit_held" || before?.event === "exit_awaited") this.#inIdle += between(before.at, at);
  }

  /** The runtime ends what still runs, one after the other: the time since the event before is that of this stop. */
  #sweeps({ at, process, end }: Of<"swept">, index: number): void {
    const isAlone = this.#othersSince(this.#exec ?? this.#process) === never;
    if (isAlone && index > 0) this.#inOtherTool += between(this.#events[index - 1]!.at, at);
    if (end === null) this.#resists(process);
    else this.#ends(process, end, null);
  }

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
    to.trial_id.push(this.#facts.trialId);
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
    to.held_by_others_seconds.push(granted?.othersHold ?? null);
    to.auto_await_outcome.push(returned === null ? null : returned.outcome);
    to.auto_await_clamp_reasons.push(
      !soft ? null : (((returned ?? granted)?.clampReasons as readonly AutoAwaitReason[] | undefined) ?? []),
    );
    to.hard_timeout_seconds.push(called.timeout);
    to.hard_timeout_clamp_reasons.push(called.timeout === null ? null : called.timeoutClampReasons);
    to.command_class.push(called.commandClass ?? null);
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
    const isWait = called.action === "wait" || called.action === "wait_for_condition";
    to.trial_id.push(this.#facts.trialId);
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
    to.held_by_others_seconds.push(granted?.othersHold ?? null);
    to.ended_early.push(returned?.endedEarly ?? null);
    const condition = this.#conditions?.get(called.call);
    to.condition_outcome.push(condition?.outcome ?? null);
    to.condition_probes.push(condition?.probes ?? null);
    to.low_information.push(low);
    to.guided.push(returned === null ? false : returned.guided);
  }

  /** The requests of the trial, column by column: one after the other they would be most of what a trial's rows take. */
  #pushRequests({ columns: to }: RequestBatch): void {
    const { trialId } = this.#facts;
    const asked = this.#askedOver;
    for (let at = 0; at < asked.length; at += 1) to.trial_id.push(trialId);
    for (let at = 0; at < asked.length; at += 1) to.request_index.push(asked[at]!.request);
    for (let at = 0; at < asked.length; at += 1) to.purpose.push(asked[at]!.purpose);
    for (let at = 0; at < asked.length; at += 1) to.asked_seconds.push(asked[at]!.at);
    for (let at = 0; at < asked.length; at += 1) to.answered_seconds.push(this.#answeredAt[at]!);
    this.#pushServices(to);
    this.#pushTokens(to);
  }

  #pushServices(to: RequestBatch["columns"]): void {
    const services = this.#servedBy;
    for (let at = 0; at < services.length; at += 1) to.queued_seconds.push(services[at]?.queued ?? null);
    for (let at = 0; at < services.length; at += 1) to.retrying_seconds.push(services[at]?.retrying ?? null);
    for (let at = 0; at < services.length; at += 1) to.first_token_seconds.push(firstTokenOf(services[at]!));
    for (let at = 0; at < services.length; at += 1) to.retries.push(services[at]?.retries ?? null);
    for (let at = 0; at < services.length; at += 1) to.rate_limited.push(services[at]?.rateLimited ?? null);
    for (let at = 0; at < services.length; at += 1) to.failed.push(services[at]?.failed ?? null);
  }

  #pushTokens(to: RequestBatch["columns"]): void {
    const asked = this.#askedOver;
    for (let at = 0; at < asked.length; at += 1) to.prompt_tokens.push(asked[at]!.prompt);
    for (let at = 0; at < asked.length; at += 1) to.uncached_tokens.push(asked[at]!.uncached);
    for (let at = 0; at < asked.length; at += 1) to.cache_write_tokens.push(asked[at]!.cacheWrite);
    for (let at = 0; at < asked.length; at += 1) to.cache_read_tokens.push(asked[at]!.cacheRead);
    for (let at = 0; at < asked.length; at += 1) to.output_tokens.push(asked[at]!.output);
    for (let at = 0; at < asked.length; at += 1) to.cost_usd.push(asked[at]!.cost);
    for (let at = 0; at < asked.length; at += 1) to.pause_tax_usd.push(asked[at]!.pauseTax);
    for (let at = 0; at < asked.length; at += 1) to.cache_hit.push(asked[at]!.hit);
  }

  #pushNotice(event: Of<"told"> | Of<"delivery_failed">, deliveredAt: Instant | null): void {
    const batch = this.#calls?.notices;
    if (batch === undefined) return;
    const { columns: to } = batch;
    to.trial_id.push(this.#facts.trialId);
    to.kind.push(event.kind);
    to.hint.push("hint" in event ? event.hint : null);
    to.due_seconds.push(event.due);
    to.delivered_seconds.push(deliveredAt);
    to.processes.push(event.processes.length);
    to.bytes.push(event.bytes);
    to.woke.push("woke" in event && event.woke);
    to.attempts.push(event.attempts);
    to.deferred.push(event.deferred);
  }

  close({ columns: to }: TrialBatch): void {
    const facts = this.#facts;
    const duration = facts.endedAt - facts.startedAt;
    this.#allOver(duration as Instant);
    if (this.#calls?.requests !== undefined) this.#pushRequests(this.#calls.requests);
    const reserveBegins = Math.max(this.#reserveBegins, 0);
    const entered = duration >= reserveBegins;
    let unfinished = 0;
    for (const held of this.#heldOn.values()) unfinished += held;
    let wasted = this.#wasted;
    for (const since of this.#resisting?.values() ?? NONE) wasted += between(since, duration as Instant);
    const isCounted = this.#requests > 0;
    const inTools = this.#inInitialHold + this.#inAutoAwait + this.#inHardHold + this.#inWait + this.#inOtherTool;
    // Where nobody counts requests the model has all the time that no call has.
    const rest = duration - inTools - this.#inRetry - this.#inQueue - this.#inModel - this.#inIdle;
    const untold = this.#outcome === "ended";
    const told = (kind: MessageKind) => this.#told?.get(kind) ?? 0;
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
    to.provider_calls.push(isCounted ? this.#requests : this.#toolCalls + this.#acts);
    to.uncached_tokens.push(isCounted ? this.#uncached : null);
    to.cache_write_tokens.push(isCounted ? this.#cacheWrite : null);
    to.cache_read_tokens.push(isCounted ? this.#cacheRead : null);
    to.output_tokens.push(isCounted ? this.#output : null);
    to.poll_tokens.push(isCounted ? this.#pollTokens : null);
    to.cost_usd.push(isCounted ? this.#cost : null);
    to.pause_tax_usd.push(isCounted ? this.#pauseTax : null);
    to.peak_context_tokens.push(isCounted ? this.#peakContext : null);
    to.compactions.push(isCounted ? this.#compactions : null);
    to.provider_retries.push(isCounted ? this.#retries : null);
    to.total_foreground_auto_await_seconds.push(this.#autoAwaited);
    to.auto_await_cap_crossings.push(this.#capCrossings);
    to.budget_clamped_auto_await_count.push(this.#budgetClampedAutoAwaits);
    to.risk_shortened.push(this.#riskShortened);
    to.total_process_wait_seconds.push(this.#waited);
    to.budget_clamped_process_wait_count.push(this.#budgetClampedWaits);
    to.wait_slice_count.push(this.#slices);
    to.time_entered_finalization_reserve.push(this.#budget !== null && entered ? reserveBegins : null);
    to.model_seconds.push(this.#inModel + (isCounted ? 0 : rest));
    to.provider_queue_seconds.push(this.#inQueue);
    to.provider_retry_seconds.push(this.#inRetry);
    to.initial_hold_seconds.push(this.#inInitialHold);
    to.auto_await_seconds.push(this.#inAutoAwait);
    to.hard_hold_seconds.push(this.#inHardHold);
    to.process_wait_seconds.push(this.#inWait);
    to.other_tool_seconds.push(this.#inOtherTool);
    to.idle_seconds.push(this.#inIdle + (isCounted ? rest : 0));
    to.calls_returned_running.push(this.#returnedRunning);
    to.wait_actions.push(this.#waitActions);
    to.polls.push(this.#polls);
    to.probes.push(this.#probes);
    to.uses_process_tool.push(this.#processCalls > 0);
    to.low_information_waits.push(this.#lowInformation);
    to.longest_control_gap_seconds.push(this.#longestGap);
    to.held_on_unfinished_seconds.push(unfinished);
    to.held_in_reserve_seconds.push(this.#heldInReserve);
    to.initial_held_in_reserve_seconds.push(this.#initialInReserve);
    to.hard_held_in_reserve_seconds.push(this.#hardInReserve);
    to.reserve_used_seconds.push(Math.max(duration - reserveBegins, 0));
    to.first_budget_signal_seconds.push(this.#firstSignal);
    to.budget_signal_lead_seconds.push(
      this.#firstSignal === null ? null : between(this.#firstSignal, this.#outerLimit),
    );
    to.commands_rerun.push(this.#reruns);
    to.processes_stopped.push(this.#stopped);
    to.finite_commands_killed.push(this.#finiteKilled);
    to.seconds_wasted.push(wasted);
    to.processes_left_running.push(this.#leftRunning);
    to.orphaned_processes.push(this.#orphaned);
    to.output_lost_bytes.push(this.#outputLost);
    to.notices.push(told("notice"));
    to.reminders.push(told("reminder"));
    to.hints.push(told("hint"));
    to.heartbeats.push(told("heartbeat"));
    to.deadline_notices.push(told("deadline_notice"));
    to.wrap_ups.push(told("wrap_up"));
    to.message_bytes.push(this.#messageBytes);
    to.wake_ups.push(this.#wakeUps);
    to.failed_deliveries.push(this.#failedDeliveries);
    to.jobs_ended.push(this.#jobsEnded);
    const { tools, requests, cost } =
      facts.afterCut === undefined ? NOTHING : doneAfterCut(this.#events, facts.afterCut);
    to.tool_seconds_after_cut.push(tools);
    to.requests_after_cut.push(requests);
    to.cost_after_cut_usd.push(cost);
    to.oracle_reward.push(facts.oracle?.reward ?? null);
    to.oracle_seconds.push(facts.oracle?.length ?? null);
    to.realised_concurrency.push(facts.concurrency);
  }
}

const NONE: readonly never[] = [];

/** Calls that only look after something. */
const LOOKS: ReadonlySet<ProcessCall> = new Set(["wait", "status", "wait_for_condition", "read_output"]);

function firstTokenOf(service: Service | null): Duration | null {
  return service === null || service.failed ? null : service.firstToken;
}

/** Whether all of a request's time is the model's own. */
function isServedAtOnce(service: Service | null): boolean {
  return service === null || (service.retrying === 0 && service.queued === 0);
}

/** What of a stretch lies before a moment. */
function own(from: Instant, to: Instant, since: Instant): number {
  return between(from, earliest(to, since));
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
    to.request_index.push("request" in event ? event.request : null);
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
  "queued",
  "retrying",
  "firstToken",
  "othersHold",
  "due",
  "again",
]);

/** Fields of events that are amounts of money: on paper they are dollars. */
const MONEY = new Set(["cost", "pauseTax"]);

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
      if (MONEY.has(name)) return [`${wire}_usd`, (value as number) / 1e6];
      return [wire, typeof value === "object" && value !== null && !Array.isArray(value) ? onPaper(value) : value];
    }),
  );
}
