/**
 * Clocks for a live world: the machine's own, at any speed, and a fake one that is turned by hand.
 *
 * The machine's clock is the monotonic one, so that nobody who sets the time of day moves a deadline.
 */
import { createClock } from "@sinonjs/fake-timers";
import { moment } from "../policy/time.ts";
import { BrokenPromise } from "./kernel.ts";
import type { Clock } from "./live.ts";

/** Node fires a longer timer at once; whoever is woken early looks, and waits on. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface RealClockOptions {
  /** How many of its milliseconds pass in one real one. */
  readonly speed?: number;
  /** Fails if a timer fires later than this, in its own milliseconds: the machine cannot keep up. Null: never mind. */
  readonly strict?: number | null;
}

/** The machine's monotonic clock. Its beginning is now. */
export function realClock({ speed = 1, strict = null }: RealClockOptions = {}): Clock {
  const begun = performance.now();
  const now = () => moment(Math.floor((performance.now() - begun) * speed));
  return {
    now,
    at(due, wake) {
      // Rounded up, since a timer that fires early would only be set again.
      const delay = Math.min(
        Math.max(Math.ceil((due - (performance.now() - begun) * speed) / speed), 0),
        LONGEST_TIMER,
      );
      const timer = setTimeout(() => {
        const late = now() - due;
        if (strict !== null && late > strict) {
          throw new BrokenPromise(`the machine cannot keep up with speed ${speed}: a timer was ${late} ms late`);
        }
        wake();
      }, delay);
      return () => clearTimeout(timer);
    },
    // Every timer that is due fires before Node comes to its immediates.
    soon: (go) => void setImmediate(go),
  };
}

export interface FakeClock extends Clock {
  /** Lets time go by, instant after instant, until nothing is due any more. */
  run(): void;
}

/** Time on fake timers: nothing is patched, nothing passes unless `run` says so. */
export function fakeClock(): FakeClock {
  const clock = createClock(0, Number.MAX_SAFE_INTEGER);
  let ready: (() => void)[] = [];
  const settle = () => {
    // Timers of this instant first, then whoever was woken by them, until the instant is over.
    for (;;) {
      clock.tick(0);
      if (ready.length === 0) return;
      const woken = ready;
      ready = [];
      for (const go of woken) go();
    }
  };
  return {
    now: () => moment(clock.now),
    at(due, wake) {
      // A timer that is set without delay while timers fire would be one millisecond late.
      if (due <= clock.now) {
        ready.push(wake);
        return () => {};
      }
      const timer = clock.setTimeout(wake, Math.min(due - clock.now, LONGEST_TIMER));
      return () => clock.clearTimeout(timer);
    },
    soon: (go) => void ready.push(go),
    run() {
      settle();
      while (clock.countTimers() > 0) {
        clock.next();
        settle();
      }
    },
  };
}
