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
import type {
  DuckDBAppender,
  DuckDBConnection,
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
  openBatch,
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
   */
  appendWorlds(batches: readonly Batch[]): Promise<void>;
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
    const file = await openFile(path, place, { threads: "1", memory_limit: "128MB" }, tables, dictionaries);
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

/** Opens a file for questions only. Many may read one file at a time, as long as nobody writes it. */
export async function readStore(path: string): Promise<Reading> {
  if (!existsSync(path)) throw new StoreError(`${path} is not there: a run makes it`);
  const place = placeOf(path, "find");
  return claimed(path, place, () =>
    openFile(path, place, { access_mode: "READ_ONLY", threads: "1", memory_limit: "128MB" }, [], {}),
  );
}

/**
 * Rows of one table that are worth a transaction: three of the groups of 122,880 that DuckDB compresses straight into the file.
 * Below that the next checkpoint merges what is left of a group with its neighbours, four groups into three, and so
 * writes them again: half the speed and a file half as large again.
 */
const ENOUGH_ROWS = 3 * 122_880;

/** Gathers finished worlds until they are worth a transaction. */
export class Collector {
  readonly #store: Store;
  readonly #enough: number;
  readonly #filling: ReadonlyMap<string, Batch>;

  /** @param enough how many rows the longest table has when all are written */
  constructor(store: Store, enough = ENOUGH_ROWS) {
    this.#store = store;
    this.#enough = enough;
    this.#filling = this.#empty();
  }

  /** Takes a finished world, a batch for each table it has rows in. They are copied, so they may be cleared at once. */
  async take(world: readonly Batch[]): Promise<void> {
    const gathered = world.map((batch) => {
      batch.seal();
      const rows = this.#filling.get(batch.table.name);
      if (rows === undefined) throw new RangeError(`the file has no table ${batch.table.name}`);
      return rows;
    });
    for (const [index, batch] of world.entries()) gathered[index]!.append(batch);
    if (gathered.some(({ rows }) => rows >= this.#enough)) await this.#flush();
  }

  /** Writes what is left. The store stays open. */
  async close(): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#store.appendWorlds([...this.#filling.values()]);
    for (const batch of this.#filling.values()) batch.clear();
  }

  #empty(): ReadonlyMap<string, Batch> {
    const { tables, dictionaries } = this.#store;
    return new Map(tables.map((table) => [table.name, openBatch(table, dictionaries)]));
  }
}

/** DuckDB takes a fifth of a second to load, so whoever asks for no file does not load it. */
async function loadDuckDB() {
  const [api, bindings] = await Promise.all([import("@duckdb/node-api"), import("@duckdb/node-bindings")]);
  return { api, bindings: bindings.default };
}
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
  const whole = { ...settings, ...SELF_CONTAINED };
  const instance = await duckdb.api.DuckDBInstance.create(place, whole).catch(explained(path));
  const connection = await instance.connect();
  return new DatabaseFile({ path, place, duckdb, settings: whole, instance, connection, tables, dictionaries });
}

interface Opened {
  readonly path: string;
  readonly place: string;
  readonly duckdb: DuckDB;
  readonly settings: Record<string, string>;
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  readonly tables: readonly Table[];
  readonly dictionaries: Dictionaries;
}

class DatabaseFile implements Store {
  readonly tables: readonly Table[];
  readonly dictionaries: Dictionaries;
  #opened: Opened;
  readonly #plain: DuckDBValueConverter<JS>;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  #failed = false;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.tables = opened.tables;
    this.dictionaries = opened.dictionaries;
    this.#plain = plainValues(opened.duckdb);
  }

  makeTables(): Promise<void> {
    const made = this.tables.map((table) => ddl(table, this.dictionaries) + comments(table));
    return this.#inTurn(() =>
      this.#transaction(async () => {
        for (const sql of made) await this.#opened.connection.run(sql);
      }),
    );
  }

  rows<Row extends object>(sql: string, parameters?: Parameter[] | Record<string, Parameter>): Promise<Row[]> {
    return this.#inTurn(async () => {
      const answer = await this.#opened.connection.runAndReadAll(sql, parameters);
      return answer.convertRowObjects(this.#plain) as Row[];
    });
  }

  async appendWorlds(batches: readonly Batch[]): Promise<void> {
    for (const batch of batches) batch.seal();
    await this.#inTurn(async () => {
      await this.#transaction(async () => {
        for (const batch of batches) if (batch.rows > 0) await this.#append(batch);
      });
      await this.#renew();
    });
  }

  /** Gives back what DuckDB keeps of what it wrote: it would hold on to all it may, however little of it is asked for again. */
  async #renew(): Promise<void> {
    const { place, duckdb, settings, connection, instance } = this.#opened;
    await connection.run("CHECKPOINT");
    connection.closeSync();
    instance.closeSync();
    const again = await duckdb.api.DuckDBInstance.create(place, settings);
    this.#opened = { ...this.#opened, instance: again, connection: await again.connect() };
  }

  /** Leaves one file, without a log beside it; after a failure the log stays, and the file is as whole with it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const { place, connection, instance } = this.#opened;
    try {
      await this.#inTurn(async () => {
        if (this.tables.length > 0 && !this.#failed) await connection.run("CHECKPOINT");
      });
    } finally {
      this.#closed = true;
      connection.closeSync();
      instance.closeSync();
      open.delete(place);
    }
  }

  /** One thing after another: there is one connection, and what is asked during a transaction would be part of it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { path } = this.#opened;
    const done = this.#last.then(() => {
      if (this.#closed) throw new StoreError(`${path} is closed: open it again`);
      return work().catch(explained(path));
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #transaction(work: () => Promise<void>): Promise<void> {
    const { connection } = this.#opened;
    await connection.run("BEGIN TRANSACTION");
    try {
      await work();
      await connection.run("COMMIT");
    } catch (error) {
      this.#failed = true;
      // A commit that failed has rolled back by itself, and the first error is the one to tell.
      await connection.run("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async #append(batch: Batch): Promise<void> {
    const { connection, duckdb } = this.#opened;
    const appender = await connection.createAppender(batch.table.name);
    try {
      copyRows(duckdb, appender, batch);
      appender.flushSync();
    } catch (error) {
      // Closing would try once more to write what is still held.
      appender.clear();
      throw error;
    } finally {
      appender.closeSync();
    }
  }
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

/** Copies all rows of a batch into the appender, a chunk at a time. */
function copyRows(duckdb: DuckDB, appender: DuckDBAppender, { table, cells, rows }: Batch): void {
  const { api, bindings } = duckdb;
  const types = Array.from({ length: appender.columnCount }, (_, index) => appender.columnType(index));
  const wanted = cells.map(sqlTypeOf);
  // A vector of another type would be filled all the same, and read as something else.
  if (String(types) !== String(wanted)) {
    throw new RangeError(`${table.name} has other columns in the file than in the batch`);
  }
  for (const [index, column] of cells.entries()) checkWidth(duckdb, column, types[index]!);
  const chunk = api.DuckDBDataChunk.create(types);
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
