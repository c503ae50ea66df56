/**
 * The one file of an experiment, and the only module that knows DuckDB.
 *
 * Rows go in as whole worlds: a transaction holds every table of some finished replicates or nothing, so that a run killed at
 * any moment leaves a readable file, and a resume finds whole worlds in it. Columns are copied into DuckDB's vectors as they
 * lie in memory, several times faster than row by row. A wrong length or width there damages memory instead of raising an
 * error, so everything is checked on this side first.
 *
 * DuckDB's lock keeps other processes out, but not a second instance in this one, which would silently lose rows. So this module
 * remembers what it has open. A worker thread has a module of its own: one thread opens files.
 */
import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type {
  DuckDBAppender,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBType,
  DuckDBTypeId,
  DuckDBValueConverter,
  JS,
} from "@duckdb/node-api";
import type { Vector } from "@duckdb/node-bindings";
import {
  type Batch,
  type Cells,
  codesFor,
  comments,
  type Dictionaries,
  ddl,
  isValid,
  literal,
  sqlTypeOf,
  type Table,
  type Words,
} from "./table.ts";

/** A file that cannot be made, opened, written or asked. The message says which, why and what to do; it needs no stack. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/** What `?` or `$name` may stand for in SQL. */
export type Parameter = string | number | boolean | null;

export interface Reading {
  /** The answer as plain objects: numbers of any type as `number` (beyond 2^53 the nearest), words as strings, lists as arrays. */
  rows<Row extends object>(sql: string, parameters?: Parameter[] | Record<string, Parameter>): Promise<Row[]>;
  close(): Promise<void>;
}

export interface Store extends Reading {
  readonly tables: readonly Table[];
  readonly dictionaries: Dictionaries;
  /**
   * Writes all of these batches or, where that fails, none; several may be of one table. They stay as they are, and must be left
   * alone until it is done.
   *
   * Without `commit` they are one transaction with what is written next: no question sees them before that is committed, and
   * where it fails they are gone too.
   */
  appendWorlds(batches: readonly Batch[], options?: { readonly commit?: boolean }): Promise<void>;
}

export interface StoreOptions {
  /** What to do with a database that stands there already. Other files are never replaced. */
  readonly existing?: "refuse" | "replace";
}

/** Makes the file, and the folder around it, with all tables and comments in it. */
export async function openStore(
  path: string,
  tables: readonly Table[],
  dictionaries: Dictionaries,
  { existing = "refuse" }: StoreOptions = {},
): Promise<Store> {
  const place = placeOf(path, "make");
  return claimed(path, place, async () => {
    if (existing === "replace") await removeDatabase(path, place);
    refuseExisting(path, place);
    // Where DuckDB puts what does not fit into memory; a killed run leaves it behind.
    rmSync(`${place}.tmp`, { recursive: true, force: true });
    const file = await openFile(path, place, WRITING, tables, dictionaries);
    try {
      await file.makeTables();
      return file;
    } catch (error) {
      await file.close();
      rmSync(place, { force: true });
      throw error;
    }
  });
}

/**
 * No log is written: a commit is a checkpoint. From a log that a kill has torn, DuckDB 1.5 takes whole groups of rows that were
 * never committed (duckdb/duckdb#25931), and the file holds half a world. A checkpoint is in the file once its last block is.
 *
 * A checkpoint needs up to 100 MB; with more, what was written would only be kept in memory. One group of rows is gathered before it
 * is compressed, rather than five.
 */
const WRITING = {
  threads: "1",
  memory_limit: "128MB",
  checkpoint_threshold: "0B",
  auto_checkpoint_skip_wal_threshold: "0",
  write_buffer_row_group_count: "1",
};

/** One thread: sums of floating-point numbers depend on who adds first, and a report has the same bytes each time. */
const READING = { access_mode: "READ_ONLY", threads: "1", memory_limit: "64MB" };

/** Opens a file for questions only. Many may read one file at a time, as long as nobody writes it. */
export async function readStore(path: string): Promise<Reading> {
  if (!existsSync(path)) throw new StoreError(`${path} is not there: a run makes it`);
  const place = placeOf(path, "find");
  return claimed(path, place, () => openFile(path, place, READING, [], {}));
}

/** A table that somebody else has written: every cell as its text, null where it is empty. */
export interface ForeignTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Reads a CSV file (commas, a first line of names, double quotes) or, by its ending, a Parquet file. */
export async function readForeign(path: string): Promise<ForeignTable> {
  if (!existsSync(path)) throw new StoreError(`${path} does not exist: expected a CSV or Parquet file`);
  if (/[*?[\]{}]/.test(path)) throw new StoreError(`${path} stands for many files with its *, ?, [ or {: rename it`);
  const { api } = await loadDuckDB();
  // Beyond the one file nothing is asked of the outside, but that file is outside.
  const instance = await api.DuckDBInstance.create(":memory:", {
    threads: "1",
    memory_limit: "1GB",
    ...SELF_CONTAINED,
  });
  const connection = await instance.connect();
  const file = literal(resolve(path));
  const from = /\.parquet$/i.test(path)
    ? `read_parquet(${file})`
    : `read_csv(${file}, header = true, all_varchar = true, delim = ',', quote = '"', escape = '"')`;
  try {
    const answer = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${from}`);
    const rows = answer.getRows() as (string | null)[][];
    return { columns: answer.columnNames(), rows: rows.map((row) => row.map((cell) => (cell === "" ? null : cell))) };
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new StoreError(`${path} cannot be read as a table: ${first}`);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/**
 * Rows of one table that are worth a transaction: three of the groups of 122,880 that DuckDB compresses straight into the file.
 * Below that the next checkpoint merges what is left of a group with its neighbours, four groups into three, and so
 * writes them again: half the speed and a file half as large again.
 */
const ENOUGH_ROWS = 3 * 122_880;

/** Puts finished worlds into the file, as many in each transaction as are worth one. */
export class Collector {
  readonly #store: Store;
  readonly #enough: number;
  /** Rows of each table that are not committed yet. */
  readonly #open = new Map<string, number>();

  /** @param enough how many rows the longest table has when all are committed */
  constructor(store: Store, enough = ENOUGH_ROWS) {
    this.#store = store;
    this.#enough = enough;
  }

  /** Takes a finished world, a batch for each table it has rows in. Once it is done, they may be cleared. */
  async take(world: readonly Batch[]): Promise<void> {
    for (const { table, rows } of world) this.#open.set(table.name, (this.#open.get(table.name) ?? 0) + rows);
    const commit = Math.max(...this.#open.values()) >= this.#enough;
    if (commit) {
      this.#open.clear();
      collectGarbage();
    }
    await this.#store.appendWorlds(world, { commit });
  }

  /** Commits what is left. The store stays open. */
  async close(): Promise<void> {
    collectGarbage();
    await this.#store.appendWorlds([]);
  }
}

let gc: (() => void) | null = null;

/** A commit takes memory of its own, and what trials have left behind is not needed beside it. */
function collectGarbage(): void {
  if (gc === null) {
    // Node has this behind a flag only. The flag may be set at any time; contexts made afterwards have it.
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
}

/** DuckDB takes a fifth of a second to load, so whoever asks for no file does not load it. */
async function loadDuckDB() {
  // Its allocator, jemalloc, would keep 100 MB of what is freed. It can be told otherwise only here, as the library is loaded.
  const given = process.env[ALLOCATOR];
  process.env[ALLOCATOR] ??= "dirty_decay_ms:0,muzzy_decay_ms:0";
  try {
    const [api, bindings] = await Promise.all([import("@duckdb/node-api"), import("@duckdb/node-bindings")]);
    return { api, bindings: bindings.default };
  } finally {
    if (given === undefined) delete process.env[ALLOCATOR];
  }
}
const ALLOCATOR = "DUCKDB_JE_MALLOC_CONF";
type DuckDB = Awaited<ReturnType<typeof loadDuckDB>>;

/** Every file this thread has open, by its real path. */
const open = new Set<string>();

/** Opens under a claim on the place, which a failure gives up again; a success keeps it until the file is closed. */
async function claimed<T>(path: string, place: string, opening: () => Promise<T>): Promise<T> {
  if (open.has(place)) throw new StoreError(`${path} is open in this process already: close it before that`);
  open.add(place);
  try {
    return await opening();
  } catch (error) {
    open.delete(place);
    throw error;
  }
}

function placeOf(path: string, purpose: "make" | "find"): string {
  const folder = dirname(resolve(path));
  try {
    if (purpose === "make") mkdirSync(folder, { recursive: true });
    return existsSync(path) ? realpathSync(path) : join(realpathSync(folder), basename(path));
  } catch (error) {
    throw new StoreError(`${path} cannot be made: ${messageOf(error)}`, { cause: error });
  }
}

function refuseExisting(path: string, place: string): void {
  if (existsSync(place)) {
    throw new StoreError(`${path} is there already and may hold another run: name another file, or remove it`);
  }
  if (existsSync(`${place}.wal`)) {
    throw new StoreError(`${path}.wal is left of a database that is gone, and would be read into a new one: remove it`);
  }
}

/** Only what opens as a database is removed, and only while nobody writes it: a mistyped name costs nobody a file. */
async function removeDatabase(path: string, place: string): Promise<void> {
  if (existsSync(place)) {
    const { api } = await loadDuckDB();
    const old = await api.DuckDBInstance.create(place, { access_mode: "READ_ONLY", ...SELF_CONTAINED }).catch(
      explained(path),
    );
    old.closeSync();
    rmSync(place);
  }
  rmSync(`${place}.wal`, { force: true });
}

/** Extensions would be fetched from the network at the first unknown function. */
const SELF_CONTAINED = { autoinstall_known_extensions: "false", autoload_known_extensions: "false" };

async function openFile(
  path: string,
  place: string,
  settings: Record<string, string>,
  tables: readonly Table[],
  dictionaries: Dictionaries,
): Promise<DatabaseFile> {
  const duckdb = await loadDuckDB();
  const instance = await duckdb.api.DuckDBInstance.create(place, { ...settings, ...SELF_CONTAINED }).catch(
    explained(path),
  );
  const connection = await instance.connect();
  const writer = await instance.connect();
  return new DatabaseFile({ path, place, duckdb, instance, connection, writer, tables, dictionaries });
}

interface Opened {
  readonly path: string;
  readonly place: string;
  readonly duckdb: DuckDB;
  readonly instance: DuckDBInstance;
  /** For questions. */
  readonly connection: DuckDBConnection;
  /** For transactions, which questions stay out of. */
  readonly writer: DuckDBConnection;
  readonly tables: readonly Table[];
  readonly dictionaries: Dictionaries;
}

class DatabaseFile implements Store {
  readonly tables: readonly Table[];
  readonly dictionaries: Dictionaries;
  readonly #opened: Opened;
  readonly #plain: DuckDBValueConverter<JS>;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  #failed = false;
  /** Whether a transaction is open. */
  #begun = false;
  readonly #ways = new Map<string, Way>();
  /** Batches whose columns are those of the file. Neither changes, and comparing takes long. */
  readonly #fitting = new WeakSet<Batch>();

  constructor(opened: Opened) {
    this.#opened = opened;
    this.tables = opened.tables;
    this.dictionaries = opened.dictionaries;
    this.#plain = plainValues(opened.duckdb);
  }

  makeTables(): Promise<void> {
    const made = this.tables.map((table) => ddl(table, this.dictionaries) + comments(table));
    return this.#inTransaction(true, async () => {
      for (const sql of made) await this.#opened.writer.run(sql);
    });
  }

  rows<Row extends object>(sql: string, parameters?: Parameter[] | Record<string, Parameter>): Promise<Row[]> {
    return this.#inTurn(async () => {
      const answer = await this.#opened.connection.runAndReadAll(sql, parameters);
      return answer.convertRowObjects(this.#plain) as Row[];
    });
  }

  async appendWorlds(batches: readonly Batch[], { commit = true } = {}): Promise<void> {
    for (const batch of batches) batch.seal();
    await this.#inTransaction(commit, async () => {
      for (const batch of batches) if (batch.rows > 0) await this.#append(batch);
    });
  }

  /** Leaves one file, without a log beside it; after a failure the log stays, and the file is as whole with it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const { place, connection, writer, instance } = this.#opened;
    try {
      await this.#inTurn(async () => {
        if (this.#begun) await writer.run("ROLLBACK");
        if (this.tables.length > 0 && !this.#failed) await connection.run("CHECKPOINT");
      });
    } finally {
      this.#closed = true;
      for (const { appender } of this.#ways.values()) appender.closeSync();
      connection.closeSync();
      writer.closeSync();
      instance.closeSync();
      open.delete(place);
    }
  }

  /** One thing after another. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { path } = this.#opened;
    const done = this.#last.then(() => {
      if (this.#closed) throw new StoreError(`${path} is closed: open it again`);
      return work().catch(explained(path));
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Begins a transaction unless one has begun, and ends it if it is to be committed or the work fails. */
  #inTransaction(commit: boolean, work: () => Promise<void>): Promise<void> {
    const { writer } = this.#opened;
    return this.#inTurn(async () => {
      try {
        if (!this.#begun) await writer.run("BEGIN TRANSACTION");
        this.#begun = true;
        await work();
        if (!commit) return;
        await writer.run("COMMIT");
        this.#begun = false;
      } catch (error) {
        this.#begun = false;
        this.#failed = true;
        // A commit that failed has rolled back by itself, and the first error is the one to tell.
        await writer.run("ROLLBACK").catch(() => undefined);
        throw error;
      }
    });
  }

  async #append(batch: Batch): Promise<void> {
    const { duckdb } = this.#opened;
    const { name } = batch.table;
    const way = this.#ways.get(name) ?? (await this.#openWay(name));
    try {
      if (!this.#fitting.has(batch)) checkTypes(way, batch);
      this.#fitting.add(batch);
      copyRows(duckdb, way, batch);
      way.appender.flushSync();
    } catch (error) {
      // Closing would try once more to write what is still held.
      way.appender.clear();
      way.appender.closeSync();
      this.#ways.delete(name);
      throw error;
    }
  }

  async #openWay(table: string): Promise<Way> {
    const { writer, duckdb } = this.#opened;
    const appender = await writer.createAppender(table);
    const types = Array.from({ length: appender.columnCount }, (_, index) => appender.columnType(index));
    const way = { appender, types, chunk: duckdb.api.DuckDBDataChunk.create(types) };
    this.#ways.set(table, way);
    return way;
  }
}

/** How rows get into a table. Kept, since a chunk holds memory that the garbage collector does not know of. */
interface Way {
  readonly appender: DuckDBAppender;
  readonly types: readonly DuckDBType[];
  readonly chunk: DuckDBDataChunk;
}

function plainValues({ api }: DuckDB): DuckDBValueConverter<JS> {
  return (value, type, converter) =>
    typeof value === "bigint" ? Number(value) : api.JSDuckDBValueConverter(value, type, converter);
}

/** Whatever DuckDB has to say, in a message that begins with the file. What is wrong with our own calls stays as it is. */
function explained(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof StoreError || error instanceof RangeError || error instanceof TypeError) throw error;
    const message = messageOf(error);
    const holder = /Conflicting lock is held in .*\(PID (\d+)\)/.exec(message);
    const told = holder
      ? ` is being written by another process (${holder[1]}): wait for it to end, or stop it`
      : /not a valid DuckDB database file|Corrupt database file/.test(message)
        ? " is not a DuckDB database, or a damaged one: is it the file you meant?"
        : `: ${message}`;
    throw new StoreError(path + told, { cause: error });
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A vector of another type would be filled all the same, and read as something else. */
function checkTypes({ types }: Way, { table, cells }: Batch): void {
  if (String(types) !== String(cells.map(sqlTypeOf))) {
    throw new RangeError(`${table.name} has other columns in the file than in the batch`);
  }
}

/** Copies all rows of a batch into the appender, a chunk at a time. */
function copyRows(duckdb: DuckDB, { appender, types, chunk }: Way, { cells, rows }: Batch): void {
  const { bindings } = duckdb;
  for (const [index, column] of cells.entries()) checkWidth(duckdb, column, types[index]!);
  const atOnce = bindings.vector_size();
  for (let first = 0; first < rows; first += atOnce) {
    // A chunk keeps the nulls, texts and lists of its last use otherwise.
    chunk.reset();
    chunk.rowCount = Math.min(atOnce, rows - first);
    for (const [index, column] of cells.entries()) {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
      fillVector(bindings, vector, column, first, chunk.rowCount);
    }
    appender.appendDataChunk(chunk);
  }
}

/** Wider numbers than the vector's would be written behind its end. */
function checkWidth({ api: { DuckDBTypeId } }: DuckDB, { where, kind, values, perRow }: Cells, type: DuckDBType): void {
  if (kind === "text") return;
  const bytes: Partial<Record<DuckDBTypeId, number>> = {
    [DuckDBTypeId.BOOLEAN]: 1,
    [DuckDBTypeId.UTINYINT]: 1,
    [DuckDBTypeId.USMALLINT]: 2,
    [DuckDBTypeId.UINTEGER]: 4,
    [DuckDBTypeId.INTEGER]: 4,
    [DuckDBTypeId.BIGINT]: 8,
    [DuckDBTypeId.DECIMAL]: 8,
    [DuckDBTypeId.DOUBLE]: 8,
    // The number of a list, which becomes an entry only in the vector.
    [DuckDBTypeId.LIST]: 4,
  };
  const width = bytes["internalTypeId" in type ? type.internalTypeId : type.typeId];
  if (values.BYTES_PER_ELEMENT * perRow !== width) throw new RangeError(`${where} is not as wide as ${type}`);
}

type Bindings = DuckDB["bindings"];

/** Copies `rows` rows of a column, beginning with `first`, a multiple of 64. */
function fillVector(bindings: Bindings, vector: Vector, cells: Cells, first: number, rows: number): void {
  if (cells.kind === "text") {
    for (let row = 0; row < rows; row += 1) {
      if (isValid(cells, first + row)) bindings.vector_assign_string_element(vector, row, cells.values[first + row]!);
    }
  } else if (cells.kind === "listOf") {
    fillLists(bindings, vector, cells, first, rows);
  } else {
    if (cells.kind === "oneOf") checkCodes(cells.where, cells.values, first, rows, cells.words);
    copyNumbers(bindings, vector, cells.where, cells.values, first * cells.perRow, rows * cells.perRow);
  }
  if (cells.nulls > 0) copyMask(bindings, vector, cells, first, rows);
}

/**
 * A vector of lists is a beginning and a length for each row, into a second vector that holds all items. Rows with the same
 * list point at the same items, so each list is there once in a chunk.
 */
function fillLists(
  bindings: Bindings,
  vector: Vector,
  cells: Extract<Cells, { kind: "listOf" }>,
  first: number,
  rows: number,
): void {
  const { where, lists, values, words } = cells;
  const begins = new Int32Array(lists.length).fill(-1);
  const entries = new Int32Array(4 * rows);
  const items: number[] = [];
  for (let row = 0; row < rows; row += 1) {
    const number = values[first + row]!;
    const list = lists[number];
    if (list === undefined) throw new RangeError(`${where} has no list ${number}: row ${first + row}`);
    if (begins[number] === -1) {
      begins[number] = items.length;
      for (const code of list) items.push(code);
    }
    entries[4 * row] = begins[number]!;
    entries[4 * row + 2] = list.length;
  }
  checkCodes(where, items, 0, items.length, words);
  bindings.list_vector_reserve(vector, items.length);
  bindings.list_vector_set_size(vector, items.length);
  const codes = codesFor(words.stored.length, items.length);
  codes.set(items);
  copyNumbers(bindings, bindings.list_vector_get_child(vector), where, codes, 0, codes.length);
  copyNumbers(bindings, vector, where, entries, 0, entries.length);
}

/** A code beyond the dictionary would be stored without complaint, and read as some word or none. */
function checkCodes(where: string, codes: ArrayLike<number>, first: number, count: number, { stored }: Words): void {
  // Rows without a value hold 0, even where there is no word at all.
  const limit = Math.max(1, stored.length);
  for (let at = first; at < first + count; at += 1) {
    const code = codes[at]!;
    if (!(code < limit)) throw new RangeError(`${where} has ${stored.length} words, row ${at} the code ${code}`);
  }
}

type Numbers = Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | ReturnType<typeof codesFor>;

function copyNumbers(
  bindings: Bindings,
  vector: Vector,
  where: string,
  values: Numbers,
  first: number,
  count: number,
): void {
  if (count === 0) return;
  const width = values.BYTES_PER_ELEMENT;
  const from = values.byteOffset + first * width;
  checkMemory(where, values.buffer, from, count * width);
  bindings.copy_data_to_vector(vector, 0, values.buffer, from, count * width);
}

function copyMask(bindings: Bindings, vector: Vector, { where, valid }: Cells, first: number, rows: number): void {
  const from = valid.byteOffset + first / 8;
  const bytes = Math.ceil(rows / 64) * 8;
  checkMemory(where, valid.buffer, from, bytes);
  // A vector has no mask of its own until it is asked for: copying before that writes nowhere.
  bindings.vector_ensure_validity_writable(vector);
  bindings.copy_data_to_vector_validity(vector, 0, valid.buffer, from, bytes);
}

/** A buffer that was given to another thread has no bytes, and reading them all the same ends the process. */
function checkMemory(where: string, buffer: ArrayBuffer, from: number, bytes: number): void {
  if (from + bytes > buffer.byteLength) throw new RangeError(`${where} ends before its rows do, or was given away`);
}
