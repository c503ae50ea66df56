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

/** Real milliseconds before a moment from which on a fast clock is watched instead of waited for. */
const LAST_STRETCH = 2;

export interface RealClockOptions {
  /** How many of its milliseconds pass in one real one. */
  readonly speed?: number;
  /** Fails if a timer fires later than this, in its own milliseconds: the machine cannot keep up. Null: never mind. */
  readonly strict?: number | null;
}

export interface RealClock extends Clock {
  /** Its beginning is this moment: for whoever had to make ready first. */
  begin(): void;
}

/** The machine's monotonic clock. Its beginning is now, unless `begin` puts it off. */
export function realClock({ speed = 1, strict = null }: RealClockOptions = {}): RealClock {
  let begun = performance.now();
  const now = () => moment(Math.floor((performance.now() - begun) * speed));
  return {
    now,
    begin() {
      begun = performance.now();
    },
    at(due, wake) {
      const left = () => (due - (performance.now() - begun) * speed) / speed;
      const fire = () => {
        const late = now() - due;
        if (strict !== null && late > strict) {
          throw new BrokenPromise(`the machine cannot keep up with speed ${speed}: a timer was ${late} ms late`);
        }
        wake();
      };
      // A timer is up to a millisecond late, which at a speed is many: the last stretch is then looked at again and again.
      const watching = speed > 1 ? LAST_STRETCH : 0;
      const look = () => {
        if (left() > 0) soonest = setImmediate(look);
        else fire();
      };
      let soonest: NodeJS.Immediate | null = null;
      const delay = Math.min(Math.max(Math.ceil(left() - watching), 0), LONGEST_TIMER);
      const timer = setTimeout(watching > 0 ? look : fire, delay);
      return () => {
        clearTimeout(timer);
        if (soonest !== null) clearImmediate(soonest);
      };
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
