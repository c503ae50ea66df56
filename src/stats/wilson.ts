import { normalQuantile } from "../random.ts";
import { type Estimate, NotEstimable, upperEnd } from "./estimate.ts";

/**
 * The share of successes with Wilson's score interval; `n` counts the tries.
 *
 * Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, Journal of the American Statistical
 * Association 22 (1927) 209–212. Assumes independent tries with one chance of success. Honest at 0 and at n, where the
 * textbook interval has no width. Coverage of 95 %, exact: from 94.1 to 97.3 with 113 tries, depending on the share,
 * and 95.1 on average.
 */
export function wilson(successes: number, n: number, confidence = 0.95): Estimate {
  const countable = Number.isInteger(successes) && Number.isInteger(n) && successes >= 0 && successes <= n;
  if (!countable) throw new RangeError(`successes are counted among tries, and ${successes} of ${n} cannot be`);
  if (n === 0) throw new NotEstimable("a share needs one try or more; there are none");

  const value = successes / n;
  const z = normalQuantile(upperEnd(confidence));
  const middle = value + (z * z) / (2 * n);
  const reach = z * Math.sqrt((value * (1 - value)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return {
    value,
    // Exactly 0 and 1 at the ends, which rounding would miss by a hair.
    low: successes === 0 ? 0 : (middle - reach) / scale,
    high: successes === n ? 1 : (middle + reach) / scale,
    confidence,
    n,
  };
}
