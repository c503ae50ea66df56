/**
 * The live world: performs the effects of an agent on a clock and on processes that are handed in.
 *
 * There is no policy here, and nothing that a simulated world would not do too. Its one rule of its own:
 * every timer of an instant fires before anybody is resumed. A resumed agent then finds all that was due,
 * and a tie ends as it does in the simulated world: what comes from outside is heard, then come exits, then timers, then
 * clients that give up, child jobs whose time is up, and the outer cut-off.
 */
import {
  type Agent,
  type Answer,
  type Command,
  type Completion,
  CutOff,
  type Effect,
  type End,
  NOBODY_GOES_ON,
  type ProcessId,
  type Sibling,
} from "../agent/effects.ts";
import type { TrialEvent } from "../agent/events.ts";
import { after, beginning, earliest, type Instant, never } from "../policy/time.ts";
import { BrokenPromise } from "./kernel.ts";
import type { Provider } from "./provider.ts";
import { Requested } from "./service.ts";
import type { EndedTrial, Entrant } from "./simulated.ts";
import {
  held,
  holdEnds,
  type IdleEffect,
  idled,
  isAnnounced,
  isDue,
  isHeld,
  nextLook,
  type WatchedProcess,
} from "./watched.ts";

/** Time as a live world needs it. Moments count from wherever the clock's user says the beginning is. */
export interface Clock {
  now(): Instant;
  /** Wakes at a moment or soon after; returns what takes it back. */
  at(moment: Instant, wake: () => void): () => void;
  /** Calls once every timer of this instant has fired. */
  soon(go: () => void): void;
}

/** Where commands really run, or pretend to. */
export interface ProcessPort {
  /** @param wake to be called whenever something about the process has changed: output, or its end */
  start(
    id: ProcessId,
    command: Command,
    retain: number,
    startedAt: Instant,
    wake: () => void,
    overAt: Completion,
  ): WatchedProcess;
}

export interface LiveOptions {
  /** When the outer harness cuts the agent off; null: never. */
  readonly cutOffAt?: Instant | null;
  /** Serves the requests to a model; null: each takes what its model takes. */
  readonly provider?: Provider | null;
}

/** One session: a clock, and all processes that its agents have started. */
export class LiveWorld {
  readonly clock: Clock;
  readonly #port: ProcessPort;
  readonly #processes = new Map<ProcessId, Watched>();

  constructor(clock: Clock, port: ProcessPort) {
    this.clock = clock;
    this.#port = port;
  }

  /** Lets an agent work until it is done. Several may work side by side. */
  run<Result>(agent: Agent<Result>, { cutOffAt = null, provider = null }: LiveOptions = {}): LiveRun<Result> {
    return new LiveRun(this, agent, cutOffAt, provider);
  }

  /** Takes in a process that an earlier session has started, and whose end is known or will never be. */
  adopt(id: ProcessId, process: WatchedProcess): void {
    this.#processes.set(id, { process, port: null, watchers: new Set(), reported: true });
  }

  /** Processes whose end no agent has been told of, or that answer all the same. */
  unreported(now: Instant): readonly {
    readonly process: ProcessId;
    readonly end: End | null;
    readonly answers: boolean;
  }[] {
    return [...this.#processes]
      .map(([process, { process: watched, reported }]) => ({
        process,
        end: watched.endBy(now),
        answers: watched.servesAt?.(now) ?? false,
        reported,
      }))
      .filter(({ reported, answers }) => !reported || answers)
      .map(({ process, end, answers }) => ({ process, end, answers }));
  }

  /** Whether anything that was started here answers at a port. */
  answersAt(port: number, now: Instant): boolean {
    return [...this.#processes.values()].some(({ port: own, process }) => own === port && process.servesAt?.(now));
  }

  start(effect: Extract<Effect, { effect: "start" }>, now: Instant): void {
    const { process, command, retain, overAt } = effect;
    const watched: Watched = {
      process: null as unknown as WatchedProcess,
      port: command.port,
      watchers: new Set(),
      reported: false,
    };
    this.#processes.set(process, watched);
    const wake = () => {
      for (const look of [...watched.watchers]) look();
    };
    watched.process = this.#port.start(process, command, retain, now, wake, overAt);
  }

  watched(id: ProcessId): Watched {
    const watched = this.#processes.get(id);
    if (watched === undefined) throw new BrokenPromise(`process ${id} was never started`);
    return watched;
  }
}

interface Watched {
  process: WatchedProcess;
  /** Where it is known to serve. */
  readonly port: number | null;
  /** To be woken when something about the process has changed. */
  readonly watchers: Set<() => void>;
  reported: boolean;
}

/**
 * One agent at work. `done` is its result; it rejects with what the agent throws. Whoever works side by side for another one is
 * woken by the one at the top, which looks at all of them in turn.
 */
export class LiveRun<Result> {
  readonly done: Promise<Result>;
  /** When it was done; the beginning until then. */
  endedAt: Instant = beginning;
  readonly #world: LiveWorld;
  readonly #agent: Agent<Result>;
  readonly #cutOffAt: Instant | null;
  readonly #provider: Provider | null;
  /** Of those that it works side by side with; null: it works for nobody else. */
  readonly #parent: LiveRun<unknown> | null;
  #request: Requested | null = null;
  /** Agents side by side that are not done; null: there are none. */
  #siblings: LiveRun<unknown>[] | null = null;
  /** While siblings are being started one of them may be done at once; they are answered for together. */
  #begins = false;
  #resolve!: (result: never) => void;
  #reject!: (reason: unknown) => void;
  #waiting: Effect | null = null;
  /** Takes back every timer and watch of what is waited for. */
  #forget: (() => void)[] = [];
  #cutTimer: (() => void) | null = null;
  #lookDue = false;
  /** What has broken in and has not been answered yet. */
  readonly #breaks = { cancelled: 0, interrupted: 0 };
  #over = false;

  constructor(
    world: LiveWorld,
    agent: Agent<Result>,
    cutOffAt: Instant | null,
    provider: Provider | null = null,
    parent: LiveRun<unknown> | null = null,
  ) {
    this.#world = world;
    this.#provider = provider;
    this.#agent = agent;
    this.#cutOffAt = cutOffAt;
    this.#parent = parent;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (cutOffAt !== null) this.#cutTimer = world.clock.at(cutOffAt, this.#wake);
    if (parent === null) this.#guarded(() => this.#begin());
  }

  #begin(): void {
    this.#goOn(() => this.#agent.next(undefined as unknown as Answer));
  }

  /** The client gives up: whatever is held once this instant is over is answered `cancelled`. No process is stopped. */
  cancel(): void {
    this.#breaks.cancelled += 1;
    this.#wake();
  }

  /** Something from outside breaks into whatever is going on once this instant is over. */
  interrupt(): void {
    this.#breaks.interrupted += 1;
    this.#wake();
  }

  /** Something has happened; what, is asked once everything of this instant has. */
  readonly #wake = (): void => {
    if (this.#parent !== null) {
      this.#parent.#wake();
      return;
    }
    if (this.#lookDue || this.#over) return;
    this.#lookDue = true;
    this.#world.clock.soon(() => {
      this.#lookDue = false;
      if (!this.#over) this.#guarded(() => this.#look());
    });
  };

  /** Everything of this instant, in the order in which a simulated world has it. */
  #look(): void {
    const waited = this.#all().map((run) => [run, run.#waiting] as const);
    this.#breaksIn("interrupted");
    for (const rank of ["exit", "timer"] as const) {
      const now = this.#now();
      for (const run of this.#all()) if (run.#dueAs(now) === rank) run.#answerWhatWaits(now);
    }
    this.#breaksIn("cancelled");
    for (const run of this.#all()) if (run !== this && run.#isOutOfTime()) run.#cutOff();
    if (this.#isOutOfTime()) this.#cutOff();
    // Something may have changed for the others too, but not enough: they wait on, perhaps for another moment.
    for (const [run, effect] of waited)
      if (effect !== null && effect === run.#waiting) run.#waitFor(effect, this.#now(), run.#lookAt);
  }

  /** Itself, and whoever works side by side for it, in the order in which they were asked for. */
  #all(): readonly LiveRun<unknown>[] {
    if (this.#over) return [];
    return this.#siblings === null ? [this] : [this, ...this.#siblings.flatMap((sibling) => sibling.#all())];
  }

  #isOutOfTime(): boolean {
    return !this.#over && this.#cutOffAt !== null && this.#now() >= this.#cutOffAt;
  }

  #breaksIn(why: "cancelled" | "interrupted"): void {
    const times = this.#breaks[why];
    this.#breaks[why] = 0;
    // What happens at one moment is told once, however much it is.
    for (let left = why === "interrupted" ? Math.min(times, 1) : times; left > 0; left -= 1) {
      for (const run of this.#all()) run.#breakInto(why);
    }
  }

  #breakInto(why: "cancelled" | "interrupted"): void {
    const effect = this.#waiting;
    if (effect === null || effect.effect === "together") return;
    if (!isHeld(effect) && (why === "cancelled" || effect.effect === "stop")) return;
    const at = this.#now();
    // What would be answered at this moment anyway is.
    if (why === "interrupted" && this.#isAnswered(effect, at)) return;
    this.#request = null;
    if (effect.effect === "hold") this.#answer(this.#held(this.#world.watched(effect.anyOf[0]), why, at));
    else if (effect.effect === "ask") this.#answer({ at, move: effect.move, service: null, interrupted: true });
    else if (effect.effect === "idle") this.#answer(this.#idled(effect, at));
    else this.#answer({ at });
  }

  #isAnswered(effect: Effect, now: Instant): boolean {
    if (effect.effect === "hold") return isDue(effect, this.#world.watched(effect.anyOf[0]).process, now);
    if (effect.effect === "ask" && this.#request !== null) return this.#request.isAnswered(now);
    return this.#dueAs(now) !== null;
  }

  /** As what the effect that is waited for is to be looked at by now; null: there is nothing to look at. */
  #dueAs(now: Instant): "exit" | "timer" | null {
    const effect = this.#waiting;
    switch (effect?.effect) {
      case "pass":
        return effect.until <= now ? "timer" : null;
      case "ask":
        return this.#askedUntil <= now ? "timer" : null;
      case "stop": {
        const { process } = this.#world.watched(effect.process);
        return process.endBy(now) !== null || process.unending?.() === true ? "exit" : null;
      }
      case "hold":
        if (isAnnounced(this.#world.watched(effect.anyOf[0]).process, now)) return "exit";
        return this.#lookAt <= now ? "timer" : null;
      case "idle":
        if (effect.anyOf.some((id) => isAnnounced(this.#world.watched(id).process, now))) return "exit";
        return effect.until <= now ? "timer" : null;
      default:
        return null;
    }
  }

  #answerWhatWaits(now: Instant): void {
    const effect = this.#waiting!;
    const answer = this.#answerTo(effect, now);
    if (answer === null) this.#waitFor(effect, now);
    else this.#answer(answer);
  }

  #answer(answer: Answer): void {
    this.#stopWaiting();
    this.#goOn(() => this.#agent.next(answer));
  }

  #now(): Instant {
    return this.#world.clock.now();
  }

  #goOn(resume: () => IteratorResult<Effect, Result>): void {
    let step = resume();
    while (step.done !== true) {
      const now = this.#now();
      const answer = this.#perform(step.value, now);
      if (answer === null) {
        this.#waitFor(step.value, now);
        return;
      }
      step = this.#agent.next(answer);
    }
    this.#end();
    this.#resolve(step.value as never);
    if (this.#parent !== null) this.#parent.#siblingDone(this, step.value);
  }

  /** Begins an effect; its answer, if it can be given at once. */
  #perform(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "start":
        this.#world.start(effect, now);
        return { at: now };
      case "usage":
        return { at: now, cpu: this.#world.watched(effect.process).process.cpu?.(now) ?? null };
      case "probe":
        return { at: now, answers: this.#world.answersAt(effect.port, now) };
      case "limit":
        this.#world.watched(effect.process).process.limit(effect, now);
        return { at: now };
      case "read":
        return { at: now, ...this.#world.watched(effect.process).process.read(effect.from, effect.limit, now) };
      case "stop":
        this.#world.watched(effect.process).process.terminate(now, effect.grace, "stop", effect.reach);
        return this.#answerTo(effect, now);
      case "ask":
        if (effect.request !== null && this.#provider !== null) {
          this.#request = new Requested(this.#provider).asks(effect.request, now);
        } else {
          this.#request = null;
          this.#askedUntil = after(now, effect.takes);
        }
        return this.#answerTo(effect, now);
      case "together":
        return this.#beginTogether(effect, now);
      default:
        return this.#answerTo(effect, now);
    }
  }

  /** The answer to an effect that has been waited for until now; null: it is waited for still. */
  #answerTo(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "pass":
        return effect.until <= now ? { at: now } : null;
      case "ask": {
        const request = this.#request;
        const service = request === null ? null : request.look(now);
        if (request !== null) this.#askedUntil = request.dueAt as Instant;
        if (request === null ? this.#askedUntil > now : service === null) return null;
        return { at: now, move: effect.move, service, interrupted: false };
      }
      case "stop": {
        const watched = this.#world.watched(effect.process);
        const end = watched.process.endBy(now);
        if (end === null) return watched.process.unending?.() === true ? { at: now, end } : null;
        watched.reported = true;
        return { at: now, end };
      }
      case "hold": {
        const watched = this.#world.watched(effect.anyOf[0]);
        const why = holdEnds(effect, watched.process, now);
        return why === null ? null : this.#held(watched, why, now);
      }
      case "idle": {
        const answer = this.#idled(effect, now);
        return answer.why === "interrupted" ? null : answer;
      }
      default:
        throw new BrokenPromise(`nobody waits for ${effect.effect}`);
    }
  }

  /** When the model has come to the move that is waited for. */
  #askedUntil: Instant = never;
  /** When to look at the hold that is waited for, whatever happens. */
  #lookAt: Instant = never;

  #idled(effect: IdleEffect, now: Instant) {
    const answer = idled(effect, (id) => this.#world.watched(id).process, now);
    for (const { process } of answer.ended) this.#world.watched(process).reported = true;
    return answer;
  }

  #held(watched: Watched, why: Parameters<typeof held>[1], now: Instant): Answer {
    const answer = held(watched.process, why, now);
    if (answer.end !== null) watched.reported = true;
    return answer;
  }

  /** @param atTheLatest when to look at a hold in any case */
  #waitFor(effect: Effect, now: Instant, atTheLatest: Instant = never): void {
    this.#stopWaiting();
    this.#waiting = effect;
    if (effect.effect === "together") return;
    const at = (moment: Instant) => {
      if (moment !== never) this.#forget.push(this.#world.clock.at(moment, this.#wake));
    };
    const watch = (id: ProcessId) => {
      const { watchers } = this.#world.watched(id);
      watchers.add(this.#wake);
      this.#forget.push(() => watchers.delete(this.#wake));
    };
    switch (effect.effect) {
      case "pass":
        at(effect.until);
        break;
      case "ask":
        at(this.#askedUntil);
        break;
      case "stop":
        watch(effect.process);
        break;
      case "hold":
        watch(effect.anyOf[0]);
        this.#lookAt = earliest(atTheLatest, nextLook(effect, this.#world.watched(effect.anyOf[0]).process, now));
        at(this.#lookAt);
        break;
      case "idle":
        for (const id of effect.anyOf) watch(id);
        at(effect.until);
        break;
    }
  }

  #beginTogether(effect: Extract<Effect, { effect: "together" }>, now: Instant): Answer | null {
    const siblings = effect.agents.map(
      ({ agent, until }: Sibling) => new LiveRun<unknown>(this.#world, agent, until, this.#provider, this),
    );
    this.#waiting = effect;
    this.#siblings = [...siblings];
    this.#begins = true;
    // One of them may end it for all.
    for (const sibling of siblings) if (this.#siblings.includes(sibling)) sibling.#begin();
    this.#begins = false;
    return this.#siblings.length === 0 ? this.#allDone(now) : null;
  }

  #siblingDone(sibling: LiveRun<unknown>, result: unknown): void {
    const siblings = this.#siblings!;
    siblings.splice(siblings.indexOf(sibling), 1);
    if (result === NOBODY_GOES_ON) for (const other of siblings.splice(0)) other.#cut();
    if (siblings.length === 0 && !this.#begins) {
      const answer = this.#allDone(this.#now());
      this.#goOn(() => this.#agent.next(answer));
    }
  }

  #allDone(now: Instant): Answer {
    this.#siblings = null;
    this.#waiting = null;
    return { at: now };
  }

  #stopWaiting(): void {
    for (const forget of this.#forget) forget();
    this.#forget = [];
    this.#waiting = null;
  }

  #cutOff(): void {
    this.#cut();
    if (this.#parent !== null) this.#parent.#siblingDone(this, undefined);
  }

  #cut(): void {
    this.#stopWaiting();
    for (const sibling of this.#siblings?.splice(0) ?? []) sibling.#cut();
    this.#siblings = null;
    let value: unknown;
    try {
      const cut = this.#agent.throw(new CutOff(this.#now()));
      if (cut.done !== true) throw new BrokenPromise("an agent that was cut off asked for more");
      value = cut.value;
    } catch (thrown) {
      // A sibling call has nobody of its own to catch it.
      if (!(thrown instanceof CutOff) || this.#parent === null) throw thrown;
    }
    this.#end();
    this.#resolve(value as never);
  }

  #end(): void {
    this.#over = true;
    this.endedAt = this.#now();
    for (const sibling of this.#siblings ?? []) sibling.#end();
    this.#stopWaiting();
    this.#cutTimer?.();
  }

  /** What goes wrong on a timer's turn must reach whoever waits for the agent. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#end();
      this.#reject(error);
    }
  }
}

/** A trial on a live world, alone, from its beginning to submission or cut-off; what a simulated world does with an entrant. */
export async function trialOn(
  world: LiveWorld,
  { begin, outerLimit, cancels = [], interrupts = [] }: Omit<Entrant, "ended">,
  provider: Provider | null = null,
): Promise<EndedTrial> {
  const { clock } = world;
  const events: TrialEvent[] = [];
  const run = world.run(
    begin((event) => events.push(event)),
    { cutOffAt: after(beginning, outerLimit), provider },
  );
  const forget = [
    ...cancels.map((at) => clock.at(at, () => run.cancel())),
    // Whoever begins at a moment knows of what happens then.
    ...interrupts.filter((at) => at > 0).map((at) => clock.at(at, () => run.interrupt())),
  ];
  await run.done;
  for (const takeBack of forget) takeBack();
  const now = run.endedAt;
  for (const left of world.unreported(now)) events.push({ event: "left_behind", at: now, ...left });
  return { events, startedAt: 0, endedAt: now, concurrency: 1 };
}
