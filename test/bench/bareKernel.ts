/** The queue and generators alone: agents that only let time pass. What whole trials are measured against. */
import { type Due, Kernel, RANK } from "../../src/world/kernel.ts";

const AGENTS = 24;

class Passing implements Due {
  readonly #kernel: Kernel;
  readonly #agent: Generator<number, void, number>;

  constructor(kernel: Kernel, steps: number, seed: number) {
    this.#kernel = kernel;
    this.#agent = passing(steps, seed);
  }

  due(): void {
    const { done, value } = this.#agent.next(this.#kernel.now);
    if (done !== true) this.#kernel.schedule(value, RANK.timer, this);
  }
}

function* passing(steps: number, seed: number): Generator<number, void, number> {
  let now = 0;
  for (let step = 0; step < steps; step += 1) now = yield now + 1 + ((step * 7_919 + seed) % 1_000);
}

/** Delivers about so many events; says how many. */
export function bareKernel(events: number): number {
  const kernel = new Kernel();
  for (let agent = 0; agent < AGENTS; agent += 1) {
    new Passing(kernel, Math.ceil(events / AGENTS), agent).due();
  }
  kernel.run();
  return kernel.delivered;
}
