/**
 * The simulated world: many trials in one simulated time, on one queue.
 *
 * Whatever is iterated has an order that we chose. Whatever is drawn is keyed by what it is for, never
 * by when it was asked. Whatever is asked about time is asked of the world.
 *
 * Trials stand in lanes. A lane has its own queue and its own slots; a free slot starts the lane's next
 * trial at that very millisecond. The outer harness is part of the world: it ends each trial at its
 * outer limit, whatever is being held then.
 */
import {
  type Agent,
  type Answer,
  CutOff,
  type CutReach,
  type Effect,
  type Held,
  NOBODY_GOES_ON,
  type ProcessId,
  type Sibling,
} from "../agent/effects.ts";
import type { Record, TrialEvent } from "../agent/events.ts";
import { journal } from "../agent/journal.ts";
import { after, type Duration, earliest, type Instant, moment, never, unboxed } from "../policy/time.ts";
import type { Host, Pace } from "./host.ts";
import { BrokenPromise, Kernel, type KernelOptions, RANK, type Rank, type Token } from "./kernel.ts";
import { type Progress, progressOf, ScriptedProcess } from "./process.ts";
import type { Provider } from "./provider.ts";
import { meets, type ScriptedCommand, stretchesOf } from "./script.ts";
import { Requested } from "./service.ts";
import {
  type HoldEffect,
  held,
  holdEnds,
  type IdleEffect,
  idled,
  isAnnounced,
  isDue,
  isHeld,
  type LimitEffect,
  nextLook,
} from "./watched.ts";

/** A trial that waits for its slot. */
export interface Entrant {
  readonly outerLimit: Duration;
  /** The agent, once the trial begins; it writes down what happens with `record`. */
  readonly begin: (record: Record) => Agent<void>;
  /** What became of it. */
  readonly ended: (trial: EndedTrial) => void;
  /** Moments at which a client gives up on whatever call is then being held. */
  readonly cancels?: readonly Instant[];
  /** Moments at which something from outside breaks into whatever is then going on. */
  readonly interrupts?: readonly Instant[];
  /** Left out: the agent itself. Where it is the client, the agent goes on until it is done or its slot is free again. */
  readonly cutReaches?: CutReach;
}

export interface EndedTrial {
  readonly events: readonly TrialEvent[];
  /** What an agent did that the cut had not reached, up to its own end; left out: it had ended with the trial. */
  readonly afterCut?: readonly TrialEvent[];
  /** Milliseconds since the world began. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** How many of its lane's slots were taken while it ran, on average. */
  readonly concurrency: number;
}

/** A trial's events, and what its agent did after the cut. */
export function throughout({ events, afterCut }: Pick<EndedTrial, "events" | "afterCut">): readonly TrialEvent[] {
  return afterCut === undefined ? events : [...events, ...afterCut];
}

export interface Lane {
  readonly slots: number;
  readonly entrants: Iterable<Entrant>;
  /** Serves the requests of its trials; left out: each takes what its model takes. Lanes may have one in common. */
  readonly provider?: Provider | null;
  /** Runs their commands; left out: each runs as if alone. */
  readonly host?: Host | null;
}

export interface WorldSpec {
  readonly lanes: readonly Lane[];
  /** Which lane is served first when several could start a trial at one moment; the others follow in order. */
  readonly first: number;
  /** How long a slot stays taken after its trial was cut off. */
  readonly cutGrace: Duration;
  readonly kernel?: KernelOptions;
}

/** How many slots of a lane were taken, and since when: a step function of the world's time. */
export interface Occupancy {
  readonly since: number[];
  readonly taken: number[];
}

export interface WorldRecord {
  /** Entries delivered by the queue. */
  readonly delivered: number;
  readonly endedAt: number;
  readonly occupancy: readonly Occupancy[];
  /** When the first lane had no more trials to start: until then all lanes should have been equally busy. */
  readonly firstQueueEmptyAt: number;
}

/** Runs all lanes to their end. */
export function simulate(spec: WorldSpec): WorldRecord {
  const world = new SimulatedWorld(spec);
  return world.run();
}

class SimulatedWorld {
  readonly kernel: Kernel;
  readonly cutGrace: Duration;
  readonly #lanes: readonly OpenLane[];
  readonly #first: number;
  #firstQueueEmptyAt = Number.POSITIVE_INFINITY;
  #admissionDue = false;
  /** The trial that was last on its way, for the message of a promise that breaks. */
  latest: TrialRun | null = null;

  constructor({ lanes, first, cutGrace, kernel }: WorldSpec) {
    this.kernel = new Kernel(kernel);
    this.cutGrace = cutGrace;
    this.#lanes = lanes.map((lane) => new OpenLane(this, lane));
    this.#first = lanes.length === 0 ? 0 : first % lanes.length;
  }

  run(): WorldRecord {
    this.admit();
    try {
      this.kernel.run();
    } catch (error) {
      if (error instanceof BrokenPromise && this.latest !== null) error.message += this.latest.endOfTrace();
      throw error;
    }
    for (const lane of this.#lanes) {
      if (lane.taken > 0)
        throw new BrokenPromise(`a trial waits for nothing that will happen, at ${this.kernel.now} ms`);
    }
    return {
      delivered: this.kernel.delivered,
      endedAt: this.kernel.now,
      occupancy: this.#lanes.map((lane) => lane.occupancy),
      firstQueueEmptyAt: Math.min(this.#firstQueueEmptyAt, this.kernel.now),
    };
  }

  /** A slot has become free: trials start once everything else of this moment has happened. */
  admit(): void {
    if (this.#admissionDue) return;
    this.#admissionDue = true;
    this.kernel.schedule(this.kernel.now, RANK.admission, this);
  }

  due(): void {
    this.#admissionDue = false;
    for (let turn = 0; turn < this.#lanes.length; turn += 1) {
      const lane = this.#lanes[(this.#first + turn) % this.#lanes.length]!;
      lane.fill();
      if (lane.queueIsEmpty) this.#firstQueueEmptyAt = Math.min(this.#firstQueueEmptyAt, this.kernel.now);
    }
  }
}

class OpenLane {
  readonly occupancy: Occupancy = { since: [0], taken: [0] };
  taken = 0;
  queueIsEmpty = false;
  readonly provider: Provider | null;
  readonly host: SharedHost | null;
  readonly #world: SimulatedWorld;
  readonly #slots: number;
  readonly #queue: Iterator<Entrant>;
  #next: Entrant | null;
  /** Slot-milliseconds used up to `#asOf`. */
  #used = 0;
  #asOf = 0;

  constructor(world: SimulatedWorld, { slots, entrants, provider, host }: Lane) {
    this.#world = world;
    this.provider = provider ?? null;
    this.host = host === undefined || host === null ? null : new SharedHost(world.kernel, host);
    this.#slots = slots;
    this.#queue = entrants[Symbol.iterator]();
    this.#next = this.#draw();
  }

  fill(): void {
    while (this.taken < this.#slots && this.#next !== null) {
      const entrant = this.#next;
      this.#next = this.#draw();
      this.#change(1);
      new TrialRun(this.#world, this, entrant).start();
    }
  }

  free(): void {
    this.#change(-1);
    this.#world.admit();
  }

  /** Slot-milliseconds used since the world began. */
  used(): number {
    return this.#used + this.taken * (this.#world.kernel.now - this.#asOf);
  }

  #draw(): Entrant | null {
    const next = this.#queue.next();
    this.queueIsEmpty = next.done === true;
    return next.done === true ? null : next.value;
  }

  #change(by: number): void {
    const { now } = this.#world.kernel;
    this.#used = this.used();
    this.#asOf = now;
    this.taken += by;
    const { since, taken } = this.occupancy;
    const last = since.length - 1;
    if (since[last] === now) taken[last] = this.taken;
    else {
      since.push(now);
      taken.push(this.taken);
    }
    // A slot freed and taken again within one moment is no change.
    const end = since.length - 1;
    if (end > 0 && taken[end] === taken[end - 1]) {
      since.pop();
      taken.pop();
    }
  }
}

/** A host as the queue turns it: whoever holds a process on it looks again when things go faster or slower. */
class SharedHost {
  readonly #kernel: Kernel;
  readonly #host: Host;
  /** Every trial that has a process on it. */
  readonly #trials = new Set<TrialRun>();
  #token: Token = -1;

  constructor(kernel: Kernel, host: Host) {
    this.#kernel = kernel;
    this.#host = host;
  }

  /** @param startedAt the trial's own beginning, from which its moments count */
  starts(
    trial: TrialRun,
    command: ScriptedCommand,
    startedAt: number,
  ): { readonly pace: Pace; readonly progress: Progress } {
    const pace = this.#host.starts(this.#kernel.now, stretchesOf(command));
    this.#trials.add(trial);
    return { pace, progress: progressOf(pace, startedAt) };
  }

  /** Processes have started or gone. */
  changed(): void {
    this.#host.turn(this.#kernel.now);
    for (const trial of this.#trials) trial.freesHost();
    for (const trial of this.#trials) trial.looksAgain();
    if (this.#token >= 0) this.#kernel.cancel(this.#token);
    const next = this.#host.nextChangeAt();
    this.#token = Number.isFinite(next) ? this.#kernel.schedule(next, RANK.host, this) : -1;
  }

  due(what: number): void {
    if (what !== KILLED) this.#token = -1;
    this.changed();
  }

  /** Something is ended at a moment, and then no longer wants anything of the host. */
  hears(at: number): Token {
    return this.#kernel.schedule(at, RANK.host, this, KILLED);
  }

  ends(pace: Pace): void {
    this.#host.ends(this.#kernel.now, pace);
  }

  leaves(trial: TrialRun): void {
    this.#trials.delete(trial);
  }
}

const KILLED = 1;

const WAKE = 0;
const CUT = 1;
const FREE = 2;
const CANCEL = 3;
const INTERRUPT = 4;

/** The most effects that an agent may be answered without any time going by. */
const AT_ONCE_LIMIT = 100_000;

/** How many lines of a trial's journal the message of a broken promise shows. */
const TRACE_SHOWN = 12;

/** One trial on its way through the world. */
class TrialRun {
  readonly world: SimulatedWorld;
  readonly lane: OpenLane;
  readonly startedAt: number;
  readonly #entrant: Entrant;
  readonly #usedBefore: number;
  readonly #events: TrialEvent[] = [];
  readonly #processes: ScriptedProcess[] = [];
  /** On a shared host, by process: how it gets on there; null once it is over. */
  readonly #paces: (Pace | null)[] = [];
  /** Entries at which somebody is ended on a shared host. */
  readonly #heard: Token[] = [];
  /** By process: when the last of those entries is due. */
  readonly #diesAt: (Instant | undefined)[] = [];
  #strand!: Strand;
  #cutToken: Token = 0;
  #over = false;
  /** The trial as the harness knows it, where its cut did not reach the agent; null elsewhere. */
  #untouched: EndedTrial | null = null;
  /** How many events there were by then. */
  #eventsByCut = 0;

  constructor(world: SimulatedWorld, lane: OpenLane, entrant: Entrant) {
    this.world = world;
    this.lane = lane;
    this.#entrant = entrant;
    this.startedAt = world.kernel.now;
    this.#usedBefore = lane.used();
  }

  start(): void {
    const { kernel } = this.world;
    this.world.latest = this;
    const { outerLimit, cancels, interrupts, begin } = this.#entrant;
    this.#cutToken = kernel.schedule(this.startedAt + outerLimit, RANK.cutOff, this, CUT);
    for (const at of cancels ?? []) kernel.schedule(this.startedAt + at, RANK.cancel, this, CANCEL);
    // Whoever begins at a moment knows of what happens then, and nobody is told of one moment twice.
    for (const at of new Set(interrupts))
      if (at > 0) kernel.schedule(this.startedAt + at, RANK.outside, this, INTERRUPT);
    const agent = begin((event) => this.#events.push(event));
    this.#strand = new Strand(this, agent, null);
    this.#strand.goOn(undefined);
  }

  due(what: number): void {
    this.world.latest = this;
    if (what === CUT) this.#cutOff();
    else if (what === FREE) this.#frees();
    else if (!this.#over)
      for (const strand of this.#strand.all()) strand.breakInto(what === CANCEL ? "cancelled" : "interrupted");
  }

  get hasSiblings(): boolean {
    return this.#strand.hasSiblings;
  }

  /** One of several agents is to be woken: all that are due with it are, in an order that does not hang on the queue's. */
  wakes({ dueRank }: Strand): void {
    this.world.latest = this;
    for (const strand of this.#strand.all()) if (strand.isDue(this.world.kernel.now, dueRank)) strand.wake();
  }

  /** The time of one child job is up, and perhaps of others. */
  timeIsUp(): void {
    this.world.latest = this;
    for (const strand of this.#strand.all()) if (strand.cutAt === this.world.kernel.now) strand.timeIsUp();
  }

  /** The last of what happened, for a message. */
  endOfTrace(): string {
    const lines = journal(this.#events.slice(-4 * TRACE_SHOWN)).slice(-TRACE_SHOWN);
    return ["; the trial that was on its way ends with:", ...lines].join("\n  ");
  }

  /** Moments of the trial count from its own beginning. */
  now(): Instant {
    return unboxed(moment(this.world.kernel.now - this.startedAt));
  }

  /** Its agent is done. */
  done(): void {
    this.world.kernel.cancel(this.#cutToken);
    this.#end();
    // Whoever works on after the cut does not hasten the grading.
    if (this.#untouched === null) this.lane.free();
  }

  startProcess({ process, command, retain, overAt }: Extract<Effect, { effect: "start" }>, now: Instant): void {
    const script = meets(command as ScriptedCommand, this.#processes, now);
    const { host } = this.lane;
    if (host === null) this.#processes[process - 1] = new ScriptedProcess(process, script, now, retain, overAt);
    else {
      const { pace, progress } = host.starts(this, script, this.startedAt);
      this.#paces[process - 1] = pace;
      this.#processes[process - 1] = new ScriptedProcess(process, script, now, retain, overAt, progress);
      host.changed();
    }
  }

  process(id: ProcessId): ScriptedProcess {
    const process = this.#processes[id - 1];
    if (process === undefined) throw new BrokenPromise(`process ${id} was never started`);
    return process;
  }

  answersAt(port: number, now: Instant): boolean {
    return this.#processes.some((process) => process.command.port === port && process.servesAt(now));
  }

  /** Of its processes those that are over no longer want anything of the host. */
  freesHost(): void {
    const now = this.now();
    for (const [at, pace] of this.#paces.entries()) {
      const process = this.#processes[at];
      if (pace === null || process === undefined || process.idleFrom > now) continue;
      this.#paces[at] = null;
      this.lane.host!.ends(pace);
    }
  }

  /** Things go faster or slower on the host: ends stand elsewhere, and so does whatever is waited for. */
  looksAgain(): void {
    const now = this.now();
    for (const [at, pace] of this.#paces.entries()) {
      const process = this.#processes[at];
      if (pace === null || process === undefined) continue;
      process.goesAnew(now);
      if (process.isLimited && process.endsAt > now) this.#hears(process, process.endsAt);
    }
    if (!this.#over) this.#strand.looksAgain();
  }

  /** Ends a process. */
  stop({ process: id, grace, reach }: Extract<Effect, { effect: "stop" }>, now: Instant): ScriptedProcess {
    const process = this.process(id);
    this.#hears(process, process.terminate(now, grace, "stop", reach));
    // A sibling may be holding it.
    if (this.#strand.hasSiblings) this.#strand.looksAgain();
    return process;
  }

  limit(effect: LimitEffect, now: Instant): void {
    const process = this.process(effect.process);
    this.#hears(process, process.limit(effect, now));
    if (this.#strand.hasSiblings) this.#strand.looksAgain();
  }

  /** On a shared host: somebody is ended at a moment, as things stand. */
  #hears({ id }: ScriptedProcess, dies: Instant): void {
    const { host } = this.lane;
    if (host === null || dies === never || this.#diesAt[id - 1] === dies) return;
    this.#diesAt[id - 1] = dies;
    this.#heard.push(host.hears(this.startedAt + dies));
  }

  #cutOff(): void {
    if (this.#entrant.cutReaches === "client") this.#losesTouch();
    else {
      this.#strand.cut();
      this.#end();
    }
    this.world.kernel.schedule(this.world.kernel.now + this.world.cutGrace, RANK.timer, this, FREE);
  }

  /** The client is gone, and the trial is what the harness finds at this moment; the agent knows nothing of it. */
  #losesTouch(): void {
    const events = [...this.#events];
    // Whoever has finished is merely late in leaving.
    const isDone = events.some(({ event }) => event === "submitted" || event === "gave_up");
    if (!isDone) events.push({ event: "cut_off", at: this.now() });
    this.#looksAround(events);
    this.#eventsByCut = this.#events.length;
    this.#untouched = this.#asItStands(events);
  }

  /** The slot is free again, and nobody is left in it. */
  #frees(): void {
    if (!this.#over) {
      this.#strand.cut();
      this.#end();
    }
    this.lane.free();
  }

  #looksAround(events: TrialEvent[]): void {
    const now = this.now();
    for (const process of this.#processes) {
      const answers = process.command.readyAt !== null && process.servesAt(now);
      if (!process.reported || answers) {
        events.push({ event: "left_behind", at: now, process: process.id, end: process.endBy(now), answers });
      }
    }
  }

  #end(): void {
    this.#over = true;
    if (this.#untouched === null) this.#looksAround(this.#events);
    const { host } = this.lane;
    if (host !== null) {
      for (const token of this.#heard) this.world.kernel.cancel(token);
      for (const pace of this.#paces) if (pace !== null) host.ends(pace);
      host.leaves(this);
      host.changed();
    }
    this.#entrant.ended(
      this.#untouched === null
        ? this.#asItStands(this.#events)
        : { ...this.#untouched, afterCut: this.#events.slice(this.#eventsByCut) },
    );
  }

  #asItStands(events: readonly TrialEvent[]): EndedTrial {
    const { now } = this.world.kernel;
    const length = now - this.startedAt;
    return {
      events,
      startedAt: this.startedAt,
      endedAt: now,
      concurrency: length === 0 ? this.lane.taken : (this.lane.used() - this.#usedBefore) / length,
    };
  }
}

/** One agent of a trial at work: performs the effects that it asks for. A trial has one, and others while it has siblings. */
class Strand {
  readonly #trial: TrialRun;
  readonly #kernel: Kernel;
  /** The trial's beginning, in milliseconds since the world's. */
  readonly #startedAt: number;
  readonly #agent: Agent<unknown>;
  /** Whose sibling calls this is one of; null: the trial's own. */
  readonly #parent: Strand | null;
  /** What the agent is waiting for, and the entry that will wake it. */
  #waiting: Effect | null = null;
  #wakeToken: Token = -1;
  /** When that entry is due, in milliseconds since the world began, and among which of its moment. */
  #dueAt = 0;
  dueRank: Rank = RANK.timer;
  /** When to look at the hold that is waited for, whatever happens. */
  #lookAt: Instant = never;
  #cutToken: Token = -1;
  /** When its own time is up, likewise; infinite where it has none. */
  cutAt = Number.POSITIVE_INFINITY;
  #request: Requested | null = null;
  /** Kept, for a trial makes a hundred requests, one after the other. */
  #client: Requested | null = null;
  /** Agents side by side that are not done. */
  #siblings: Strand[] | null = null;

  constructor(trial: TrialRun, agent: Agent<unknown>, parent: Strand | null) {
    this.#trial = trial;
    this.#kernel = trial.world.kernel;
    this.#startedAt = trial.startedAt;
    this.#agent = agent;
    this.#parent = parent;
  }

  due(what: number): void {
    if (what !== WAKE) this.#trial.timeIsUp();
    else if (this.#trial.hasSiblings) this.#trial.wakes(this);
    else {
      this.#trial.world.latest = this.#trial;
      this.#wakeToken = -1;
      this.wake();
    }
  }

  get hasSiblings(): boolean {
    return this.#siblings !== null;
  }

  /** Itself, and whoever works side by side for it, in the order in which they were asked for. */
  all(): readonly Strand[] {
    return this.#siblings === null ? [this] : [this, ...this.#siblings.flatMap((sibling) => sibling.all())];
  }

  isDue(now: number, rank: Rank): boolean {
    return this.#wakeToken >= 0 && this.#dueAt === now && this.dueRank === rank;
  }

  goOn(answer: Answer | undefined): void {
    let step = this.#agent.next(answer as Answer);
    for (let atOnce = 0; step.done !== true; atOnce += 1) {
      const answered = this.#perform(step.value);
      if (answered === null) return;
      if (atOnce === AT_ONCE_LIMIT)
        throw new BrokenPromise(`an agent asked for ${AT_ONCE_LIMIT} things in one moment, at ${this.#trial.now()} ms`);
      step = this.#agent.next(answered);
    }
    if (this.#parent === null) this.#trial.done();
    else this.#parent.siblingDone(this, step.value);
  }

  /** The answer, if it can be given at once; otherwise the agent waits and this is null. */
  #perform(effect: Effect): Answer | null {
    const trial = this.#trial;
    const now = trial.now();
    switch (effect.effect) {
      case "pass":
        return effect.until <= now ? { at: now } : this.#waitFor(effect, effect.until, RANK.timer);
      case "ask":
        return this.#ask(effect, now);
      case "start":
        trial.startProcess(effect, now);
        return { at: now };
      case "hold":
        return this.#hold(effect, now);
      case "idle":
        return this.#idle(effect, now);
      case "limit":
        trial.limit(effect, now);
        return { at: now };
      case "stop": {
        const process = trial.stop(effect, now);
        return process.endsAt <= now ? this.#stopped(process, now) : this.#waitFor(effect, process.endsAt, RANK.exit);
      }
      case "read":
        return { at: now, ...trial.process(effect.process).read(effect.from, effect.limit, now) };
      case "usage":
        return { at: now, cpu: trial.process(effect.process).cpu(now) };
      case "probe":
        return { at: now, answers: trial.answersAt(effect.port, now) };
      case "together":
        return this.#beginTogether(effect, effect.agents, now);
    }
  }

  #waitFor(effect: Effect, until: Instant, rank: typeof RANK.exit | typeof RANK.timer): null {
    this.#waiting = effect;
    const kernel = this.#kernel;
    this.#dueAt = Math.max(this.#startedAt + until, kernel.now);
    this.dueRank = rank;
    this.#wakeToken = until === never ? -1 : kernel.schedule(this.#dueAt, rank, this, WAKE);
    return null;
  }

  wake(): void {
    const effect = this.#waiting!;
    this.#forget();
    const answer = this.#answerTo(effect, this.#trial.now());
    if (answer !== null) this.goOn(answer);
  }

  /** The answer to an effect that was waited for; null if it has to wait on. */
  #answerTo(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "pass":
        return { at: now };
      case "ask":
        return this.#asked(effect, now);
      case "stop":
        return this.#stopped(this.#trial.process(effect.process), now);
      case "hold":
        return this.#hold(effect, now);
      case "idle":
        return this.#idle(effect, now);
      default:
        throw new BrokenPromise(`nobody waits for ${effect.effect}`);
    }
  }

  #ask(effect: Extract<Effect, { effect: "ask" }>, now: Instant): Answer | null {
    const { provider } = this.#trial.lane;
    if (effect.request === null || provider === null) {
      return effect.takes <= 0
        ? { at: now, move: effect.move, service: null, interrupted: false }
        : this.#waitFor(effect, after(now, effect.takes), RANK.timer);
    }
    this.#client ??= new Requested(provider);
    this.#request = this.#client.asks(effect.request, this.#kernel.now);
    return this.#asked(effect, now);
  }

  /** The answer to a request that is due; null while the provider has it, or is to be asked once more. */
  #asked(effect: Extract<Effect, { effect: "ask" }>, now: Instant): Answer | null {
    const request = this.#request;
    if (request === null) return { at: now, move: effect.move, service: null, interrupted: false };
    const service = request.look(this.#kernel.now);
    if (service === null) return this.#waitFor(effect, moment(request.dueAt - this.#startedAt), RANK.timer);
    this.#request = null;
    return { at: now, move: effect.move, service, interrupted: false };
  }

  #hold(effect: HoldEffect, now: Instant): Answer | null {
    const process = this.#trial.process(effect.anyOf[0]);
    const why = holdEnds(effect, process, now);
    if (why !== null) return this.#held(process, why, now);
    this.#lookAt = nextLook(effect, process, now);
    return this.#waitForHold(effect, process);
  }

  #waitForHold(effect: HoldEffect, process: ScriptedProcess): null {
    const told = process.announcedAt();
    if (told <= this.#lookAt) return this.#waitFor(effect, told, RANK.exit);
    return this.#waitFor(effect, this.#lookAt, RANK.timer);
  }

  #idle(effect: IdleEffect, now: Instant): Answer | null {
    const answer = this.#idled(effect, now);
    return answer.why === "interrupted" ? this.#waitToIdle(effect) : answer;
  }

  #waitToIdle(effect: IdleEffect): null {
    let told = never;
    for (const id of effect.anyOf) told = earliest(told, this.#trial.process(id).announcedAt());
    return told <= effect.until
      ? this.#waitFor(effect, told, RANK.exit)
      : this.#waitFor(effect, effect.until, RANK.timer);
  }

  #idled(effect: IdleEffect, now: Instant) {
    const trial = this.#trial;
    const answer = idled(effect, (id) => trial.process(id), now);
    for (const { process } of answer.ended) trial.process(process).reported = true;
    return answer;
  }

  #held(process: ScriptedProcess, why: Held["why"], now: Instant): Answer {
    const answer = held(process, why, now);
    if (answer.end !== null) process.reported = true;
    return answer;
  }

  #stopped(process: ScriptedProcess, now: Instant): Answer {
    process.reported = true;
    return { at: now, end: process.endBy(now) };
  }

  /** On a shared host: what is held may end at another moment now. */
  looksAgain(): void {
    const effect = this.#waiting;
    const now = this.#trial.now();
    // Whoever must be answered is answered on a turn of its own.
    if (effect?.effect === "hold") {
      this.#forget();
      const process = this.#trial.process(effect.anyOf[0]);
      this.#lookAt = earliest(this.#lookAt, nextLook(effect, process, now));
      this.#waitForHold(effect, process);
    } else if (effect?.effect === "idle") {
      this.#forget();
      this.#waitToIdle(effect);
    } else if (effect?.effect === "stop") {
      this.#forget();
      this.#waitFor(effect, this.#trial.process(effect.process).endsAt, RANK.exit);
    }
    for (const sibling of this.#siblings ?? []) sibling.looksAgain();
  }

  // Several agents side by side

  #beginTogether(effect: Effect, agents: readonly Sibling[], now: Instant): Answer | null {
    if (agents.length === 0) return { at: now };
    const { world, startedAt } = this.#trial;
    this.#waiting = effect;
    this.#wakeToken = -1;
    const siblings = agents.map(({ agent, until }) => {
      const sibling = new Strand(this.#trial, agent, this);
      if (until !== null) {
        sibling.cutAt = startedAt + until;
        sibling.#cutToken = world.kernel.schedule(sibling.cutAt, RANK.timeIsUp, sibling, CUT);
      }
      return sibling;
    });
    this.#siblings = [...siblings];
    this.#begins = true;
    // One of them may end it for all.
    for (const sibling of siblings) if (this.#siblings.includes(sibling)) sibling.goOn(undefined);
    this.#begins = false;
    return this.#siblings.length === 0 ? this.#allDone(now) : null;
  }

  /** While siblings are being started one of them may be done at once; they are answered for together. */
  #begins = false;

  siblingDone(sibling: Strand, result: unknown): void {
    sibling.#hasNoLimit();
    const siblings = this.#siblings!;
    siblings.splice(siblings.indexOf(sibling), 1);
    if (result === NOBODY_GOES_ON) for (const other of siblings.splice(0)) other.cut();
    if (siblings.length === 0 && !this.#begins) this.goOn(this.#allDone(this.#trial.now()));
  }

  #allDone(now: Instant): Answer {
    this.#siblings = null;
    this.#waiting = null;
    return { at: now };
  }

  /** A child job whose own time is up. */
  timeIsUp(): void {
    this.cut();
    this.#parent!.siblingDone(this, undefined);
  }

  #hasNoLimit(): void {
    if (this.#cutToken >= 0) this.#kernel.cancel(this.#cutToken);
    this.#cutToken = -1;
    this.cutAt = Number.POSITIVE_INFINITY;
  }

  // What breaks in

  /**
   * A client gives up on what is held; or something from outside ends whatever is going on, unless that is a stop. What would
   * be answered at this moment anyway is.
   */
  breakInto(why: "cancelled" | "interrupted"): void {
    const effect = this.#waiting;
    if (effect === null || this.#siblings !== null) return;
    if (!isHeld(effect) && (why === "cancelled" || effect.effect === "stop")) return;
    const now = this.#trial.now();
    if (why === "interrupted" && this.#isAnswered(effect, now)) return;
    this.#forget();
    this.#request = null;
    if (effect.effect === "hold") this.goOn(this.#held(this.#trial.process(effect.anyOf[0]), why, now));
    else if (effect.effect === "ask") this.goOn({ at: now, move: effect.move, service: null, interrupted: true });
    else if (effect.effect === "idle") this.goOn(this.#idled(effect, now));
    else this.goOn({ at: now });
  }

  /** Whether what is waited for is answered at this moment anyway. */
  #isAnswered(effect: Effect, now: Instant): boolean {
    const { kernel } = this.#trial.world;
    if (effect.effect === "hold") return isDue(effect, this.#trial.process(effect.anyOf[0]), now);
    if (effect.effect === "ask" && this.#request !== null) return this.#request.isAnswered(kernel.now);
    if (effect.effect === "idle") return this.#isWoken(effect, now);
    return this.#wakeToken >= 0 && this.#dueAt === kernel.now;
  }

  #isWoken({ anyOf, until }: IdleEffect, now: Instant): boolean {
    return until <= now || anyOf.some((id) => isAnnounced(this.#trial.process(id), now));
  }

  /** Ends here, whatever it was waiting for, and so do its siblings. */
  cut(): void {
    this.#forget();
    this.#hasNoLimit();
    for (const sibling of this.#siblings?.splice(0) ?? []) sibling.cut();
    this.#siblings = null;
    try {
      const { done } = this.#agent.throw(new CutOff(this.#trial.now()));
      if (done !== true) throw new BrokenPromise("an agent that was cut off asked for more");
    } catch (thrown) {
      // A sibling call has nobody of its own to catch it.
      if (!(thrown instanceof CutOff) || this.#parent === null) throw thrown;
    }
  }

  #forget(): void {
    if (this.#wakeToken >= 0) this.#kernel.cancel(this.#wakeToken);
    this.#wakeToken = -1;
    this.#waiting = null;
  }
}
