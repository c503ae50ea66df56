import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  DuckDBDataChunkWriter,
  DuckDBDecimalValue,
  DuckDBInstance,
  type DuckDBValue,
  listValue,
} from "@duckdb/node-api";
import { afterAll, describe, expect, test } from "vitest";
import { Collector, openStore, readStore, type Store, StoreError } from "../../src/telemetry/store.ts";
import {
  type Batch,
  type Dictionaries,
  dictionaryOf,
  listOf,
  oneOf,
  openBatch,
  orNull,
  type Table,
  table,
  text,
  whole,
} from "../../src/telemetry/table.ts";
import { batchOf, dictionaries, type EveryKind, everyKind, everyRow } from "./everyKind.ts";
import { calls, callsIn, trials, trialsIn, worldOf } from "./wholeWorlds.ts";

const folder = mkdtempSync(join(tmpdir(), "yieldpoint-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const fresh = () => join(folder, `${files++}.duckdb`);

async function written(path: string, tables: readonly Table[], words: Dictionaries, batches: readonly Batch[]) {
  const store = await openStore(path, tables, words);
  await store.appendWorlds(batches);
  await store.close();
}

/** What the file answers, opened and closed for it. */
async function asked<Row extends object>(path: string, sql: string): Promise<Row[]> {
  const file = await readStore(path);
  try {
    return await file.rows<Row>(sql);
  } finally {
    await file.close();
  }
}

describe("columns copied into DuckDB", () => {
  // The last chunk is odd: 10,003 = 4 · 2,048 + 1,811.
  const rows = everyRow(10_003);

  test("are, cell by cell and in order, what DuckDB's own row writer makes of the same rows", async () => {
    const path = fresh();
    await written(path, [everyKind], dictionaries, [batchOf(rows)]);
    const names = Object.keys(everyKind.columns);
    const types = dictionaryOf([everyKind]).map(({ type }) => type.replace(/^ENUM\(.*\)/, "VARCHAR"));

    const instance = await DuckDBInstance.create(path);
    const connection = await instance.connect();
    await connection.run(`CREATE TABLE official (${names.map((name, index) => `"${name}" ${types[index]}`)})`);
    const appender = await connection.createAppender("official");
    const writer = DuckDBDataChunkWriter.forAppender(appender);
    for (const row of rows) writer.appendRow(officialValues(row));
    writer.flush();
    appender.closeSync();

    const ours = names.map((name, index) => `"${name}"::${types[index]} AS "${name}"`);
    const differing = names.map((name) => `count(*) FILTER (a."${name}" IS DISTINCT FROM b."${name}") AS "${name}"`);
    const answer = await connection.runAndReadAll(`
      WITH a AS (SELECT ${ours} FROM every_kind), b AS (FROM official)
      SELECT ${differing} FROM a POSITIONAL JOIN b`);
    expect(answer.getRowObjectsJson()).toEqual([Object.fromEntries(names.map((name) => [name, "0"]))]);
    const missing = await connection.runAndReadAll(`
      WITH a AS (SELECT ${ours} FROM every_kind)
      SELECT (SELECT count(*) FROM official) AS rows,
        (SELECT count(*) FROM (FROM a EXCEPT ALL FROM official)) AS only_ours,
        (SELECT count(*) FROM (FROM official EXCEPT ALL FROM a)) AS only_theirs`);
    expect(missing.getRowObjectsJson()).toEqual([{ rows: "10003", only_ours: "0", only_theirs: "0" }]);
    connection.closeSync();
    instance.closeSync();
  });

  test("are read back as plain numbers, words and lists, with seconds as seconds and dollars as dollars", async () => {
    const path = fresh();
    await written(path, [everyKind], dictionaries, [batchOf(rows)]);
    const seconds = (length: number | null) => (length === null ? null : length / 1_000);
    const dollars = (amount: number | null) => (amount === null ? null : amount / 1e6);
    expect(await asked(path, `SELECT * FROM every_kind ORDER BY "row"`)).toEqual(
      rows.map((row) => ({
        ...row,
        held_seconds: seconds(row.held_seconds),
        held_seconds_or_null: seconds(row.held_seconds_or_null),
        cost_usd: dollars(row.cost_usd),
        cost_usd_or_null: dollars(row.cost_usd_or_null),
      })),
    );
  });

  test.each([1, 63, 64, 65, 2_047, 2_048, 2_049, 4_096 + 33])("keep a null in the last of %i rows", async (length) => {
    const path = fresh();
    const odd = table("odd", "", {
      n: orNull(whole("a number")),
      said: orNull(text("text")),
      arm: orNull(oneOf("arm", "")),
    });
    const batch = openBatch(odd, { arm: ["a"] });
    for (let row = 1; row <= length; row += 1) {
      batch.columns.n.push(row === length ? null : row);
      batch.columns.said.push(row === length ? null : "x");
      batch.columns.arm.push(row === length ? null : "a");
    }
    await written(path, [odd], { arm: ["a"] }, [batch]);
    expect(
      await asked(path, "SELECT rowid + 1 AS place FROM odd WHERE n IS NULL AND said IS NULL AND arm IS NULL"),
    ).toEqual([{ place: length }]);
    expect(await asked(path, "SELECT count(n) AS n, count(said) AS said, count(arm) AS arm FROM odd")).toEqual([
      { n: length - 1, said: length - 1, arm: length - 1 },
    ]);
  });

  test.each([255, 256, 65_535, 65_536])("keep words from a dictionary of %i, the last one too", async (size) => {
    const path = fresh();
    const words = { word: Array.from({ length: size }, (_, n) => `word ${n}`) };
    const spoken = table("spoken", "", { word: oneOf("word", ""), list: listOf("word", "") });
    const batch = openBatch(spoken, words);
    for (const n of [0, size - 1, size >> 1]) {
      batch.columns.word.push(`word ${n}`);
      batch.columns.list.push([`word ${size - 1}`, `word ${n}`]);
    }
    await written(path, [spoken], words, [batch]);
    expect(await asked(path, "FROM spoken")).toEqual(
      [0, size - 1, size >> 1].map((n) => ({ word: `word ${n}`, list: [`word ${size - 1}`, `word ${n}`] })),
    );
  });
});

function officialValues(row: EveryKind): DuckDBValue[] {
  return Object.entries(everyKind.columns).map(([name, { kind }]) => {
    const value = row[name as keyof EveryKind];
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "object") return listValue(value);
    if (kind === "seconds") return new DuckDBDecimalValue(BigInt(value), 15, 3);
    if (kind === "dollars") return new DuckDBDecimalValue(BigInt(value), 15, 6);
    return kind === "big" ? BigInt(value) : value;
  });
}

describe("a file that is made", () => {
  test("says in its comments what each column means, with the unit", async () => {
    const path = fresh();
    await written(path, [everyKind, trials], dictionaries, []);
    const comments = await asked<{ column_name: string; comment: string }>(
      path,
      "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'every_kind' ORDER BY column_index",
    );
    expect(comments.slice(4, 9)).toEqual([
      { column_name: "held_seconds", comment: "a length [s]" },
      { column_name: "held_seconds_or_null", comment: "a length; null if nothing was held [s]" },
      { column_name: "cost_usd", comment: "an amount [USD]" },
      { column_name: "cost_usd_or_null", comment: "an amount; null if nobody asked for it [USD]" },
      { column_name: "share", comment: "any double [of 1]" },
    ]);
    expect(comments).toHaveLength(Object.keys(everyKind.columns).length);
    expect(await asked(path, "SELECT table_name, comment FROM duckdb_tables() ORDER BY ALL")).toEqual([
      { table_name: "every_kind", comment: "one row for each value that is hard to keep" },
      { table_name: "trials", comment: "one row for each trial" },
    ]);
  });

  test("keeps hostile words and hostile comments for what they are", async () => {
    const path = fresh();
    const hostile = [
      "it's",
      '"quoted"',
      "'); DROP TABLE said; --",
      "back\\slash",
      "line\nbreak\ttab\r",
      "\u202eright to left",
      "\u0000nul",
      "lone \ud800 surrogate",
      "x".repeat(10_000),
      "$1 ? $name",
      "😀 残り",
      " ",
      "",
    ];
    const kept = hostile.map((word) => word.replace("\0", "\ufffd").replace("\ud800 ", "\ufffd "));
    const said = table("said", `it's "said"; '); DROP TABLE said; -- \0`, {
      word: oneOf("word", "it's a word"),
      words: listOf("word", "\0"),
      text: text("also '); DROP TABLE said; --"),
    });
    const batch = openBatch(said, { word: hostile });
    for (const word of hostile) {
      batch.columns.word.push(word);
      batch.columns.words.push([word, word]);
      batch.columns.text.push(word);
    }
    await written(path, [said], { word: hostile }, [batch]);
    expect(await asked(path, "FROM said")).toEqual(kept.map((word) => ({ word, words: [word, word], text: word })));
    expect(await asked(path, "SELECT comment FROM duckdb_tables()")).toEqual([
      { comment: `it's "said"; '); DROP TABLE said; -- \ufffd` },
    ]);
  });

  test("takes tables whose dictionary has no words, as long as no row needs one", async () => {
    const path = fresh();
    const mute = table("mute", "", { word: orNull(oneOf("word", "")), words: listOf("word", "") });
    const batch = openBatch(mute, { word: [] });
    batch.columns.word.push(null);
    batch.columns.words.push([]);
    await written(path, [mute], { word: [] }, [batch]);
    expect(await asked(path, "FROM mute")).toEqual([{ word: null, words: [] }]);
  });

  test("is made in a folder that was not there", async () => {
    const path = join(folder, "new", "folder", "run.duckdb");
    await written(path, [trials], {}, []);
    expect(await asked(path, "SELECT count(*) AS n FROM trials")).toEqual([{ n: 0 }]);
  });
});

describe("memory is refused before DuckDB touches it", () => {
  /** A batch that says it is in order, as one would that lost its memory between two awaits. */
  const unsealed = (batch: Batch): Batch => ({ ...batch, rows: batch.rows, seal: () => undefined });

  async function refused(batch: Batch, message: string): Promise<void> {
    const store = await openStore(fresh(), [everyKind, trials], dictionaries);
    await expect(store.appendWorlds([worldOf(1)[0]!, batch])).rejects.toThrow(RangeError);
    await expect(store.appendWorlds([worldOf(1)[0]!, batch])).rejects.toThrow(message);
    // Nothing of the refused world is there, and the next one is taken.
    expect(
      await store.rows("SELECT (SELECT count(*) FROM trials) AS t, (SELECT count(*) FROM every_kind) AS e"),
    ).toEqual([{ t: 0, e: 0 }]);
    await store.appendWorlds([worldOf(1)[0]!, batchOf(everyRow(100))]);
    expect(await store.rows("SELECT count(*) AS n FROM every_kind")).toEqual([{ n: 100 }]);
    await store.close();
  }

  const column = <Kind extends string>(batch: Batch, name: string) =>
    batch.cells.find(({ where }) => where === `every_kind.${name}`)! as Extract<Batch["cells"][number], { kind: Kind }>;

  test("if a column was given to another thread", async () => {
    const batch = batchOf(everyRow(5_000));
    structuredClone(null, { transfer: [column<"big" | "seconds" | "dollars">(batch, "held_seconds").values.buffer] });
    await refused(batch, "every_kind.held_seconds no longer has its memory");
    await refused(unsealed(batch), "every_kind.held_seconds ends before its rows do");
  });

  test("if a mask was given to another thread", async () => {
    const batch = batchOf(everyRow(5_000));
    structuredClone(null, { transfer: [column<"whole">(batch, "count").valid.buffer] });
    await refused(batch, "every_kind.count no longer has its memory");
    await refused(unsealed(batch), "every_kind.count ends before its rows do");
  });

  test("if a column or a mask is too short", async () => {
    const batch = batchOf(everyRow(5_000));
    const { values } = column<"big" | "seconds" | "dollars">(batch, "sum");
    column<"big" | "seconds" | "dollars">(batch, "sum").values = values.slice(0, 2 * 4_999);
    await refused(unsealed(batch), "every_kind.sum ends before its rows do");
    column<"big" | "seconds" | "dollars">(batch, "sum").values = values;
    column<"whole">(batch, "count").valid = new Uint32Array(2 * (4_992 / 64));
    await refused(unsealed(batch), "every_kind.count ends before its rows do");
  });

  test("if numbers are wider or narrower than the file's", async () => {
    const wide = batchOf(everyRow(100));
    column<"oneOf">(wide, "arm").values = new Uint16Array(1_024);
    await refused(wide, "every_kind.arm is not as wide as ENUM('control'");
    const narrow = batchOf(everyRow(100));
    column<"oneOf">(narrow, "command").values = new Uint8Array(1_024);
    await refused(narrow, "every_kind.command is not as wide as ENUM('pytest");
  });

  test("if a code is beyond the dictionary", async () => {
    const batch = batchOf(everyRow(5_000));
    column<"oneOf">(batch, "arm").values[4_999] = 5;
    await refused(batch, "every_kind.arm has 5 words, row 4999 the code 5");
  });

  test("if a list is one that was never met, or holds a code beyond the dictionary", async () => {
    const batch = batchOf(everyRow(5_000));
    const lists = column<"listOf">(batch, "reasons");
    const row = lists.values[4_999]!;
    lists.values[4_999] = 1_000;
    await refused(batch, "every_kind.reasons has no list 1000");
    lists.values[4_999] = row;
    (lists.lists as (readonly number[])[])[row] = [6];
    await refused(batch, "every_kind.reasons has 6 words");
  });

  test("if the words are others than the file's, in number or in order", async () => {
    const more = { ...dictionaries, arm: Array.from({ length: 300 }, (_, n) => `${n}`).concat(dictionaries.arm) };
    await refused(batchOf(everyRow(10), more), "every_kind has other columns in the file");
    const turned = { ...dictionaries, arm: [...dictionaries.arm].reverse() };
    await refused(batchOf(everyRow(10), turned), "every_kind has other columns in the file");
  });
});

describe("worlds are kept whole", () => {
  test("or not at all: when the last table fails, the first has no rows either", async () => {
    const path = fresh();
    const store = await openStore(path, [trials, calls], {});
    await store.appendWorlds(worldOf(0));
    const [some, others] = worldOf(1);
    others!.cells[1]!.push(0 as never);
    await expect(store.appendWorlds([some!, others!])).rejects.toThrow("calls.call has a value for each of 21000 rows");
    const unknown = openBatch(table("unknown", "", { n: whole("") }), {});
    unknown.columns.n.push(1);
    await expect(store.appendWorlds([...worldOf(2), unknown])).rejects.toThrow(StoreError);
    await store.appendWorlds(worldOf(3));
    await store.close();
    expect(await worldsIn(path)).toEqual([0, 3]);
  });

  test.each([40, 160, 420])("when the process is killed %i ms after the first is", async (after) => {
    const path = fresh();
    const child = spawn(process.execPath, [fileURLToPath(new URL("keepsWriting.mjs", import.meta.url)), path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = -1;
    // Whatever else is printed on the way there is not an acknowledgement.
    const first = new Promise<void>((resolve) => {
      createInterface(child.stdout).on("line", (line) => {
        if (!/^\d+$/.test(line)) return;
        acknowledged = Number(line);
        resolve();
      });
    });
    await first;
    await pause(after);
    child.kill("SIGKILL");
    await once(child, "close");
    const worlds = await worldsIn(path);
    expect(worlds).toEqual(worlds.map((_, world) => world));
    expect(worlds.length).toBeGreaterThan(acknowledged);
    expect(acknowledged).toBeGreaterThanOrEqual(0);
  });

  /** The worlds of a file, each of them with all its rows. */
  async function worldsIn(path: string): Promise<number[]> {
    const counted = await asked<{ world: number; trials: number; calls: number }>(
      path,
      `SELECT world, coalesce(t.n, 0) AS trials, coalesce(c.n, 0) AS calls
        FROM (SELECT world, count(*) AS n FROM trials GROUP BY world) AS t
        FULL JOIN (SELECT world, count(*) AS n FROM calls GROUP BY world) AS c USING (world) ORDER BY world`,
    );
    const worlds = counted.map(({ world }) => world);
    expect(counted).toEqual(worlds.map((world) => ({ world, trials: trialsIn(world), calls: callsIn(world) })));
    return worlds;
  }

  test("gathered until there are enough of them, and written at the end", async () => {
    const store = await openStore(fresh(), [trials, calls], {});
    const kept = async () => (await store.rows<{ n: number }>("SELECT count(DISTINCT world) AS n FROM trials"))[0]!.n;
    const collector = new Collector(store, callsIn(0) + callsIn(1));
    const [some, others] = worldOf(0);
    await collector.take([some!, others!]);
    // It was copied, so it is free again.
    some!.clear();
    others!.clear();
    expect(await kept()).toBe(0);
    await collector.take(worldOf(1));
    expect(await kept()).toBe(2);
    for (const world of [2, 3, 4]) await collector.take(worldOf(world));
    expect(await kept()).toBe(4);
    await collector.close();
    expect(await kept()).toBe(5);
    expect(await store.rows("SELECT world, count(*) AS n FROM calls GROUP BY world ORDER BY world")).toEqual(
      [0, 1, 2, 3, 4].map((world) => ({ world, n: callsIn(world) })),
    );
    await store.close();
  });

  test("when they are handed over faster than they are written", async () => {
    const path = fresh();
    const store = await openStore(path, [trials, calls], {});
    const collector = new Collector(store, 1);
    await Promise.all(Array.from({ length: 12 }, (_, world) => collector.take(worldOf(world))));
    await collector.close();
    await store.close();
    expect(await worldsIn(path)).toHaveLength(12);
  });
});

describe("a question", () => {
  let store: Store;
  const path = fresh();

  test("is answered with plain values of every type", async () => {
    store = await openStore(path, [calls], {});
    await store.appendWorlds([worldOf(0)[1]!]);
    expect(
      await store.rows(`SELECT sum(call) AS hugeint, count(*) AS bigint, sum(held_seconds) AS decimal, 1.5 AS half,
        [1::BIGINT, NULL] AS list, {a: 2::HUGEINT} AS struct, NULL AS nothing, 'x'::ENUM('x') AS word, 2::UBIGINT AS ubigint,
        true AS flag, avg(held_seconds) > 100 AS compared FROM calls`),
    ).toEqual([
      {
        hugeint: 199_990_000,
        bigint: 20_000,
        decimal: expect.closeTo(2_400_000, -5),
        half: 1.5,
        list: [1, null],
        struct: { a: 2 },
        nothing: null,
        word: "x",
        ubigint: 2,
        flag: true,
        compared: true,
      },
    ]);
  });

  test("takes parameters by place and by name", async () => {
    expect(
      await store.rows("SELECT count(*) AS n FROM calls WHERE call < ? AND held_seconds > ?", [10, 0.001]),
    ).toEqual([{ n: 9 }]);
    expect(
      await store.rows("SELECT $who AS who, $n + 1 AS n, $none IS NULL AS none", {
        who: "it's",
        n: 2 ** 40,
        none: null,
      }),
    ).toEqual([{ who: "it's", n: 2 ** 40 + 1, none: true }]);
  });

  test("that cannot be answered says so and leaves the file usable", async () => {
    await expect(store.rows("SELECT nothing FROM nowhere")).rejects.toThrow(StoreError);
    await expect(store.rows("SELECT nothing FROM nowhere")).rejects.toThrow(
      `${path}: Catalog Error: Table with name nowhere`,
    );
    await expect(store.rows("SELECT ?")).rejects.toThrow(StoreError);
    expect(await store.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("to a closed file is refused, and closing twice is not", async () => {
    await store.close();
    await store.close();
    await expect(store.rows("SELECT 1")).rejects.toThrow(`${path} is closed: open it again`);
    await expect(store.appendWorlds([])).rejects.toThrow(StoreError);
  });
});

describe("a file is not opened", () => {
  test("for reading when it is not there", async () => {
    const path = join(folder, "nowhere", "missing.duckdb");
    await expect(readStore(path)).rejects.toThrow(StoreError);
    await expect(readStore(path)).rejects.toThrow(`${path} is not there: a run makes it`);
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  test.each([["words"], [""], ["\0".repeat(8) + "DUCK".repeat(4_000)]])(
    "for reading when it holds %.12j",
    async (content) => {
      const path = fresh();
      writeFileSync(path, content);
      await expect(readStore(path)).rejects.toThrow(StoreError);
      await expect(readStore(path)).rejects.toThrow(
        `${path} is not a DuckDB database, or a damaged one: is it the file you meant?`,
      );
    },
  );

  test("when it is a folder", async () => {
    const path = fresh();
    mkdirSync(path);
    await expect(readStore(path)).rejects.toThrow(StoreError);
    await expect(openStore(path, [trials], {})).rejects.toThrow(StoreError);
    await expect(openStore(path, [trials], {}, { existing: "replace" })).rejects.toThrow(StoreError);
  });

  test("twice in one process, under whatever name, until it is closed", async () => {
    const path = fresh();
    const store = await openStore(path, [trials], {});
    const alias = join(folder, "alias.duckdb");
    symlinkSync(path, alias);
    for (const name of [path, alias, join(folder, ".", "x", "..", basename(path))]) {
      await expect(readStore(name)).rejects.toThrow("is open in this process already: close it before that");
      await expect(openStore(name, [trials], {}, { existing: "replace" })).rejects.toThrow(StoreError);
    }
    await store.close();
    const reading = await readStore(alias);
    await expect(readStore(path)).rejects.toThrow(StoreError);
    await reading.close();
    await (await readStore(path)).close();
  });

  test("while another process writes it, and the message says which", async () => {
    const path = fresh();
    const holder = `
      const { DuckDBInstance } = require("@duckdb/node-api");
      DuckDBInstance.create(process.argv[1]).then(() => { console.log("held"); setInterval(() => {}, 1_000); });`;
    const child = spawn(process.execPath, ["-e", holder, path], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface(child.stdout), "line");
    const message = `${path} is being written by another process (${child.pid}): wait for it to end, or stop it`;
    await expect(readStore(path)).rejects.toThrow(message);
    await expect(openStore(path, [trials], {}, { existing: "replace" })).rejects.toThrow(message);
    expect(existsSync(path)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "close");
    await (await readStore(path)).close();
  });

  test("for writing where one stands already, unless it is to be replaced", async () => {
    const path = fresh();
    await written(path, [trials], {}, [worldOf(0)[0]!]);
    await expect(openStore(path, [trials], {})).rejects.toThrow(`${path} is there already and may hold another run`);
    const store = await openStore(path, [calls], {}, { existing: "replace" });
    expect(await store.rows("SELECT table_name AS name FROM duckdb_tables()")).toEqual([{ name: "calls" }]);
    await store.close();
  });

  test("for writing over a file that is no database, not even to replace it", async () => {
    const path = fresh();
    writeFileSync(path, "notes");
    await expect(openStore(path, [trials], {}, { existing: "replace" })).rejects.toThrow(StoreError);
    expect(readFileSync(path, "utf8")).toBe("notes");
  });

  test("beside the log of a database that is gone", async () => {
    const path = fresh();
    writeFileSync(`${path}.wal`, "left over");
    await expect(openStore(path, [trials], {})).rejects.toThrow(`${path}.wal is left of a database that is gone`);
    await (await openStore(path, [trials], {}, { existing: "replace" })).close();
  });

  test("when its tables cannot be made, and nothing is left of it", async () => {
    const path = fresh();
    await expect(openStore(path, [trials, trials], {})).rejects.toThrow(`Table with name "trials" already exists`);
    expect(existsSync(path)).toBe(false);
    await (await openStore(path, [trials], {})).close();
  });
});

test("nobody loads DuckDB who opens no file", () => {
  const source = readFileSync(new URL("../../src/telemetry/store.ts", import.meta.url), "utf8");
  const loaded = source.match(/^import (?!type).*$[^;]*/gm)!.filter((statement) => statement.includes("@duckdb"));
  expect(loaded).toEqual([]);
});
