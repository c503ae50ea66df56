/**
 * Ends whole trees: TERM, a grace, KILL, and KILL again for whoever turns up late, until nothing is left.
 *
 * The grace is the policy's and goes by its clock. How long the machine takes to let a process go is the machine's own
 * affair and goes by real time, at whatever speed a world runs.
 */
import { after, type Duration, type Instant, milliseconds } from "../policy/time.ts";
import type { Clock } from "./live.ts";
import type { Census, Family } from "./tree.ts";

/** Between two looks while something is being ended. */
const SHORTLY = milliseconds(25);
/** Between two looks while nothing is: from short after a start to long. */
const SELDOM = [250, 500, 1_000, 2_000, 5_000];
/** How long KILL may take before nobody waits any longer. */
const PATIENCE = milliseconds(2_000);
/** A look that is younger than this is as good as a new one. */
const FRESH = 10;
/** Looks may take this much of the time: one part in so many. */
const SHARE_SELDOM = 200;
const SHARE_SHORTLY = 4;
/** How often the last, synchronous round kills and looks again, and how long it waits in between. */
const LAST_ROUNDS = 60;
const LAST_PAUSE = 5;

interface Ending {
  readonly family: Family;
  readonly done: (gone: boolean) => void;
  killAt: Instant;
  /** Takes back the timer that ends the grace. */
  forget: () => void;
  /** When KILL was first sent, in real time; null as long as the grace lasts. */
  killedAt: Instant | null;
  /** Even KILL has not done it. It goes on, but nobody waits. */
  hopeless: boolean;
}

/** Keeps an eye on the families of one session, and ends them when told to. */
export class Patrol {
  readonly census: Census;
  readonly #clock: Clock;
  readonly #realTime: Clock;
  readonly #extinct: (family: Family) => void;
  readonly #endings = new Set<Ending>();
  /** Families that may still grow, and have to be watched for it. */
  readonly #watched = new Set<Family>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookTook = 0;
  #round = 0;
  #forget: (() => void) | null = null;
  #dueAt: number = Number.POSITIVE_INFINITY;

  /**
   * @param clock what a grace is counted by
   * @param realTime what the machine is measured by
   * @param extinct told of each family that nobody ends or watches any more, once nothing of it lives
   */
  constructor(census: Census, clock: Clock, realTime: Clock, extinct: (family: Family) => void = () => {}) {
    this.census = census;
    this.#clock = clock;
    this.#realTime = realTime;
    this.#extinct = extinct;
  }

  /** From now on descendants are noted as they come, so that they are known when they have gone elsewhere. */
  watch(family: Family): void {
    this.census.families.add(family);
    this.#watched.add(family);
    this.#round = 0;
    this.#plan();
  }

  /** Whoever is left of it is still looked for, but only when there is another reason to look. */
  unwatch(family: Family): void {
    this.#watched.delete(family);
    this.#bury();
    this.#plan();
  }

  /** Finds who lives now. @param thorough as the census means it */
  look(thorough = false): void {
    const began = this.#realTime.now();
    this.census.look(thorough);
    this.#lookedAt = this.#realTime.now();
    this.#lookTook = this.#lookedAt - began;
    this.#bury();
  }

  /** How long the latest look took, in milliseconds. */
  get cost(): number {
    return this.#lookTook;
  }

  /**
   * Ends all that a family has become.
   *
   * @param killAt when the grace is over, by the policy's clock
   * @param done told, once this call has returned, whether nothing of it is left; should not even KILL have done it,
   *   told that first, and once more if it is gone after all
   */
  end(family: Family, killAt: Instant, done: (gone: boolean) => void): void {
    this.census.families.add(family);
    if (this.#realTime.now() - this.#lookedAt >= FRESH) this.look(true);
    this.#send(family, "SIGTERM");
    const ending: Ending = { family, done, killAt, forget: () => {}, killedAt: null, hopeless: false };
    this.#endings.add(ending);
    ending.forget = this.#clock.at(killAt, () => this.#kill(ending));
    this.soon();
  }

  /** Ends several. Comes back once nothing of them is left, or not even KILL has done it. */
  async endAll(families: readonly Family[], grace: Duration): Promise<void> {
    for (const family of families) this.census.families.add(family);
    this.look(true);
    const killAt = after(this.#clock.now(), grace);
    const left = families.filter(({ living }) => living.length > 0);
    await Promise.all(left.map((family) => new Promise((done) => this.end(family, killAt, done))));
  }

  /** A grace that is under way ends earlier, if this is earlier. */
  hasten(family: Family, killAt: Instant): void {
    for (const ending of this.#endings) {
      if (ending.family !== family || ending.killedAt !== null || ending.killAt <= killAt) continue;
      ending.forget();
      ending.killAt = killAt;
      ending.forget = this.#clock.at(killAt, () => this.#kill(ending));
    }
  }

  /** Something has ended: look whether that was all. */
  soon(): void {
    if (this.#endings.size > 0) this.#set(0);
  }

  /** KILL to all families at once, without any help of a clock: the runtime itself is about to go. */
  killNow(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      this.census.look(true);
      const living = [...this.census.families].filter((family) => family.living.length > 0);
      if (living.length === 0) return;
      for (const family of living) this.#send(family, "SIGKILL");
      Atomics.wait(pause, 0, 0, LAST_PAUSE);
    }
  }

  close(): void {
    for (const { forget } of this.#endings) forget();
    this.#endings.clear();
    this.#watched.clear();
    this.#plan();
  }

  #send(family: Family, signal: "SIGTERM" | "SIGKILL"): void {
    const { table } = this.census;
    const group = family.root?.pid ?? 0;
    // A group gets it as one, so that nobody in it can be missed for having been born just now.
    const grouped = group !== 0 && family.living.some((one) => one.group === group);
    if (grouped) table.send(-group, signal);
    for (const { pid, group: of, halted } of family.living) {
      if (!grouped || of !== group) table.send(pid, signal);
      if (halted && signal !== "SIGKILL") table.send(pid, "SIGCONT");
    }
  }

  /** From the next round on it gets KILL, in every round. */
  #kill(ending: Ending): void {
    if (!this.#endings.has(ending)) return;
    ending.killedAt = this.#realTime.now();
    this.soon();
  }

  #bury(): void {
    const ending = new Set([...this.#endings].map(({ family }) => family));
    for (const family of this.census.families) {
      if (!family.extinct || this.#watched.has(family) || ending.has(family)) continue;
      this.census.families.delete(family);
      this.#extinct(family);
    }
  }

  #plan(): void {
    const [took, endings] = [this.#lookTook, [...this.#endings]];
    if (endings.some(({ hopeless }) => !hopeless)) this.#set(Math.max(SHORTLY, took * SHARE_SHORTLY));
    else if (endings.length > 0 || this.#watched.size > 0) {
      this.#set(Math.max(SELDOM[Math.min(this.#round, SELDOM.length - 1)]!, took * SHARE_SELDOM));
    } else {
      this.#forget?.();
      this.#forget = null;
      this.#dueAt = Number.POSITIVE_INFINITY;
    }
  }

  /** Sets the timer of the next round; one that is due earlier stays. */
  #set(inMilliseconds: number): void {
    const due = this.#realTime.now() + inMilliseconds;
    if (this.#dueAt <= due) return;
    this.#forget?.();
    this.#dueAt = due;
    this.#forget = this.#realTime.at(due as Instant, () => this.#goRound());
  }

  #goRound(): void {
    this.#forget = null;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#round += 1;
    this.look();
    // Nobody's end is told on the strength of a look at a part of the table only.
    if ([...this.#endings].some(({ family }) => family.living.length === 0)) this.look(true);
    for (const ending of [...this.#endings]) {
      const { family, killedAt } = ending;
      if (family.living.length === 0) this.#over(ending);
      else if (killedAt !== null) {
        this.#send(family, "SIGKILL");
        if (!ending.hopeless && this.#realTime.now() >= after(killedAt, PATIENCE)) this.#givesUp(ending);
      }
    }
    this.#plan();
  }

  #over(ending: Ending): void {
    ending.forget();
    this.#endings.delete(ending);
    ending.done(true);
  }

  #givesUp(ending: Ending): void {
    ending.hopeless = true;
    ending.done(false);
  }
}
