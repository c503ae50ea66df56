/**
 * Philox4x32-10 behind the interface of our own draws: the cross-check of src/random.ts.
 *
 * Salmon, Moraes, Dror, Shaw, *Parallel Random Numbers: As Easy as 1, 2, 3*, SC 2011. Published, studied, and
 * several times slower than ours in JavaScript, which has no 64-bit product.
 */
import { type Draws, fraction, type Key, upperLane } from "../src/random.ts";

export type Block = readonly [number, number, number, number];

const purpose = { seed: 0, number: 1, length: 2, text: 3, uniform: 4 } as const;

export const philox: Draws = {
  seeded: (seed) => absorbed({ high: 0, low: 0 }, seed, purpose.seed),

  within(key, part) {
    if (typeof part === "number") return absorbed(key, part, purpose.number);
    let narrowed = absorbed(key, part.length, purpose.length);
    for (let at = 0; at < part.length; at++) narrowed = absorbed(narrowed, part.charCodeAt(at), purpose.text);
    return narrowed;
  },

  uniform(key, ordinal = 0) {
    const { high, low } = absorbed(key, ordinal, purpose.uniform);
    return fraction(high, low);
  },
};

function absorbed(key: Key, whole: number, tag: number): Key {
  const [high, low] = philox4x32([whole | 0, upperLane(whole), tag, 0], [key.low, key.high]);
  return { high: high | 0, low: low | 0 };
}

/** Ten rounds on one counter; the answer in unsigned lanes. */
export function philox4x32(counter: Block, key: readonly [number, number]): Block {
  let a = counter[0];
  let b = counter[1];
  let c = counter[2];
  let d = counter[3];
  let first = key[0];
  let second = key[1];
  for (let round = 0; round < 10; round++) {
    const left = product(0xd2511f53, a);
    const right = product(0xcd9e8d57, c);
    a = right.high ^ b ^ first;
    b = right.low;
    c = left.high ^ d ^ second;
    d = left.low;
    first = (first + 0x9e3779b9) | 0;
    second = (second + 0xbb67ae85) | 0;
  }
  return [a >>> 0, b >>> 0, c >>> 0, d >>> 0];
}

/** All 64 bits of a product of two unsigned 32-bit numbers, by halves. */
function product(x: number, y: number): Key {
  const xHigh = x >>> 16;
  const xLow = x & 0xffff;
  const yHigh = y >>> 16;
  const yLow = y & 0xffff;
  const lowest = xLow * yLow;
  const middle = xHigh * yLow + (lowest >>> 16);
  const other = xLow * yHigh + (middle & 0xffff);
  const high = xHigh * yHigh + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
  return { high: high | 0, low: Math.imul(x, y) };
}
