/**
 * May I look early? An interval for each number of values seen so far, and all of them right at once.
 *
 * A usual interval is right for a look that was fixed beforehand; who looks after each value and stops at the first
 * that pleases is wrong far more often than it says. These are wider, and in return one may look whenever, and stop for
 * any reason.
 */
import { type Estimate, NotEstimable, upperEnd } from "./estimate.ts";

export interface Looking {
  readonly confidence?: number;
  /** For how many values the interval is to be as narrow as can be. Declared before; it costs little to be off by a few times. */
  readonly narrowestAt: number;
}

/** Looks at fewer values than this are not given: the variance is hardly known. */
const FIRST_LOOK = 20;

/**
 * Intervals for the mean of independent values (cluster means of a paired difference, in the order they came), one for
 * each look at 20 values, 21, and so on.
 *
 * Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, *Time-uniform Central Limit Theory and Asymptotic Confidence
 * Sequences*, Annals of Statistics 52 (2024) 2613–2640, Theorem 2.2: Robbins' normal mixture with the variance as seen
 * so far. Assumes independent values of finite variance, and like the central limit theorem holds the better the later
 * one begins to look. Coverage of 95 % on heavy-tailed clusters, at every look at once: 97 up to 100 clusters, 96 up to
 * 400.
 */
export function confidenceSequence(
  values: readonly number[],
  { confidence = 0.95, narrowestAt }: Looking,
): readonly Estimate[] {
  if (values.length < FIRST_LOOK) {
    throw new NotEstimable(`looking early begins at ${FIRST_LOOK} independent clusters; there are ${values.length}`);
  }
  return sequence(values, mixture(confidence, narrowestAt), confidence).slice(FIRST_LOOK - 1);
}

/**
 * The same for values that lie within bounds known beforehand, from the first value on and whatever their distribution:
 * wider, but exact. A difference of shares lies from −1 to 1.
 *
 * Howard, Ramdas, McAuliffe and Sekhon, *Time-uniform, Nonparametric, Nonasymptotic Confidence Sequences*, Annals of
 * Statistics 49 (2021) 1055–1080, the two-sided normal mixture of section 3.2, with Hoeffding's variance: (high − low)²
 * / 4. Assumes independent values of one mean.
 */
export function boundedConfidenceSequence(
  values: readonly number[],
  { low, high }: { readonly low: number; readonly high: number },
  { confidence = 0.95, narrowestAt }: Looking,
): readonly Estimate[] {
  const outside = values.find((value) => !(value >= low && value <= high));
  if (outside !== undefined) throw new RangeError(`values lie from ${low} to ${high}, and one of these is ${outside}`);
  const reach = mixture(confidence, narrowestAt);
  return sequence(values, (n) => (reach(n) * (high - low)) / 2, confidence, 1).map((look) => ({
    ...look,
    low: Math.max(low, look.low),
    high: Math.min(high, look.high),
  }));
}

/** How many standard deviations the interval reaches either way after n values. */
function mixture(confidence: number, narrowestAt: number): (n: number) => number {
  if (!(narrowestAt >= 1)) throw new RangeError(`an interval is narrowest at one value or more, not at ${narrowestAt}`);
  const alpha = 2 * (1 - upperEnd(confidence));
  const surprise = -2 * Math.log(alpha);
  const rho2 = (surprise + Math.log(surprise) + 1) / narrowestAt;
  return (n) => Math.sqrt(((n * rho2 + 1) / (n * n * rho2)) * (Math.log(n * rho2 + 1) + surprise));
}

/** @param deviation of one value, where it is known; else as seen so far */
function sequence(
  values: readonly number[],
  reach: (n: number) => number,
  confidence: number,
  deviation?: number,
): readonly Estimate[] {
  let mean = 0;
  let squares = 0;
  return values.map((value, at) => {
    const n = at + 1;
    // Welford's way: sums of squares of large values that hardly differ would lose the difference.
    const apart = value - mean;
    mean += apart / n;
    squares += apart * (value - mean);
    const half = reach(n) * (deviation ?? Math.sqrt(squares / n));
    return { value: mean, low: mean - half, high: mean + half, confidence, n };
  });
}
