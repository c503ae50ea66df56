/**
 * The live world: performs the effects of an agent on a clock and on processes that are handed in.
 *
 * There is no policy here, and nothing that a simulated world would not do too. Its one rule of its own:
 * every timer of an instant fires before anybody is resumed. A resumed agent then finds all that was due,
 * and a tie ends as it does in the simulated world.
 */
import {
  type Agent,
  type Answer,
  type Command,
  CutOff,
  type Effect,
  type End,
  type ProcessId,
} from "../agent/effects.ts";
import type { TrialEvent } from "../agent/events.ts";
import { after, beginning, type Instant, never } from "../policy/time.ts";
import { BrokenPromise } from "./kernel.ts";
import type { EndedTrial, Entrant } from "./simulated.ts";
import { held, holdEnds, nextLook, type WatchedProcess } from "./watched.ts";

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
  start(id: ProcessId, command: Command, retain: number, startedAt: Instant, wake: () => void): WatchedProcess;
}

export interface LiveOptions {
  /** When the outer harness cuts the agent off; null: never. */
  readonly cutOffAt?: Instant | null;
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
  run<Result>(agent: Agent<Result>, { cutOffAt = null }: LiveOptions = {}): LiveRun<Result> {
    return new LiveRun(this, agent, cutOffAt);
  }

  /** Takes in a process that an earlier session has started, and whose end is known or will never be. */
  adopt(id: ProcessId, process: WatchedProcess): void {
    this.#processes.set(id, { process, watchers: new Set(), reported: true });
  }

  /** Processes whose end no agent has been told of. */
  unreported(now: Instant): readonly { readonly process: ProcessId; readonly end: End | null }[] {
    return [...this.#processes]
      .filter(([, { reported }]) => !reported)
      .map(([process, { process: watched }]) => ({ process, end: watched.endBy(now) }));
  }

  start(effect: Extract<Effect, { effect: "start" }>, now: Instant): void {
    const watched: Watched = { process: null as unknown as WatchedProcess, watchers: new Set(), reported: false };
    this.#processes.set(effect.process, watched);
    watched.process = this.#port.start(effect.process, effect.command, effect.retain, now, () => {
      for (const look of [...watched.watchers]) look();
    });
  }

  watched(id: ProcessId): Watched {
    const watched = this.#processes.get(id);
    if (watched === undefined) throw new BrokenPromise(`process ${id} was never started`);
    return watched;
  }
}

interface Watched {
  process: WatchedProcess;
  /** To be woken when something about the process has changed. */
  readonly watchers: Set<() => void>;
  reported: boolean;
}

/** One agent at work. `done` is its result; it rejects with what the agent throws. */
export class LiveRun<Result> {
  readonly done: Promise<Result>;
  /** When it was done; the beginning until then. */
  endedAt: Instant = beginning;
  readonly #world: LiveWorld;
  readonly #agent: Agent<Result>;
  readonly #cutOffAt: Instant | null;
  #resolve!: (result: Result) => void;
  #reject!: (reason: unknown) => void;
  #waiting: Effect | null = null;
  /** Takes back every timer and watch of what is waited for. */
  #forget: (() => void)[] = [];
  #cutTimer: (() => void) | null = null;
  #lookDue = false;
  /** How often the client has given up without having been answered yet. */
  #cancels = 0;
  #over = false;

  constructor(world: LiveWorld, agent: Agent<Result>, cutOffAt: Instant | null) {
    this.#world = world;
    this.#agent = agent;
    this.#cutOffAt = cutOffAt;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (cutOffAt !== null) this.#cutTimer = world.clock.at(cutOffAt, this.#wake);
    this.#guarded(() => this.#goOn(() => this.#agent.next(undefined as unknown as Answer)));
  }

  /** The client gives up: whatever is held once this instant is over is answered `cancelled`. No process is stopped. */
  cancel(): void {
    this.#cancels += 1;
    this.#wake();
  }

  /** Something has happened; what, is asked once everything of this instant has. */
  readonly #wake = (): void => {
    if (this.#lookDue || this.#over) return;
    this.#lookDue = true;
    this.#world.clock.soon(() => {
      this.#lookDue = false;
      if (!this.#over) this.#guarded(() => this.#look());
    });
  };

  #look(): void {
    this.#answerWhatWaits();
    for (; this.#cancels > 0; this.#cancels -= 1) {
      const effect = this.#waiting;
      if (effect?.effect === "hold")
        this.#answer(this.#held(this.#world.watched(effect.anyOf[0]), "cancelled", this.#now()));
    }
    if (!this.#over && this.#cutOffAt !== null && this.#now() >= this.#cutOffAt) this.#cutOff();
  }

  #answerWhatWaits(): void {
    const effect = this.#waiting;
    if (effect === null) return;
    const now = this.#now();
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
    this.#resolve(step.value);
  }

  /** Begins an effect; its answer, if it can be given at once. */
  #perform(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "start":
        this.#world.start(effect, now);
        return { at: now };
      case "limit":
        this.#world.watched(effect.process).process.terminate(effect.at, effect.grace, "limit");
        return { at: now };
      case "read":
        return { at: now, ...this.#world.watched(effect.process).process.read(effect.from, effect.limit, now) };
      case "stop":
        this.#world.watched(effect.process).process.terminate(now, effect.grace, "stop");
        return this.#answerTo(effect, now);
      case "ask":
        return effect.takes <= 0 ? { at: now, move: effect.move } : null;
      default:
        return this.#answerTo(effect, now);
    }
  }

  /** The answer to an effect that has been waited for until now; null: it is waited for still. */
  #answerTo(effect: Effect, now: Instant): Answer | null {
    switch (effect.effect) {
      case "pass":
        return effect.until <= now ? { at: now } : null;
      case "ask":
        return this.#askedUntil <= now ? { at: now, move: effect.move } : null;
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
      default:
        throw new BrokenPromise(`nobody waits for ${effect.effect}`);
    }
  }

  /** When the model has come to the move that is waited for. */
  #askedUntil: Instant = never;

  #held(watched: Watched, why: Parameters<typeof held>[1], now: Instant): Answer {
    const answer = held(watched.process, why, now);
    if (answer.end !== null) watched.reported = true;
    return answer;
  }

  #waitFor(effect: Effect, now: Instant): void {
    if (this.#waiting !== effect && effect.effect === "ask") this.#askedUntil = after(now, effect.takes);
    this.#stopWaiting();
    this.#waiting = effect;
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
        at(nextLook(effect, this.#world.watched(effect.anyOf[0]).process, now));
    }
  }

  #stopWaiting(): void {
    for (const forget of this.#forget) forget();
    this.#forget = [];
    this.#waiting = null;
  }

  #cutOff(): void {
    this.#stopWaiting();
    const { done, value } = this.#agent.throw(new CutOff(this.#now()));
    if (done !== true) throw new BrokenPromise("an agent that was cut off asked for more");
    this.#end();
    this.#resolve(value as Result);
  }

  #end(): void {
    this.#over = true;
    this.endedAt = this.#now();
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
  { begin, outerLimit, cancels = [] }: Omit<Entrant, "ended">,
): Promise<EndedTrial> {
  const { clock } = world;
  const events: TrialEvent[] = [];
  const run = world.run(
    begin((event) => events.push(event)),
    { cutOffAt: after(beginning, outerLimit) },
  );
  const forget = cancels.map((at) => clock.at(at, () => run.cancel()));
  await run.done;
  for (const takeBack of forget) takeBack();
  const now = run.endedAt;
  for (const { process, end } of world.unreported(now)) events.push({ event: "left_behind", at: now, process, end });
  return { events, startedAt: 0, endedAt: now, concurrency: 1 };
}
