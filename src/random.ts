/**
 * Luck, keyed by what it is for.
 *
 * A draw depends on its key and on nothing else: not on what was drawn before it, not on who asks. Two trials whose
 * keys agree meet the same luck, however differently they went so far, so that what is left between them is the
 * difference under study. A generator with a state cannot promise that: one draw more shifts all that follow.
 *
 * A key is 64 bits in two lanes, narrowed part by part and turned into uniforms by one permutation of 64 bits. It is a
 * permutation so that two whole numbers within one key can never share a key, whatever their values.
 */

/** What a draw is for, in two lanes of 32 bits (signed: V8 keeps those unboxed). Nobody reads meaning into a lane. */
export interface Key {
  readonly high: number;
  readonly low: number;
}

/** A maker of luck. All makers keep the laws of test/random.test.ts. */
export interface Draws {
  /** The key of a seed: any whole number up to 2^53 either side of zero. Neighbouring seeds are unrelated. */
  seeded(seed: number): Key;
  /**
   * `key`, further specified by a name or by a whole number up to 2^53 either side of zero.
   *
   * The order of parts counts, and so does their type: "1" and 1 are different parts, as are "ab" and "a" then "b".
   */
  within(key: Key, part: string | number): Key;
  /** The uniform of a key with this ordinal (a whole number): 53 bits, above 0 and below 1. */
  uniform(key: Key, ordinal?: number): number;
}

/** Keeps apart what a number is absorbed as. The first digits of pi, so that nobody chose them. */
const purpose = {
  seed: 0x243f6a88,
  number: 0x85a308d3,
  length: 0x13198a2e,
  text: 0x03707344,
  uniform: 0xa4093822,
} as const;

/** Our own hash: what every world draws from. */
export const keyed: Draws = {
  seeded: (seed) => absorbed(0, 0, seed, purpose.seed),

  within(key, part) {
    if (typeof part === "number") return absorbed(key.high, key.low, part, purpose.number);
    // The length goes first, so that no name is the beginning of another and the last block needs no padding mark.
    let narrowed = absorbed(key.high, key.low, part.length, purpose.length);
    for (let at = 0; at < part.length; at += 4) {
      const high = codeUnit(part, at) | (codeUnit(part, at + 1) << 16);
      const low = codeUnit(part, at + 2) | (codeUnit(part, at + 3) << 16);
      narrowed = permuted(narrowed.high ^ high, narrowed.low ^ low, purpose.text);
    }
    return narrowed;
  },

  uniform(key, ordinal = 0) {
    const { high, low } = absorbed(key.high, key.low, ordinal, purpose.uniform);
    return fraction(high, low);
  },
};

/** A whole number from 0 to n − 1, from the uniform of this key and ordinal. */
export function pick(draws: Draws, key: Key, n: number, ordinal: number): number {
  if (!(n >= 1)) throw new RangeError(`something can be picked from one thing or more; there are ${n}`);
  return Math.floor(draws.uniform(key, ordinal) * n);
}

/** The first 53 bits of two lanes as a number above 0 and below 1; all zeros count as half a step. */
export function fraction(high: number, low: number): number {
  const bits = (high >>> 5) * 2 ** 26 + (low >>> 6);
  return (bits === 0 ? 0.5 : bits) * 2 ** -53;
}

function absorbed(high: number, low: number, whole: number, tag: number): Key {
  const narrow = whole | 0;
  if (narrow === whole) return permuted(high ^ (narrow >> 31), low ^ narrow, tag);
  return permuted(high ^ upperLane(whole), low ^ narrow, tag);
}

/** The bits of a whole number above its lowest 32, in two's complement. `whole | 0` is the lowest 32. */
export function upperLane(whole: number): number {
  if (!Number.isInteger(whole) || Math.abs(whole) > 2 ** 53) {
    throw new RangeError(`luck is keyed by names and by whole numbers up to 2^53; ${whole} is neither`);
  }
  return Math.floor(whole / 2 ** 32) | 0;
}

/** A permutation of 64 bits for each tag: four rounds of a Feistel network, each lane scrambled by the other. */
function permuted(high: number, low: number, tag: number): Key {
  let left = high ^ scrambled(low + tag);
  let right = low ^ scrambled(left + tag + 0x9e3779b9);
  left ^= scrambled(right + tag + 0x3c6ef372);
  right ^= scrambled(left + tag + 0xdaa66d2b);
  return { high: left, low: right };
}

/** Wellons, *Prospecting for Hash Functions* (2018), `lowbias32`: each bit of `lane` reaches each bit of the answer. */
function scrambled(lane: number): number {
  let bits = lane ^ (lane >>> 16);
  bits = Math.imul(bits, 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}

function codeUnit(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0;
}

/**
 * The standard normal's value below which a share `p` lies, for p above 0 and below 1.
 *
 * Wichura, *Algorithm AS 241: The Percentage Points of the Normal Distribution*, Applied Statistics 37 (1988) 477–484,
 * routine PPND16: about 16 figures, in the tails too (p down to 1e-316).
 */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a normal quantile is asked for a share above 0 and below 1, not ${p}`);
  const fromMiddle = p - 0.5;
  if (Math.abs(fromMiddle) <= 0.425) {
    return fromMiddle * rational(0.180625 - fromMiddle * fromMiddle, middle);
  }
  const depth = Math.sqrt(-Math.log(fromMiddle < 0 ? p : 1 - p));
  const distance = depth <= 5 ? rational(depth - 1.6, tail) : rational(depth - 5, farTail);
  return fromMiddle < 0 ? -distance : distance;
}

/** Coefficients of a numerator and a denominator, constant term first, in as many figures as a double holds. */
interface Rational {
  readonly over: readonly number[];
  readonly under: readonly number[];
}

function rational(x: number, { over, under }: Rational): number {
  return polynomial(x, over) / polynomial(x, under);
}

function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (let power = coefficients.length - 1; power >= 0; power--) sum = sum * x + coefficients[power]!;
  return sum;
}

/** Within 0.425 of the median. */
const middle: Rational = {
  over: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  under: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
};

/** From there to a tail of e^-25. */
const tail: Rational = {
  over: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  under: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
};

/** Beyond. */
const farTail: Rational = {
  over: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  under: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 1.8463183175100548e-5,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
};
