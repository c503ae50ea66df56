/**
 * Is the harness biased? Where both sides are the same, p-values fall anywhere from 0 to 1 alike, and a test at 5 %
 * rejects one time in twenty.
 */
import { binomialCdf, counted } from "./binomial.ts";
import type { Estimate } from "./estimate.ts";
import { wilson } from "./wilson.ts";

export interface Uniformity {
  /** The greatest distance between the share of p-values at or below x and x. */
  readonly distance: number;
  /** The chance of one so great, or greater, were they uniform. */
  readonly p: number;
  readonly n: number;
}

/**
 * Kolmogorov and Smirnov's test that p-values are uniform.
 *
 * Exact by Marsaglia, Tsang and Wang, *Evaluating Kolmogorov's Distribution*, Journal of Statistical Software 8 (2003)
 * 18; far out by their approximation, right to seven figures. Assumes independent p-values that can take any value: an
 * exact test of few counts has jumps, and should be asked with `rejections`.
 */
export function uniformity(ps: readonly number[]): Uniformity {
  const n = ps.length;
  const wrong = ps.find((p) => !(p >= 0 && p <= 1));
  if (wrong !== undefined) throw new RangeError(`a p-value lies from 0 to 1, and one of these is ${wrong}`);
  if (n === 0) throw new RangeError("p-values are compared with a uniform distribution; there are none");
  const ascending = ps.toSorted((a, b) => a - b);
  const distance = ascending.reduce((far, p, at) => Math.max(far, (at + 1) / n - p, p - at / n), 0);
  return { distance, p: Math.min(1, Math.max(0, beyond(n, distance))), n };
}

export interface Rejections {
  /** The share of tests that reject, with Wilson's interval. */
  readonly rate: Estimate;
  /** The chance of so many rejections, or more, were the level kept. */
  readonly tooMany: number;
}

/**
 * Whether tests of nothing reject more often than their level says: the exact binomial test, one-sided, since exact
 * tests of counts may well reject less often. Clopper and Pearson, *The Use of Confidence or Fiducial Limits*,
 * Biometrika 26 (1934) 404–413. Assumes independent tests.
 */
export function rejections(ps: readonly number[], alpha: number): Rejections {
  const rejected = ps.filter((p) => p <= alpha).length;
  return { rate: wilson(rejected, ps.length), tooMany: atLeast(rejected, ps.length, alpha) };
}

/** The chance of so many successes or more, by its smaller side so that it keeps its figures. */
function atLeast(successes: number, tries: number, p: number): number {
  return binomialCdf(counted(tries) - successes, tries, 1 - p);
}

/** The chance of a distance of at least `d` among n uniform values. */
function beyond(n: number, d: number): number {
  const s = d * d * n;
  if (s > 7.24 || (s > 3.76 && n > 99)) {
    return 2 * Math.exp(-(2.000071 + 0.331 / Math.sqrt(n) + 1.409 / n) * s);
  }
  const k = Math.floor(n * d) + 1;
  const size = 2 * k - 1;
  const h = k - n * d;
  const at = (row: number, column: number) => row * size + column;
  const matrix = new Float64Array(size * size);
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= Math.min(row + 1, size - 1); column += 1) matrix[at(row, column)] = 1;
  }
  for (let row = 0; row < size; row += 1) {
    matrix[at(row, 0)]! -= h ** (row + 1);
    matrix[at(size - 1, row)]! -= h ** (size - row);
  }
  if (2 * h > 1) matrix[at(size - 1, 0)]! += (2 * h - 1) ** size;
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      for (let divisor = 1; divisor <= row - column + 1; divisor += 1) matrix[at(row, column)]! /= divisor;
    }
  }
  const { powers, exponent } = power(matrix, size, n);
  let share = powers[at(k - 1, k - 1)]!;
  let scale = exponent;
  for (let i = 1; i <= n; i += 1) {
    share *= i / n;
    if (share < 1e-140) {
      share *= 1e140;
      scale -= 140;
    }
  }
  return 1 - share * 10 ** scale;
}

interface Powers {
  readonly powers: Float64Array;
  /** Of ten: what the entries would overflow without. */
  readonly exponent: number;
}

function power(matrix: Float64Array, size: number, n: number): Powers {
  if (n === 1) return { powers: matrix, exponent: 0 };
  const half = power(matrix, size, n >> 1);
  const square = times(half.powers, half.powers, size);
  const powers = n % 2 === 0 ? square : times(matrix, square, size);
  const middle = powers[(size >> 1) * size + (size >> 1)]!;
  if (middle <= 1e140) return { powers, exponent: 2 * half.exponent };
  return { powers: powers.map((entry) => entry * 1e-140), exponent: 2 * half.exponent + 140 };
}

function times(one: Float64Array, other: Float64Array, size: number): Float64Array {
  const product = new Float64Array(size * size);
  for (let row = 0; row < size; row += 1) {
    for (let inner = 0; inner < size; inner += 1) {
      const factor = one[row * size + inner]!;
      if (factor === 0) continue;
      for (let column = 0; column < size; column += 1) {
        product[row * size + column]! += factor * other[inner * size + column]!;
      }
    }
  }
  return product;
}
