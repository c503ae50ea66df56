/**
 * One request on its way through a provider: attempt after attempt until it is answered, or the client gives up.
 *
 * Whoever drives it looks at it when it says so; both drivers look at the same.
 */
import type { ModelRequest, Service } from "../agent/effects.ts";
import { type Duration, unboxed } from "../policy/time.ts";
import type { Provider } from "./provider.ts";

const lasting = (length: number) => unboxed(length as Duration);

/** Served at once, at the first attempt. */
function servedFor(length: number): Service {
  const none = 0 as Duration;
  const firstToken = lasting(length);
  return { queued: none, retrying: none, retries: 0, rateLimited: 0, firstToken, failed: false };
}

/** The requests of one client, one after the other: each begins with `asks`. */
export class Requested {
  readonly #provider: Provider;
  #request!: ModelRequest;
  /** When it was asked, in milliseconds since the provider's beginning. */
  #since = 0;
  #attempt = 0;
  #rateLimited = 0;
  /** Once everything has been decided. */
  #service: Service | null = null;
  /** When to look again: for the answer, or to try once more. */
  dueAt = 0;
  /** What the latest that was served at once came to: lengths repeat, so that it mostly serves again. */
  #servedAtOnce = servedFor(0);

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  /** The next request, once the one before is over. @param now milliseconds since the provider's beginning */
  asks(request: ModelRequest, now: number): this {
    this.#request = request;
    this.#since = now;
    this.#attempt = 0;
    this.#rateLimited = 0;
    this.#service = null;
    this.dueAt = now;
    return this;
  }

  /** What it has come to by now; null: it is to be looked at again at `dueAt`. */
  look(now: number): Service | null {
    while (this.dueAt <= now) {
      if (this.#service !== null) return this.#service;
      this.dueAt = this.#tries(now);
    }
    return null;
  }

  /** Whether it has come to something by now. */
  isAnswered(now: number): boolean {
    return this.#service !== null && this.dueAt <= now;
  }

  /** Makes the next attempt; when that is answered, or the one after it is due. */
  #tries(now: number): number {
    this.#attempt += 1;
    const certain = this.#provider.certainly(now, this.#request);
    if (certain !== null) {
      if (this.#servedAtOnce.firstToken !== certain) this.#servedAtOnce = servedFor(certain);
      this.#service = this.#servedAtOnce;
      return now + certain;
    }
    const attempted = this.#provider.next(now, this.#request, this.#attempt);
    if (attempted.outcome === "again") {
      if (attempted.why === "rate_limited") this.#rateLimited += 1;
      return attempted.at;
    }
    const answered = attempted.outcome === "answers";
    this.#service = {
      queued: lasting(answered ? attempted.startsAt - now : 0),
      retrying: lasting(answered ? now - this.#since : attempted.at - this.#since),
      retries: this.#attempt - 1,
      rateLimited: this.#rateLimited,
      firstToken: lasting(answered ? attempted.firstTokenAt - attempted.startsAt : 0),
      failed: !answered,
    };
    return attempted.at;
  }
}
