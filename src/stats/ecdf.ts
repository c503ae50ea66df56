/**
 * How many are through by when: the steps of an empirical distribution, some of whose members never arrive.
 *
 * A member that was cut off before it arrived counts among all of them and in no step, so the line ends below 1 by
 * their share instead of pretending they were not there. All members cut off are taken as cut off beyond the last
 * step.
 */
import { sorted } from "./quantile.ts";

export interface Step {
  readonly x: number;
  /** Share of all members, cut off or not, that are at or below `x`. Holds until the next step's `x`. */
  readonly share: number;
}

/**
 * The steps, in ascending order. At most `atMost` of them (two or more), first and last among them; what thinning
 * leaves out is nowhere off by more than 1/(atMost − 1), and a jump stays where it is.
 *
 * @param censored how many members never arrived
 */
export function ecdf(values: ArrayLike<number>, censored: number, atMost = 200): readonly Step[] {
  if (!(censored >= 0)) throw new RangeError(`members that never arrived are counted from 0, not ${censored}`);
  if (!(atMost >= 2)) throw new RangeError(`a line needs two steps or more to keep its ends, not ${atMost}`);
  const ascending = sorted(values);
  const all = ascending.length + censored;
  const last = ascending.length - 1;

  /** Evenly spaced counts, from the first step's to the last's. */
  const first = ascending.lastIndexOf(ascending[0]!) + 1;
  const levelAt = (index: number) => first + (index * (ascending.length - first)) / (atMost - 1);

  const kept: Step[] = [];
  for (const [at, x] of ascending.entries()) {
    const isEndOfStep = at === last || ascending[at + 1]! > x;
    const reached = at + 1;
    if (isEndOfStep && reached >= levelAt(kept.length)) kept.push({ x, share: reached / all });
  }
  return kept;
}
