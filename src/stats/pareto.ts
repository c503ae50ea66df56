/**
 * What is worth having where nobody has said how much of one good is worth how much of another.
 *
 * One point dominates another if it is at least as good in every coordinate and better in one. The front is what none
 * dominates; equal points stand on it together or not at all. Nothing is weighed and nothing is ranked.
 */

export interface Standing {
  readonly onFront: boolean;
  /** Which points of the front dominate it; none if it is on the front, one at least if it is not. */
  readonly dominatedBy: readonly number[];
}

/** @param points with as many coordinates each, of which less is better */
export function standings(points: readonly (readonly number[])[]): readonly Standing[] {
  const onFront = points.map((point) => !points.some((other) => dominates(other, point)));
  return points.map((point, at) => ({
    onFront: onFront[at]!,
    dominatedBy: points.flatMap((other, index) => (onFront[index] && dominates(other, point) ? [index] : [])),
  }));
}

export function dominates(one: readonly number[], other: readonly number[]): boolean {
  return one.every((value, at) => value <= other[at]!) && one.some((value, at) => value < other[at]!);
}
