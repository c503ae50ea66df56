/**
 * A trial: one agent at its plan, step after step, until it has submitted or is cut off.
 *
 * The plan says what work there is, the profile how the model deals with a process that came back
 * running, the shell what it is shown. The outer cut-off is caught here and nowhere else; a child job is
 * a trial within the trial, with a plan and a conversation of its own.
 */
import { sampler } from "../distribution.ts";
import { type RunBudget, reserveBegins, reserveOf, runBudget, type ToldBudget } from "../policy/budget.ts";
import { type Deadline, runDeadlines, softDeadline, tellsOfEnds } from "../policy/deadline.ts";
import { type MessageKind, tellsOfProcesses, utf8Length } from "../policy/notice.ts";
import type { Settings } from "../policy/settings.ts";
import {
  after,
  before,
  beginning,
  between,
  type Duration,
  type Instant,
  never,
  nothing,
  seconds,
} from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import type { Condition } from "./condition.ts";
import { Conversation, type Economy } from "./context.ts";
import { Deadlines } from "./deadlines.ts";
import {
  type Agent,
  type Asked,
  type Command,
  CutOff,
  type Effect,
  type Held,
  type Idled,
  NOBODY_GOES_ON,
  type Passed,
  type ProcessId,
  type Sibling,
} from "./effects.ts";
import type { Action, JobResult, Purpose, Record, TrialEvent } from "./events.ts";
import { type Message, Messages } from "./messages.ts";
import {
  afterLook,
  afterWait,
  called,
  callsPlainly,
  canRead,
  firstSight,
  type InTheReserve,
  inTheReserve,
  type Move,
  nextMove,
  type Profile,
  type Seen,
  STATUS,
  STOP,
  speaksOfReserve,
  toolsAt,
  within,
} from "./model.ts";
import type { Deliveries, JobStep, Limits, OutsideEvent, Plan, RunStep, Step } from "./plan.ts";
import {
  type Carried,
  type ConditionResult,
  type ExecCall,
  type ExecResult,
  type ProcessResult,
  type Refused,
  type Returned,
  Shell,
  type WaitResult,
} from "./shell.ts";

export interface TrialSpec {
  readonly plan: Plan;
  readonly profile: Profile;
  readonly settings: Settings;
  /** What the policy is told; null if nothing. */
  readonly told: ToldBudget | null;
  /** When the harness ends the trial; it always does. */
  readonly outerLimit: Duration;
  readonly luck: Draws;
  /** Of this scenario, in this replicate, under this seed; never of an arm. */
  readonly key: Key;
  /** What tokens cost; left out: nobody counts them. */
  readonly economy?: Economy | null;
  /** What else the harness limits; left out: nothing. */
  readonly limits?: Limits;
  /** What happens from outside, in order of time. */
  readonly outside?: readonly OutsideEvent[];
  /** Left out: a message fails to wake the model only where its provider does not answer. */
  readonly deliveries?: Deliveries;
  /** A command drawn anew, for an attempt after the first; left out: it does what it did before. */
  readonly redraw?: ((id: string, attempt: number) => Command) | null;
}

/** One trial, from its first millisecond. */
export function trial(spec: TrialSpec, record: Record): Agent<void> {
  const budget = spec.told === null ? null : runBudget(spec.told, spec.settings);
  record({
    event: "trial_began",
    at: beginning,
    budget,
    outerLimit: spec.outerLimit,
    reserveBegins: budget === null ? reserveIfTold(spec) : reserveBegins(budget),
  });
  const work = new Work(spec, budget, record);
  return leavesNothingAsItIs(spec.settings) ? leaving(work) : pursue(work);
}

const leavesNothingAsItIs = ({ cleanExit }: Settings) => cleanExit === "reap" || cleanExit === "keep_persistent";

/** The plan, and then whatever the runtime does on its way out. Should it be cut off there, the work is done all the same. */
function* leaving(work: Work): Agent<void> {
  yield* pursue(work);
  try {
    if (work.isDone) yield* work.shell.leave(work.now);
  } catch (thrown) {
    if (!(thrown instanceof CutOff)) throw thrown;
  }
}

/** Where the reserve would begin if the policy knew of the outer limit: what an untold arm is measured against. */
function reserveIfTold({ outerLimit, settings }: TrialSpec): Instant {
  return before(after(beginning, outerLimit), reserveOf(settings, outerLimit));
}

/**
 * The plan, step after step. What happens most stands here, not in generators of its own: every level between a trial
 * and its world costs at each step.
 */
function* pursue(work: Work): Agent<void> {
  const { plan, shell } = work;
  try {
    // By index: an iterator would have to be kept over every yield.
    for (let at = 0; at < plan.length; at += 1) {
      const step = plan[at]!;
      if (work.hasNews) yield* work.takesNews();
      if (work.skips(step)) continue;
      work.turnsTo(at);
      switch (step.step) {
        case "think": {
          const until = after(work.now, step.length);
          if (!work.counts) work.now = ((yield { effect: "pass", until }) as Passed).at;
          else {
            // As `thinks` does: where requests are counted these are nearly all that ever happens.
            const thought = work.thought(step.length);
            for (let takes = thought.next(); takes !== null; takes = thought.next()) {
              if (work.isFull) yield* work.compacts();
              if (work.hears) {
                yield* work.takesMessages();
                if (work.finishing) break;
              }
              const end = after(work.now, takes);
              const asked = (yield work.asks("work", null, takes, true)) as Asked<null>;
              work.answered(asked);
              if (work.hasNews) thought.ahead += yield* work.stepsOn(asked, "work", end, true);
            }
          }
          if (work.hasNews) yield* work.thinksOn(until);
          break;
        }
        case "run": {
          if (!work.isReady) {
            yield* work.comesToCall();
            if (work.skips(step)) break;
          }
          let returned: Returned<ExecResult>;
          if (!shell.isPlain) returned = yield* shell.exec(work.calling(step, 0), work.now);
          else {
            const call = shell.beginExec(work.plainly ? step : work.calling(step, 0), work.now);
            if ("refused" in call) returned = call;
            else {
              shell.started(call, (yield call.start) as Passed);
              if (call.timeout !== null) yield shell.limit(call, call.timeout);
              const first = (yield shell.firstHold(call)) as Held;
              returned = shell.endsAtOnce(call, first) ?? (yield* shell.goOnWithExec(call, first));
            }
          }
          work.takeIn(returned);
          if (!work.isOver(step, returned)) yield* work.goOn(step, returned);
          break;
        }
        case "commit":
        case "submit":
          if (work.owes) yield* work.attendsOwed();
          if (work.waitsAtExit && step.step === "submit") yield* work.holdsOpen();
          if (!work.isReady) yield* work.comesToCall();
          if (work.finishes(step.step)) return;
          break;
        default:
          yield* work.does(step);
      }
    }
    if (work.waitsAtExit) yield* work.holdsOpen();
    work.ends(null);
  } catch (thrown) {
    if (thrown instanceof CutOff) work.ends(thrown.at);
    else if (thrown instanceof Over) work.isBrokenOff();
    else throw thrown;
  }
}

/** A child job at its plan. */
function* pursueJob(work: Work, job: string): Agent<unknown> {
  work.begins(job);
  yield* pursue(work);
  return work.isOverForAll ? NOBODY_GOES_ON : null;
}

/** How often a command is called again that was refused. */
const MOST_TRIES = 100;

/** Thrown to leave whatever a model is in the middle of: its work is over, or the whole trial. */
class Over extends Error {}

/** What a command comes to in the end, as far as the model has seen. */
type Outcome = Carried<ExecResult> | Carried<WaitResult> | Carried<ProcessResult> | null;

/** What a model knows and does on its way through a plan: that of the trial, or of one of its child jobs. */
class Work {
  now: Instant;
  /** Whether anything of the plan was given up. */
  skipped = false;
  readonly plan: Plan;
  readonly shell: Shell;
  /** Null where nobody counts tokens. */
  readonly conversation: Conversation | null;
  /** Whether requests to the model are counted. */
  readonly counts: boolean;
  /** Whether the model has come to its next call already; always, where requests are not counted. */
  isReady: boolean;
  /** Whether calls are made as the plan says, and nothing is ever added. */
  readonly plainly: boolean;
  /** Whether its holds end where it is to be told. */
  readonly #endsHolds: boolean;
  /** What it is still to be told of the end, in order of time. */
  readonly #deadlines: Deadlines;
  /** Told that time is short: what can be left out is, and what stands is committed. */
  #hurries = false;
  /** How many messages of each kind have told of an end so far. */
  readonly #toldOfEnds = { deadline_notice: 0, wrap_up: 0 };
  /** Whether its calls say when its prompt cache expires. */
  readonly #mindsCache: boolean;
  /** Whether the run is held open at its end for what it still runs. */
  readonly waitsAtExit: boolean;
  /** Whether the trial has come to its own end: submitted, or with nothing more to do. */
  isDone = false;
  /** What it is told without having asked; null where nothing ever is. */
  readonly messages: Messages | null;
  readonly #spec: TrialSpec;
  readonly #budget: RunBudget | null;
  readonly #record: Record;
  /** The job that this is the work of; null: the trial itself. */
  readonly #job: JobStep | null;
  readonly #sums: Sums;
  /** What the luck of every request is keyed by. */
  readonly #requestsKey: Key;
  #requestsHere: Key;
  /** By process id: the step that started it. */
  readonly #startedBy: (string | undefined)[] = [];
  /** Live processes that the model knows of and deals with, now or later, with what it has seen of them. */
  readonly #known = new Map<ProcessId, Seen>();
  #reserve: InTheReserve | null = null;
  /** Giving up the rest of the plan to finish in time. */
  #finishing = false;
  /** Which step of the plan it is at; how many steps the model has taken there, and how many requests it has made. */
  #place = 0;
  #steps = 0;
  #requests = 0;
  #newsTaken: number;
  /** Processes that the model has moved to the background of its own accord, and whose results it needs in the end. */
  readonly #owed: ProcessId[] = [];
  /** The number of the request that is on its way. */
  #request = 0;
  /** What a message has had it look at: how that was over. */
  readonly #results = new Map<ProcessId, Outcome>();
  /** How many messages of each kind have told of a process so far: what its luck with them is numbered by. */
  readonly #toldOf = new Map<string, number>();
  /** The request for the next step has been made already: a message has woken the model with it. */
  #isAwake = false;
  /** Doing what messages ask of it, and not told of more until that is done. */
  #heedsMessages = false;
  #deliveries = 0;
  /** Counts the times that the model lost sight of its live processes, at somebody else's hand or its own. */
  #lostSight = 0;

  constructor(spec: TrialSpec, budget: RunBudget | null, record: Record, parent: Parent | null = null) {
    const { settings, profile, economy = null } = spec;
    this.#spec = spec;
    this.#budget = budget;
    this.plan = spec.plan;
    this.#record = record;
    this.#job = parent === null ? null : parent.job;
    this.now = parent === null ? beginning : parent.now;
    this.#sums = parent === null ? { requests: 0, tokens: 0, cost: 0, over: null } : parent.sums;
    this.#newsTaken = parent === null ? 0 : parent.newsTaken;
    this.shell = parent === null ? new Shell({ settings, budget, cadence: profile.cadence, record }) : parent.shell;
    const start = parent?.job.startTokens ?? profile.context.start;
    this.conversation = economy === null ? null : new Conversation(profile.context, economy, start);
    this.messages = tellsOfProcesses(settings) ? new Messages(settings, record) : null;
    this.counts =
      this.conversation !== null || spec.limits !== undefined || this.messages !== null || tellsOfEnds(settings);
    const soft = parent === null ? null : softDeadline(parent.now, parent.job.timeout, settings);
    const ends = parent === null ? runDeadlines(settings, budget) : soft === null ? [] : [soft];
    const end = parent === null ? (budget?.deadline ?? never) : after(parent.now, parent.job.timeout ?? nothing);
    this.#deadlines = new Deadlines(ends, end, record);
    this.#endsHolds = soft !== null && settings.softDeadlineEndsHolds;
    this.#requestsKey = this.conversation === null ? spec.key : spec.luck.within(spec.key, "requests");
    this.#requestsHere = this.#requestsKey;
    this.isReady = !this.counts;
    this.#mindsCache = settings.cacheAwareSlice && this.conversation !== null;
    this.plainly = callsPlainly(profile) && !this.#mindsCache && !this.#endsHolds;
    this.waitsAtExit = settings.exitWaitsForJobs && parent === null;
  }

  /** Whether a step is given up, to finish in time. */
  skips(step: Step): boolean {
    if (this.#hurries && step.step === "run" && step.optional === true) return true;
    if (!this.#finishing || step.step === "commit" || step.step === "submit") return false;
    this.skipped = true;
    return true;
  }

  /** Giving up the rest of the plan to finish in time. */
  get finishing(): boolean {
    return this.#finishing;
  }

  /** Luck is keyed by the step of the plan, so that whatever a model does at one shifts nothing at the next. */
  turnsTo(place: number): void {
    this.#place = place;
    this.#steps = 0;
    this.#requests = 0;
  }

  // How it ends

  /** Commits or submits; whether that was the end. */
  finishes(act: "commit" | "submit"): boolean {
    this.#madeCall();
    const at = this.now;
    if (this.#job !== null) {
      if (act === "submit") this.#jobEnds(this.skipped ? "partial" : "whole");
    } else if (act === "commit") this.#record({ event: "committed", at });
    else {
      this.isDone = true;
      this.#record({ event: "submitted", at, partial: this.skipped });
    }
    return act === "submit";
  }

  /** The plan is at its end, or somebody has cut it off. */
  ends(cutAt: Instant | null): void {
    if (cutAt !== null) this.now = cutAt;
    if (this.#job !== null) this.#jobEnds(cutAt === null ? (this.skipped ? "partial" : "whole") : this.#salvaged());
    else {
      this.isDone = cutAt === null;
      this.#record(cutAt === null ? { event: "gave_up", at: this.now } : { event: "cut_off", at: cutAt });
    }
  }

  /** The work is done, and the run is held open for what it still runs. What comes from outside is taken in afterwards. */
  *holdsOpen(): Agent<void> {
    this.now = yield* this.shell.holdOpen(this.now);
    if (this.hasNews) yield* this.takesNews();
  }

  begins(job: string): void {
    this.#record({ event: "job_began", at: this.now, job });
  }

  /** It was left in the middle: what there is of a job reaches its parent, and what ends a trial is written down last. */
  isBrokenOff(): void {
    if (this.#job !== null) this.#jobEnds(this.#salvaged());
    else if (this.#sums.over !== null) this.#record(this.#sums.over);
  }

  /** What there is of a job that is broken off. */
  #salvaged(): JobResult {
    return this.#spec.settings.salvagesJobText ? "salvaged" : "trail";
  }

  get isOverForAll(): boolean {
    return this.#sums.over !== null;
  }

  #jobEnds(result: JobResult): void {
    this.#record({ event: "job_ended", at: this.now, job: this.#job!.id, result });
  }

  // Steps of the model, and what they cost

  /** Whether the conversation has to be compacted before the next request. */
  get isFull(): boolean {
    return this.conversation?.isFull ?? false;
  }

  /** A thought of so long, in as many steps as it usually takes. */
  thought(length: Duration): Thought {
    const { step } = this.#spec.profile;
    const usual = Math.max(1, typeof step === "number" ? step : seconds(sampler(step)(0.5)));
    return new Thought(length, Math.max(1, Math.round(length / usual)));
  }

  /** Thinks for so long: step after step, where requests are counted. */
  *thinks(length: Duration): Agent<void> {
    const thought = this.thought(length);
    for (let takes = thought.next(); takes !== null; takes = thought.next()) {
      if (this.isFull) yield* this.compacts();
      if (this.hears) {
        yield* this.takesMessages();
        if (this.#finishing) return;
      }
      const end = after(this.now, takes);
      const asked = (yield this.asks("work", null, takes, true)) as Asked<null>;
      this.answered(asked);
      if (this.hasNews) thought.ahead += yield* this.stepsOn(asked, "work", end, true);
    }
  }

  /**
   * A step that something has broken into goes on once that is taken in; one that leads to a move, if there is still one to
   * make. How far the time that this took reaches beyond the step: a model thinks on meanwhile.
   */
  *stepsOn(asked: Asked<unknown>, purpose: Purpose, until: Instant, isThought: boolean): Agent<Duration> {
    const sight = this.#lostSight;
    let { interrupted } = asked;
    yield* this.takesNews();
    while (interrupted && (isThought || sight === this.#lostSight)) {
      const again = (yield this.asks(purpose, null, between(this.now, until), isThought)) as Asked<null>;
      this.answered(again);
      interrupted = again.interrupted;
      yield* this.takesNews();
    }
    return asked.service === null ? between(until, this.now) : nothing;
  }

  /** A thought that something from outside has broken into goes on when that has been taken in. */
  *thinksOn(until: Instant): Agent<void> {
    yield* this.takesNews();
    // Where requests are counted the steps that are left have been taken already.
    while (!this.counts && this.now < until) {
      this.now = ((yield { effect: "pass", until }) as Passed).at;
      yield* this.takesNews();
    }
  }

  /**
   * The step that a model takes before its next move. Null: it does not come to it.
   *
   * @param about the process that it is a move about, if it is to be made only while that is not known to be over
   */
  *#comeTo<Next extends Move | null>(move: Next, about: ProcessId | null = null): Agent<Next> {
    const sight = this.#lostSight;
    if (this.#isAwake) {
      this.#isAwake = false;
      return move;
    }
    if (this.isFull) yield* this.compacts();
    if (this.hears && !this.#heedsMessages) {
      const finished = this.#finishing;
      yield* this.takesMessages();
      if (this.#finishing && !finished) return null as Next;
      if (sight !== this.#lostSight || (about !== null && this.#results.has(about))) return null as Next;
    }
    const polls =
      move?.move === "wait" || move?.move === "status" || move?.move === "read_output" || move?.move === "end_turn";
    const purpose = polls ? "poll" : "work";
    const takes = this.#step();
    const until = after(this.now, takes);
    const asked = (yield this.asks(purpose, move, takes)) as Asked<Next>;
    this.answered(asked);
    if (this.hasNews) yield* this.stepsOn(asked, purpose, until, false);
    return sight === this.#lostSight ? move : (null as Next);
  }

  /** A call that follows upon another at once: the model takes a step all the same, in no time unless a provider takes some. */
  *comesToCall(): Agent<void> {
    if (this.isFull) yield* this.compacts();
    if (this.hears) yield* this.takesMessages();
    if (this.#isAwake) {
      this.#isAwake = false;
      this.isReady = true;
      return;
    }
    const asked = (yield this.asks("work", null, nothing)) as Asked<null>;
    this.answered(asked);
    if (this.hasNews) yield* this.stepsOn(asked, "work", this.now, true);
  }

  *compacts(): Agent<void> {
    const { profile, luck, key } = this.#spec;
    this.answered((yield this.asks("compaction", null, this.#step())) as Asked<null>);
    if (this.hasNews) yield* this.takesNews();
    const memory = luck.within(luck.within(key, "forgets"), this.#place);
    if (profile.forgets > 0 && luck.uniform(memory, this.#requests) < profile.forgets) {
      for (const process of this.#known.keys()) {
        if (this.shell.isLive(process)) this.#record({ event: "forgot", at: this.now, process });
      }
      this.#losesSight();
    }
  }

  /** How long the next step takes. */
  #step(): Duration {
    const { profile, luck, key } = this.#spec;
    this.#steps += 1;
    if (typeof profile.step === "number") return profile.step;
    const steps = luck.within(luck.within(key, "steps"), this.#place);
    return Math.max(1, seconds(sampler(profile.step)(luck.uniform(steps, this.#steps)))) as Duration;
  }

  /** @param stated whether the plan says how long it takes */
  asks<Next extends Move | null>(purpose: Purpose, move: Next, takes: Duration, stated = false): Effect {
    const sums = this.#sums;
    const { limits, luck } = this.#spec;
    if (limits !== undefined) this.#isWithin(limits);
    sums.requests += 1;
    this.#request = sums.requests;
    if (this.conversation === null) return { effect: "ask", move, takes, request: null };
    if (this.#requests === 0) this.#requestsHere = luck.within(this.#requestsKey, this.#place);
    this.#requests += 1;
    const [key, nth] = [this.#requestsHere, this.#requests];
    const asked = this.conversation.request(purpose, this.now, sums.requests, luck, key, nth);
    const { prompt, output } = asked;
    sums.tokens += prompt + output;
    sums.cost += asked.cost;
    this.#record(asked);
    return {
      effect: "ask",
      move,
      takes,
      request: { key, nth, prompt, uncached: prompt - asked.cacheRead, output, takes, stated },
    };
  }

  /** Ends the trial where one of the harness's limits is reached. */
  #isWithin({ steps, tokens, cost }: Limits): void {
    const sums = this.#sums;
    const reached = (limit: keyof Limits) => this.#isOver({ event: "limit_reached", at: this.now, limit });
    if (steps !== null && sums.requests >= steps) reached("steps");
    if (tokens !== null && sums.tokens >= tokens) reached("tokens");
    if (cost !== null && sums.cost >= cost) reached("cost");
  }

  answered(asked: Asked<unknown>): void {
    const { at, service } = asked;
    this.now = at;
    this.isReady = true;
    if (this.conversation !== null) {
      this.#record({ event: "model_answered", at, request: this.#request, service });
    }
    if (service?.failed) this.#isOver({ event: "provider_failed", at });
  }

  /** The trial ends here, whoever is at work. */
  #isOver(event: TrialEvent): never {
    this.#sums.over = event;
    throw new Over();
  }

  /** The call that the model had come to is made: the next one takes another step. */
  #madeCall(): void {
    this.isReady = !this.counts;
  }

  // Steps of the plan

  /** The tools it has for processes at its next call; null: all. */
  get #tools(): readonly Action[] | null {
    return toolsAt(this.#spec.profile, this.shell.calls + 1);
  }

  /** What a model makes of a step: arguments it adds by habit, and which attempt it is. */
  calling(step: RunStep, attempt: number) {
    const { profile, luck, key, redraw = null } = this.#spec;
    const command = attempt === 0 || redraw === null ? step.command : redraw(step.id, attempt);
    const own = called(profile, command.usual, step, luck, luck.within(key, step.id));
    return {
      ...this.#toldAt,
      ...{ command, attempt, ...own, canRead: canRead(this.#tools) },
      ...(step.persist === true ? { persist: true } : null),
      ...(this.#mindsCache ? { cacheUntil: this.conversation!.cachedUntil } : null),
    };
  }

  *does(step: Exclude<Step, { step: "think" | "run" | "commit" | "submit" }>): Agent<void> {
    switch (step.step) {
      case "think_steps":
        for (let left = step.steps; left > 0 && !this.#finishing; left -= 1) yield* this.#comeTo(null);
        return;
      case "status":
        return yield* this.#status(step);
      case "await":
        yield* this.#awaits(step.of);
        return;
      case "probe":
        yield* this.#probes(step.of);
        yield* this.#comeTo(null);
        return;
      case "until_answers":
        if (yield* this.#waitsUntilItAnswers(step.of)) return;
        for (let left = step.atMost; left > 0; left -= 1) {
          if (yield* this.#probes(step.of)) return;
          yield* this.#comeTo(null);
        }
        return;
      case "until_succeeds":
        return yield* this.#untilSucceeds(step);
      case "together":
        return yield* this.#together(step.of);
      case "job":
        return yield* this.#together([step]);
    }
  }

  *#status({ of, thenStep }: Extract<Step, { step: "status" }>): Agent<void> {
    const process = this.#startedBy.lastIndexOf(of);
    if (process < 0) return;
    if (this.#tools?.includes("status") === false) return;
    if (!this.isReady) yield* this.comesToCall();
    this.takeIn(yield* this.shell.status(process as ProcessId, this.now));
    if (thenStep) yield* this.#comeTo(null);
  }

  get owes(): boolean {
    return this.#owed.length > 0;
  }

  /** Before it finishes, a model looks after what it has moved to the background itself. */
  *attendsOwed(): Agent<void> {
    for (const process of this.#owed.splice(0)) yield* this.#awaits(this.#startedBy[process]!);
  }

  /** Deals with a process that the plan needs from here on. */
  *#awaits(of: string): Agent<Outcome> {
    const process = this.#startedBy.lastIndexOf(of) as ProcessId;
    const seen = this.#known.get(process);
    if (seen === undefined || !this.shell.isLive(process)) return this.#results.get(process) ?? null;
    const sight = this.#lostSight;
    const watched = yield* this.#waitsFor({ succeeded: process });
    if (watched !== null && watched.outcome !== "timed_out") {
      yield* this.#comeTo(null);
      if (sight !== this.#lostSight) return null;
      if (this.#results.has(process)) return this.#results.get(process)!;
      const looked = yield* this.#looks(process, { move: "status" }, seen);
      if (looked?.result.status !== "running") {
        this.#known.delete(process);
        return looked;
      }
    }
    return yield* this.#attend(process, of, seen, false);
  }

  /** Waits for a condition in one call, where policy and habit have it so; null: nobody did, and it may be looked at call by call. */
  *#waitsFor(condition: Condition): Agent<ConditionResult | null> {
    const { conditions } = this.#spec.profile;
    if (conditions === null || !this.shell.watchesConditions) return null;
    if (!this.isReady) yield* this.comesToCall();
    const returned = this.takeIn(yield* this.shell.waitForCondition(condition, conditions, this.now));
    if (this.hasNews) yield* this.takesNews();
    if (!("refused" in returned)) return returned.result;
    yield* this.#comeTo(null);
    return null;
  }

  /** Whether it was waited for, whatever came of that. */
  *#waitsUntilItAnswers(of: string): Agent<boolean> {
    const port = this.#portOf(of);
    const watched = port === null ? null : yield* this.#waitsFor({ answersAt: port });
    if (watched === null) return false;
    if (watched.outcome !== "met") yield* this.#comeTo(null);
    return true;
  }

  /** Where a process of this step is known to serve. */
  #portOf(of: string): number | null {
    return this.shell.managed(this.#startedBy.lastIndexOf(of) as ProcessId)?.command.port ?? null;
  }

  /** Whether a process of this step answers at its port. */
  *#probes(of: string): Agent<boolean> {
    const port = this.#portOf(of);
    if (port === null) return false;
    if (!this.isReady) yield* this.comesToCall();
    this.#madeCall();
    return yield* this.shell.probe(port);
  }

  *#untilSucceeds({ attempts, thoughts }: Extract<Step, { step: "until_succeeds" }>): Agent<void> {
    for (const [at, attempt] of attempts.entries()) {
      if (this.hasNews) yield* this.takesNews();
      if (at > 0) {
        const thought = thoughts[at - 1]!;
        const until = after(this.now, thought);
        if (this.counts) yield* this.thinks(thought);
        else this.now = ((yield { effect: "pass", until }) as Passed).at;
        if (this.hasNews) yield* this.thinksOn(until);
      }
      if (this.#finishing) {
        this.skipped = true;
        return;
      }
      let outcome = yield* this.#run(attempt);
      // Of what runs in the background of the model's own accord it needs the result all the same.
      if (outcome?.result.status === "running" && !attempt.background) outcome = yield* this.#awaits(attempt.id);
      if (outcome?.result.status === "completed") return;
    }
  }

  /** A command from its call to whatever becomes of it. */
  *#run(step: RunStep): Agent<Outcome> {
    if (!this.isReady) yield* this.comesToCall();
    const returned = this.takeIn(yield* this.shell.exec(this.calling(step, 0), this.now));
    if (this.isOver(step, returned)) return returned as Carried<ExecResult>;
    return yield* this.goOn(step, returned);
  }

  /** Several calls of one step, and child jobs: the model has control again when the last of them is done. */
  *#together(steps: readonly (RunStep | JobStep)[]): Agent<void> {
    if (!this.isReady) yield* this.comesToCall();
    const begun = this.now;
    const sight = this.#lostSight;
    const { shell } = this;
    const calls: { readonly step: RunStep; returned: Returned<ExecResult> | null }[] = [];
    const jobs: Work[] = [];
    const agents = steps.map((step): Sibling => {
      if (step.step === "job") {
        const job = this.#jobFor(step);
        jobs.push(job);
        return { agent: pursueJob(job, step.id), until: step.timeout === null ? null : after(begun, step.timeout) };
      }
      const call = { step, returned: null as Returned<ExecResult> | null };
      calls.push(call);
      const asked = this.calling(step, 0);
      return { agent: keepReturn(shell.exec(asked, begun), call), until: null };
    });
    this.now = ((yield { effect: "together", agents }) as Passed).at;
    this.#madeCall();
    // What a child has given up to finish in time is missing from the whole.
    if (jobs.some(({ skipped }) => skipped)) this.skipped = true;
    for (const { messages } of jobs) this.messages?.inherits(messages!);
    if (this.#sums.over !== null) throw new Over();
    if (shell.over !== null) this.#isOver({ event: "limit_reached", at: this.now, limit: shell.over });
    const moved = this.hasNews && (yield* this.takesNews());
    for (const { step, returned } of calls) {
      if (returned === null) continue;
      this.#learns(returned);
      // Sight may be lost while others of them are dealt with.
      if (!this.isOver(step, returned) && sight === this.#lostSight) yield* this.goOn(step, returned, moved);
    }
  }

  #jobFor(job: JobStep): Work {
    const { luck, key } = this.#spec;
    const spec: TrialSpec = { ...this.#spec, plan: job.plan, key: luck.within(key, job.id) };
    const parent = { job, shell: this.shell, now: this.now, sums: this.#sums, newsTaken: this.#newsTaken };
    return new Work(spec, this.#budget, this.#record, parent);
  }

  /** Whether there is nothing more to do about a command that was run: the usual case. */
  isOver({ id, thenStep }: RunStep, returned: Returned<ExecResult>): boolean {
    if ("refused" in returned) return false;
    this.#startedBy[returned.process!] = id;
    const { status } = returned.result;
    return status !== "running" && status !== "timed_out" && !thenStep;
  }

  /**
   * Whatever else a command takes that was refused, ended by a timeout, or came back running, or is followed by a step.
   *
   * @param moved whether the user has moved to the background whatever was held
   */
  *goOn(step: RunStep, first: Returned<ExecResult>, moved = false): Agent<Outcome> {
    const { id, thenStep } = step;
    const sight = this.#lostSight;
    let returned = first;
    let isMoved = moved || (this.hasNews && (yield* this.takesNews()));
    if (sight !== this.#lostSight) return null;
    if ("refused" in returned) {
      const { way } = returned;
      if (way?.way === "same") return yield* this.#looksAfter(way.process, id, step.neededLater ?? false);
      const carried = yield* this.#tryAgain(step, returned);
      if (carried === null) return null;
      returned = carried;
    }
    if (this.#spec.profile.reruns.atMost > 0 && !isMoved) returned = yield* this.#runsAgain(step, returned);
    if (this.hasNews && (yield* this.takesNews())) isMoved = true;
    if (thenStep && sight === this.#lostSight) yield* this.#comeTo(null);
    if (sight !== this.#lostSight) return null;
    if (returned.result.status !== "running") return returned;
    const process = returned.process!;
    const managed = this.shell.managed(process);
    // Its slot is taken by a call beside it.
    if (managed === undefined) return null;
    const { background, startedAt } = managed;
    const seen = firstSight(returned, between(startedAt, returned.at));
    if (background || (isMoved && returned.result.auto_await_outcome === "cancelled")) {
      this.messages?.takesOn(this.shell.managed(process)!);
      if (step.neededLater === true || !step.background) this.#known.set(process, seen);
      // What the model itself, or its user, has moved to the background it needs before it finishes.
      if (!step.neededLater && !step.background) this.#owed.push(process);
      return returned;
    }
    return yield* this.#attend(process, id, seen, step.neededLater ?? false);
  }

  /** Does what a refusal says, and calls again; null: to no avail. */
  *#tryAgain(step: RunStep, first: Refused): Agent<Carried<ExecResult> | null> {
    const sight = this.#lostSight;
    let changes: Partial<Pick<ExecCall, "timeout" | "background">> = {};
    let refused = first;
    for (let left = MOST_TRIES; left > 0; left -= 1) {
      switch (refused.way?.way) {
        // A model told that its timeout is out of range runs the command without one.
        case undefined:
          if (changes.timeout === null) return null;
          changes = { ...changes, timeout: null };
          break;
        case "in_the_foreground":
          changes = { ...changes, background: false };
          break;
        case "come_back":
          yield* this.#comeTo(null);
          while (this.now < refused.way.at && sight === this.#lostSight) {
            this.now = ((yield { effect: "pass", until: refused.way.at }) as Passed).at;
            if (this.hasNews) yield* this.takesNews();
          }
          break;
        case "after":
          yield* this.#looksAfter(refused.way.process, step.id, false);
          break;
        default:
          return null;
      }
      const hasStepped = refused.way?.way === "come_back";
      if (!hasStepped && sight === this.#lostSight) yield* this.#comeTo(null);
      if (sight !== this.#lostSight) return null;
      const returned = this.takeIn(yield* this.shell.exec({ ...this.calling(step, 0), ...changes }, this.now));
      if (!("refused" in returned)) {
        this.#startedBy[returned.process!] = step.id;
        return returned;
      }
      refused = returned;
    }
    return null;
  }

  /** Deals with a process that a refusal has named, once it has looked at it. */
  *#looksAfter(process: ProcessId, id: string, canWork: boolean): Agent<Outcome> {
    let seen = this.#known.get(process);
    if (seen === undefined) {
      if (this.#tools?.includes("status") === false) return null;
      const sight = this.#lostSight;
      yield* this.#comeTo(null);
      if (sight !== this.#lostSight) return null;
      const looked = this.takeIn(yield* this.shell.status(process, this.now));
      if ("refused" in looked) return null;
      if (looked.result.status !== "running") return looked;
      const managed = this.shell.managed(process)!;
      seen = firstSight(looked, between(managed.startedAt, looked.at));
    }
    return yield* this.#attend(process, id, seen, canWork);
  }

  /** Runs a command again that it takes not to have run, unless something breaks in: what came of the last run. */
  *#runsAgain(step: RunStep, first: Carried<ExecResult>): Agent<Carried<ExecResult>> {
    const { profile, luck, key } = this.#spec;
    const { running, timedOut, atMost } = profile.reruns;
    const draws = luck.within(luck.within(key, step.id), "reruns");
    let returned = first;
    for (let attempt = 1; attempt <= atMost; attempt += 1) {
      const { status } = returned.result;
      const p = status === "timed_out" ? timedOut : status === "running" && !step.background ? running : 0;
      if (this.hasNews || luck.uniform(draws, attempt) >= p) break;
      // It has been told that there are two of it.
      if (returned.result.duplicate_of !== undefined) break;
      const sight = this.#lostSight;
      yield* this.#comeTo(null);
      if (sight !== this.#lostSight) break;
      const again = this.takeIn(yield* this.shell.exec(this.calling(step, attempt), this.now));
      if ("refused" in again) break;
      this.#startedBy[again.process!] = step.id;
      returned = again;
    }
    return returned;
  }

  /**
   * Deals with a process that came back running, until it is over, stopped, or left alone.
   *
   * @param canWork whether the plan has anything to do without it
   */
  *#attend(process: ProcessId, id: string, seen: Seen, canWork: boolean): Agent<Outcome> {
    const { profile, luck, key } = this.#spec;
    const waits = luck.within(luck.within(key, id), "waits");
    const managed = this.shell.managed(process);
    if (managed === undefined) return null;
    const { port } = managed.command;
    const sight = this.#lostSight;
    this.#known.set(process, seen);
    for (;;) {
      const choice = { reserve: this.#reserve, canWork, canProbe: port !== null, isWoken: this.#isWokenBy(process) };
      const wished = nextMove(profile, seen, choice, luck, waits);
      const move = yield* this.#comeTo(profile.tools === null ? wished : within(wished, this.#tools), process);
      // Whoever has lost sight of a process does nothing more about it.
      if (move === null || move.move === "go_on") return this.#results.get(process) ?? null;
      if (move.move === "finish") {
        this.#finishing = true;
        return null;
      }
      if (move.move === "end_turn") {
        seen.hint = null;
        yield* this.#idles();
        if (this.#results.has(process)) return this.#results.get(process)!;
        if (sight !== this.#lostSight) return null;
        continue;
      }
      if (move.move === "stop" || move.move === "stop_and_finish") {
        const stopped = this.takeIn(yield* this.shell.stop(process, this.now));
        this.#known.delete(process);
        if (this.hasNews) yield* this.takesNews();
        if (move.move === "stop_and_finish") this.#finishing = true;
        return "refused" in stopped ? null : stopped;
      }
      if (move.move === "probe") {
        this.#madeCall();
        if (yield* this.shell.probe(port!)) seen.readySeen = true;
        continue;
      }
      const returned = yield* this.#looks(process, move, seen);
      if (returned === null) return null;
      const isRunning = returned.result.status === "running";
      const { hint } = returned.result;
      seen.hint = hint === undefined || !this.#obeys("hint", process) ? null : hint.code;
      if (this.conversation !== null) this.#keeps(process, returned);
      if (!isRunning) this.#known.delete(process);
      if (this.hasNews) yield* this.takesNews();
      if (!isRunning) return returned;
      if (sight !== this.#lostSight) return null;
    }
  }

  /** Waits for a process, or looks at it; null: refused for good. */
  *#looks(
    process: ProcessId,
    move: Extract<Move, { move: "wait" | "status" | "read_output" }>,
    seen: Seen,
  ): Agent<Carried<WaitResult> | Carried<ProcessResult> | null> {
    if (move.move !== "wait") {
      const looked = this.takeIn(
        move.move === "status"
          ? yield* this.shell.status(process, this.now)
          : yield* this.shell.readOutput(process, 0, null, this.now),
      );
      if ("refused" in looked) return null;
      afterLook(seen, looked);
      return looked;
    }
    let returned = this.takeIn(yield* this.#waits(process, move.length));
    if ("refused" in returned) {
      // A model told that it asked for too long a wait names none the next time.
      if ((yield* this.#comeTo(move)) === null) return null;
      returned = this.takeIn(yield* this.#waits(process, null));
      if ("refused" in returned) return null;
    }
    afterWait(seen, returned);
    return returned;
  }

  /** When a hold is to end that is still held by then. */
  get #toldAt(): { readonly toldAt: Instant } | null {
    const { nextAt } = this.#deadlines;
    return this.#endsHolds && nextAt > this.now && nextAt !== never ? { toldAt: nextAt } : null;
  }

  #waits(process: ProcessId, length: Duration | null): Agent<Returned<WaitResult>> {
    const cacheUntil = this.#mindsCache ? this.conversation!.cachedUntil : undefined;
    return this.shell.wait(process, length, this.now, undefined, cacheUntil, this.#toldAt?.toldAt);
  }

  /** The time has come that the call returned at, and the model knows what the result said. */
  takeIn<Result extends object>(returned: Returned<Result>): Returned<Result> {
    this.now = returned.at;
    this.#madeCall();
    this.#learns(returned);
    if (this.shell.over !== null) this.#isOver({ event: "limit_reached", at: this.now, limit: this.shell.over });
    return returned;
  }

  #learns<Result extends object>(returned: Returned<Result>): void {
    if ("refused" in returned) return;
    const { result, process } = returned;
    if (this.messages !== null && process !== null) this.messages.hears(this.shell.managed(process));
    if (this.#reserve === null && speaksOfReserve(result)) {
      this.#reserve = inTheReserve(this.#spec.profile, this.#spec.luck, this.#spec.key);
    }
    if (this.conversation !== null && "output" in result) this.conversation.shows((result.output as string).length);
  }

  // What it is told without having asked

  /** Whether it may be told of anything before its next step. */
  get hears(): boolean {
    return this.now >= this.#deadlines.nextAt || (this.messages?.mayTell ?? false);
  }

  /** Is told whatever there is to tell, and does about it what its habits are. */
  *takesMessages(): Agent<void> {
    if (this.now >= this.#deadlines.nextAt && !this.#heedsMessages) yield* this.#takesDeadlines();
    if (this.messages === null || !this.messages.mayTell) return;
    const told = yield* this.messages.beforeStep(this.now);
    for (const { bytes } of told) this.conversation?.shows(bytes);
    for (const message of told) yield* this.#heeds(message);
  }

  /** Is told what is left. */
  *#takesDeadlines(): Agent<void> {
    for (const { kind, bytes } of this.#deadlines.take(this.now)) {
      this.conversation?.shows(bytes);
      if (this.#obeysEnd(kind)) yield* this.#heedsEnd(kind);
    }
  }

  #obeysEnd(kind: Deadline["kind"]): boolean {
    const { profile, luck, key } = this.#spec;
    this.#toldOfEnds[kind] += 1;
    const draws = luck.within(luck.within(key, "obeys"), kind);
    return luck.uniform(draws, this.#toldOfEnds[kind]) < profile.obeys[kind];
  }

  /** A job writes up; a run commits what stands and leaves out what it can, or finishes. */
  *#heedsEnd(kind: Deadline["kind"]): Agent<void> {
    this.#hurries = true;
    this.#heedsMessages = true;
    if (this.#job !== null) yield* this.#comeTo(null);
    else if (kind === "deadline_notice" && this.#commitsLater) {
      yield* this.#comeTo(null);
      this.finishes("commit");
    }
    this.#heedsMessages = false;
    if (kind !== "wrap_up") return;
    this.#finishing = true;
    const { step } = this.plan[this.#place]!;
    // Whoever was about to finish anyway gives up nothing.
    if (step !== "commit" && step !== "submit") this.skipped = true;
  }

  /** Whether the rest of the plan commits, or submits, anything. */
  get #commitsLater(): boolean {
    return this.plan.slice(this.#place + 1).some(({ step }) => step === "commit");
  }

  *#heeds(message: Message): Agent<void> {
    this.#heedsMessages = true;
    yield* this.#does(message);
    this.#heedsMessages = false;
  }

  *#does({ kind, processes }: Message): Agent<void> {
    const sight = this.#lostSight;
    for (const { id, isRead } of processes) {
      if (isRead || !this.#obeys(kind, id)) continue;
      const move = yield* this.#comeTo(kind === "heartbeat" ? STOP : STATUS);
      if (move === null || sight !== this.#lostSight) return;
      const looked = this.takeIn(
        kind === "heartbeat" ? yield* this.shell.stop(id, this.now) : yield* this.shell.status(id, this.now),
      );
      this.#known.delete(id);
      if (!("refused" in looked)) this.#results.set(id, looked);
      if (this.hasNews) yield* this.takesNews();
    }
  }

  #obeys(kind: MessageKind, process: ProcessId): boolean {
    const { profile, luck, key } = this.#spec;
    const what = `${kind} ${process}`;
    const nth = (this.#toldOf.get(what) ?? 0) + 1;
    this.#toldOf.set(what, nth);
    const draws = luck.within(luck.within(luck.within(key, this.#startedBy[process] ?? ""), "obeys"), kind);
    return luck.uniform(draws, nth) < profile.obeys[kind];
  }

  /** A child job that ends its turn is done: nobody would wake it. */
  #isWokenBy(process: ProcessId): boolean {
    if (this.messages === null || this.#job !== null || this.#spec.settings.completionNotice !== "wake") return false;
    return this.messages.minds(this.shell.managed(process)!);
  }

  /** Has ended its turn, and does nothing until a message or something from outside begins another. */
  *#idles(): Agent<void> {
    const messages = this.messages!;
    this.#record({ event: "turn_ended", at: this.now });
    while (!this.hasNews) {
      const draft = messages.wakes(this.now);
      if (draft === null) {
        const idled = (yield messages.idle(this.now)) as Idled;
        this.now = idled.at;
        messages.takesIn(idled.ended);
        continue;
      }
      this.#deliveries += 1;
      if (this.#fails()) {
        messages.hasFailed(draft, this.now);
        continue;
      }
      this.#record({ event: "woken", at: this.now, by: "message" });
      if (!(yield* this.#isWokenWith(draft))) {
        messages.hasFailed(draft, this.now);
        this.#record({ event: "turn_ended", at: this.now });
        continue;
      }
      yield* this.#heeds(messages.hasWoken(draft, this.now));
      return;
    }
    this.#record({ event: "woken", at: this.now, by: "outside" });
    messages.turnBegins();
    yield* this.takesNews();
  }

  /** The request that a message begins a turn with: whether it was answered. */
  *#isWokenWith({ bytes }: Message): Agent<boolean> {
    if (this.isFull) yield* this.compacts();
    this.conversation?.shows(bytes);
    const takes = this.#step();
    const until = after(this.now, takes);
    const asked = (yield this.asks("poll", STATUS, takes)) as Asked<Move>;
    if (asked.service?.failed) {
      this.now = asked.at;
      this.#record({ event: "model_answered", at: asked.at, request: this.#request, service: asked.service });
      return false;
    }
    this.answered(asked);
    this.#isAwake = true;
    if (this.hasNews) yield* this.stepsOn(asked, "poll", until, false);
    return true;
  }

  /** What a look leaves in the conversation. */
  #keeps(process: ProcessId, { result, freshOutput }: Carried<WaitResult> | Carried<ProcessResult>): void {
    if (result.hint !== undefined) this.conversation!.shows(utf8Length(result.hint.text));
    if (this.#spec.settings.pollFolding) {
      this.conversation!.looked(process, result.status === "running" && !freshOutput);
    }
  }

  /** Whether this delivery does not wake it. */
  #fails(): boolean {
    const { deliveries, luck, key } = this.#spec;
    if (deliveries === undefined) return false;
    if (this.#deliveries <= deliveries.failFirst) return true;
    return luck.uniform(luck.within(key, "deliveries"), this.#deliveries) < deliveries.failWith;
  }

  // What happens from outside

  /** Whether something has happened that the model has not taken in. */
  get hasNews(): boolean {
    const { outside } = this.#spec;
    return outside !== undefined && this.#newsTaken < outside.length && outside[this.#newsTaken]!.at <= this.now;
  }

  /** Takes in all that has happened; whether what was held was moved to the background by it. A job ends with its parent's turn. */
  *takesNews(): Agent<boolean> {
    let moved = false;
    while (this.hasNews) {
      const { what } = this.#spec.outside![this.#newsTaken]!;
      this.#newsTaken += 1;
      if (this.#job === null) this.#record({ event: "happened", at: this.now, what });
      else if (what !== "switch" && what !== "user_background") throw new Over();
      switch (what) {
        case "user_stop":
          if (this.#spec.settings.userStopEnds === "session") {
            this.messages?.silences();
            this.now = yield* this.shell.sweep(this.now);
          }
          this.#losesSight();
          break;
        case "headless_exit":
          if (this.waitsAtExit) this.now = yield* this.shell.holdOpen(this.now);
          this.now = yield* this.shell.exitNow(this.now);
          this.ends(null);
          throw new Over();
        case "restart":
          this.shell.loseAll(this.now);
          this.#losesSight();
          break;
        case "clear":
          this.conversation?.clear();
          this.#losesSight();
          break;
        case "user_background":
          moved = true;
          break;
        case "switch":
          this.conversation?.handOver();
          break;
      }
    }
    return moved;
  }

  #losesSight(): void {
    this.#lostSight += 1;
    this.#isAwake = false;
    this.messages?.turnBegins();
    this.#known.clear();
  }
}

/** A thought on its way: how long each of its steps takes. */
class Thought {
  /** Milliseconds that steps have taken beyond their share, as something broke into them. */
  ahead = 0;
  readonly #length: number;
  readonly #steps: number;
  #at = 0;

  constructor(length: Duration, steps: number) {
    this.#length = length;
    this.#steps = steps;
  }

  /** How long the next step takes; null: it is thought through. Whole milliseconds that add up to the total. */
  next(): Duration | null {
    if (this.#at === this.#steps) return null;
    const before = Math.floor((this.#length * this.#at) / this.#steps);
    this.#at += 1;
    const share = Math.floor((this.#length * this.#at) / this.#steps) - before;
    if (this.ahead === 0) return share as Duration;
    const takes = Math.max(share - this.ahead, 0);
    this.ahead = Math.max(this.ahead - share, 0);
    return takes as Duration;
  }
}

/** What a child job has of its parent. */
interface Parent {
  readonly job: JobStep;
  readonly shell: Shell;
  readonly now: Instant;
  readonly sums: Sums;
  /** How much of what happens from outside it has taken in. */
  readonly newsTaken: number;
}

/** What the harness counts, over a trial and its child jobs. */
interface Sums {
  requests: number;
  tokens: number;
  cost: number;
  /** A limit was reached, or the provider has failed, and nobody goes on; null: neither. */
  over: TrialEvent | null;
}

function* keepReturn(exec: Agent<Returned<ExecResult>>, call: { returned: Returned<ExecResult> | null }): Agent<void> {
  call.returned = yield* exec;
}
