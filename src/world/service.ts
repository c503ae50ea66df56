/**
 * One request on its way through a provider: attempt after attempt until it is answered, or the client gives up.
 *
 * Whoever drives it looks at it when it says so; both drivers look at the same.
 */
import type { ModelRequest, Service } from "../agent/effects.ts";
import type { Duration } from "../policy/time.ts";
import type { Provider } from "./provider.ts";

export class Requested {
  readonly #provider: Provider;
  readonly #request: ModelRequest;
  readonly #since: number;
  #attempt = 0;
  #rateLimited = 0;
  /** Once everything has been decided. */
  #service: Service | null = null;
  /** When to look again: for the answer, or to try once more. */
  dueAt: number;

  /** @param now milliseconds since the provider's beginning */
  constructor(provider: Provider, request: ModelRequest, now: number) {
    this.#provider = provider;
    this.#request = request;
    this.#since = now;
    this.dueAt = now;
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
    const attempted = this.#provider.next(now, this.#request, this.#attempt);
    if (attempted.outcome === "again") {
      if (attempted.why === "rate_limited") this.#rateLimited += 1;
      return attempted.at;
    }
    const answered = attempted.outcome === "answers";
    this.#service = {
      queued: (answered ? attempted.startsAt - now : 0) as Duration,
      retrying: (answered ? now - this.#since : attempted.at - this.#since) as Duration,
      retries: this.#attempt - 1,
      rateLimited: this.#rateLimited,
      firstToken: (answered ? attempted.firstTokenAt - attempted.startsAt : 0) as Duration,
      failed: !answered,
    };
    return attempted.at;
  }
}
