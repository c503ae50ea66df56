/** A table with every kind of column, with and without nulls, and the values that are most likely to be kept wrong. */
import { keyed, pick } from "../../src/random.ts";
import {
  type Batch,
  big,
  dollars,
  flag,
  listOf,
  oneOf,
  openBatch,
  orNull,
  type RowOf,
  real,
  seconds,
  table,
  text,
  whole,
} from "../../src/telemetry/table.ts";

const reasons = ["cap", "slice", 'it\'s "quoted"', "残り", "😀", ""];

export const everyKind = table("every_kind", "one row for each value that is hard to keep", {
  row: whole("its place"),
  count: orNull(whole("a number")),
  sum: big("a large number"),
  sum_or_null: orNull(big("a large number")),
  held_seconds: seconds("a length"),
  held_seconds_or_null: orNull(seconds("a length; null if nothing was held")),
  cost_usd: dollars("an amount"),
  cost_usd_or_null: orNull(dollars("an amount; null if nobody asked for it")),
  share: real("any double", "of 1"),
  share_or_null: orNull(real("any double")),
  told: flag("whether it was told"),
  told_or_null: orNull(flag("whether it was told")),
  said: text("what was said"),
  said_or_null: orNull(text("what was said")),
  status: oneOf(["running", "completed"], "how it was"),
  arm: oneOf("arm", "which arm"),
  arm_or_null: orNull(oneOf("arm", "which arm")),
  command: orNull(oneOf("command", "from more words than a byte can number")),
  reasons: listOf(reasons, "why, in order"),
  arms: orNull(listOf("arm", "which arms")),
});

export type EveryKind = RowOf<typeof everyKind>;

export const dictionaries = {
  arm: ["control", "treatment", "", "twelve bytes", "thirteen bytes"],
  command: Array.from({ length: 300 }, (_, n) => `pytest -q tests/part_${n}`),
};

const INT = 2 ** 31;
const LONG = Number.MAX_SAFE_INTEGER;
const counts = [0, -1, 1, INT - 1, -INT, 4_096];
const sums = [0, -1, 1, INT, -INT, -INT - 1, 2 ** 32, -(2 ** 32), 2 ** 32 - 1, 2 ** 53 - 1, LONG, -LONG, 1 - 2 ** 52];
const lengths = [
  0,
  1,
  999,
  240_000,
  5_400_000,
  INT,
  2 ** 40 + 1,
  999_999_999_999_999,
  -1,
  -INT - 1,
  -999_999_999_999_999,
];
const doubles = [0, NaN, Infinity, -Infinity, 5e-324, Number.MAX_VALUE, 0.1, -1 / 3, 2 ** 53];
const texts = [
  "",
  "a",
  "twelve bytes",
  "thirteen byte",
  'it\'s "q"',
  "残り時間",
  "😀👩‍💻",
  "line\nline",
  "long ".repeat(20),
  "\u202eabc",
];
const lists = [[], ["cap"], ["slice", "cap"], ["cap", "slice"], ["cap", "cap"], reasons, ["", "😀"]];

/** Values in milliseconds where columns are in seconds and in millionths where they are in dollars, drawn so that they meet in every combination. */
export function everyRow(rows: number): EveryKind[] {
  return Array.from({ length: rows }, (_, row) => {
    const key = keyed.within(keyed.seeded(7), row);
    let ordinal = 0;
    const from = <T>(things: readonly T[]) => things[pick(keyed, key, things.length, ordinal++)]!;
    const orNone = <T>(thing: T) => from([thing, thing, null]);
    return {
      row,
      count: orNone(from(counts)),
      sum: from(sums),
      sum_or_null: orNone(from(sums)),
      held_seconds: from(lengths),
      held_seconds_or_null: orNone(from(lengths)),
      cost_usd: from(lengths),
      cost_usd_or_null: orNone(from(lengths)),
      share: from(doubles),
      share_or_null: orNone(from(doubles)),
      told: from([true, false]),
      told_or_null: orNone(from([true, false])),
      said: from(texts),
      said_or_null: orNone(from(texts)),
      status: from(["running", "completed"]),
      arm: from(dictionaries.arm),
      arm_or_null: orNone(from(dictionaries.arm)),
      command: orNone(from(dictionaries.command)),
      reasons: from(lists),
      arms: orNone(from([[], ["control"], ["treatment", "control"]])),
    };
  });
}

export function batchOf(rows: readonly EveryKind[], words = dictionaries): Batch<(typeof everyKind)["columns"]> {
  const batch = openBatch(everyKind, words);
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) batch.columns[name as "count"].push(value as number | null);
  }
  return batch;
}
