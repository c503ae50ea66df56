/**
 * The machine that commands run on: how far a script has come by a moment, where its cores are shared.
 *
 * Processor sharing: while more cores are wanted than there are, everything on the CPU goes slower by the same factor,
 * and what waits silently does not. So one figure serves for all of them: how far a script that had been on the CPU all
 * the time would have come. It grows in legs of constant rate, and a script on the CPU has come as much further as this
 * has since it got there. A change makes one new leg, however many are running, and none that has no effect on the rate:
 * where there is enough for all, time stays as it is written, to the millisecond.
 *
 * A stretch may end between two milliseconds. Its end is reckoned with where it is, not where the driver can act on it,
 * so no work is gained or lost by rounding; only what is answered to the outside is whole. A pace keeps the legs since
 * its own start and can be asked for any moment of them. Legs that no pace remembers are gone.
 */
import { BrokenPromise } from "./kernel.ts";

export interface HostTerms {
  /** Everything goes so much faster; above 0. */
  readonly speed: number;
  /** Shared by all, above 0; null: enough for all. */
  readonly cores: number | null;
}

/** A part of a script with one demand. */
export interface Stretch {
  /** How many cores it wants; 0: silent waiting. */
  readonly cpu: number;
  /** Milliseconds of the script; infinite for a last one that never ends. */
  readonly lasts: number;
}

/** A time in which everything on the CPU goes at one rate. */
interface Leg {
  /** When it begins, in milliseconds since the world began. */
  readonly at: number;
  /** How far a script on the CPU all the time would have come by then. */
  readonly done: number;
  /** The rate is a fraction, so that a third of a core does in three milliseconds what one core does in one. */
  many: number;
  of: number;
  next: Leg | null;
}

function doneBy(leg: Leg, now: number): number {
  return leg.done + ((now - leg.at) * leg.many) / leg.of;
}

function reachedAt(leg: Leg, done: number): number {
  return leg.at + ((done - leg.done) * leg.of) / leg.many;
}

/** Where a stretch began. */
interface Begun {
  /** Milliseconds of the script before it. */
  readonly from: number;
  readonly at: number;
  /** How far a script on the CPU all the time had come by then. */
  readonly done: number;
}

/** Less than this beside a whole number is rounding. In milliseconds. */
const NEAR = 1e-6;

/** The value, or the whole number that it was meant to be. */
function exact(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) < NEAR ? whole : value;
}

/**
 * How far a script has come, as a function of the world's time.
 *
 * What it says of the past stands. What it says of the time after the host's latest turn holds as things stand: as if
 * no rate ever changed again. So turn the host before asking for a moment, and ask again after each of its changes.
 */
export class Pace {
  readonly #stretches: readonly Stretch[];
  readonly #speed: number;
  readonly #begun: [Begun, ...Begun[]];
  readonly #firstLeg: Leg;
  /** The leg last looked at: questions mostly come in order of time. */
  #leg: Leg;
  #stoppedAt = Number.POSITIVE_INFINITY;

  /** Paces are made by a host. */
  constructor(now: number, stretches: readonly Stretch[], speed: number, leg: Leg) {
    this.#stretches = stretches;
    this.#speed = speed;
    this.#begun = [{ from: 0, at: now, done: doneBy(leg, now) }];
    this.#firstLeg = leg;
    this.#leg = leg;
  }

  /** Milliseconds of the script at a moment from its start on; its whole length, or where it was stopped, for ever after. */
  elapsed(now: number): number {
    const moment = Math.min(now, this.#stoppedAt);
    let at = this.#begun.length - 1;
    while (at > 0 && this.#begun[at]!.at > moment) at -= 1;
    let begun = this.#begun[at]!;
    for (; at < this.#stretches.length; at++) {
      const stretch = this.#stretches[at]!;
      const gone =
        stretch.cpu > 0 ? doneBy(this.#legWhere("at", moment), moment) - begun.done : (moment - begun.at) * this.#speed;
      if (gone < stretch.lasts) return exact(begun.from + Math.max(gone, 0));
      begun = this.#after(begun, stretch);
    }
    return begun.from;
  }

  /** The first whole millisecond of the world at which the script has come so far; infinite if it never does. */
  when(script: number): number {
    if (this.#stoppedAt < Number.POSITIVE_INFINITY && script > this.elapsed(this.#stoppedAt)) {
      return Number.POSITIVE_INFINITY;
    }
    const moment = this.#reaches(script);
    // Whoever asks at the moment named here must find the script there, whatever rounding has made of the fraction.
    const nearest = Math.round(moment);
    return this.elapsed(nearest) >= script ? nearest : Math.ceil(moment);
  }

  #reaches(script: number): number {
    let at = this.#begun.length - 1;
    while (at > 0 && this.#begun[at]!.from > script) at -= 1;
    let begun = this.#begun[at]!;
    for (; at < this.#stretches.length; at++) {
      const stretch = this.#stretches[at]!;
      const ahead = script - begun.from;
      if (ahead <= 0) return begun.at;
      if (ahead <= stretch.lasts) return this.#comesAt(begun, stretch, ahead);
      begun = this.#after(begun, stretch);
    }
    return script <= begun.from ? begun.at : Number.POSITIVE_INFINITY;
  }

  /** When so much of a stretch that has begun is behind it, to the fraction and as things stand. */
  #comesAt(begun: Begun, { cpu }: Stretch, ahead: number): number {
    if (cpu === 0) return begun.at + ahead / this.#speed;
    return reachedAt(this.#legWhere("done", begun.done + ahead), begun.done + ahead);
  }

  /** The end of a stretch, which is where the next begins. */
  #after(begun: Begun, stretch: Stretch): Begun {
    const at = exact(this.#comesAt(begun, stretch, stretch.lasts));
    const done = stretch.cpu > 0 ? begun.done + stretch.lasts : doneBy(this.#legWhere("at", at), at);
    return { from: begun.from + stretch.lasts, at, done };
  }

  /** The last leg that begins no later than a moment, or with no more done. */
  #legWhere(what: "at" | "done", value: number): Leg {
    let leg = this.#leg[what] <= value ? this.#leg : this.#firstLeg;
    while (leg.next !== null && leg.next[what] <= value) leg = leg.next;
    this.#leg = leg;
    return leg;
  }

  /** For its host: cores wanted by the stretch it is in; null once it is over. */
  get wants(): number | null {
    return this.#stretches[this.#begun.length - 1]?.cpu ?? null;
  }

  /** For its host: when the stretch it is in ends, as things stand, to the fraction. */
  get changesAt(): number {
    const at = this.#begun.length - 1;
    const stretch = this.#stretches[at]!;
    return exact(this.#comesAt(this.#begun[at]!, stretch, stretch.lasts));
  }

  /** For its host: the stretch it is in has ended. */
  goesOn(): void {
    const at = this.#begun.length - 1;
    this.#begun.push(this.#after(this.#begun[at]!, this.#stretches[at]!));
  }

  /** For its host: it comes no further. */
  stops(now: number): void {
    this.#stoppedAt = Math.min(this.#stoppedAt, now);
  }
}

/** Demand is counted in millionths of a core: whole numbers add up to the same in any order, and come back to nothing. */
const CORE = 1_000_000;

const millionths = (cpu: number) => (cpu > 0 ? Math.max(Math.round(cpu * CORE), 1) : 0);

export class Host {
  readonly #speed: number;
  /** In millionths. */
  readonly #cores: number | null;
  /** Those that are not over, where cores are shared. */
  readonly #running = new Set<Pace>();
  /** Of all that is on the CPU, in millionths. */
  #demand = 0;
  #leg: Leg;
  #now = 0;
  /** The next change, to the fraction; null: not worked out. */
  #next: number | null = null;

  constructor({ speed, cores }: HostTerms) {
    this.#speed = speed;
    this.#cores = cores === null ? null : millionths(cores);
    this.#leg = { at: 0, done: 0, many: speed, of: 1, next: null };
  }

  /** A script begins. Those on the CPU may go slower from now on. */
  starts(now: number, stretches: readonly Stretch[]): Pace {
    this.turn(now);
    const some = stretches.filter(({ lasts }) => lasts > 0);
    if (this.#cores === null) {
      // Nothing slows anything down here, so a script is one stretch, and nobody has to be told when it ends.
      const lasts = some.reduce((sum, stretch) => sum + stretch.lasts, 0);
      return new Pace(now, lasts > 0 ? [{ cpu: 0, lasts }] : [], this.#speed, this.#leg);
    }
    const pace = new Pace(now, some, this.#speed, this.#leg);
    if (pace.wants !== null) {
      this.#running.add(pace);
      this.#demand += millionths(pace.wants);
      this.#changed(now);
    }
    return pace;
  }

  /** A script is stopped and comes no further. One that is over is left as it is. */
  ends(now: number, pace: Pace): void {
    this.turn(now);
    pace.stops(now);
    if (!this.#running.delete(pace)) return;
    this.#demand -= millionths(pace.wants!);
    this.#changed(now);
  }

  /**
   * The whole millisecond in which the next stretch ends by itself; infinite if none does. Where there are cores enough
   * for all no pace depends on it, and it is infinite as well.
   */
  nextChangeAt(): number {
    return Math.ceil(this.#nextChange());
  }

  /** Takes in all changes due by now, each at its own moment. */
  turn(now: number): void {
    if (!(now >= this.#now && now < Number.POSITIVE_INFINITY)) {
      throw new BrokenPromise(`a host at ${this.#now} was turned to ${now}`);
    }
    this.#now = now;
    for (let at = this.#nextChange(); at <= now; at = this.#nextChange()) {
      for (const pace of this.#running) {
        if (pace.changesAt > at) continue;
        const left = millionths(pace.wants!);
        pace.goesOn();
        this.#demand += millionths(pace.wants ?? 0) - left;
        if (pace.wants === null) this.#running.delete(pace);
      }
      this.#changed(at);
    }
  }

  #nextChange(): number {
    if (this.#next === null) {
      let next = Number.POSITIVE_INFINITY;
      for (const pace of this.#running) next = Math.min(next, pace.changesAt);
      // Rounding must not put a change before the one that made this leg.
      this.#next = Math.max(next, this.#leg.at);
    }
    return this.#next;
  }

  /** The demand, or who makes it, is another from a moment on. */
  #changed(at: number): void {
    this.#next = null;
    const scarce = this.#cores !== null && this.#demand > this.#cores;
    const many = scarce ? this.#speed * this.#cores! : this.#speed;
    const of = scarce ? this.#demand : 1;
    if (many === this.#leg.many && of === this.#leg.of) return;
    if (this.#leg.at < at) {
      const leg: Leg = { at, done: doneBy(this.#leg, at), many, of, next: null };
      this.#leg.next = leg;
      this.#leg = leg;
    } else {
      // It has not lasted yet.
      this.#leg.many = many;
      this.#leg.of = of;
    }
  }
}
