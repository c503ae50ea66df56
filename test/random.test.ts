import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Draws, fraction, type Key, keyed, normalQuantile, pick } from "../src/random.ts";
import { philox, philox4x32 } from "./philox.ts";

/**
 * What every maker of luck promises. A law answers how far its worst figure lies from what true luck would give, in
 * standard deviations, on either side: a sample that is too even is no luck either. Some 25,000 figures are looked at
 * for a maker, and true luck would bring one of them beyond six for about one maker in twenty thousand.
 */
const SURPRISING = 6;
const SAMPLE = 2 ** 16;

/** How draws follow one another where they are used: each is a way to ask for the i-th of many. */
const streams: Readonly<Record<string, (draws: Draws) => (i: number) => number>> = {
  ordinals: (draws) => {
    const key = draws.within(draws.seeded(1), "seconds");
    return (i) => draws.uniform(key, i);
  },
  parts: (draws) => {
    const key = draws.seeded(1);
    return (i) => draws.uniform(draws.within(key, i));
  },
  names: (draws) => {
    const key = draws.seeded(1);
    return (i) => draws.uniform(draws.within(key, `task-${i}`));
  },
  seeds: (draws) => (i) => draws.uniform(draws.seeded(i)),
  "two neighbouring seeds": (draws) => {
    const keys = [draws.within(draws.seeded(7), "think"), draws.within(draws.seeded(8), "think")];
    return (i) => draws.uniform(keys[i % 2]!, i >> 1);
  },
  "two parts of a key": (draws) => {
    const key = draws.seeded(7);
    const keys = [draws.within(key, 0), draws.within(key, 1)];
    return (i) => draws.uniform(keys[i % 2]!, i >> 1);
  },
};

const lawsOfSamples: Readonly<Record<string, (sample: Float64Array) => number>> = {
  "fills all cells alike, at every bit": (sample) =>
    worst(
      [0, 8, 16, 24, 32, 40, 45].map((from) => {
        const cell = bits(from, 8);
        return evenness(256, (i) => cell(sample[i]!), SAMPLE);
      }),
    ),

  "fills the square of consecutive draws alike": (sample) =>
    worst(
      // The lowest bits too: they are the first that a weak hash forgets.
      [0, 47].map((from) => {
        const cell = bits(from, 6);
        return evenness(64 * 64, (i) => cell(sample[2 * i]!) * 64 + cell(sample[2 * i + 1]!), SAMPLE / 2);
      }),
    ),

  "has bits that do not foretell one another": (sample) => {
    const some = sample.subarray(0, 2 ** 13);
    const planes = Array.from({ length: 53 }, (_, at) => Uint8Array.from(some, bits(at, 1)));
    return worst(
      planes.flatMap((plane, at) =>
        planes.slice(at + 1).map((other) => agreement(plane, other) / Math.sqrt(some.length)),
      ),
    );
  },

  "does not follow its neighbours": (sample) => worst([1, 2, 3, 16, 256].map((lag) => correlation(sample, lag))),

  "has the moments of the normal, once transformed": (sample) => {
    const moments = [0, 0, 0, 0];
    for (const uniform of sample) {
      const z = normalQuantile(uniform);
      for (let power = 1; power <= 4; power++) moments[power - 1]! += z ** power / SAMPLE;
    }
    const [mean, square, cube, fourth] = moments as [number, number, number, number];
    const scale = Math.sqrt(SAMPLE);
    return worst([mean, (square - 1) / Math.sqrt(2), cube / Math.sqrt(15), (fourth - 3) / Math.sqrt(96)]) * scale;
  },
};

const lawsOfMakers: Readonly<Record<string, (draws: Draws) => number>> = {
  "turns over about half of its bits for each bit of a seed": (draws) =>
    avalanche(53, (start, bit) =>
      [start.whole, flipped(start.whole, bit)].map((seed) => draws.uniform(draws.seeded(seed))),
    ),

  "turns over about half of its bits for each bit of a part": (draws) =>
    avalanche(53, ({ key, whole }, bit) =>
      [whole, flipped(whole, bit)].map((part) => draws.uniform(draws.within(key, part))),
    ),

  "turns over about half of its bits for each bit of a name": (draws) =>
    avalanche(6 * 16, ({ key, name }, bit) =>
      [name, respelled(name, bit)].map((part) => draws.uniform(draws.within(key, part))),
    ),

  "turns over about half of its bits for each bit of an ordinal": (draws) =>
    avalanche(53, ({ key, whole }, bit) => [whole, flipped(whole, bit)].map((ordinal) => draws.uniform(key, ordinal))),

  "turns over about half of its bits for each bit of a key": (draws) =>
    avalanche(64, ({ key }, bit) => {
      const other = { high: key.high ^ (bit < 32 ? 1 << bit : 0), low: key.low ^ (bit < 32 ? 0 : 1 << (bit - 32)) };
      return [key, other].map((one) => draws.uniform(one));
    }),

  "makes no key twice, among a million": (draws) => {
    const lanes = [new Uint32Array(1e6), new Uint32Array(1e6)] as const;
    const both = new Uint32Array(2e6);
    for (let i = 0; i < 1e6; i++) {
      const { high, low } = within(draws, draws.seeded(1), Math.floor(i / 1_000), i % 1_000);
      both[2 * i] = lanes[0][i] = high;
      both[2 * i + 1] = lanes[1][i] = low;
    }
    if (repeats(new BigUint64Array(both.buffer)) > 0) return Number.POSITIVE_INFINITY;
    // One lane alone repeats as often as birthdays do in a year of 2^32 days.
    const birthdays = 1e6 ** 2 / 2 ** 33;
    return worst(lanes.map((lane) => (repeats(lane) - birthdays) / Math.sqrt(birthdays)));
  },
};

/** Every law of every stream and maker, by name. */
const departures: Readonly<Record<string, (draws: Draws) => number>> = {
  ...Object.fromEntries(
    Object.entries(streams).flatMap(([name, stream]) => {
      const sample = drawn(stream);
      return Object.entries(lawsOfSamples).map(([law, departure]) => [
        `drawn by ${name}, ${law}`,
        (draws: Draws) => departure(sample(draws)),
      ]);
    }),
  ),
  ...lawsOfMakers,
};

describe.each([
  ["keyed", keyed],
  ["philox", philox],
])("%s luck", (_, draws) => {
  test.each(Object.entries(departures))("%s", (_law, departure) => {
    expect(departure(draws)).toBeLessThan(SURPRISING);
  });

  const key = draws.seeded(1);

  test("lies above 0 and below 1, for every key and ordinal", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.maxSafeInteger(), (high, low, ordinal) => {
        const uniform = draws.uniform({ high, low }, ordinal);
        expect(uniform > 0 && uniform < 1).toBe(true);
      }),
    );
  });

  test("is the same whenever it is asked for", () => {
    const forwards = [0, 1, 2].map((ordinal) => draws.uniform(key, ordinal));
    const backwards = [2, 1, 0].map((ordinal) => draws.uniform(key, ordinal));
    expect(forwards.reverse()).toEqual(backwards);
    expect(draws.uniform(key)).toBe(draws.uniform(key, 0));
  });

  test("differs for different parts, whatever their type", () => {
    const part = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(part, part, (one, other) => {
        fc.pre(one !== other);
        expect(draws.within(key, one)).not.toEqual(draws.within(key, other));
      }),
    );
  });

  test.each<[string, Key, Key]>([
    ["a number and its spelling", draws.within(key, 1), draws.within(key, "1")],
    ["no name and the key itself", draws.within(key, ""), key],
    ["no name and a name of nothing", draws.within(key, ""), draws.within(key, "\0")],
    ["one name and the same in two parts", draws.within(key, "ab"), draws.within(draws.within(key, "a"), "b")],
    ["two parts and the same in another order", within(draws, key, 1, 2), within(draws, key, 2, 1)],
    ["a number and the same less 2^32", draws.within(key, 5), draws.within(key, 5 - 2 ** 32)],
    ["the greatest seed and its neighbour", draws.seeded(2 ** 53), draws.seeded(2 ** 53 - 1)],
    ["a seed and its opposite", draws.seeded(1), draws.seeded(-1)],
    ["a seed and a part of the key of zeros", draws.seeded(1), draws.within({ high: 0, low: 0 }, 1)],
  ])("tells %s apart", (_what, one, other) => {
    expect(one).not.toEqual(other);
  });

  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53 + 2])("refuses to be keyed by %d", (whole) => {
    const refusal = `luck is keyed by names and by whole numbers up to 2^53; ${whole} is neither`;
    expect(() => draws.seeded(whole)).toThrow(refusal);
    expect(() => draws.within(key, whole)).toThrow(refusal);
    expect(() => draws.uniform(key, whole)).toThrow(refusal);
  });
});

describe("the laws of luck can be broken:", () => {
  test.each<[string, string, Draws]>([
    [
      "drawn by ordinals, fills all cells alike, at every bit",
      "ordinals multiplied once, which fill the line too evenly",
      { ...keyed, uniform: multiplied },
    ],
    [
      "drawn by parts, fills all cells alike, at every bit",
      "uniforms of 32 bits, the rest zeros",
      { ...keyed, uniform: (key, i) => Math.floor(keyed.uniform(key, i) * 2 ** 32) / 2 ** 32 || 2 ** -53 },
    ],
    [
      "drawn by parts, has bits that do not foretell one another",
      "uniforms whose lower bits are the upper ones again",
      { ...keyed, uniform: (key, ordinal) => repeated(keyed.uniform(key, ordinal)) },
    ],
    [
      "drawn by two parts of a key, fills the square of consecutive draws alike",
      "a part that is mirrored by its neighbour",
      { ...keyed, within: mirrored, uniform: unmirrored },
    ],
    [
      "drawn by seeds, does not follow its neighbours",
      "seeds taken as they are and multiplied once",
      { ...keyed, seeded: (seed) => ({ high: 0, low: seed | 0 }), uniform: multiplied },
    ],
    [
      "drawn by ordinals, does not follow its neighbours",
      "a draw that leans a little on the one before",
      { ...keyed, uniform: (key, i = 0) => keyed.uniform(key, i) * 0.96 + keyed.uniform(key, i - 1) * 0.04 },
    ],
    [
      "drawn by ordinals, has the moments of the normal, once transformed",
      "a mean of two uniforms, which favours the middle",
      { ...keyed, uniform: (key, i) => (keyed.uniform(key, i) + keyed.uniform(keyed.within(key, "other"), i)) / 2 },
    ],
    [
      "turns over about half of its bits for each bit of a seed",
      "seeds of which the upper bits are dropped",
      { ...keyed, seeded: (seed) => keyed.seeded(seed | 0) },
    ],
    [
      "turns over about half of its bits for each bit of a part",
      "parts of which the upper bits are dropped",
      { ...keyed, within: (key, part) => keyed.within(key, typeof part === "number" ? part | 0 : part) },
    ],
    [
      "turns over about half of its bits for each bit of a name",
      "names of which only the length counts",
      { ...keyed, within: (key, part) => keyed.within(key, typeof part === "number" ? part : part.length) },
    ],
    [
      "turns over about half of its bits for each bit of an ordinal",
      "one multiplication, which carries no bit downwards",
      { ...keyed, uniform: multiplied },
    ],
    [
      "turns over about half of its bits for each bit of a key",
      "a lane of the key that nobody reads",
      { ...keyed, uniform: ({ low }, ordinal) => keyed.uniform({ high: 0, low }, ordinal) },
    ],
    [
      "makes no key twice, among a million",
      "parts added up, so that they may change places",
      { ...keyed, within: (key, part) => added(key, keyed.within({ high: 1, low: 1 }, part)) },
    ],
    [
      "makes no key twice, among a million",
      "keys of 32 bits, twice",
      { ...keyed, within: (key, part) => ({ ...keyed.within(key, part), high: keyed.within(key, part).low }) },
    ],
  ])("%s: not by %s", (law, _what, draws) => {
    expect(departures[law]!(draws)).toBeGreaterThan(SURPRISING);
  });
});

describe("philox4x32-10", () => {
  test.each([
    ["zeros", [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
    [
      "ones",
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      "pi",
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ] as const)("answers the counter of %s as Random123 publishes", (_, counter, key, answer) => {
    expect(philox4x32(counter, key)).toEqual(answer);
  });
});

test("lanes of nothing but zeros and of nothing but ones still lie above 0 and below 1", () => {
  expect([fraction(0, 0), fraction(0, 64), fraction(-1, -1)]).toEqual([2 ** -54, 2 ** -53, 1 - 2 ** -53]);
});

describe("a pick", () => {
  const key = keyed.seeded(1);

  test("of six things falls on each of the six alike", () => {
    expect(evenness(6, (i) => pick(keyed, key, 6, i), 60_000)).toBeLessThan(SURPRISING);
  });

  test("never falls beside them, not even for the greatest uniform", () => {
    const greatest: Draws = { ...keyed, uniform: () => fraction(-1, -1) };
    const least: Draws = { ...keyed, uniform: () => fraction(0, 0) };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (n) => {
        expect([pick(least, key, n, 0), pick(greatest, key, n, 0)]).toEqual([0, n - 1]);
      }),
    );
  });

  test("of nothing is refused", () => {
    expect(() => pick(keyed, key, 0, 0)).toThrow("something can be picked from one thing or more; there are 0");
  });
});

describe("a normal quantile", () => {
  // By mpmath at 40 digits: the root of the logarithm of the normal's integral.
  test.each([
    [0.975, 1.9599639845400538],
    [0.5, 0],
    [0.9, 1.2815515655446006],
    [0.51, 0.025068908258711057],
    [0.425, -0.18911842627279252],
    [0.075, -1.439531470938456],
    [0.0749, -1.4402382675279637],
    [0.99999, 4.264890793923841],
    [0.9999999, 5.199337582290661],
    [1e-10, -6.361340902404057],
    [1.3887943864964021e-11, -6.657904643501103],
    [1e-50, -14.933337534788489],
    [1e-300, -37.0470962993612],
  ])("of %d is %d, to the last figures", (p, z) => {
    expect(Math.abs(normalQuantile(p) - z)).toBeLessThanOrEqual(1e-15 * Math.abs(z));
  });

  test("rises, and mirrors itself at the median", () => {
    const share = fc.double({ min: 0, max: 0.5, minExcluded: true, noNaN: true });
    fc.assert(
      fc.property(share, share, (one, other) => {
        fc.pre(one < other);
        expect(normalQuantile(one)).toBeLessThanOrEqual(normalQuantile(other));
        // Where 1 − p is a number of its own, so that the mirror image is exact.
        const p = Math.round(one * 2 ** 40) / 2 ** 40;
        if (p > 0) expect(normalQuantile(1 - p)).toBeCloseTo(-normalQuantile(p), 12);
      }),
    );
  });

  test.each([0, 1, -0.1, Number.NaN])("of %d is refused", (p) => {
    expect(() => normalQuantile(p)).toThrow(`a normal quantile is asked for a share above 0 and below 1, not ${p}`);
  });
});

/** A sample of a stream, drawn once for each maker. */
function drawn(stream: (draws: Draws) => (i: number) => number): (draws: Draws) => Float64Array {
  const samples = new WeakMap<Draws, Float64Array>();
  return (draws) => {
    const sample = samples.get(draws) ?? Float64Array.from({ length: SAMPLE }, (_, i) => i).map(stream(draws));
    samples.set(draws, sample);
    return sample;
  };
}

function within(draws: Draws, key: Key, ...parts: readonly (string | number)[]): Key {
  return parts.reduce((narrowed: Key, part) => draws.within(narrowed, part), key);
}

/** The farthest of several departures. */
function worst(departures: readonly number[]): number {
  return Math.max(...departures.map(Math.abs));
}

/** Chi-square of counts in equal cells, as standard deviations from its mean. */
function evenness(cells: number, cellOf: (i: number) => number, n: number): number {
  const counts = new Float64Array(cells);
  for (let i = 0; i < n; i++) counts[cellOf(i)]! += 1;
  const expected = n / cells;
  const chiSquare = counts.reduce((sum, found) => sum + (found - expected) ** 2 / expected, 0);
  return (chiSquare - (cells - 1)) / Math.sqrt(2 * (cells - 1));
}

/** Correlation of draws `lag` apart, as standard deviations from none. */
function correlation(sample: Float64Array, lag: number): number {
  let sum = 0;
  for (let i = lag; i < sample.length; i++) sum += (sample[i]! - 0.5) * (sample[i - lag]! - 0.5);
  return (sum * 12) / Math.sqrt(sample.length - lag);
}

/** How many bits of two lists are the same, less how many are not. */
function agreement(one: Uint8Array, other: Uint8Array): number {
  let same = 0;
  for (let i = 0; i < one.length; i++) same += one[i] === other[i] ? 1 : -1;
  return same;
}

/** So many of a uniform's 53 bits, from the `from`-th on. */
function bits(from: number, width: number): (uniform: number) => number {
  const scale = 2 ** (from + width);
  const cells = 2 ** width;
  return (uniform) => Math.floor(uniform * scale) % cells;
}

interface Start {
  readonly key: Key;
  readonly whole: number;
  readonly name: string;
}

/**
 * For each bit that goes in and each of 53 that come out: how often one turns the other over, against half of the time.
 * The worst single pair, or all pairs taken together, whichever lies farther out.
 */
function avalanche(bitsIn: number, before: (start: Start, bit: number) => readonly number[]): number {
  const trials = 2_048;
  let [farthest, squares] = [0, 0];
  for (let bit = 0; bit < bitsIn; bit++) {
    const turned = new Float64Array(53);
    for (let trial = 0; trial < trials; trial++) {
      const [one, other] = before(starts[trial]!, bit) as [number, number];
      const upper = Math.floor(one * 2 ** 27) ^ Math.floor(other * 2 ** 27);
      const lower = ((one * 2 ** 53) % 2 ** 26) ^ ((other * 2 ** 53) % 2 ** 26);
      for (let out = 0; out < 27; out++) turned[out]! += (upper >> out) & 1;
      for (let out = 0; out < 26; out++) turned[27 + out]! += (lower >> out) & 1;
    }
    for (const count of turned) {
      const departure = (count - trials / 2) / Math.sqrt(trials / 4);
      farthest = Math.max(farthest, Math.abs(departure));
      squares += departure * departure;
    }
  }
  const pairs = bitsIn * 53;
  return worst([farthest, (squares - pairs) / Math.sqrt(2 * pairs)]);
}

/** Where avalanches start: drawn from Philox, so that no hash is measured with its own rule. */
const starts: readonly Start[] = Array.from({ length: 2_048 }, (_, trial) => {
  const key = philox.within(philox.seeded(20_261_130), trial);
  const other = philox.within(key, "whole");
  return {
    key,
    whole: (other.high >>> 11) * 2 ** 32 + (other.low >>> 0),
    name: String.fromCharCode(...[0, 1, 2, 3, 4, 5].map((at) => pick(philox, key, 2 ** 16, at))),
  };
});

/** A whole number up to 2^53 with one of its bits turned over. */
function flipped(whole: number, bit: number): number {
  return Math.floor(whole / 2 ** bit) % 2 === 1 ? whole - 2 ** bit : whole + 2 ** bit;
}

function respelled(name: string, bit: number): string {
  const units = [...Array(name.length).keys()].map(
    (at) => name.charCodeAt(at) ^ (at === bit >> 4 ? 1 << (bit & 15) : 0),
  );
  return String.fromCharCode(...units);
}

function repeats(values: BigUint64Array | Uint32Array): number {
  const ordered = values.sort();
  let found = 0;
  for (let at = 1; at < ordered.length; at++) if (ordered[at] === ordered[at - 1]) found += 1;
  return found;
}

function added(one: Key, other: Key): Key {
  return { high: (one.high + other.high) | 0, low: (one.low + other.low) | 0 };
}

/** What a hurried programmer might write. */
function multiplied(key: Key, ordinal = 0): number {
  return fraction(Math.imul(key.low + ordinal, 0x9e3779b1), Math.imul(key.high + ordinal, 0x85ebca77));
}

function repeated(uniform: number): number {
  const upper = Math.floor(uniform * 2 ** 27);
  return upper * 2 ** -27 + (upper >> 1) * 2 ** -53 || 2 ** -53;
}

/** Pairs of parts that share a key but for a mark, by which the second's uniforms are the first's, seen from above. */
function mirrored(key: Key, part: string | number): Key {
  const { high, low } = keyed.within(key, typeof part === "number" ? part >> 1 : part);
  return { high, low: (low & ~1) | (Number(part) & 1) };
}

function unmirrored({ high, low }: Key, ordinal?: number): number {
  const uniform = keyed.uniform({ high, low: low & ~1 }, ordinal);
  return low & 1 ? 1 - uniform : uniform;
}
