/**
 * The model's provider: when an answer comes, or what comes instead of one.
 *
 * It has no clock and no events of its own. Whoever drives it says what is asked at which moment, in order of time, and
 * gets the whole course of that attempt at once: requests are served first come first served, so a later one can never
 * change what was said of an earlier one, and all that a queue has to remember is when each place in it falls free. The
 * simulated and the live driver turn the same one.
 *
 * An attempt passes three gates: the rate limits, the weather, the queue. What the first lets through counts against
 * the limits even if the second fails it, as a provider counts at its door; only what passes both takes a place. A
 * request keeps its place when whoever asked is gone: the provider serves what it was sent.
 */
import { type Distribution, type Sampler, sampler } from "../distribution.ts";
import { LONGEST_SECONDS } from "../policy/settings.ts";
import type { Duration } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import { BrokenPromise } from "./kernel.ts";

export interface ProviderTerms {
  readonly provider: string;
  /** null: an answer takes what the request says. */
  readonly latency: null | {
    /** In seconds, before the part of the prompt that no cache holds. */
    readonly firstToken: Distribution;
    /** null: an uncached prompt takes no longer than a cached one. */
    readonly uncachedTokensPerSecond: number | null;
    readonly outputTokensPerSecond: Distribution;
  };
  /** Divides every service time; above 0. */
  readonly speed: number;
  /** How many requests are served at once, 1 or more; null: all of them. */
  readonly inFlight: number | null;
  /** Buckets, full at the start and refilled all the time; above 0. null: no limit. */
  readonly requestsPerMinute: number | null;
  /** Of prompt and output together. */
  readonly tokensPerMinute: number | null;
  /** How long a refusal by either limit says to wait. */
  readonly retryAfter: Duration;
  /** Shares of attempts that fail, from 0 to 1, in weather that begins calm; and how long each lasts on average. */
  readonly errors: null | {
    readonly calm: number;
    readonly storm: number;
    readonly stormLasts: Duration;
    readonly calmLasts: Duration;
  };
  readonly retries: {
    /** Of one request, the first included. */
    readonly attempts: number;
    /** Doubles from wait to wait. */
    readonly firstWait: Duration;
    readonly longestWait: Duration;
    /** The share, from 0 to 1, by which luck may shorten a wait. A refusal's own wait is never shortened. */
    readonly jitter: number;
  };
}

export interface ProviderRequest {
  /** Of this request of this trial. All its luck comes from it, so nothing else may draw from it. */
  readonly key: Key;
  /** Where `key` is that of several requests: which of them this is. */
  readonly nth?: number;
  /** Tokens, cached or not. */
  readonly prompt: number;
  /** Of these, the tokens that were not read from a cache. */
  readonly uncached: number;
  /** Tokens. */
  readonly output: number;
  /** How long it is served where the provider's terms state no latency. */
  readonly takes: Duration;
  /** So long it is served in any case, at the provider's speed: a plan says how long its thoughts are. */
  readonly stated?: boolean;
}

/** What becomes of one attempt; moments in milliseconds since the world began. */
export type Attempted =
  /** Waits until `startsAt` for its turn. Where no latency is stated, nothing of it is seen before the whole. */
  | { readonly outcome: "answers"; readonly startsAt: number; readonly firstTokenAt: number; readonly at: number }
  /** The next attempt is to be made at this moment. */
  | { readonly outcome: "again"; readonly at: number; readonly why: "rate_limited" | "error" }
  /** That was the last attempt. */
  | { readonly outcome: "fails"; readonly at: number };

/** Ordinals of a request's key. Attempts count from 1 and have eight each, so that none meets the first two. */
const FIRST_TOKEN = 0;
const OUTPUT = 1;
const EACH_ATTEMPT = 8;
const FAILURE = 0;
const BACK_OFF = 1;

const LONGEST = LONGEST_SECONDS * 1_000;

export class Provider {
  readonly #terms: ProviderTerms;
  readonly #luck: Draws;
  readonly #latency: Latency | null;
  readonly #queue: Queue | null;
  readonly #requests: Bucket | null;
  readonly #tokens: Bucket | null;
  readonly #weather: Weather | null;
  #now = 0;

  /** @param weather the key of its storms: under one key and the same mean lengths they are the same everywhere */
  constructor(terms: ProviderTerms, luck: Draws, weather: Key) {
    const { latency, inFlight, requestsPerMinute, tokensPerMinute, errors } = terms;
    this.#terms = terms;
    this.#luck = luck;
    this.#latency = latency && {
      firstToken: sampler(latency.firstToken),
      secondsPerUncached: latency.uncachedTokensPerSecond === null ? 0 : 1 / latency.uncachedTokensPerSecond,
      outputTokensPerSecond: sampler(latency.outputTokensPerSecond),
    };
    this.#queue = inFlight === null ? null : new Queue(inFlight);
    this.#requests = requestsPerMinute === null ? null : new Bucket(requestsPerMinute);
    this.#tokens = tokensPerMinute === null ? null : new Bucket(tokensPerMinute);
    this.#weather = errors && new Weather(errors.calmLasts, errors.stormLasts, luck, weather);
  }

  /**
   * What becomes of an attempt made now. Those of one moment come in the order of the calls.
   *
   * @param now in milliseconds since the world began; never before that of the call before
   * @param attempt of this request; the first is 1
   */
  next(now: number, request: ProviderRequest, attempt: number): Attempted {
    if (now < this.#now) throw new BrokenPromise(`a provider at ${this.#now} was asked for ${now}`);
    this.#now = now;
    if (this.#refuses(now, request)) return this.#again(now, request, attempt, "rate_limited");
    if (this.#fails(now, request, attempt)) return this.#again(now, request, attempt, "error");
    return this.#answer(now, request);
  }

  /**
   * How long a request is served for certain, in milliseconds: no limit can refuse it, no weather fail it, nobody is before it,
   * and the plan says how long it takes. Null: it has to be attempted.
   */
  certainly(now: number, { stated, takes }: ProviderRequest): number | null {
    if (stated !== true || this.#queue !== null || this.#requests !== null) return null;
    if (this.#tokens !== null || this.#weather !== null) return null;
    this.#now = now;
    return takes > 0 ? Math.max(this.#served(takes), 1) : 0;
  }

  /** Whether a limit refuses it. A refusal takes from neither bucket. */
  #refuses(now: number, { prompt, output }: ProviderRequest): boolean {
    if (this.#requests?.lacks(now, 1) || this.#tokens?.lacks(now, prompt + output)) return true;
    this.#requests?.take(1);
    this.#tokens?.take(prompt + output);
    return false;
  }

  #luckOf({ key, nth }: ProviderRequest): Key {
    return nth === undefined ? key : this.#luck.within(key, nth);
  }

  #fails(now: number, request: ProviderRequest, attempt: number): boolean {
    const { errors } = this.#terms;
    if (errors === null || this.#weather === null) return false;
    const share = this.#weather.stormy(now) ? errors.storm : errors.calm;
    // One uniform for either weather, so that whatever fails in the calm fails in a storm too, if that is worse.
    return share > 0 && this.#luck.uniform(this.#luckOf(request), EACH_ATTEMPT * attempt + FAILURE) < share;
  }

  #again(now: number, request: ProviderRequest, attempt: number, why: "rate_limited" | "error"): Attempted {
    const { retries, retryAfter } = this.#terms;
    if (attempt >= retries.attempts) return { outcome: "fails", at: now };
    const full = Math.min(retries.firstWait * 2 ** Math.min(attempt - 1, 64), retries.longestWait);
    const luck = retries.jitter > 0 ? this.#luck.uniform(this.#luckOf(request), EACH_ATTEMPT * attempt + BACK_OFF) : 0;
    const backOff = Math.round(full * (1 - retries.jitter * luck));
    return { outcome: "again", at: now + (why === "rate_limited" ? Math.max(backOff, retryAfter) : backOff), why };
  }

  #answer(now: number, request: ProviderRequest): Attempted {
    let first: number;
    let whole: number;
    if (this.#latency === null || request.stated === true) {
      // What follows at once takes no time at all.
      whole = request.takes > 0 ? Math.max(this.#served(request.takes), 1) : 0;
      first = whole;
    } else {
      const { firstToken, secondsPerUncached, outputTokensPerSecond } = this.#latency;
      const { uncached, output } = request;
      const key = this.#luckOf(request);
      const lead = firstToken(this.#luck.uniform(key, FIRST_TOKEN)) + uncached * secondsPerUncached;
      // No output takes no time, at whatever rate, and needs no luck.
      const rest = output > 0 ? output / outputTokensPerSecond(this.#luck.uniform(key, OUTPUT)) : 0;
      first = this.#served(lead * 1_000);
      whole = Math.max(this.#served((lead + rest) * 1_000), 1);
    }
    const startsAt = this.#queue === null ? now : this.#queue.join(now, whole);
    return { outcome: "answers", startsAt, firstTokenAt: startsAt + first, at: startsAt + whole };
  }

  /** Milliseconds as stated, at this provider's speed: whole, and never longer than anything may last. */
  #served(stated: number): number {
    return Math.min(Math.round(stated / this.#terms.speed), LONGEST);
  }
}

interface Latency {
  readonly firstToken: Sampler;
  readonly secondsPerUncached: number;
  readonly outputTokensPerSecond: Sampler;
}

/**
 * A queue before several places, first come first served.
 *
 * Whoever comes is served at the place that falls free first (Kiefer and Wolfowitz, *On the Theory of Queues with Many
 * Servers*, 1955), so the moments at which the places fall free are all there is to know.
 */
class Queue {
  readonly #places: number;
  /** A binary heap of the places that were ever taken, the earliest first: it grows only as far as it is needed. */
  readonly #freeAt: number[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  /** The moment at which whoever comes now begins to be served, for so long. */
  join(now: number, whole: number): number {
    const earliest = this.#freeAt[0];
    if (earliest !== undefined && (earliest <= now || this.#freeAt.length >= this.#places)) {
      const starts = Math.max(now, earliest);
      this.#sink(starts + whole);
      return starts;
    }
    this.#rise(now + whole);
    return now;
  }

  /** Puts a moment in the place of the earliest. */
  #sink(moment: number): void {
    const heap = this.#freeAt;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child += 1;
      if (heap[child]! >= moment) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moment;
  }

  /** Adds a moment. */
  #rise(moment: number): void {
    const heap = this.#freeAt;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= moment) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = moment;
  }
}

/** A minute, in milliseconds. */
const MINUTE = 60_000;

/**
 * A bucket that holds the amount of one minute and is refilled at that rate.
 *
 * Counted in 60,000ths, so that a millisecond refills a whole number of them: what comes back after a minute is the
 * amount itself, and an attempt at the very moment at which it is due is not refused for a rounding.
 */
class Bucket {
  readonly #perMinute: number;
  #level: number;
  #at = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#level = perMinute * MINUTE;
  }

  /** Whether there is too little. More than the whole bucket is let through when it is full, and owed afterwards. */
  lacks(now: number, amount: number): boolean {
    this.#level = Math.min(this.#level + (now - this.#at) * this.#perMinute, this.#perMinute * MINUTE);
    this.#at = now;
    return this.#level < Math.min(amount, this.#perMinute) * MINUTE;
  }

  take(amount: number): void {
    this.#level -= amount * MINUTE;
  }
}

/** Calm and storm by turns, each as long as luck has it: known as far as time has gone. */
class Weather {
  readonly #calmLasts: Duration;
  readonly #stormLasts: Duration;
  readonly #luck: Draws;
  readonly #key: Key;
  /** How often it has changed: even numbers are calm. */
  #changes = 0;
  #changesAt: number;

  constructor(calmLasts: Duration, stormLasts: Duration, luck: Draws, key: Key) {
    this.#calmLasts = calmLasts;
    this.#stormLasts = stormLasts;
    this.#luck = luck;
    this.#key = key;
    this.#changesAt = this.#lasts();
  }

  stormy(now: number): boolean {
    while (this.#changesAt <= now) {
      this.#changes += 1;
      this.#changesAt += this.#lasts();
    }
    return this.#changes % 2 === 1;
  }

  #lasts(): number {
    const mean = this.#changes % 2 === 0 ? this.#calmLasts : this.#stormLasts;
    // A millisecond at least, or weather that lasts no time at all would never be over.
    return Math.max(Math.round(-mean * Math.log1p(-this.#luck.uniform(this.#key, this.#changes))), 1);
  }
}
