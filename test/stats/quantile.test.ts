import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyed } from "../../src/random.ts";
import { NotEstimable } from "../../src/stats/estimate.ts";
import { median, quantile, sorted } from "../../src/stats/quantile.ts";

describe("a quantile", () => {
  const sample = sorted([3, 1, 4, 1, 5, 9, 2, 6]);

  test.each([
    [0, 1],
    [0.025, 1],
    [0.25, 1.75],
    [0.5, 3.5],
    [0.9, 6.9],
    [1, 9],
  ])("of a share of %d lies at %d, between neighbours", (share, value) => {
    expect(quantile(sample, share)).toBeCloseTo(value, 14);
  });

  test("of one value is that value, to the bit, whatever the share", () => {
    fc.assert(
      fc.property(fc.integer(), fc.double({ min: 0, max: 1, noNaN: true }), (thousandths, share) => {
        const value = thousandths / 1_000;
        expect(quantile(sorted([value, value, value]), share)).toBe(value);
      }),
    );
  });

  test("rises with the share and stays inside the sample", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), share, share, (values, one, other) => {
        const found = [0, Math.min(one, other), Math.max(one, other), 1].map((p) => quantile(sorted(values), p));
        expect(found).toEqual(found.toSorted((a, b) => a - b));
        expect([found[0], found[3]]).toEqual([Math.min(...values), Math.max(...values)]);
      }),
    );
  });

  test("is DuckDB's quantile_cont", async () => {
    const values = Array.from({ length: 997 }, (_, i) => 5_400 * keyed.uniform(keyed.seeded(1), i));
    const shares = [0, 0.01, 0.025, 0.333, 0.5, 0.9, 0.975, 0.99, 1];
    const connection = await (await DuckDBInstance.create()).connect();
    const answer = await connection.runAndReadAll(
      `SELECT ${shares.map((share) => `quantile_cont(x, ${share}::DOUBLE)`)} FROM (SELECT unnest([${values}]::DOUBLE[]) x)`,
    );
    const theirs = answer.getRows()[0] as number[];
    for (const [at, share] of shares.entries()) expect(quantile(sorted(values), share)).toBeCloseTo(theirs[at]!, 9);
    connection.closeSync();
  });

  test("of nothing, of NaN, and of a share beyond all is refused", () => {
    expect(() => median([])).toThrow(new NotEstimable("a quantile needs one value or more; there are none"));
    expect(() => sorted([1, Number.NaN])).toThrow("a sample is made of numbers, and one of these is NaN");
    expect(() => quantile(sample, 95)).toThrow("a quantile is asked for a share from 0 to 1, not 95");
  });
});

test("a median of an even number of values lies halfway between the middle two, and leaves the list as it was", () => {
  const values = [240, 10, 10.1, 240];
  expect(median(values)).toBe(125.05);
  expect(values).toEqual([240, 10, 10.1, 240]);
});
