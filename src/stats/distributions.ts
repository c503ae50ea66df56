/**
 * The distributions that intervals are made of.
 *
 * From jstat, because it is one package without dependencies and right to eight figures or more where we ask it
 * (checked against SciPy: Student's t from 1 to 5,000 degrees of freedom, the normal from −8 to 6). It has had no
 * release since 2022, and these functions need none. The maintained choice, @stdlib, brings about 200 packages for
 * the same three; simple-statistics' normal quantile is wrong in the third figure. The normal quantile is ours, in
 * src/random.ts.
 */
import jstat from "jstat";

/** Share of the standard normal at or below `x`. Absolute error under 1e-15; far tails have no relative accuracy. */
export function normalCdf(x: number): number {
  return jstat.normal.cdf(x, 0, 1);
}

/** Share of Student's t at or below `x`. Absolute error under 1e-7. */
export function studentCdf(x: number, freedom: number): number {
  return jstat.studentt.cdf(x, checked(freedom));
}

/** The value of Student's t below which a share `p` lies, for p above 0 and below 1. */
export function studentQuantile(p: number, freedom: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a quantile of t is asked for a share above 0 and below 1, not ${p}`);
  return jstat.studentt.inv(p, checked(freedom));
}

function checked(freedom: number): number {
  if (freedom >= 1) return freedom;
  throw new RangeError(`Student's t has one degree of freedom or more, not ${freedom}`);
}
