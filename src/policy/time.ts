/**
 * Moments and lengths, in whole milliseconds.
 *
 * A moment and a length are different types, so "240 s, counted from when?" cannot be asked: whoever
 * holds a length must say from which moment before it can be compared with anything. Whole
 * milliseconds, because 2,400 steps of 0.1 s do not end at 240 s, and ties are promises here.
 */

declare const kind: unique symbol;

/** A moment, in milliseconds since the trial or session began. May be negative: before it began. */
export type Instant = number & { readonly [kind]: "instant" };

/** A length of time, in milliseconds. Zero or more. */
export type Duration = number & { readonly [kind]: "duration" };

/** The trial's own beginning. */
export const beginning = 0 as Instant;

/** Later than every moment that happens. Adding to it leaves it where it is. */
export const never = Number.MAX_SAFE_INTEGER as Instant;

/** No time at all. */
export const nothing = 0 as Duration;

/** From paper: seconds, rounded to the nearest millisecond. */
export function seconds(amount: number): Duration {
  return Math.round(amount * 1_000) as Duration;
}

/** A moment given in milliseconds. */
export function moment(milliseconds: number): Instant {
  return milliseconds as Instant;
}

/** A length given in milliseconds. */
export function milliseconds(amount: number): Duration {
  return amount as Duration;
}

/** To paper: milliseconds as seconds. */
export function inSeconds(length: Duration | Instant): number {
  return length / 1_000;
}

/**
 * The same number as a small integer, where it is one: arithmetic that passes through a clock or through `never` may leave it
 * in a box of its own. V8 then keeps doubles, box after box, in every object that begins with the same fields, and all that
 * reads them is half as fast from there on.
 */
export function unboxed<Time extends number>(time: Time): Time {
  const small = time | 0;
  return small === time ? (small as Time) : time;
}

/** The moment that lies `length` after another. */
export function after(from: Instant, length: Duration): Instant {
  return (from >= never - length ? never : from + length) as Instant;
}

/** The moment that lies `length` before another. `never` stays never. */
export function before(from: Instant, length: Duration): Instant {
  return (from === never ? never : from - length) as Instant;
}

/** How long it is from `from` to `to`; never less than nothing. */
export function between(from: Instant, to: Instant): Duration {
  return (to > from ? to - from : 0) as Duration;
}

export function earliest(a: Instant, b: Instant): Instant {
  return a < b ? a : b;
}

export function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

export function shorter(a: Duration, b: Duration): Duration {
  return a < b ? a : b;
}

export function longer(a: Duration, b: Duration): Duration {
  return a > b ? a : b;
}
