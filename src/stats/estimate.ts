/**
 * A number with its doubt.
 *
 * Whatever is estimated here travels as an `Estimate`, so that nobody downstream can print the number and lose the
 * interval. Where the data cannot carry an interval there is no estimate at all, and the refusal says why.
 */
export interface Estimate {
  /** In the unit of what was measured. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** 0.95 for a 95 % interval. */
  readonly confidence: number;
  /** How many independent things it rests on: clusters, not rows. */
  readonly n: number;
}

/** The data cannot carry the answer. The message is a sentence for the reader of a report. */
export class NotEstimable extends Error {
  override readonly name = "NotEstimable";
}

/** Where a two-sided interval ends above: 0.975 for a confidence of 0.95. */
export function upperEnd(confidence: number): number {
  if (confidence > 0 && confidence < 1) return (1 + confidence) / 2;
  throw new RangeError(`a confidence lies above 0 and below 1, and this one is ${confidence}`);
}
