/**
 * The clock and the queue of a simulated world.
 *
 * A 4-ary heap over typed arrays, keyed by time, then by rank, then by the order of scheduling. Ties are
 * promises: at one moment exits come before timers, and timers before a client that gives up, a child job whose time is
 * up, and then the outer cut-off. So an exit due at the very end of a hold is seen by it, and a trial that submits at its
 * very limit has submitted. First of all a host is brought up to the moment, and what happens from outside is heard: whoever
 * has control at that moment knows of it.
 * (Output needs no entry of its own: it is a function of time, and whoever looks sees all that was due.)
 */
import type { Draws, Key } from "../random.ts";

/** What comes first at one and the same moment. */
export const RANK = {
  host: 0,
  outside: 1,
  exit: 2,
  timer: 3,
  cancel: 4,
  timeIsUp: 5,
  cutOff: 6,
  admission: 7,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** Whoever wants to be told when a moment has come. */
export interface Due {
  due(what: number): void;
}

/** Names a scheduled entry, so that it can be cancelled; of no use once it was delivered. */
export type Token = number;

/** A promise of this program's own that does not hold. Never the user's fault. */
export class BrokenPromise extends Error {
  constructor(what: string) {
    super(what);
    this.name = "BrokenPromise";
  }
}

export interface KernelOptions {
  /** The most entries that may be delivered before the world is taken to run for ever. */
  readonly eventLimit?: number;
  /** Shuffles entries of equal time and rank instead of keeping the order of scheduling. For tests. */
  readonly shuffle?: { readonly draws: Draws; readonly key: Key };
}

const SLOT_SPAN = 2 ** 24;
const RANK_SPAN = 2 ** 48;

export class Kernel {
  /** Milliseconds since the world began. */
  now = 0;
  /** Entries popped and delivered so far. */
  delivered = 0;

  readonly #limit: number;
  readonly #shuffle: KernelOptions["shuffle"];
  #scheduled = 0;

  // The heap: entry i has children 4i+1 … 4i+4.
  #size = 0;
  #times = new Float64Array(256);
  #orders = new Float64Array(256);
  #slots = new Int32Array(256);

  // What a slot stands for while its entry is queued. Its version counts its uses, so that an old token is void.
  #targets: (Due | null)[] = [];
  #whats: number[] = [];
  #versions: number[] = [];
  readonly #free: number[] = [];

  constructor({ eventLimit = 2_000_000_000, shuffle }: KernelOptions = {}) {
    this.#limit = eventLimit;
    this.#shuffle = shuffle;
  }

  /** @param at milliseconds since the world began; not before now */
  schedule(at: number, rank: Rank, target: Due, what = 0): Token {
    if (!(at >= this.now)) throw new BrokenPromise(`an entry was scheduled at ${at}, before now (${this.now})`);
    const slot = this.#free.pop() ?? this.#newSlot();
    this.#targets[slot] = target;
    this.#whats[slot] = what;
    const sequence = this.#scheduled;
    this.#scheduled += 1;
    this.#push(at, rank * RANK_SPAN + this.#placeAmongEquals(sequence), slot);
    return this.#versions[slot]! * SLOT_SPAN + slot;
  }

  /** Takes an entry back. One that was delivered already is left alone. */
  cancel(token: Token): void {
    const slot = token % SLOT_SPAN;
    if (this.#versions[slot] === (token - slot) / SLOT_SPAN) this.#targets[slot] = null;
  }

  /** Delivers entry after entry until there is none left. */
  run(): void {
    while (this.#size > 0) {
      const at = this.#times[0]!;
      const slot = this.#slots[0]!;
      this.#pop();
      const target = this.#targets[slot]!;
      this.#targets[slot] = null;
      this.#versions[slot]! += 1;
      this.#free.push(slot);
      if (target === null) continue;
      this.now = at;
      this.delivered += 1;
      if (this.delivered > this.#limit) {
        throw new BrokenPromise(`the world did not end within ${this.#limit} events; it stands at ${this.now} ms`);
      }
      target.due(this.#whats[slot]!);
    }
  }

  #placeAmongEquals(sequence: number): number {
    if (this.#shuffle === undefined) return sequence;
    return Math.floor(this.#shuffle.draws.uniform(this.#shuffle.key, sequence) * (RANK_SPAN - 1));
  }

  #newSlot(): number {
    const slot = this.#versions.length;
    if (slot >= SLOT_SPAN) throw new BrokenPromise(`more than ${SLOT_SPAN} entries are queued at once`);
    this.#versions.push(0);
    this.#targets.push(null);
    this.#whats.push(0);
    return slot;
  }

  #push(at: number, order: number, slot: number): void {
    if (this.#size === this.#times.length) this.#grow();
    const times = this.#times;
    const orders = this.#orders;
    const slots = this.#slots;
    let hole = this.#size;
    this.#size += 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 2;
      const time = times[parent]!;
      if (time < at || (time === at && orders[parent]! < order)) break;
      times[hole] = time;
      orders[hole] = orders[parent]!;
      slots[hole] = slots[parent]!;
      hole = parent;
    }
    times[hole] = at;
    orders[hole] = order;
    slots[hole] = slot;
  }

  #pop(): void {
    const times = this.#times;
    const orders = this.#orders;
    const slots = this.#slots;
    this.#size -= 1;
    const size = this.#size;
    const at = times[size]!;
    const order = orders[size]!;
    const slot = slots[size]!;
    let hole = 0;
    for (;;) {
      const first = 4 * hole + 1;
      if (first >= size) break;
      const last = first + 3 < size ? first + 3 : size - 1;
      let least = first;
      let leastTime = times[first]!;
      for (let child = first + 1; child <= last; child += 1) {
        const time = times[child]!;
        if (time < leastTime || (time === leastTime && orders[child]! < orders[least]!)) {
          least = child;
          leastTime = time;
        }
      }
      if (at < leastTime || (at === leastTime && order < orders[least]!)) break;
      times[hole] = leastTime;
      orders[hole] = orders[least]!;
      slots[hole] = slots[least]!;
      hole = least;
    }
    times[hole] = at;
    orders[hole] = order;
    slots[hole] = slot;
  }

  #grow(): void {
    const room = this.#times.length * 2;
    const times = new Float64Array(room);
    const orders = new Float64Array(room);
    const slots = new Int32Array(room);
    times.set(this.#times);
    orders.set(this.#orders);
    slots.set(this.#slots);
    this.#times = times;
    this.#orders = orders;
    this.#slots = slots;
  }
}
