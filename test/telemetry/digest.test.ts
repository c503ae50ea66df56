import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { addDigests, digestOf, hex16, noRows } from "../../src/telemetry/digest.ts";
import { big, openBatch, orNull, table, whole } from "../../src/telemetry/table.ts";
import { batchOf, dictionaries, type EveryKind, everyKind, everyRow } from "./everyKind.ts";

const words = ["cap", "slice", "残り", ""];
const length = fc.maxSafeInteger().map((number) => number % 1e15);
const double = fc.double().map((number) => number + 0);
const orNone = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });

/** A value for each column. */
const cells: { [Name in keyof EveryKind]: fc.Arbitrary<EveryKind[Name]> } = {
  row: fc.integer(),
  count: orNone(fc.integer()),
  sum: fc.maxSafeInteger(),
  sum_or_null: orNone(fc.maxSafeInteger()),
  held_seconds: length,
  held_seconds_or_null: orNone(length),
  cost_usd: length,
  cost_usd_or_null: orNone(length),
  share: double,
  share_or_null: orNone(double),
  told: fc.boolean(),
  told_or_null: orNone(fc.boolean()),
  said: fc.string({ unit: "grapheme" }),
  said_or_null: orNone(fc.string({ unit: "grapheme" })),
  status: fc.constantFrom("running", "completed"),
  arm: fc.constantFrom(...dictionaries.arm),
  arm_or_null: orNone(fc.constantFrom(...dictionaries.arm)),
  command: orNone(fc.constantFrom(...dictionaries.command)),
  reasons: fc.array(fc.constantFrom(...words), { maxLength: 3 }),
  arms: orNone(fc.array(fc.constantFrom(...dictionaries.arm), { maxLength: 3 })),
};
const names = Object.keys(cells) as (keyof EveryKind)[];
const row = fc.record(cells) as fc.Arbitrary<EveryKind>;
const rows = fc.array(row, { minLength: 1, maxLength: 6 });

/** A row, and the same row with another value in one column. */
const change = fc
  .tuple(row, fc.constantFrom(...names))
  .chain(([before, name]) =>
    (cells[name] as fc.Arbitrary<unknown>)
      .filter((value) => !alike(value, before[name]))
      .map((value) => ({ before, after: { ...before, [name]: value } as EveryKind })),
  );

function alike(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** A run of a law is several batches with a column of every kind, so there are fewer of them than usual. */
const runs = { numRuns: 300 };

const digest = (of: readonly EveryKind[], by = dictionaries) => digestOf(batchOf(of, by));

describe("the digest of a table", () => {
  test("of no rows is nothing", () => {
    expect(digest([])).toEqual(noRows);
    expect(hex16(noRows)).toBe("0000000000000000");
  });

  test("is the same whatever the order of its rows", () => {
    const shuffled = rows.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    );
    fc.assert(
      fc.property(shuffled, ([some, others]) => {
        expect(digest(others)).toEqual(digest(some));
      }),
      runs,
    );
  });

  test("changes with any cell of any row", () => {
    fc.assert(
      fc.property(rows, change, (others, { before, after }) => {
        expect(digest([...others, after])).not.toEqual(digest([...others, before]));
      }),
      runs,
    );
  });

  test("changes when two rows exchange a cell", () => {
    fc.assert(
      fc.property(row, row, fc.constantFrom(...names), (a, b, name) => {
        fc.pre(!alike(a[name], b[name]) && names.some((rest) => rest !== name && !alike(a[rest], b[rest])));
        const exchanged = [
          { ...a, [name]: b[name] },
          { ...b, [name]: a[name] },
        ];
        expect(digest(exchanged)).not.toEqual(digest([a, b]));
      }),
      runs,
    );
  });

  test("of a table in parts is the sum over the parts", () => {
    fc.assert(
      fc.property(rows, rows, (some, others) => {
        expect(addDigests(digest(some), digest(others))).toEqual(digest([...some, ...others]));
      }),
      runs,
    );
    const many = everyRow(5_000);
    expect(addDigests(digest(many.slice(0, 1_025)), digest(many.slice(1_025)))).toEqual(digest(many));
  });

  test("of a batch that took in another is the sum of both", () => {
    const batch = batchOf(everyRow(1_000));
    batch.append(batchOf(everyRow(77)));
    expect(digestOf(batch)).toEqual(addDigests(digest(everyRow(1_000)), digest(everyRow(77))));
  });

  test("does not depend on the order of dictionaries", () => {
    const turned = { arm: [...dictionaries.arm].reverse(), command: [...dictionaries.command].reverse() };
    fc.assert(
      fc.property(rows, (some) => {
        expect(digest(some, turned)).toEqual(digest(some));
      }),
      runs,
    );
  });

  test("tells null from zero, from false, from the empty text, from the first word and from the empty list", () => {
    const none: Partial<EveryKind> = {
      count: null,
      sum_or_null: null,
      held_seconds_or_null: null,
      cost_usd_or_null: null,
      share_or_null: null,
      told_or_null: null,
      said_or_null: null,
      arm_or_null: null,
      command: null,
      arms: null,
    };
    const zero: Partial<EveryKind> = {
      count: 0,
      sum_or_null: 0,
      held_seconds_or_null: 0,
      cost_usd_or_null: 0,
      share_or_null: 0,
      told_or_null: false,
      said_or_null: "",
      arm_or_null: dictionaries.arm[0]!,
      command: dictionaries.command[0]!,
      arms: [],
    };
    const [one] = everyRow(1);
    const seen = new Set<string>();
    for (const name of Object.keys(none) as (keyof EveryKind)[]) {
      seen.add(hex16(digest([{ ...one!, ...zero, [name]: null }])));
    }
    seen.add(hex16(digest([{ ...one!, ...zero }])));
    expect(seen.size).toBe(Object.keys(none).length + 1);
  });

  test("takes −0 for 0, as DuckDB does, and every not-a-number for one", () => {
    const [one] = everyRow(1);
    const share = (value: number) => hex16(digest([{ ...one!, share: value }]));
    expect(share(-0)).toBe(share(0));
    const odd = new Float64Array(new Uint32Array([1, 0xfff80000]).buffer)[0]!;
    expect(share(odd)).toBe(share(NaN));
  });

  test("knows in which column and in which table a value stands", () => {
    const pair = (name: string) => {
      const batch = openBatch(table(name, "", { a: orNull(whole("")), b: orNull(whole("")), c: big("") }), {});
      return (a: number | null, b: number | null, c: number) => {
        batch.clear();
        batch.columns.a.push(a);
        batch.columns.b.push(b);
        batch.columns.c.push(c);
        return hex16(digestOf(batch));
      };
    };
    const first = pair("first");
    const second = pair("second");
    const seen = [
      first(1, 2, 3),
      first(2, 1, 3),
      first(3, 2, 1),
      first(1, null, 3),
      first(null, 1, 3),
      second(1, 2, 3),
    ];
    expect(new Set(seen).size).toBe(6);
  });

  test("uses all of its 64 bits, also for rows that hardly differ", () => {
    const batch = openBatch(table("counted", "", { large: big(""), small: whole("") }), {});
    const one = (large: number, small: number) => {
      batch.clear();
      batch.columns.large.push(large);
      batch.columns.small.push(small);
      return digestOf(batch);
    };
    const set = new Array<number>(64).fill(0);
    for (let n = 0; n < 10_000; n += 1) {
      const { high, low } = one(n, 0);
      for (let bit = 0; bit < 64; bit += 1) set[bit]! += ((bit < 32 ? low : high) >>> (bit & 31)) & 1;
    }
    // Five standard deviations of 10,000 throws of a coin.
    for (const count of set) expect(Math.abs(count - 5_000)).toBeLessThan(250);

    // So many values of 53 bits would meet a few times if only 32 bits of a column outlived the next one.
    const drawn = Array.from({ length: 150_000 }, (_, n) => keyed.uniform(keyed.seeded(3), n) * 2 ** 53);
    expect(new Set(drawn.map((large) => hex16(one(large, 0)))).size).toBe(drawn.length);
  });
});

describe("digests add up", () => {
  const lane = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const any = fc.record({ rows: fc.nat(), high: lane, low: lane });

  test("modulo 2^64", () => {
    const sum = (a: { high: number; low: number }) => (BigInt(a.high) << 32n) + BigInt(a.low);
    fc.assert(
      fc.property(any, any, (a, b) => {
        const both = addDigests(a, b);
        expect(sum(both)).toBe((sum(a) + sum(b)) % 2n ** 64n);
        expect(hex16(both)).toBe(sum(both).toString(16).padStart(16, "0"));
        expect(both.rows).toBe(a.rows + b.rows);
      }),
    );
  });
});

test("every column of the table has a law to keep", () => {
  expect(names).toEqual(Object.keys(everyKind.columns));
});
