/**
 * Several questions asked of the same data: p-values as they count once all are taken together.
 *
 * An adjusted p-value is compared with the level as if it were the only one.
 */

/**
 * Holm's adjusted p-values, in the order given: the chance of even one false rejection stays at the level.
 *
 * Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics 6 (1979) 65–70.
 * Assumes nothing of how the tests hang together.
 */
export function holm(ps: readonly number[]): readonly number[] {
  let highest = 0;
  const adjusted = inOrder(ps).map(({ p, at }, index) => {
    highest = Math.max(highest, Math.min(1, (ps.length - index) * p));
    return { at, p: highest };
  });
  return backInPlace(adjusted);
}

/**
 * Benjamini and Hochberg's adjusted p-values, in the order given: of all that is rejected, at most a share of the level
 * is rejected wrongly, on average.
 *
 * Benjamini and Hochberg, *Controlling the False Discovery Rate*, Journal of the Royal Statistical Society B 57 (1995)
 * 289–300. Assumes that the tests are independent or hang together positively; for exploring, not for deciding.
 */
export function benjaminiHochberg(ps: readonly number[]): readonly number[] {
  let lowest = 1;
  const adjusted = inOrder(ps)
    .toReversed()
    .map(({ p, at }, index) => {
      lowest = Math.min(lowest, (ps.length / (ps.length - index)) * p);
      return { at, p: lowest };
    });
  return backInPlace(adjusted);
}

interface Placed {
  readonly p: number;
  readonly at: number;
}

function inOrder(ps: readonly number[]): readonly Placed[] {
  const wrong = ps.find((p) => !(p >= 0 && p <= 1));
  if (wrong !== undefined) throw new RangeError(`a p-value lies from 0 to 1, and one of these is ${wrong}`);
  return ps.map((p, at) => ({ p, at })).sort((a, b) => a.p - b.p || a.at - b.at);
}

function backInPlace(adjusted: readonly Placed[]): readonly number[] {
  const back = new Array<number>(adjusted.length);
  for (const { p, at } of adjusted) back[at] = p;
  return back;
}
