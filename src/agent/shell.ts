/**
 * The shell tools as a model meets them: exec, wait, status, stop, list, read_output, wait_for_condition.
 *
 * What may be held, and until when, is asked of the policy; what happens is asked of the world. Between
 * the two this file only keeps order: start, hold, hand back; the same process, the same id, nothing
 * stopped that nobody asked to stop. Results are spelled as the design note spells them, in seconds.
 */
import { comeBackAt, isNeverHandedOver, type Kept, leadingSleep, makesRoom, takesAll } from "../policy/admission.ts";
import { type RunBudget, remaining } from "../policy/budget.ts";
import type { CommandClass } from "../policy/command.ts";
import { type AskedCondition, conditionWait } from "../policy/condition.ts";
import { type Guidance, guidance, showsRemaining } from "../policy/guidance.ts";
import {
  type AskedWait,
  type AtBoundary,
  type AutoAwaitReason,
  askedWait,
  autoAwait,
  effectiveCap,
  extension,
  farthestGrant,
  type Hold,
  heldOpenUntil,
  initialTotalBoundary,
  processWait,
  refusedCeiling,
  WAKE_QUIET,
} from "../policy/hold.ts";
import { type Hint, hintFor, hints, hintText, type QuietLooks, utf8Length } from "../policy/notice.ts";
import { type CappedRisk, riskCap } from "../policy/risk.ts";
import type { Settings } from "../policy/settings.ts";
import {
  after,
  beginning,
  between,
  type Duration,
  earliest,
  type Instant,
  inSeconds,
  never,
  nothing,
} from "../policy/time.ts";
import {
  endsAfter,
  foregroundOnlyTimeout,
  type HardTimeout,
  type HardTimeoutReason,
  handingOver,
  hardTimeout,
  type SilenceLimit,
  silenceLimits,
} from "../policy/timeout.ts";
import { type Condition, type ConditionOutcome, watched } from "./condition.ts";
import type {
  Agent,
  Command,
  Effect,
  End,
  Held,
  KillReach,
  Mark,
  Passed,
  Probed,
  ProcessId,
  Signal,
  Stopped,
  Used,
} from "./effects.ts";
import type {
  AutoAwaitOutcome,
  ClampReason,
  EarlyEnd,
  HoldReason,
  ProcessCall,
  Record,
  ShellLimit,
  Tool,
  TrialEvent,
} from "./events.ts";
import { type Evidence, evidenceOf, type Sought } from "./evidence.ts";
import { allLost, nothingNew, type Shown, showPiece, showUnread } from "./output.ts";
import { type ManagedProcess, over, Processes, type ProcessStatus, processName } from "./processes.ts";

/** The fields about the run's budget that a result may carry. */
export interface BudgetFields {
  readonly remaining_run_seconds?: number;
  readonly finalization_reserve_seconds?: number;
  readonly guidance?: Guidance;
}

/** What a result says of how a process ended, beside its status, and of what it has left behind. */
interface EndFields {
  /** How many that it had started live on. */
  readonly surviving_processes?: number;
  /** One of them keeps its output open: more may follow. */
  readonly output_held_open?: true;
  /** The limit that ended it is one on its silence. */
  readonly silence_ended_it?: true;
}

/** What a result says of the others, where all draw on one budget. */
interface OthersField {
  readonly held_by_others_seconds?: number;
}

interface ProcessFields extends BudgetFields, EndFields, OthersField {
  readonly status: ProcessStatus;
  readonly process_id: string;
  readonly exit_code: number | null;
  readonly signal: Signal | null;
  /** Since the process started. */
  readonly elapsed_seconds: number;
  /** CPU time used so far, with all that it has started; only of a live process, and only where results say so. */
  readonly cpu_seconds?: number;
  readonly output: string;
  readonly next_offset: number;
  readonly output_complete: boolean;
}

export interface ExecResult extends ProcessFields {
  readonly auto_await_outcome: AutoAwaitOutcome | null;
  readonly configured_auto_await_cap_seconds: number | null;
  readonly effective_auto_await_cap_seconds: number | null;
  readonly clamp_reasons: readonly ClampReason[];
  readonly hard_timeout_seconds?: number;
  /** When the runtime ends it, where it was started in the background without a timeout. */
  readonly background_watchdog_seconds?: number;
  /** Whose hard timeout is in force, where that goes by class and the caller named none. */
  readonly command_class?: CommandClass;
  /** What made the hold shorter, where `clamp_reasons` name a risk. */
  readonly command_risks?: readonly CappedRisk[];
  /** Another run of the same command that was alive when this one was started, and since when. */
  readonly duplicate_of?: string;
  readonly duplicate_elapsed_seconds?: number;
}

export interface ProcessResult extends ProcessFields {
  /** Where the shown output begins. */
  readonly offset: number;
  readonly hint?: { readonly code: Hint; readonly text: string };
}

export interface WaitResult extends ProcessResult {
  readonly requested_wait_seconds: number;
  readonly effective_wait_seconds: number;
  readonly wait_clamped: boolean;
  readonly clamp_reasons: readonly ClampReason[];
  readonly wait_raised: boolean;
  readonly wait_defaulted: boolean;
  /** Why it came back before that, if it did. */
  readonly ended_early?: EarlyEnd;
}

export interface ConditionResult extends BudgetFields {
  readonly outcome: ConditionOutcome;
  /** How often it was looked at. */
  readonly probes: number;
  /** Of the last look; null where it had none. */
  readonly last_exit_code: number | null;
  readonly elapsed_seconds: number;
  readonly requested_wait_seconds: number;
  readonly effective_wait_seconds: number;
  readonly every_seconds: number;
  readonly wait_clamped: boolean;
  readonly clamp_reasons: readonly ClampReason[];
  /** Of the last look, where it ran a command. */
  readonly output: string;
}

export interface ListResult extends BudgetFields {
  readonly processes: readonly {
    readonly process_id: string;
    readonly command: string;
    readonly status: ProcessStatus;
    readonly elapsed_seconds: number;
  }[];
  readonly totals: Totals;
}

/** Sums over the whole trial so far, spelled as the design note spells them. */
export interface Totals {
  readonly total_foreground_auto_await_seconds: number;
  readonly auto_await_cap_crossings: number;
  readonly budget_clamped_auto_await_count: number;
  readonly total_process_wait_seconds: number;
  readonly budget_clamped_process_wait_count: number;
  readonly wait_slice_count: number;
}

/** What a call came to: a result, and what the output shown with it gives away; or why it was not carried out. */
export type Returned<Result> = Carried<Result> | Refused;

export interface Carried<Result> {
  readonly result: Result;
  /** Which process it is about; null if it is about none. */
  readonly process: ProcessId | null;
  /** When control returned. */
  readonly at: Instant;
  readonly marks: readonly Mark[];
  readonly freshOutput: boolean;
}

export interface Refused {
  readonly refused: string;
  readonly at: Instant;
  /** What helps; left out: to ask for less, or for something else. */
  readonly way?: WayOut;
}

/** What helps whoever was refused a command. */
export type WayOut =
  /** Too many calls: there is room for one again from then on. */
  | { readonly way: "come_back"; readonly at: Instant }
  /** The same command is alive: that one is to be looked after. */
  | { readonly way: "same"; readonly process: ProcessId }
  /** Another process keeps the shell: it has to end first. */
  | { readonly way: "after"; readonly process: ProcessId }
  | { readonly way: "in_the_foreground" }
  | { readonly way: "none" };

export interface ExecCall {
  readonly command: Command;
  readonly background: boolean;
  /** As the caller named it; null if it named none. */
  readonly timeout: Duration | null;
  /** Which run of the same step it is; left out: the first, 0. */
  readonly attempt?: number;
  /** Declared to outlive the run; left out: it is not. */
  readonly persist?: boolean;
  /** When the caller's prompt cache expires; left out: as the settings say. */
  readonly cacheUntil?: Instant | null;
  /** When the caller is to be told something that ends a hold; left out: it is not. */
  readonly toldAt?: Instant | null;
  /** In place of the settings' own bound, for a client that waits longer or less long than others; left out: theirs. */
  readonly maxHold?: Duration | null;
  /** Whether the caller has any tool to read results with later; left out: it has. */
  readonly canRead?: boolean;
}

export interface ShellContext {
  readonly settings: Settings;
  /** Null: not told. */
  readonly budget: RunBudget | null;
  /** The model's own polling cadence, from its profile; null if it states none. */
  readonly cadence: Duration | null;
  readonly record: Record;
}

const cancelled = "cancelled" as const;

type HoldEffect = Effect & { readonly effect: "hold" };

/** Whether whoever called is no longer there to be answered: its client has given up, or something broke in from outside. */
const isGone = ({ why }: Held) => why === cancelled || why === "interrupted";

export class Shell {
  readonly #settings: Settings;
  readonly #budget: RunBudget | null;
  readonly #cadence: Duration | null;
  readonly #record: Record;
  readonly #looks: Looks | null;
  readonly #processes = new Processes();
  #calls = 0;
  #autoAwaited = 0;
  #capCrossings = 0;
  #budgetClampedAutoAwaits = 0;
  #waited = 0;
  #budgetClampedWaits = 0;
  #slices = 0;
  /** Until when calls are held that draw on one budget, by their number. */
  readonly #held = new Map<number, Instant>();
  /** What shows a failure, where that ends a hold; null until it is first sought. */
  #evidence: Evidence | null = null;
  /** When a result was last given, where that counts. */
  #lastReturnAt: Instant = beginning;

  /** Whether it takes on every command as it is given, and keeps no count of them. */
  readonly isPlain: boolean;
  readonly #tellsCpu: boolean;
  /** The limit that has ended the run, as far as the shell goes: it takes on nothing more. */
  over: ShellLimit | null = null;
  /** When commands were taken on, where that is limited. */
  readonly #taken: Instant[] = [];
  #strikes = 0;
  #commandTime = 0;
  /** How a process is ended. */
  readonly #kill: { readonly grace: Duration; readonly reach: KillReach };

  constructor({ settings, budget, cadence, record }: ShellContext) {
    this.#settings = settings;
    this.isPlain = takesAll(settings);
    this.#tellsCpu = settings.cpuOnResults;
    this.#kill = { grace: settings.killGrace, reach: settings.killReaches };
    this.#budget = budget;
    this.#cadence = cadence;
    this.#record = record;
    this.#looks = hints(settings) ? new Looks() : null;
  }

  /** How many calls have been made so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Whether a process is known to be over; a process that ended unobserved is not. */
  isLive(id: ProcessId): boolean {
    return this.#processes.find(id)?.end === null;
  }

  /** A process as the runtime knows it; undefined if there is none of that id. */
  managed(id: ProcessId): Readonly<ManagedProcess> | undefined {
    return this.#processes.find(id);
  }

  /** Runs a command: in its own call for as long as the policy lets it be held. */
  *exec(asked: ExecCall, now: Instant): Agent<Returned<ExecResult>> {
    const admitted = this.isPlain ? null : yield* this.#admits(asked, now);
    if (admitted !== null && "refused" in admitted) return admitted;
    const call = this.beginExec(asked, now);
    if ("refused" in call) return call;
    this.started(call, (yield call.start) as Passed);
    if (call.timeout !== null) yield this.limit(call, call.timeout);
    const first = (yield this.firstHold(call)) as Held;
    const returned = this.endsAtOnce(call, first) ?? (yield* this.goOnWithExec(call, first));
    return admitted === null ? returned : this.#counted(asked, call, returned as Carried<ExecResult>, admitted);
  }

  /** Whether a command is taken on. That takes no time: nobody waits for what has to make room for it. */
  *#admits(asked: ExecCall, now: Instant): Agent<Admitted | Refused> {
    const settings = this.#settings;
    const { line } = asked.command;
    const refuse = (why: string, way: WayOut): Refused => ({ ...this.turnDown(asked.command, why, now), way });
    if (this.over !== null) return refuse(`this run is over: ${OVER[this.over]}`, NO_WAY);
    const free = comeBackAt(this.#taken, now, settings);
    if (free !== null) return refuse(tooOften(now, free), { way: "come_back", at: free });
    const sleep = settings.leadingSleepRefused === null ? null : leadingSleep(line);
    if (sleep !== null && sleep >= settings.leadingSleepRefused!) {
      const most = inSeconds(settings.leadingSleepRefused!);
      return refuse(`a command may not begin by sleeping for ${most} s or more: wait for a process instead`, NO_WAY);
    }
    if (asked.background && this.#isForegroundOnly(asked)) {
      return refuse("there is no background here: nothing could read what comes of it", { way: "in_the_foreground" });
    }
    if (settings.exclusiveShell) {
      const holder = yield* this.#liveOne(now, ({ background }) => !background);
      if (holder !== null) {
        const why = `${named(holder, now)} keeps the shell: wait until it has ended, or stop it`;
        return refuse(why, { way: "after", process: holder.id });
      }
    }
    let twin: ManagedProcess | null = null;
    if (settings.duplicateStart !== "allow") {
      twin = yield* this.#liveOne(now, ({ command }) => command.line === line && command.cwd === asked.command.cwd);
      if (twin !== null && settings.duplicateStart === "refuse") {
        const why = `the same command is running already: ${named(twin, now)} is the same process, still at work; it was not started again`;
        return refuse(why, { way: "same", process: twin.id });
      }
    }
    if (!(yield* this.#findsRoom(now))) {
      const all = settings.processSlots;
      return refuse(`all ${all} slots are taken by live processes: stop one that is not needed`, NO_WAY);
    }
    this.#charge(now);
    return { twin: twin === null ? null : { process: twin, elapsed: between(twin.startedAt, now) } };
  }

  /** One more call counts against the limits on how often the shell is called. */
  #charge(now: Instant): void {
    const { shellCallsPerMinute: minute, shellCallsPerTen: tenSeconds } = this.#settings;
    if (minute !== null || tenSeconds !== null) this.#taken.push(now);
  }

  /** The live process used last that is of a kind; null: there is none. */
  *#liveOne(now: Instant, is: (process: ManagedProcess) => boolean): Agent<ManagedProcess | null> {
    for (const process of [...this.#processes.list()].reverse()) {
      if (is(process) && (yield* this.#isAlive(process, now))) return process;
    }
    return null;
  }

  *#isAlive(process: ManagedProcess, now: Instant): Agent<boolean> {
    if (process.end !== null) return false;
    const held = (yield { effect: "hold", anyOf: [process.id], until: now, quiet: null }) as Held;
    if (held.end !== null) over(process, held.end);
    return held.end === null;
  }

  /** Makes room for one more process: those that have ended are forgotten, and live ones perhaps ended; whether there is any. */
  *#findsRoom(now: Instant): Agent<boolean> {
    const { processSlots: slots } = this.#settings;
    const all = this.#processes.list();
    if (slots === null || all.length < slots) return true;
    const kept: Kept<ManagedProcess>[] = [];
    for (const process of all) {
      kept.push({ is: process, lastCall: process.lastCall, ended: !(yield* this.#isAlive(process, now)) });
    }
    const going = makesRoom(kept, this.#settings);
    if (going === null) return false;
    for (const process of going) {
      if (process.end === null) {
        yield { effect: "limit", process: process.id, at: now, afterSilence: NONE, ...this.#kill };
        this.#record({ event: "pruned", at: now, process: process.id });
      }
      this.#processes.forget(process.id);
    }
    return true;
  }

  /** Keeps count of what came of a command that was taken on. */
  #counted(
    { background }: ExecCall,
    { calledAt }: BegunExec,
    returned: Carried<ExecResult>,
    { twin }: Admitted,
  ): Carried<ExecResult> {
    const { timeoutStrikes, commandTimeMax } = this.#settings;
    const { result, at } = returned;
    if (!background) {
      this.#strikes = result.status === "timed_out" ? this.#strikes + 1 : 0;
      this.#commandTime += between(calledAt, at);
      if (timeoutStrikes !== null && this.#strikes >= timeoutStrikes) this.over = "timeout_strikes";
      else if (commandTimeMax !== null && this.#commandTime >= commandTimeMax) this.over = "command_time";
    }
    if (twin === null) return returned;
    const duplicate = {
      duplicate_of: processName(twin.process.id),
      duplicate_elapsed_seconds: inSeconds(twin.elapsed),
    };
    return { ...returned, result: { ...result, ...duplicate } };
  }

  #isForegroundOnly({ canRead }: ExecCall): boolean {
    return canRead === false && this.#settings.withoutReader === "foreground_only";
  }

  // The parts of `exec`, for whoever cannot afford a generator for every quick command.

  /** Writes the call down; what to ask of the world first, or why it is refused. */
  beginExec(asked: ExecCall, now: Instant): BegunExec | Refused {
    const { command, background, timeout: requested } = asked;
    this.#calls += 1;
    this.#looks?.turnsElsewhere();
    const call = this.#calls;
    const wished = { requested, background, startedAt: now, line: command.line };
    // The cap of a hold has an eye on the budget of its own.
    const handsOver = this.#settings.timeoutHandsOver && !background && requested !== null;
    const decision = this.#isForegroundOnly(asked)
      ? { timeout: foregroundOnlyTimeout(requested, this.#settings) }
      : hardTimeout(wished, this.#settings, handsOver ? null : this.#budget);
    if ("refused" in decision) {
      this.#execCalled(call, null, asked, null, now);
      return this.#refuse(call, now, decision.refused);
    }
    let { timeout: hard } = decision;
    let settings = this.#settings;
    const cutBy = hard === null ? NONE : hard.clampReasons;
    if (handsOver && hard !== null && !this.#isForegroundOnly(asked)) {
      settings = handingOver(hard.length, settings);
      hard = null;
    }
    const id = this.#processes.reserve();
    this.#execCalled(call, id, asked, hard, now, settings, cutBy);
    const length = endsAfter(hard, this.#settings, background);
    const silences = silenceLimits(hard, this.#settings);
    const timeout = length === null && silences.length === 0 ? null : { length, silences };
    const { outputRetainedBytes: retain, completion: overAt } = this.#settings;
    const start = { effect: "start", process: id, command, retain, overAt } as const;
    return { call, id, asked, calledAt: now, hard, cutBy, settings, timeout, start, process: null };
  }

  started(begun: BegunExec, { at }: Passed): void {
    const { id, asked, call } = begun;
    begun.process = this.#processes.add(id, asked.command, at, asked.background, call, asked.persist);
  }

  /** A timeout is the world's to keep from now on. */
  limit({ process }: BegunExec, { length, silences }: ExecTimeout): Effect {
    return this.#limited(process!, length === null ? never : after(process!.startedAt, length), silences);
  }

  #limited({ id, startedAt }: ManagedProcess, at: Instant, silences: readonly SilenceLimit[]): Effect {
    const afterSilence = silences.map(({ from, length }) => ({ from: after(startedAt, from), length }));
    return { effect: "limit", process: id, at, afterSilence, ...this.#kill };
  }

  /** The result of a command that is over after its first hold, has said nothing and left nothing to be done; else null. */
  endsAtOnce(begun: BegunExec, first: Held): Returned<ExecResult> | null {
    const { asked, hard, process } = begun;
    if (first.why !== "exit" || this.#hasNews(process!, first)) return null;
    const held = firstOutcome(first, asked.background, hard);
    return this.#execReturns(begun, held, nothingNew(process!.cursor), null);
  }

  /** Whatever else becomes of a command after its first hold. */
  *goOnWithExec(begun: BegunExec, first: Held): Agent<Returned<ExecResult>> {
    const { asked, hard } = begun;
    const process = begun.process!;
    const settings = settingsUnder(begun.settings, asked.maxHold);
    const outlived = first.end === null && !isGone(first) && !asked.background && !hard?.suppressesYield;
    const held = outlived
      ? yield* this.#outlived(process, begun, first, settings)
      : firstOutcome(first, asked.background, hard);
    const { totalTimeoutRearms: anew } = this.#settings;
    if (anew !== null && outlived && held.held.end === null && !isGone(held.held)) {
      const last =
        hard === null ? never : after(process.startedAt, endsAfter(hard, { ...this.#settings, totalTimeout: null })!);
      yield this.#limited(process, earliest(after(held.held.at, anew), last), begun.timeout?.silences ?? NONE);
    }
    const shown = this.#hasNews(process, held.held)
      ? yield* this.#show(process, held.held.written)
      : nothingNew(process.cursor);
    return this.#execReturns(begun, held, shown, this.#tellsCpu ? yield* this.#usage(process) : null);
  }

  /** What a live process has used of the CPU; null of one that has ended, or where nobody can tell. */
  *#usage({ id, end }: ManagedProcess): Agent<CpuFields | null> {
    if (end !== null) return null;
    const { cpu } = (yield { effect: "usage", process: id }) as Used;
    return cpu === null ? null : { cpu_seconds: inSeconds(cpu) };
  }

  /**
   * The first hold of a command: none in the background; under a hard timeout until it ends or is ended, or its client
   * would give up; otherwise up to the initial boundary.
   */
  firstHold({ id, process, asked, hard, calledAt, settings: own }: BegunExec): Effect {
    const anyOf = [id] as const;
    const { startedAt } = process!;
    if (asked.background) return { effect: "hold", anyOf, until: startedAt, quiet: null };
    const settings = settingsUnder(own, asked.maxHold);
    const { maxHold, foregroundIdleYield: idle } = settings;
    if (hard?.suppressesYield) {
      return { effect: "hold", anyOf, until: maxHold === null ? never : after(calledAt, maxHold), quiet: null };
    }
    const quiet = idle === null ? null : ({ length: idle, since: "start" } as const);
    return { effect: "hold", anyOf, until: initialTotalBoundary(startedAt, settings), quiet };
  }

  /** A command that outlived its initial hold: auto-await, as far as the policy grants it. */
  *#outlived(
    process: ManagedProcess,
    { call, calledAt, asked }: BegunExec,
    first: Held,
    settings: Settings,
  ): Agent<ForegroundHold> {
    const { id, startedAt } = process;
    const boundary = first.at;
    const { cacheUntil = this.#cacheUntil(), toldAt = null } = asked;
    const others = this.#others(boundary);
    const { line } = process.command;
    const othersHold = others?.othersHold ?? nothing;
    // Each field by its own name: what is spread into an object costs more than all that is decided with it.
    const stands = ({ lastOutputAt }: Held): AtBoundary => ({
      calledAt,
      startedAt,
      boundary,
      lastOutputAt,
      line,
      cacheUntil,
      toldAt,
      othersHold,
    });
    const atFirst = stands(first);
    const granted = autoAwait(atFirst, settings, this.#budget);
    const risks = this.#risksIn(granted.clampReasons, atFirst);
    const event: TrialEvent = {
      event: "auto_await_granted",
      at: boundary,
      call,
      process: id,
      startedAt,
      yieldReason: first.why === "quiet" ? "idle" : "total",
      effectiveCap: effectiveCap(startedAt, settings, this.#budget),
      until: granted.until,
      clampReasons: granted.clampReasons,
    };
    this.#record(others === null && risks === null ? event : { ...event, ...others, ...(risks && { risks }) });
    const hold = this.#autoAwaitHold(id, atFirst, granted, settings);
    const held = settings.jointLedger ? yield* this.#drawing(call, hold) : ((yield hold) as Held);
    // Where output extends the cap each output was a new grant; the last one is the one that ended the hold.
    const last = extension(settings) === null ? granted : autoAwait(stands(held), settings, this.#budget);
    const reasons = last.clampReasons;
    this.#autoAwaited += between(boundary, held.at);
    if (isGone(held)) return { held, outcome: cancelled, reasons };
    if (held.end !== null) return { held, outcome: "process_finished", reasons };
    if (held.why === "evidence") return { held, outcome: "failure_evidence", reasons: NONE };
    if (reasons.includes("remaining_run_budget")) this.#budgetClampedAutoAwaits += 1;
    if (settings.foregroundAutoAwaitMax === nothing) return { held, outcome: "disabled", reasons };
    if (reasons.length === 0) {
      this.#capCrossings += 1;
      const kills = settings.foregroundAtCap === "kill" || isNeverHandedOver(line, settings);
      if (kills) return yield* this.#killAtCap(process, held);
    }
    const binding = this.#risksIn(reasons, atFirst);
    return binding === null
      ? { held, outcome: "cap_reached", reasons }
      : { held, outcome: "cap_reached", reasons, risks: binding };
  }

  /** Which risks it was, where it was a risk. */
  #risksIn(reasons: readonly AutoAwaitReason[], stands: AtBoundary): readonly CappedRisk[] | null {
    if (!reasons.includes("command_risk")) return null;
    return riskCap(stands, this.#settings, this.#budget)?.risks ?? null;
  }

  /** A hold that is on the books for as long as it lasts; whoever is cut off holds nothing any more. */
  *#drawing(call: number, hold: HoldEffect): Agent<Held> {
    this.#held.set(call, hold.until);
    try {
      return (yield hold) as Held;
    } finally {
      this.#held.delete(call);
    }
  }

  /**
   * What all calls that are held may still be held for, together; null where they draw on no budget. Beyond its deadline none of
   * them draws on it: one that is held without an end holds what there is.
   */
  #others(now: Instant): { readonly othersHold: Duration } | null {
    if (!this.#settings.jointLedger || this.#budget === null) return null;
    const { deadline } = this.#budget;
    let sum = 0;
    for (const until of this.#held.values()) sum += between(now, earliest(until, deadline));
    return { othersHold: sum as Duration };
  }

  /** What the others hold, as a result says it. */
  #othersSay(now: Instant): OthersField | null {
    const others = this.#others(now);
    return others === null ? null : { held_by_others_seconds: inSeconds(others.othersHold) };
  }

  #autoAwaitHold(id: ProcessId, stands: AtBoundary, granted: Hold<AutoAwaitReason>, settings: Settings) {
    const extended = extension(settings);
    const hold = {
      effect: "hold",
      anyOf: [id],
      until: extended === null ? granted.until : farthestGrant(stands, settings, this.#budget),
      quiet: extended === null ? null : ({ length: extended, since: "start" } as const),
    } as const;
    const { failureEvidence } = settings;
    return failureEvidence === null ? hold : { ...hold, sought: this.#seeks(failureEvidence, 0) };
  }

  /** Beyond `cursor` (bytes). Made ready once, by the first hold that seeks it. */
  #seeks(texts: string, cursor: number): Sought {
    this.#evidence ??= evidenceOf(texts);
    return { evidence: this.#evidence, cursor };
  }

  /** Only the configured cap kills; a hold that the budget shortened has returned before this. */
  *#killAtCap({ id }: ManagedProcess, held: Held): Agent<ForegroundHold> {
    const stopped = (yield { effect: "stop", process: id, ...this.#kill }) as Stopped;
    const end: End | null = stopped.end === null ? null : { ...stopped.end, by: "limit" };
    this.#autoAwaited += between(held.at, stopped.at);
    const now = (yield { effect: "hold", anyOf: [id], until: stopped.at, quiet: null }) as Held;
    return { held: { ...held, at: stopped.at, end, written: now.written }, outcome: "terminated", reasons: NONE };
  }

  #execReturns(
    begun: BegunExec,
    { held, outcome, reasons, risks }: ForegroundHold,
    shown: Shown,
    used: CpuFields | null,
  ): Returned<ExecResult> {
    const { call, hard: timeout, cutBy, settings } = begun;
    const process = begun.process!;
    const clampReasons: readonly ClampReason[] = cutBy.length === 0 ? reasons : [...cutBy, ...reasons];
    const budget = this.#budgetFields(process, clampReasons, held.at);
    const fresh = shown.next > process.cursor;
    process.cursor = shown.next;
    if (process.end === null) this.#looks?.begins(process);
    else if (!isGone(held)) process.isRead = true;
    this.#returned(call, "exec", process, held.at, outcome, reasons, fresh, budget, shown.lost);
    const { foregroundAutoAwaitMax: cap } = settings;
    const effective = effectiveCap(process.startedAt, settings, this.#budget);
    const result: ExecResult = {
      status: process.status,
      process_id: processName(process.id),
      exit_code: process.end === null ? null : process.end.code,
      signal: process.end === null ? null : process.end.signal,
      elapsed_seconds: elapsed(process, held.at),
      auto_await_outcome: outcome,
      configured_auto_await_cap_seconds: cap === null ? null : inSeconds(cap),
      effective_auto_await_cap_seconds: outcome === null || effective === null ? null : inSeconds(effective),
      clamp_reasons: clampReasons,
      output: shown.text,
      next_offset: shown.next,
      output_complete: shown.complete,
    };
    const limit = timeout === null ? this.#watchdogField(process) : limitFields(timeout);
    const risky = risks === undefined ? null : { command_risks: risks };
    const left = endFields(process.end);
    const beside = this.#othersSay(held.at);
    const bare =
      limit === null && budget === null && left === null && risky === null && used === null && beside === null;
    const whole = bare ? result : { ...result, ...used, ...limit, ...risky, ...left, ...budget, ...beside };
    return { result: whole, process: process.id, at: held.at, marks: shown.marks, freshOutput: fresh };
  }

  /**
   * Waits for a process, within every bound; stops nothing.
   *
   * @param requested as the model named it; null if it named none
   * @param maxHold as for `exec`
   * @param cacheUntil as for `exec`, and so is `toldAt`
   */
  *wait(
    id: ProcessId,
    requested: Duration | null,
    now: Instant,
    maxHold?: Duration | null,
    cacheUntil: Instant | null = this.#cacheUntil(),
    toldAt: Instant | null = null,
  ): Agent<Returned<WaitResult>> {
    this.#calls += 1;
    const call = this.#calls;
    const settings = settingsUnder(this.#settings, maxHold);
    const asked = askedWait(requested, settings);
    const process = this.#processes.find(id);
    this.#called(call, "wait", process, now, asked);
    if (process === undefined) return this.#refuse(call, now, unknown(id));
    const ceiling = refusedCeiling(asked, settings);
    if (ceiling !== null) {
      const why = `wait_sec is ${inSeconds(asked.requested)}: a wait is at most ${inSeconds(ceiling)} s`;
      return this.#refuse(call, now, why);
    }
    const others = this.#others(now);
    const terms = [settings, this.#budget, this.#cadence, now, cacheUntil, toldAt, others?.othersHold] as const;
    const granted = processWait(asked.asked, ...terms);
    const event: TrialEvent = {
      event: "wait_granted",
      at: now,
      call,
      process: id,
      until: granted.until,
      clampReasons: granted.clampReasons,
    };
    this.#record(others === null ? event : { ...event, ...others });
    const { failureEvidence } = settings;
    const sought = failureEvidence !== null && settings.failureEvidenceEndsWaits;
    const hold: HoldEffect = {
      effect: "hold",
      anyOf: [id],
      until: granted.until,
      quiet: settings.processWaitWakeOnOutput ? { length: WAKE_QUIET, since: "unread", cursor: process.cursor } : null,
      ...(sought ? { sought: this.#seeks(failureEvidence, process.cursor) } : null),
    };
    const held = settings.jointLedger ? yield* this.#drawing(call, hold) : ((yield hold) as Held);
    const early: EarlyEnd | null = held.why === "evidence" ? "failure_evidence" : null;
    this.#waited += between(now, held.at);
    if (granted.clampReasons.includes("process_wait_slice")) this.#slices += 1;
    if (granted.clampReasons.includes("remaining_run_budget")) this.#budgetClampedWaits += 1;

    const shown = this.#hasNews(process, held) ? yield* this.#show(process, held.written) : nothingNew(process.cursor);
    const budget = this.#budgetFields(process, granted.clampReasons, held.at);
    const fresh = shown.next > process.cursor;
    process.cursor = shown.next;
    if (process.end !== null && !isGone(held)) process.isRead = true;
    this.#returned(
      call,
      "wait",
      process,
      held.at,
      null,
      granted.clampReasons,
      fresh,
      budget,
      shown.lost,
      undefined,
      early,
    );
    const hint = this.#hint(process, shown.next, held, held.at > now);
    const result: WaitResult = {
      status: process.status,
      process_id: processName(id),
      exit_code: process.end === null ? null : process.end.code,
      signal: process.end === null ? null : process.end.signal,
      elapsed_seconds: elapsed(process, held.at),
      requested_wait_seconds: inSeconds(asked.requested),
      effective_wait_seconds: inSeconds(between(now, granted.until)),
      wait_clamped: granted.clampReasons.length > 0,
      clamp_reasons: granted.clampReasons,
      wait_raised: asked.raised,
      wait_defaulted: asked.defaulted,
      output: shown.text,
      offset: shown.from,
      next_offset: shown.next,
      output_complete: shown.complete,
    };
    const left = endFields(process.end);
    const used = this.#tellsCpu ? yield* this.#usage(process) : null;
    const beside = this.#othersSay(held.at);
    const bare =
      budget === null && left === null && early === null && hint === null && used === null && beside === null;
    const whole = bare
      ? result
      : {
          ...result,
          ...(early === null ? null : { ended_early: early }),
          ...used,
          ...left,
          ...budget,
          ...hint,
          ...beside,
        };
    return { result: whole, process: id, at: held.at, marks: shown.marks, freshOutput: fresh };
  }

  /** How a process stands now, with the output not yet shown. No hold. */
  *status(id: ProcessId, now: Instant): Agent<Returned<ProcessResult>> {
    this.#calls += 1;
    const call = this.#calls;
    const process = this.#processes.find(id);
    this.#called(call, "status", process, now, null);
    if (process === undefined) return this.#refuse(call, now, unknown(id));
    const held = (yield { effect: "hold", anyOf: [id], until: now, quiet: null }) as Held;
    return yield* this.#processReturns("status", process, call, held);
  }

  /** Ends a process and everything it started. Of one that is over already it says so. */
  *stop(id: ProcessId, now: Instant): Agent<Returned<ProcessResult>> {
    this.#calls += 1;
    const call = this.#calls;
    const process = this.#processes.find(id);
    this.#called(call, "stop", process, now, null);
    if (process === undefined) return this.#refuse(call, now, unknown(id));
    const before = (yield { effect: "hold", anyOf: [id], until: now, quiet: null }) as Held;
    if (before.end !== null) {
      over(process, before.end);
      return yield* this.#processReturns("stop", process, call, before, "already_exited");
    }
    const stopped = (yield { effect: "stop", process: id, ...this.#kill }) as Stopped;
    const held = (yield { effect: "hold", anyOf: [id], until: stopped.at, quiet: null }) as Held;
    this.#looks?.turnsElsewhere();
    const status = stopped.end === null ? "termination_failed" : undefined;
    return yield* this.#processReturns("stop", process, call, { ...held, end: stopped.end }, status);
  }

  /** A piece of a process's output by offset; moves nothing that exec and wait show. */
  *readOutput(id: ProcessId, offset: number, limit: number | null, now: Instant): Agent<Returned<ProcessResult>> {
    this.#calls += 1;
    const call = this.#calls;
    const process = this.#processes.find(id);
    this.#called(call, "read_output", process, now, null);
    if (process === undefined) return this.#refuse(call, now, unknown(id));
    const held = (yield { effect: "hold", anyOf: [id], until: now, quiet: null }) as Held;
    if (held.end !== null) over(process, held.end);
    const most = this.#settings.readOutputLimitBytes;
    const from = Math.min(Math.max(Math.trunc(offset), 0), held.written);
    const shown = yield* showPiece(id, from, limit === null ? most : Math.min(Math.max(Math.trunc(limit), 0), most));
    const budget = this.#budgetFields(process, NONE, held.at);
    const fresh = shown.next > process.cursor;
    if (process.end !== null) process.isRead = true;
    this.#returned(call, "read_output", process, held.at, null, NONE, fresh, budget, 0);
    const hint = this.#hint(process, shown.next, held, false);
    const used = this.#tellsCpu ? yield* this.#usage(process) : null;
    return {
      result: { ...this.#processFields(process, shown, held.at), ...used, ...budget, ...hint },
      process: process.id,
      at: held.at,
      marks: shown.marks,
      freshOutput: fresh,
    };
  }

  /** Whether a model can wait for a condition in one call. */
  get watchesConditions(): boolean {
    return this.#settings.conditionWaitMax > 0;
  }

  /** Waits until a condition holds, within every bound: one call, however often it is looked at. */
  *waitForCondition(
    condition: Condition,
    asked: AskedCondition,
    now: Instant,
    maxHold?: Duration | null,
  ): Agent<Returned<ConditionResult>> {
    this.#calls += 1;
    this.#looks?.turnsElsewhere();
    const call = this.#calls;
    const settings = settingsUnder(this.#settings, maxHold);
    const id = "succeeded" in condition ? condition.succeeded : null;
    const process = id === null ? undefined : this.#processes.find(id);
    const granted = conditionWait(asked, settings, this.#budget, now);
    const timeout = "refused" in granted ? (asked.timeout ?? settings.conditionWaitDefault) : granted.timeout;
    const requested = { requested: timeout, raised: false, defaulted: asked.timeout === null };
    this.#called(call, "wait_for_condition", process, now, requested);
    if (!this.watchesConditions) return this.#refuse(call, now, NO_CONDITIONS);
    if (id !== null && process === undefined) return this.#refuse(call, now, unknown(id));
    if ("refused" in granted) return this.#refuse(call, now, granted.refused);
    // The whole wait counts as one call, however often it looks.
    const free = comeBackAt(this.#taken, now, settings);
    if (free !== null) return { ...this.#refuse(call, now, tooOften(now, free)), way: { way: "come_back", at: free } };
    this.#charge(now);
    const { until, every, clampReasons } = granted;
    this.#record({ event: "wait_granted", at: now, call, process: id, until, clampReasons });
    const looking = { settings, kill: this.#kill, reserve: () => this.#processes.reserve() };
    const { outcome, at, probes, code, ran, end } = yield* watched(condition, granted, looking, now);
    if (process !== undefined && end !== null) over(process, end);
    if (clampReasons.includes("remaining_run_budget")) this.#budgetClampedWaits += 1;
    this.#record({ event: "condition_watched", at, call, outcome, probes, code });
    const shown =
      ran === null || outcome === "cancelled"
        ? nothingNew(0)
        : yield* showUnread(ran.process, 0, ran.written, settings);
    const budget = this.#budgetFields(process ?? null, clampReasons, at);
    this.#returned(call, "wait_for_condition", process ?? null, at, null, clampReasons, false, budget, shown.lost);
    const result: ConditionResult = {
      outcome,
      probes,
      last_exit_code: code,
      elapsed_seconds: inSeconds(between(now, at)),
      requested_wait_seconds: inSeconds(timeout),
      effective_wait_seconds: inSeconds(between(now, until)),
      every_seconds: inSeconds(every),
      wait_clamped: clampReasons.length > 0,
      clamp_reasons: clampReasons,
      output: shown.text,
    };
    return {
      result: budget === null ? result : { ...result, ...budget },
      process: id,
      at,
      marks: shown.marks,
      freshOutput: false,
    };
  }

  /** Whether anything answers at a port: a call of its own, which takes no time. */
  *probe(port: number): Agent<boolean> {
    this.#calls += 1;
    this.#looks?.turnsElsewhere();
    const { at, answers } = (yield { effect: "probe", port }) as Probed;
    this.#record({ event: "probed", at, call: this.#calls, port, answers });
    return answers;
  }

  /** Waits for what still runs at the end of a run, as far as the policy has it held open; when it goes on. */
  *holdOpen(now: Instant): Agent<Instant> {
    const live = this.#processes.list().filter(({ end, persist }) => end === null && !persist);
    if (live.length === 0) return now;
    const until = heldOpenUntil(this.#settings, this.#budget, now);
    this.#record({ event: "exit_held", at: now, until });
    let at = now;
    for (const process of live) {
      let held: Held;
      // What comes from outside is for whoever is told of it afterwards.
      do held = (yield { effect: "hold", anyOf: [process.id], until, quiet: null }) as Held;
      while (held.why === "interrupted");
      at = held.at;
      if (held.end !== null) over(process, held.end);
      this.#record({ event: "exit_awaited", at, process: process.id, end: held.end });
    }
    return at;
  }

  /** The run is done: ends what it still runs, as far as the policy has it so; when that is done. */
  *leave(now: Instant): Agent<Instant> {
    const { cleanExit, exitGrace } = this.#settings;
    if (cleanExit === "usual" || cleanExit === "leave") return now;
    const keeps = cleanExit === "keep_persistent";
    if (this.#processes.list().every(({ end, persist }) => end !== null || (keeps && persist))) return now;
    const passed =
      exitGrace === nothing ? now : ((yield { effect: "pass", until: after(now, exitGrace) }) as Passed).at;
    return yield* this.sweep(passed, keeps);
  }

  /** What a runtime ends that exits at once. */
  *exitNow(now: Instant): Agent<Instant> {
    const { cleanExit } = this.#settings;
    return cleanExit === "leave" ? now : yield* this.sweep(now, cleanExit === "keep_persistent");
  }

  /** What a session that ends leaves running. */
  kept(): readonly ProcessId[] {
    const { cleanExit } = this.#settings;
    if (cleanExit === "usual" || cleanExit === "reap") return NONE;
    const all = this.#processes.list();
    return (cleanExit === "leave" ? all : all.filter(({ persist }) => persist)).map(({ id }) => id);
  }

  /** Ends every live process at the runtime's own hand, one after the other; when that is done. */
  *sweep(now: Instant, keepsPersistent = false): Agent<Instant> {
    let at = now;
    for (const process of this.#processes.list()) {
      if (process.end === null && !(keepsPersistent && process.persist)) at = yield* this.#sweeps(process);
    }
    return at;
  }

  *#sweeps(process: ManagedProcess): Agent<Instant> {
    const { at, end } = (yield { effect: "stop", process: process.id, ...this.#kill }) as Stopped;
    if (end !== null) over(process, end);
    this.#record({ event: "swept", at, process: process.id, end });
    return at;
  }

  /** The runtime no longer knows any live process: it was restarted, and what becomes of them nobody sees. */
  loseAll(now: Instant): void {
    const end: End = { at: now, by: "nobody", code: null, signal: null };
    for (const process of this.#processes.list()) over(process, end);
  }

  /** Every process there was, and the totals so far. */
  *list(now: Instant): Agent<Returned<ListResult>> {
    this.#calls += 1;
    this.#looks?.turnsElsewhere();
    const call = this.#calls;
    this.#called(call, "list", undefined, now, null);
    for (const process of this.#processes.list()) {
      if (process.end !== null) continue;
      const held = (yield { effect: "hold", anyOf: [process.id], until: now, quiet: null }) as Held;
      if (held.end !== null) over(process, held.end);
    }
    const budget = this.#budgetFields(null, NONE, now);
    this.#returned(call, "list", null, now, null, NONE, false, budget, 0);
    const processes = this.#processes.list().map((process) => ({
      process_id: processName(process.id),
      command: process.command.line,
      status: process.status,
      elapsed_seconds: elapsed(process, now),
    }));
    return {
      result: { processes, totals: this.totals(), ...budget },
      process: null,
      at: now,
      marks: NONE,
      freshOutput: false,
    };
  }

  /**
   * Turns down a call that says nothing which could be carried out; it is written down all the same.
   *
   * @param asked the command it was to run, or what it was to do with a process; null if not even that can be told
   */
  turnDown(asked: Command | ProcessCall | null, why: string, now: Instant): Refused {
    this.#calls += 1;
    const call = this.#calls;
    if (typeof asked === "string") this.#called(call, asked, undefined, now, null);
    else if (asked !== null) {
      this.#execCalled(call, null, { command: asked, background: false, timeout: null }, null, now);
    }
    return this.#refuse(call, now, why);
  }

  /** Takes in a process of an earlier session, whose end nobody saw; new ones are numbered after it. */
  adopt(id: ProcessId, command: Command): void {
    this.#processes.adopt(id, command);
  }

  totals(): Totals {
    return {
      total_foreground_auto_await_seconds: this.#autoAwaited / 1_000,
      auto_await_cap_crossings: this.#capCrossings,
      budget_clamped_auto_await_count: this.#budgetClampedAutoAwaits,
      total_process_wait_seconds: this.#waited / 1_000,
      budget_clamped_process_wait_count: this.#budgetClampedWaits,
      wait_slice_count: this.#slices,
    };
  }

  *#processReturns(
    tool: "status" | "stop",
    process: ManagedProcess,
    call: number,
    held: Held,
    status?: ProcessStatus,
  ): Agent<Returned<ProcessResult>> {
    const shown = this.#hasNews(process, held) ? yield* this.#show(process, held.written) : nothingNew(process.cursor);
    const budget = this.#budgetFields(process, NONE, held.at);
    const fresh = shown.next > process.cursor;
    process.cursor = shown.next;
    const fields = this.#processFields(process, shown, held.at);
    if (process.end !== null && !isGone(held)) process.isRead = true;
    this.#returned(call, tool, process, held.at, null, NONE, fresh, budget, shown.lost, status);
    const hint = tool === "status" ? this.#hint(process, shown.next, held, false) : null;
    const used = this.#tellsCpu ? yield* this.#usage(process) : null;
    const result = { ...fields, ...used, ...(status === undefined ? null : { status }), ...budget, ...hint };
    return { result, process: process.id, at: held.at, marks: shown.marks, freshOutput: fresh };
  }

  #processFields(process: ManagedProcess, shown: Shown, now: Instant): ProcessResult {
    return {
      status: process.status,
      process_id: processName(process.id),
      exit_code: process.end === null ? null : process.end.code,
      signal: process.end === null ? null : process.end.signal,
      elapsed_seconds: elapsed(process, now),
      output: shown.text,
      offset: shown.from,
      next_offset: shown.next,
      output_complete: shown.complete,
      ...endFields(process.end),
    };
  }

  /**
   * Notes an end that a hold saw; whether there is output to show that was not shown before. Nobody sees the result of a
   * call that was cancelled, so what it might have shown is left for the next one.
   */
  #hasNews(process: ManagedProcess, held: Held): boolean {
    if (held.end !== null) over(process, held.end);
    return held.written !== process.cursor && !isGone(held);
  }

  /** What a result shows of output that nobody has been shown yet. */
  *#show({ id, cursor, status }: ManagedProcess, written: number): Agent<Shown> {
    if (status === "timed_out" && this.#settings.outputOnTimeout === "lost") return allLost(cursor, written);
    return yield* showUnread(id, cursor, written, this.#settings);
  }

  /**
   * What a look at a live process is to point out.
   *
   * @param next where the output shown ends
   * @param ranOut whether it was a wait that has lasted as long as it was to
   */
  #hint(process: ManagedProcess, next: number, held: Held, ranOut: boolean): Pick<ProcessResult, "hint"> | null {
    if (this.#looks === null || isGone(held)) return null;
    const quiet = this.#looks.at(process, next, held, ranOut);
    const code = quiet === null ? null : hintFor(quiet, held.at, this.#settings);
    if (quiet === null || code === null) return null;
    const text = hintText(code, processName(process.id), quiet, held.at, this.#settings);
    if (code === "quiet_polls") this.#looks.hasHinted(process);
    this.#record({
      event: "told",
      at: held.at,
      kind: "hint",
      hint: code,
      due: held.at,
      processes: [process.id],
      bytes: utf8Length(text),
      woke: false,
      attempts: 1,
      deferred: false,
    });
    return { hint: { code, text } };
  }

  #watchdogField({ background }: ManagedProcess) {
    const { backgroundWatchdog: watchdog } = this.#settings;
    return background && watchdog !== null ? { background_watchdog_seconds: inSeconds(watchdog) } : null;
  }

  #budgetFields(process: ManagedProcess | null, reasons: readonly ClampReason[], now: Instant): BudgetFields | null {
    const budget = this.#budget;
    if (budget === null) return null;
    const clamped = reasons.includes("remaining_run_budget") || reasons.includes("process_wait_slice");
    const advice = process !== null && process.end === null ? guidance(budget, now) : null;
    const shows = showsRemaining(this.#settings, budget, clamped || reasons.length > 0, now);
    if (!shows && advice === null) return null;
    return {
      ...(shows
        ? {
            remaining_run_seconds: inSeconds(remaining(budget, now)),
            finalization_reserve_seconds: inSeconds(budget.reserve),
          }
        : null),
      ...(advice === null ? null : { guidance: advice }),
    };
  }

  #execCalled(
    call: number,
    process: ProcessId | null,
    { command, background, attempt }: ExecCall,
    timeout: HardTimeout | null,
    at: Instant,
    settings = this.#settings,
    cutBy: readonly HardTimeoutReason[] = NONE,
  ): void {
    const event: TrialEvent = {
      event: "exec_called",
      at,
      call,
      process,
      command,
      background,
      attempt: attempt ?? 0,
      held: background ? "none" : timeout?.suppressesYield ? "hard" : "soft",
      timeout: timeout === null ? null : timeout.length,
      timeoutClampReasons: cutBy,
      configuredCap: settings.foregroundAutoAwaitMax,
    };
    const found = timeout?.commandClass;
    this.#record(found === undefined ? event : { ...event, commandClass: found });
  }

  #called(
    call: number,
    action: ProcessCall,
    process: ManagedProcess | undefined,
    at: Instant,
    asked: Omit<AskedWait, "asked"> | null,
  ): void {
    if (process !== undefined) process.lastCall = call;
    this.#record({
      event: "process_called",
      at,
      call,
      action,
      process: process === undefined ? null : process.id,
      requested: asked === null ? null : asked.requested,
      raised: asked?.raised ?? false,
      defaulted: asked?.defaulted ?? false,
    });
  }

  #returned(
    call: number,
    tool: Tool,
    process: ManagedProcess | null,
    at: Instant,
    outcome: AutoAwaitOutcome | null,
    clampReasons: readonly HoldReason[],
    freshOutput: boolean,
    budget: BudgetFields | null,
    outputLost: number,
    status?: ProcessStatus,
    endedEarly: EarlyEnd | null = null,
  ): void {
    if (this.#settings.cacheLifetime !== null) this.#lastReturnAt = at;
    const event: TrialEvent = {
      event: "control_returned",
      at,
      call,
      tool,
      process: process === null ? null : process.id,
      startedAt: process === null ? null : process.startedAt,
      status: status ?? (process === null ? null : process.status),
      end: process === null ? null : process.end,
      outcome,
      clampReasons,
      freshOutput,
      budgetSignal: budget !== null || clampReasons.includes("remaining_run_budget"),
      guided: budget?.guidance !== undefined,
      outputLost,
    };
    this.#record(endedEarly === null ? event : { ...event, endedEarly });
  }

  /** When the prompt cache expires, where nobody says more of it: whoever has been given a result asks the model next. */
  #cacheUntil(): Instant | null {
    const { cacheLifetime } = this.#settings;
    return cacheLifetime === null ? null : after(this.#lastReturnAt, cacheLifetime);
  }

  #refuse(call: number, at: Instant, why: string): Refused {
    this.#record({ event: "call_refused", at, call, why });
    return { refused: why, at };
  }
}

/** The looks of a model at its live processes, as far as they have found nothing new. */
class Looks {
  readonly #quiet = new Map<ProcessId, { count: number; unhinted: number; next: number }>();
  /** The last call, if it was a look and not a wait that has run out. */
  #last: { readonly process: ProcessId; readonly next: number } | null = null;

  /** A call that is no look: what comes next repeats nothing. */
  turnsElsewhere(): void {
    this.#last = null;
  }

  /** It is handed back with all it has printed so far. */
  begins({ id, cursor }: ManagedProcess): void {
    this.#quiet.set(id, { count: 0, unhinted: 0, next: cursor });
  }

  /** A look that has found this; null: something new. */
  at({ id, end, startedAt }: ManagedProcess, next: number, held: Held, ranOut: boolean): QuietLooks | null {
    const last = this.#last;
    const before = this.#quiet.get(id);
    this.#last = end === null && !ranOut ? { process: id, next } : null;
    if (end !== null || before === undefined || next > before.next) {
      this.#quiet.set(id, { count: 0, unhinted: 0, next });
      return null;
    }
    const now = { count: before.count + 1, unhinted: before.unhinted + 1, next };
    this.#quiet.set(id, now);
    const repeated = last !== null && last.process === id && last.next === next;
    return { ...now, silentSince: held.lastOutputAt ?? startedAt, repeated };
  }

  hasHinted({ id }: ManagedProcess): void {
    const quiet = this.#quiet.get(id);
    if (quiet !== undefined) quiet.unhinted = 0;
  }
}

/** A command that is being run, as far as it has come. */
export interface BegunExec {
  readonly call: number;
  readonly id: ProcessId;
  readonly asked: ExecCall;
  readonly calledAt: Instant;
  readonly hard: HardTimeout | null;
  /** What has shortened the timeout that was asked for. */
  readonly cutBy: readonly HardTimeoutReason[];
  /** Those in force for this call. */
  readonly settings: Settings;
  /** What the world is to keep: the earlier of its hard and its total timeout, and how long it may be silent. */
  readonly timeout: ExecTimeout | null;
  readonly start: Effect;
  /** Null until it has started. */
  process: ManagedProcess | null;
}

interface ExecTimeout {
  /** Counted from the command's start; null: only silence ends it. */
  readonly length: Duration | null;
  readonly silences: readonly SilenceLimit[];
}

interface ForegroundHold {
  readonly held: Held;
  readonly outcome: AutoAwaitOutcome | null;
  readonly reasons: readonly AutoAwaitReason[];
  readonly risks?: readonly CappedRisk[];
}

interface Admitted {
  /** Another run of the same command that is alive; null: none. */
  readonly twin: { readonly process: ManagedProcess; readonly elapsed: Duration } | null;
}

interface CpuFields {
  readonly cpu_seconds: number;
}

const NONE: readonly never[] = [];

const NO_WAY: WayOut = { way: "none" };

const OVER: Readonly<{ [Limit in ShellLimit]: string }> = {
  timeout_strikes: "too many commands in a row were ended by a timeout",
  command_time: "its commands have taken all the time that they may take",
};

function settingsUnder(settings: Settings, maxHold: Duration | null | undefined): Settings {
  return maxHold === undefined ? settings : { ...settings, maxHold };
}

function tooOften(now: Instant, free: Instant): string {
  return `too many commands in too short a time: come back in ${inSeconds(between(now, free))} s`;
}

/** `process-3, 120 s after its start,` */
function named({ id, startedAt }: ManagedProcess, now: Instant): string {
  return `${processName(id)}, ${inSeconds(between(startedAt, now))} s after its start,`;
}

/** What a first hold comes to that was also the last: the command ended, was not to be held, or somebody gave up. */
function firstOutcome(held: Held, background: boolean, timeout: HardTimeout | null): ForegroundHold {
  if (background) return { held, outcome: null, reasons: NONE };
  if (isGone(held)) return { held, outcome: cancelled, reasons: NONE };
  if (timeout?.suppressesYield) return { held, outcome: null, reasons: held.end === null ? CLIENT_LIMIT : NONE };
  return { held, outcome: "not_needed", reasons: NONE };
}

const NO_CONDITIONS = "there is no wait for a condition here: look again with a call of your own";

const CLIENT_LIMIT = ["client_call_limit"] as const;

function elapsed(process: ManagedProcess, now: Instant): number {
  return inSeconds(between(process.startedAt, process.end === null ? now : process.end.at));
}

function limitFields({ length, commandClass }: HardTimeout) {
  const hard_timeout_seconds = inSeconds(length);
  return commandClass === undefined ? { hard_timeout_seconds } : { hard_timeout_seconds, command_class: commandClass };
}

function endFields(end: End | null): EndFields | null {
  if (end === null) return null;
  if (end.survivors === undefined && end.heldOpen === undefined && end.silent === undefined) return null;
  return {
    ...(end.survivors === undefined ? null : { surviving_processes: end.survivors }),
    ...(end.heldOpen === undefined ? null : { output_held_open: true }),
    ...(end.silent === undefined ? null : { silence_ended_it: true }),
  };
}

function unknown(id: ProcessId): string {
  return `${processName(id)} is no process of this session; process(action: "list") names them`;
}
