/**
 * What a conversation with a model costs: tokens, the prompt cache, compaction, price.
 *
 * Every request sends the whole context again. What of it the provider still has in its cache is read at a fraction of
 * the price, the rest is written anew; how long the cache lives is a parameter, for public logs point both ways. A
 * hold costs tokens only by outliving the cache, and a poll by being a request at all: the two ends of the trade.
 */
import { after, between, type Duration, type Instant } from "../policy/time.ts";
import type { Draws, Key } from "../random.ts";
import type { Purpose, TrialEvent } from "./events.ts";

/** How a conversation grows, in tokens; and when it is cut back. */
export interface ContextTerms {
  /** Before the first request. */
  readonly start: number;
  /** Added by a step of work, its own output included; command output that is shown comes on top. */
  readonly step: number;
  /** The same for a step that only looks after a process. */
  readonly poll: number;
  readonly stepOutput: number;
  readonly pollOutput: number;
  /** How many bytes of command output make a token. */
  readonly bytesPerToken: number;
  readonly window: number;
  /** The share of the window at which the conversation is compacted. */
  readonly compactsAt: number;
  /** What a compaction keeps, beside its summary. */
  readonly kept: number;
  readonly summary: number;
}

export const CACHE_MODES = ["hard", "decay"] as const;

export interface CacheTerms {
  /** Counted from the start of the request that wrote or read it last. */
  readonly lifetime: Duration;
  /** Past its lifetime the prefix is gone at once, or ever more likely until `gone`. */
  readonly mode: (typeof CACHE_MODES)[number];
  readonly gone: Duration;
  /** Prices of a token written and of one read, as shares of the price of input. */
  readonly write: number;
  readonly read: number;
  /** Prompts under this many tokens are not cached. */
  readonly least: number;
}

/** US dollars for a million tokens, which is millionths of a dollar for one. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export interface Economy {
  /** Null: nothing is ever cached. */
  readonly cache: CacheTerms | null;
  readonly price: Price;
}

/** What one request sends, gets, and costs. */
export type Bill = Extract<TrialEvent, { event: "model_asked" }>;

/** One conversation on its way. */
export class Conversation {
  readonly #terms: ContextTerms;
  readonly #economy: Economy;
  readonly #fullAt: number;
  /** Tokens that the next request will send. */
  tokens: number;
  /** Looks in a row at one process that have found nothing new, where those are folded; null: the last was none. */
  #fold: { readonly process: number; readonly from: number; readonly to: number } | null = null;
  /** Where the part of the last request begins, if it was made to look after a process; else −1. */
  #pollFrom = -1;
  /** The prefix that the provider had at the last request; 0 once it cannot be of use any more. */
  #cached = 0;
  #lastRequest: Instant | null = null;

  constructor(terms: ContextTerms, economy: Economy, start = terms.start) {
    this.#terms = terms;
    this.#economy = economy;
    this.#fullAt = terms.window * terms.compactsAt;
    this.tokens = start;
  }

  /** Whether it has to be compacted before the next request. */
  get isFull(): boolean {
    return this.tokens > this.#fullAt;
  }

  /**
   * The bill of a request that is sent now; the conversation goes on after it.
   *
   * @param number of the request, over all of the trial
   * @param key within which this request is the `nth`: whether a decaying cache still has the prefix is drawn by it
   */
  request(purpose: Purpose, now: Instant, number: number, luck: Draws, key: Key, nth: number): Bill {
    const terms = this.#terms;
    const { cache, price } = this.#economy;
    const prompt = this.tokens;
    const output = purpose === "work" ? terms.stepOutput : purpose === "poll" ? terms.pollOutput : terms.summary;
    const hit = this.#cached === 0 || cache === null ? null : this.#survives(cache, now, luck, key, nth);
    const cacheRead = hit === true ? Math.min(this.#cached, prompt) : 0;
    const cacheable = cache !== null && prompt >= cache.least;
    const cacheWrite = cacheable ? prompt - cacheRead : 0;
    const uncached = cacheable ? 0 : prompt - cacheRead;
    const write = cache === null ? 0 : cache.write;
    const read = cache === null ? 0 : cache.read;
    const input = uncached + write * cacheWrite + read * cacheRead;
    const lapsed = hit === false && cacheable ? Math.min(this.#cached, prompt) : 0;
    const bill: Bill = {
      event: "model_asked",
      at: now,
      request: number,
      purpose,
      prompt,
      cacheRead,
      cacheWrite,
      uncached,
      output,
      cost: Math.round(price.input * input + price.output * output),
      pauseTax: Math.round(price.input * (write - read) * lapsed),
      hit,
    };
    this.#lastRequest = now;
    if (purpose === "compaction") {
      this.tokens = Math.min(terms.kept + terms.summary, prompt);
      // What comes before the kept tail is another text now.
      this.#cached = 0;
    } else {
      this.tokens = prompt + (purpose === "work" ? terms.step : terms.poll);
      this.#cached = cacheable ? prompt : 0;
    }
    this.#pollFrom = purpose === "poll" ? prompt : -1;
    return bill;
  }

  /** When the cache expires, if no request is made before; null: there is none, or nothing in it. */
  get cachedUntil(): Instant | null {
    const { cache } = this.#economy;
    return cache === null || this.#cached === 0 ? null : after(this.#lastRequest!, cache.lifetime);
  }

  /** Command output that a result has shown, or a message, in bytes. */
  shows(bytes: number): void {
    if (bytes > 0) this.tokens += Math.ceil(bytes / this.#terms.bytesPerToken);
  }

  /**
   * A look at a process has come back. One that has found nothing new takes the place of those in a row before it: what was
   * cached is of use only up to there.
   */
  looked(process: number, foundNothing: boolean): void {
    const fold = this.#fold;
    const pollFrom = this.#pollFrom;
    const own = this.tokens - pollFrom;
    if (pollFrom < 0 || !foundNothing || own !== this.#terms.poll) {
      this.#fold = null;
      return;
    }
    // Whatever else was said in between keeps them apart.
    const inARow = fold !== null && fold.process === process && fold.to === pollFrom;
    const from = inARow ? fold.from : pollFrom;
    this.tokens = from + own;
    if (this.#cached > from && inARow) this.#cached = from;
    this.#fold = { process, from, to: this.tokens };
  }

  /** Everything said so far is gone. */
  clear(): void {
    this.tokens = this.#terms.start;
    this.#cached = 0;
  }

  /** Another model takes over, which has nothing in its cache. */
  handOver(): void {
    this.#cached = 0;
  }

  #survives({ lifetime, mode, gone }: CacheTerms, now: Instant, luck: Draws, key: Key, nth: number): boolean {
    const gap = between(this.#lastRequest!, now);
    if (gap < lifetime) return true;
    if (mode === "hard" || gap >= gone) return false;
    // A provider draws from the key itself.
    return luck.uniform(luck.within(luck.within(key, nth), "cache")) < (gone - gap) / (gone - lifetime);
  }
}
