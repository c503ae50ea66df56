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
import { type Agent, type Answer, CutOff, type Effect, type Held, type ProcessId } from "../agent/effects.ts";
import type { Record, TrialEvent } from "../agent/events.ts";
import { journal } from "../agent/journal.ts";
import { after, type Duration, type Instant, moment, never } from "../policy/time.ts";
import { BrokenPromise, Kernel, type KernelOptions, RANK, type Token } from "./kernel.ts";
import { ScriptedProcess } from "./process.ts";
import type { ScriptedCommand } from "./script.ts";
import { type HoldEffect, held, holdEnds, nextLook } from "./watched.ts";

/** A trial that waits for its slot. */
export interface Entrant {
  readonly outerLimit: Duration;
  /** The agent, once the trial begins; it writes down what happens with `record`. */
  readonly begin: (record: Record) => Agent<void>;
  /** What became of it. */
  readonly ended: (trial: EndedTrial) => void;
  /** Moments at which a client gives up on whatever call is then being held. */
  readonly cancels?: readonly Instant[];
}

export interface EndedTrial {
  readonly events: readonly TrialEvent[];
  /** Milliseconds since the world began. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** How many of its lane's slots were taken while it ran, on average. */
  readonly concurrency: number;
}

export interface Lane {
  readonly slots: number;
  readonly entrants: Iterable<Entrant>;
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
  readonly #world: SimulatedWorld;
  readonly #slots: number;
  readonly #queue: Iterator<Entrant>;
  #next: Entrant | null;
  /** Slot-milliseconds used up to `#asOf`. */
  #used = 0;
  #asOf = 0;

  constructor(world: SimulatedWorld, { slots, entrants }: Lane) {
    this.#world = world;
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

const WAKE = 0;
const CUT = 1;
const FREE = 2;
const CANCEL = 3;

/** The most effects that an agent may be answered without any time going by. */
const AT_ONCE_LIMIT = 100_000;

/** How many lines of a trial's journal the message of a broken promise shows. */
const TRACE_SHOWN = 12;

/** One trial on its way through the world: performs the effects that its agent asks for. */
class TrialRun {
  readonly #world: SimulatedWorld;
  readonly #lane: OpenLane;
  readonly #entrant: Entrant;
  readonly #startedAt: number;
  /** Whether every moment of it is a small integer, which needs no box of its own: up to 24 days. */
  readonly #isShort: boolean;
  readonly #usedBefore: number;
  readonly #events: TrialEvent[] = [];
  readonly #processes: ScriptedProcess[] = [];
  #agent!: Agent<void>;
  #cutToken: Token = 0;
  /** What the agent is waiting for, and the entry that will wake it. */
  #waiting: Effect | null = null;
  #wakeToken: Token = -1;

  constructor(world: SimulatedWorld, lane: OpenLane, entrant: Entrant) {
    this.#world = world;
    this.#lane = lane;
    this.#entrant = entrant;
    this.#startedAt = world.kernel.now;
    this.#isShort = entrant.outerLimit < 2 ** 31;
    this.#usedBefore = lane.used();
  }

  start(): void {
    const { kernel } = this.#world;
    this.#world.latest = this;
    const { outerLimit, cancels, begin } = this.#entrant;
    this.#cutToken = kernel.schedule(this.#startedAt + outerLimit, RANK.cutOff, this, CUT);
    for (const at of cancels ?? []) kernel.schedule(this.#startedAt + at, RANK.cancel, this, CANCEL);
    this.#agent = begin((event) => this.#events.push(event));
    this.#goOn(undefined);
  }

  due(what: number): void {
    this.#world.latest = this;
    if (what === WAKE) this.#wake();
    else if (what === CUT) this.#cutOff();
    else if (what === FREE) this.#lane.free();
    else this.#cancelHold();
  }

  /** The last of what happened, for a message. */
  endOfTrace(): string {
    const lines = journal(this.#events.slice(-4 * TRACE_SHOWN)).slice(-TRACE_SHOWN);
    return ["; the trial that was on its way ends with:", ...lines].join("\n  ");
  }

  /** Moments of the trial count from its own beginning. */
  #now(): Instant {
    const now = this.#world.kernel.now - this.#startedAt;
    return moment(this.#isShort ? now | 0 : now);
  }

  #goOn(answer: Answer | undefined): void {
    let step = this.#agent.next(answer as Answer);
    for (let atOnce = 0; step.done !== true; atOnce += 1) {
      const answered = this.#perform(step.value);
      if (answered === null) return;
      if (atOnce === AT_ONCE_LIMIT)
        throw new BrokenPromise(`an agent asked for ${AT_ONCE_LIMIT} things in one moment, at ${this.#now()} ms`);
      step = this.#agent.next(answered);
    }
    this.#world.kernel.cancel(this.#cutToken);
    this.#end();
    this.#lane.free();
  }

  /** The answer, if it can be given at once; otherwise the agent waits and this is null. */
  #perform(effect: Effect): Answer | null {
    const now = this.#now();
    switch (effect.effect) {
      case "pass":
        return effect.until <= now ? { at: now } : this.#waitFor(effect, effect.until, RANK.timer);
      case "ask":
        return effect.takes <= 0
          ? { at: now, move: effect.move }
          : this.#waitFor(effect, after(now, effect.takes), RANK.timer);
      case "start": {
        const { process, command, retain } = effect;
        this.#processes.push(new ScriptedProcess(process, command as ScriptedCommand, now, retain));
        return { at: now };
      }
      case "hold":
        return this.#hold(effect, now);
      case "limit":
        this.#process(effect.process).terminate(effect.at, effect.grace, "limit");
        return { at: now };
      case "stop": {
        const process = this.#process(effect.process);
        process.terminate(now, effect.grace, "stop");
        return process.endsAt <= now ? this.#stopped(process, now) : this.#waitFor(effect, process.endsAt, RANK.exit);
      }
      case "read":
        return { at: now, ...this.#process(effect.process).read(effect.from, effect.limit, now) };
    }
  }

  #waitFor(effect: Effect, until: Instant, rank: typeof RANK.exit | typeof RANK.timer): null {
    this.#waiting = effect;
    this.#wakeToken = until === never ? -1 : this.#world.kernel.schedule(this.#startedAt + until, rank, this, WAKE);
    return null;
  }

  #wake(): void {
    const effect = this.#waiting!;
    this.#waiting = null;
    const answer = this.#answerTo(effect, this.#now());
    if (answer !== null) this.#goOn(answer);
  }

  /** The answer to an effect that was waited for; null if it has to wait on. */
  #answerTo(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "pass":
        return { at: now };
      case "ask":
        return { at: now, move: effect.move };
      case "stop":
        return this.#stopped(this.#process(effect.process), now);
      case "hold":
        return this.#hold(effect, now);
      default:
        throw new BrokenPromise(`nobody waits for ${effect.effect}`);
    }
  }

  #hold(effect: HoldEffect, now: Instant): Answer | null {
    const process = this.#process(effect.anyOf[0]);
    const why = holdEnds(effect, process, now);
    if (why !== null) return this.#held(process, why, now);
    const next = nextLook(effect, process, now);
    return process.endsAt <= next
      ? this.#waitFor(effect, process.endsAt, RANK.exit)
      : this.#waitFor(effect, next, RANK.timer);
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

  #cancelHold(): void {
    const effect = this.#waiting;
    if (effect?.effect !== "hold") return;
    this.#world.kernel.cancel(this.#wakeToken);
    this.#waiting = null;
    this.#goOn(this.#held(this.#process(effect.anyOf[0]), "cancelled", this.#now()));
  }

  #cutOff(): void {
    if (this.#wakeToken >= 0) this.#world.kernel.cancel(this.#wakeToken);
    this.#waiting = null;
    const { done } = this.#agent.throw(new CutOff(this.#now()));
    if (done !== true) throw new BrokenPromise("an agent that was cut off asked for more");
    this.#end();
    this.#world.kernel.schedule(this.#world.kernel.now + this.#world.cutGrace, RANK.timer, this, FREE);
  }

  #end(): void {
    const now = this.#now();
    for (const process of this.#processes) {
      if (!process.reported)
        this.#events.push({ event: "left_behind", at: now, process: process.id, end: process.endBy(now) });
    }
    const { kernel } = this.#world;
    const length = kernel.now - this.#startedAt;
    this.#entrant.ended({
      events: this.#events,
      startedAt: this.#startedAt,
      endedAt: kernel.now,
      concurrency: length === 0 ? this.#lane.taken : (this.#lane.used() - this.#usedBefore) / length,
    });
  }

  #process(id: ProcessId): ScriptedProcess {
    const process = this.#processes[id - 1];
    if (process === undefined) throw new BrokenPromise(`process ${id} was never started`);
    return process;
  }
}
