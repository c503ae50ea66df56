import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  axisTitle,
  big,
  type Cells,
  comments,
  ddl,
  dictionaryOf,
  dollars,
  flag,
  identifier,
  isValid,
  listOf,
  literal,
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
import { batchOf, dictionaries, everyKind, everyRow } from "./everyKind.ts";

const waits = table("waits", "one row for each wait", {
  trial_id: whole("the trial it belongs to"),
  requested_wait_seconds: seconds("as the model asked, before any bound"),
  actual_wait_seconds: orNull(seconds("as it came out; null if it never began")),
  tokens: big("what it cost", "tokens"),
  status: oneOf(["running", "completed"], "of the process afterwards"),
  arm: oneOf("arm", "the arm's name"),
  reasons: listOf(["cap", "slice"], "every bound that cut it short, or none"),
  clamped: flag("whether less was granted than asked"),
  said: text("free text"),
  reward: orNull(real("from 0 to 1; null if ungraded")),
  pause_tax_usd: dollars("what it cost in money"),
});
const arms = { arm: ["control", "budgeted"] };

describe("a table said once", () => {
  test("becomes CREATE TABLE, with its dictionaries spelled out", () => {
    expect(ddl(waits, arms)).toBe(`CREATE TABLE "waits" (
  "trial_id" INTEGER NOT NULL,
  "requested_wait_seconds" DECIMAL(15,3) NOT NULL,
  "actual_wait_seconds" DECIMAL(15,3),
  "tokens" BIGINT NOT NULL,
  "status" ENUM('running', 'completed') NOT NULL,
  "arm" ENUM('control', 'budgeted') NOT NULL,
  "reasons" ENUM('cap', 'slice')[] NOT NULL,
  "clamped" BOOLEAN NOT NULL,
  "said" VARCHAR NOT NULL,
  "reward" DOUBLE,
  "pause_tax_usd" DECIMAL(15,6) NOT NULL
);`);
  });

  test("becomes comments that end in the unit", () => {
    const lines = comments(waits).split("\n");
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe(`COMMENT ON TABLE "waits" IS 'one row for each wait';`);
    expect(lines[2]).toBe(
      `COMMENT ON COLUMN "waits"."requested_wait_seconds" IS 'as the model asked, before any bound [s]';`,
    );
    expect(lines[6]).toBe(`COMMENT ON COLUMN "waits"."arm" IS 'the arm''s name';`);
  });

  test("becomes a data dictionary, in which an open dictionary goes by its name", () => {
    const rows = dictionaryOf([waits]);
    expect(rows).toHaveLength(11);
    expect(rows.slice(2, 7)).toEqual([
      {
        table: "waits",
        column: "actual_wait_seconds",
        type: "DECIMAL(15,3)",
        unit: "s",
        nullable: true,
        says: "as it came out; null if it never began",
      },
      { table: "waits", column: "tokens", type: "BIGINT", unit: "tokens", nullable: false, says: "what it cost" },
      {
        table: "waits",
        column: "status",
        type: "ENUM('running', 'completed')",
        unit: null,
        nullable: false,
        says: "of the process afterwards",
      },
      { table: "waits", column: "arm", type: "ENUM(arm)", unit: null, nullable: false, says: "the arm's name" },
      {
        table: "waits",
        column: "reasons",
        type: "ENUM('cap', 'slice')[]",
        unit: null,
        nullable: false,
        says: "every bound that cut it short, or none",
      },
    ]);
  });

  test("becomes axis titles that say the unit once", () => {
    expect(axisTitle(waits, "requested_wait_seconds")).toBe("requested wait (s)");
    expect(axisTitle(waits, "pause_tax_usd")).toBe("pause tax (USD)");
    expect(axisTitle(waits, "tokens")).toBe("tokens (tokens)");
    expect(axisTitle(waits, "status")).toBe("status");
  });

  test("becomes the type of its rows and of what may be pushed", () => {
    const { columns } = openBatch(waits, arms);
    expectTypeOf<RowOf<typeof waits>["actual_wait_seconds"]>().toEqualTypeOf<number | null>();
    expectTypeOf<RowOf<typeof waits>["status"]>().toEqualTypeOf<"running" | "completed">();
    expectTypeOf<RowOf<typeof waits>["arm"]>().toEqualTypeOf<string>();
    expectTypeOf(columns.reasons.push).parameter(0).toEqualTypeOf<readonly ("cap" | "slice")[]>();
    expectTypeOf(columns.trial_id.push).parameter(0).toEqualTypeOf<number>();
    expectTypeOf(columns.reward.push).parameter(0).toEqualTypeOf<number | null>();
    expectTypeOf(columns.status.codeOf).parameter(0).toEqualTypeOf<"running" | "completed">();
  });

  test("without its dictionary is not opened", () => {
    expect(() => ddl(waits, {})).toThrow("dictionary arm is given when the experiment opens");
  });
});

describe("a name or a text in SQL", () => {
  test("has its quotes doubled, and U+FFFD for what DuckDB cannot hold", () => {
    expect(identifier('a"b')).toBe('"a""b"');
    expect(literal("it's")).toBe("'it''s'");
    expect(literal("a\0b\ud800c")).toBe("'a\ufffdb\ufffdc'");
    expect(literal("😀\u202e")).toBe("'😀\u202e'");
  });
});

describe("a batch", () => {
  test("holds what was pushed, whatever the order of values and nulls", () => {
    const rows = everyRow(3_000);
    const batch = batchOf(rows);
    batch.seal();
    expect(batch.rows).toBe(3_000);
    expect(held(batch.cells, 3_000)).toEqual(rows);
  });

  test("appended to another is that other's rows followed by its own, wherever the seam lies", () => {
    const rows = everyRow(2_500);
    for (const seam of [0, 1, 31, 32, 33, 64, 1_000, 1_024, 2_047, 2_500]) {
      const batch = batchOf(rows.slice(0, seam));
      batch.append(batchOf(rows.slice(seam)));
      expect(held(batch.cells, 2_500)).toEqual(rows);
    }
  });

  test("takes a batch that numbers its lists in another order", () => {
    const rows = everyRow(50);
    const backwards = [...rows].reverse();
    const batch = batchOf(rows);
    batch.append(batchOf(backwards));
    expect(held(batch.cells, 100)).toEqual([...rows, ...backwards]);
  });

  test("cleared is as good as new", () => {
    const batch = batchOf(everyRow(1_100));
    batch.clear();
    expect(batch.rows).toBe(0);
    const rows = everyRow(1_000).reverse();
    batch.append(batchOf(rows));
    expect(held(batch.cells, 1_000)).toEqual(rows);
  });

  test("keeps any whole number below 2^53 in two halves", () => {
    const sums = table("sums", "sums", { sum: big("a sum") });
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 20 }), (numbers) => {
        const batch = openBatch(sums, {});
        for (const number of numbers) batch.columns.sum.push(number);
        const halves = batch.cells[0]!.values as Int32Array<ArrayBuffer>;
        expect([...new BigInt64Array(halves.buffer, 0, numbers.length)]).toEqual(numbers.map(BigInt));
      }),
    );
  });

  test("keeps −0 as 0", () => {
    const shares = table("shares", "shares", { share: real("a share") });
    const batch = openBatch(shares, {});
    batch.columns.share.push(-0);
    expect(batch.cells[0]!.values[0]).toBe(0);
  });

  test("takes a code that was looked up before", () => {
    const { columns, cells } = openBatch(waits, arms);
    const code = columns.arm.codeOf("budgeted");
    columns.arm.pushCode(code);
    columns.arm.push("budgeted");
    expect([...cells[5]!.values.slice(0, 2)]).toEqual([1, 1]);
  });

  test.each([
    [255, Uint8Array],
    [256, Uint16Array],
    [65_535, Uint16Array],
    [65_536, Uint32Array],
  ])("numbers %i words as DuckDB does", (size, width) => {
    const words = Array.from({ length: size }, (_, n) => `word ${n}`);
    const { columns, cells } = openBatch(waits, { arm: words });
    columns.arm.push(`word ${size - 1}`);
    expect(cells[5]!.values).toBeInstanceOf(width);
    expect(cells[5]!.values[0]).toBe(size - 1);
  });

  test("gives one code to words that DuckDB cannot tell apart", () => {
    const { columns } = openBatch(waits, { arm: ["a\0", "b", "a\ufffd", "b"] });
    expect(columns.arm.codeOf("a\0")).toBe(columns.arm.codeOf("a\ufffd"));
    expect(columns.arm.codeOf("b")).toBe(1);
    expect(ddl(waits, { arm: ["a\0", "b", "a\ufffd", "b"] })).toContain("ENUM('a\ufffd', 'b')");
  });

  test("can be opened with a dictionary that has no words", () => {
    expect(ddl(waits, { arm: [] })).toContain("\"arm\" ENUM('') NOT NULL");
    expect(() => openBatch(waits, { arm: [] }).columns.arm.push("x")).toThrow("waits.arm");
  });
});

describe("a batch refuses, by table and column,", () => {
  const { columns } = openBatch(waits, arms);

  test.each([NaN, Infinity, -Infinity, 0.5, 1e15, -1e15, Number.MAX_SAFE_INTEGER])("%d as milliseconds", (length) => {
    expect(() => columns.requested_wait_seconds.push(length)).toThrow(
      `invariant: waits.requested_wait_seconds is a whole number of milliseconds below 10^15; row 0 got ${length}`,
    );
    expect(() => columns.actual_wait_seconds.push(length)).toThrow("waits.actual_wait_seconds");
  });

  test.each([NaN, Infinity, -Infinity, 0.5, 1e15, -1e15])("%d as millionths of a dollar", (amount) => {
    expect(() => columns.pause_tax_usd.push(amount)).toThrow(
      `invariant: waits.pause_tax_usd is a whole number of millionths below 10^15; row 0 got ${amount}`,
    );
  });

  test.each([NaN, Infinity, 0.5, 2 ** 31, -(2 ** 31) - 1])("%d as a whole number of 32 bits", (number) => {
    expect(() => columns.trial_id.push(number)).toThrow("waits.trial_id is a whole number of 32 bits");
  });

  test.each([NaN, Infinity, 0.5, 2 ** 53])("%d as a whole number below 2^53", (number) => {
    expect(() => columns.tokens.push(number)).toThrow("waits.tokens is a whole number below 2^53");
  });

  test("a word outside its dictionary", () => {
    expect(() => columns.arm.push("treatment")).toThrow(
      'waits.arm is one of "control", "budgeted"; row 0 got "treatment"',
    );
    expect(() => columns.reasons.push(["cap", "x" as "cap"])).toThrow("waits.reasons is a list from");
    for (const code of [2, -1, 0.5, NaN])
      expect(() => columns.arm.pushCode(code)).toThrow("waits.arm is a code below 2");
  });

  test("a null where none may be", () => {
    for (const [name, column] of Object.entries(columns)) {
      if (waits.columns[name as "arm"].nullable) continue;
      expect(() => column.push(null as never)).toThrow(`waits.${name} is never null`);
    }
  });

  test("a row that is not whole", () => {
    const batch = openBatch(waits, arms);
    for (const column of [batch.columns.trial_id, batch.columns.requested_wait_seconds]) column.push(1);
    expect(() => batch.seal()).toThrow("waits.actual_wait_seconds has a value for each of 1 rows; it has 0");
  });

  test("rows of another table or of other dictionaries", () => {
    const other = batchOf(everyRow(3), { ...dictionaries, arm: [...dictionaries.arm].reverse() });
    expect(() => openBatch(waits, arms).append(other)).toThrow("waits");
    expect(() => batchOf(everyRow(3)).append(other)).toThrow("every_kind.arm takes cells of one dictionary");
    const alone = batchOf(everyRow(3));
    expect(() => alone.append(alone)).toThrow("is another batch of it");
    const alike = batchOf(everyRow(3), structuredClone(dictionaries));
    alike.append(batchOf(everyRow(3)));
    expect(alike.rows).toBe(6);
  });

  test("memory that was given to another thread", () => {
    const batch = batchOf(everyRow(3));
    structuredClone(null, { transfer: [(batch.cells[4]!.values as Int32Array<ArrayBuffer>).buffer] });
    expect(() => batch.seal()).toThrow(RangeError);
    expect(() => batch.seal()).toThrow("every_kind.held_seconds no longer has its memory");
  });
});

/** The rows as anyone may read them out of the cells. */
function held(cells: readonly Cells[], rows: number): object[] {
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      cells.map((column) => [column.where.split(".")[1]!, isValid(column, row) ? value(column, row) : null]),
    ),
  );
}

function value(cells: Cells, row: number): unknown {
  switch (cells.kind) {
    case "big":
    case "seconds":
    case "dollars":
      return cells.values[2 * row + 1]! * 2 ** 32 + (cells.values[2 * row]! >>> 0);
    case "flag":
      return cells.values[row] === 1;
    case "oneOf":
      return cells.words.stored[cells.values[row]!];
    case "listOf":
      return cells.lists[cells.values[row]!]!.map((code) => cells.words.stored[code]);
    default:
      return cells.values[row];
  }
}

test("every kind of column is in the table that the other tests write", () => {
  const kinds = new Set(Object.values(everyKind.columns).map(({ kind }) => kind));
  expect(kinds.size).toBe(9);
});
