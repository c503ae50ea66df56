/**
 * A table of telemetry, said once.
 *
 * A column's kind, unit and meaning stand together in its definition; the row type, `CREATE TABLE`, `COMMENT ON`, the data
 * dictionary, the axis titles and the batch that is filled while a trial is folded all come from it. Nothing here
 * knows DuckDB beyond the spelling of its SQL and the layout of its vectors.
 *
 * A batch keeps each column as the bytes that DuckDB will hold, so that writing a cell is one store into a typed array and
 * handing a batch over is one copy per 2,048 rows.
 */

type Kind = "whole" | "big" | "seconds" | "dollars" | "real" | "flag" | "text" | "oneOf" | "listOf";

export interface Column<K extends Kind = Kind, Word extends string = string, Null extends boolean = boolean> {
  readonly kind: K;
  /** The comment on the column, without its unit. */
  readonly says: string;
  readonly unit: string | null;
  readonly nullable: Null;
  /** The closed set its words are from, or the name of a dictionary given when the experiment opens; null: not words. */
  readonly words: readonly Word[] | string | null;
}

export type Columns = Readonly<Record<string, Column>>;

export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly says: string;
  readonly columns: C;
}

/** Closed sets of words that are known once a panel is read: arm, scenario, command and the like, by name. */
export type Dictionaries = Readonly<Record<string, readonly string[]>>;

interface Values<Word extends string> {
  whole: number;
  big: number;
  seconds: number;
  dollars: number;
  real: number;
  flag: boolean;
  text: string;
  oneOf: Word;
  listOf: readonly Word[];
}

type Cell<C extends Column> =
  C extends Column<infer K, infer Word, infer Null> ? Values<Word>[K] | (Null extends true ? null : never) : never;

/** A row as it is read back: `_seconds` are seconds with their milliseconds behind the point, `_usd` dollars. */
export type RowOf<T extends Table> = { readonly [Name in keyof T["columns"]]: Cell<T["columns"][Name]> };

export function table<const C extends Columns>(name: string, says: string, columns: C): Table<C> {
  invariant(Object.keys(columns).length > 0, `table ${name} has a column`);
  return { name, says, columns };
}

/** A whole number of at most 32 bits. */
export function whole(says: string, unit: string | null = null): Column<"whole", string, false> {
  return { kind: "whole", says, unit, nullable: false, words: null };
}

/** A whole number below 2^53, either side of zero. */
export function big(says: string, unit: string | null = null): Column<"big", string, false> {
  return { kind: "big", says, unit, nullable: false, words: null };
}

/** A length or a moment: pushed as whole milliseconds, kept exactly, read as seconds. */
export function seconds(says: string): Column<"seconds", string, false> {
  return { kind: "seconds", says, unit: "s", nullable: false, words: null };
}

/** An amount of money: pushed as whole millionths of a US dollar, kept exactly, read as dollars. */
export function dollars(says: string): Column<"dollars", string, false> {
  return { kind: "dollars", says, unit: "USD", nullable: false, words: null };
}

/** Any number, not-a-number and the infinities included, but no −0. Its sums depend on their order: prefer whole numbers. */
export function real(says: string, unit: string | null = null): Column<"real", string, false> {
  return { kind: "real", says, unit, nullable: false, words: null };
}

export function flag(says: string): Column<"flag", string, false> {
  return { kind: "flag", says, unit: null, nullable: false, words: null };
}

/** Free text. Twenty times the price of `oneOf`, so only where the words cannot be known beforehand. */
export function text(says: string): Column<"text", string, false> {
  return { kind: "text", says, unit: null, nullable: false, words: null };
}

/** One word of a closed set: the words themselves, or the name of the dictionary that will hold them. */
export function oneOf<const Word extends string>(
  words: readonly Word[] | string,
  says: string,
): Column<"oneOf", Word, false> {
  return { kind: "oneOf", says, unit: null, nullable: false, words };
}

/** Several words of a closed set, in order, or none. */
export function listOf<const Word extends string>(
  words: readonly Word[] | string,
  says: string,
): Column<"listOf", Word, false> {
  return { kind: "listOf", says, unit: null, nullable: false, words };
}

/** The same column, where a row may have nothing to say. What the null means belongs in `says`. */
export function orNull<K extends Kind, Word extends string>(column: Column<K, Word, boolean>): Column<K, Word, true> {
  return { ...column, nullable: true };
}

/** `CREATE TABLE`. Words become `ENUM`s of their dictionary, in its order. */
export function ddl(table: Table, dictionaries: Dictionaries): string {
  const columns = Object.entries(table.columns).map(([name, { kind, words, nullable }]) => {
    const type = sqlType(kind, words === null ? "" : spelled(wordsOf(words, dictionaries).stored));
    return `  ${identifier(name)} ${type}${nullable ? "" : " NOT NULL"}`;
  });
  return `CREATE TABLE ${identifier(table.name)} (\n${columns.join(",\n")}\n);`;
}

/** `COMMENT ON` the table and each of its columns: what it means, and its unit in brackets. */
export function comments(table: Table): string {
  const name = identifier(table.name);
  return [
    `COMMENT ON TABLE ${name} IS ${literal(table.says)};`,
    ...Object.entries(table.columns).map(
      ([column, { says, unit }]) =>
        `COMMENT ON COLUMN ${name}.${identifier(column)} IS ${literal(unit === null ? says : `${says} [${unit}]`)};`,
    ),
  ].join("\n");
}

/** One line of the data dictionary. */
export interface DictionaryRow {
  readonly table: string;
  readonly column: string;
  /** As SQL spells it; an open dictionary goes by its name, `ENUM(arm)`. */
  readonly type: string;
  readonly unit: string | null;
  readonly nullable: boolean;
  readonly says: string;
}

export function dictionaryOf(tables: readonly Table[]): DictionaryRow[] {
  return tables.flatMap((table) =>
    Object.entries(table.columns).map(([column, { kind, words, unit, nullable, says }]) => ({
      table: table.name,
      column,
      type: sqlType(kind, typeof words === "string" ? words : spelled(words ?? [])),
      unit,
      nullable,
      says,
    })),
  );
}

/** The column's name in plain words with its unit: `longest_control_gap_seconds` is "longest control gap (s)". */
export function axisTitle<C extends Columns>(table: Table<C>, column: keyof C & string): string {
  const unit = table.columns[column]!.unit;
  const ending = unit === "s" ? "_seconds" : `_${unit?.toLowerCase()}`;
  const name = column.endsWith(ending) ? column.slice(0, -ending.length) : column;
  return name.replaceAll("_", " ") + (unit === null ? "" : ` (${unit})`);
}

/** A name in SQL, whatever is in it. */
export function identifier(name: string): string {
  return `"${storable(name).replaceAll('"', '""')}"`;
}

/** A text in SQL, whatever is in it. */
export function literal(text: string): string {
  return `'${storable(text).replaceAll("'", "''")}'`;
}

/** DuckDB cuts SQL at NUL and has no lone surrogates: either becomes U+FFFD, in SQL, in dictionaries and in text alike. */
function storable(text: string): string {
  return suspect.test(text) ? text.replace(/\p{Surrogate}/gu, "\ufffd").replaceAll("\0", "\ufffd") : text;
}
const suspect = /[\0\ud800-\udfff]/;

/** The type of a column that is open in a batch. DuckDB spells types in the very same way. */
export function sqlTypeOf(cells: Cells): string {
  return sqlType(cells.kind, "words" in cells ? spelled(cells.words.stored) : "");
}

function sqlType(kind: Kind, words: string): string {
  switch (kind) {
    case "whole":
      return "INTEGER";
    case "big":
      return "BIGINT";
    case "seconds":
      return "DECIMAL(15,3)";
    case "dollars":
      return "DECIMAL(15,6)";
    case "real":
      return "DOUBLE";
    case "flag":
      return "BOOLEAN";
    case "text":
      return "VARCHAR";
    case "oneOf":
      return `ENUM(${words})`;
    case "listOf":
      return `ENUM(${words})[]`;
  }
}

/** An `ENUM` has one word at least, so that of a dictionary without words has the empty one, which no row can use. */
function spelled(words: readonly string[]): string {
  return words.map(literal).join(", ") || "''";
}

/** A closed set of words with their codes. */
export class Words {
  /** As DuckDB holds them: by code, each once. */
  readonly stored: readonly string[];
  /** Words that are stored alike share a code. */
  readonly codes: ReadonlyMap<string, number>;

  constructor(words: readonly string[]) {
    const codes = new Map<string, number>();
    const stored: string[] = [];
    for (const word of words) {
      const kept = storable(word);
      const code = codes.get(kept) ?? stored.push(kept) - 1;
      codes.set(kept, code).set(word, code);
    }
    this.stored = stored;
    this.codes = codes;
  }

  same(other: Words): boolean {
    if (this === other) return true;
    const { stored } = this;
    return stored.length === other.stored.length && stored.every((word, code) => word === other.stored[code]);
  }
}

/** Each array of words is compiled once, since every world opens batches with the same ones. */
const compiled = new WeakMap<readonly string[], Words>();

function wordsOf(words: readonly string[] | string | null, dictionaries: Dictionaries): Words {
  const given = typeof words === "string" ? dictionaries[words] : words;
  invariant(given !== undefined && given !== null, `dictionary ${words} is given when the experiment opens`);
  const known = compiled.get(given);
  if (known !== undefined) return known;
  const fresh = new Words(given);
  compiled.set(given, fresh);
  return fresh;
}

export interface Writer<Value> {
  push(value: Value): void;
}

export interface WordWriter<Word extends string, Value> extends Writer<Value> {
  /** The word's code in the dictionary, to be looked up once and pushed often. */
  codeOf(word: Word): number;
  pushCode(code: number): void;
}

type WriterOf<C extends Column> = C extends Column<"oneOf", infer Word> ? WordWriter<Word, Cell<C>> : Writer<Cell<C>>;

/** Rows of one table, column by column. */
export interface Batch<C extends Columns = Columns> {
  readonly table: Table<C>;
  /** To write to: each column gets one value for each row. */
  readonly columns: { readonly [Name in keyof C]: WriterOf<C[Name]> };
  /** To read from: the same columns, in the order of the definition. */
  readonly cells: readonly Cells[];
  readonly rows: number;
  /** Makes sure that every column has a value for every row, and still owns its memory. */
  seal(): void;
  /** Adds the rows of another batch of the same table and dictionaries, which stays as it is. */
  append(other: Batch): void;
  /** Forgets its rows and keeps its memory. */
  clear(): void;
}

export function openBatch<C extends Columns>(table: Table<C>, dictionaries: Dictionaries): Batch<C> {
  const columns = Object.fromEntries(
    Object.entries(table.columns).map(([name, column]) => [
      name,
      openCells(`${table.name}.${name}`, column, dictionaries),
    ]),
  );
  const cells = Object.values(columns);
  const first = cells[0]!;
  return {
    table,
    columns: columns as unknown as Batch<C>["columns"],
    cells,
    get rows() {
      return first.length;
    },
    seal() {
      for (const { where, length, perRow, values, valid, nulls } of cells) {
        invariant(length === first.length, `${where} has a value for each of ${first.length} rows; it has ${length}`);
        const gone = values.length < length * perRow || (nulls > 0 && valid.length * 32 < length);
        if (gone) throw new RangeError(`${where} no longer has its memory: it was given to another thread`);
      }
    },
    append(other) {
      other.seal();
      this.seal();
      const fits = other.table.name === table.name && other.cells.length === cells.length && other.cells !== cells;
      invariant(fits, `what is appended to a batch of ${table.name} is another batch of it`);
      for (const [index, column] of cells.entries()) column.append(other.cells[index]!);
    },
    clear() {
      for (const column of cells) column.clear();
    },
  };
}

export type Cells = WholeCells | LongCells | RealCells | FlagCells | TextCells | WordCells | ListCells;

function openCells(where: string, { kind, nullable, words }: Column, dictionaries: Dictionaries): Cells {
  switch (kind) {
    case "whole":
      return new WholeCells(where, nullable);
    case "big":
    case "seconds":
    case "dollars":
      return new LongCells(where, nullable, kind);
    case "real":
      return new RealCells(where, nullable);
    case "flag":
      return new FlagCells(where, nullable);
    case "text":
      return new TextCells(where, nullable);
    case "oneOf":
      return new WordCells(where, nullable, wordsOf(words, dictionaries));
    case "listOf":
      return new ListCells(where, nullable, wordsOf(words, dictionaries));
  }
}

/** Rows that a column has room for at first. A multiple of 64, as DuckDB reads masks in words of 64 rows. */
const FIRST_ROOM = 1_024;
const ALL_VALID = 0xffffffff;

/**
 * What every kind of column has: how many rows, and a mask of which of them hold a value (bit set: not null).
 *
 * `push` is written out in each kind rather than inherited: one method shared by all would see eight shapes of object, and
 * lose the inline caches that make it a few nanoseconds.
 */
abstract class ColumnCells {
  /** Table and column. */
  readonly where: string;
  /** How many of `values` a row takes. */
  readonly perRow: number;
  length = 0;
  nulls = 0;
  /** Empty where the column is not nullable. */
  valid: Uint32Array<ArrayBuffer>;
  protected room = FIRST_ROOM;

  constructor(where: string, nullable: boolean, perRow: number) {
    this.where = where;
    this.perRow = perRow;
    this.valid = new Uint32Array(nullable ? FIRST_ROOM >> 5 : 0).fill(ALL_VALID);
  }

  append(other: Cells): void {
    if (this.length + other.length > this.room) this.widen(this.length + other.length);
    this.take(other);
    if (other.nulls > 0) {
      if (this.valid.length === 0) this.refuse(null, "never null");
      mergeMask(this.valid, this.length, other.valid, other.length);
    }
    this.nulls += other.nulls;
    this.length += other.length;
  }

  clear(): void {
    if (this.nulls > 0) this.valid.fill(ALL_VALID);
    this.nulls = 0;
    this.length = 0;
  }

  /** Copies the other column's values behind its own, once there is room for them. */
  protected abstract take(other: Cells): void;

  /** Makes room for at least so many rows. */
  protected widen(rows: number): void {
    while (this.room < rows) this.room *= 2;
    if (this.valid.length === 0) return;
    const valid = new Uint32Array(this.room >> 5).fill(ALL_VALID);
    valid.set(this.valid);
    this.valid = valid;
  }

  protected refuse(value: unknown, wanted: string): never {
    const got = typeof value === "string" ? JSON.stringify(value) : String(value);
    invariant(false, `${this.where} is ${wanted}; row ${this.length} got ${got}`);
  }
}

type Numbers = Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Codes;
type Codes = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

abstract class NumberCells<Values extends Numbers> extends ColumnCells {
  /** Those behind the last row mean nothing. */
  values: Values;
  readonly #allot: (numbers: number) => Values;

  constructor(where: string, nullable: boolean, allot: (numbers: number) => Values, perRow = 1) {
    super(where, nullable, perRow);
    this.#allot = allot;
    this.values = allot(this.room * perRow);
  }

  protected override take(other: Cells): void {
    invariant(other instanceof this.constructor, `${this.where} takes cells of its own kind`);
    const { values, length } = other as unknown as NumberCells<Values>;
    this.values.set(values.subarray(0, length * this.perRow), this.length * this.perRow);
  }

  protected override widen(rows: number): void {
    super.widen(rows);
    const values = this.#allot(this.room * this.perRow);
    values.set(this.values);
    this.values = values;
  }
}

const int32s = (numbers: number) => new Int32Array(numbers);

class WholeCells extends NumberCells<Int32Array<ArrayBuffer>> implements Writer<number | null> {
  readonly kind = "whole";

  constructor(where: string, nullable: boolean) {
    super(where, nullable, int32s);
  }

  push(value: number | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (value === null) {
      if (!unset(this.valid, row)) this.refuse(value, "never null");
      this.nulls += 1;
      this.values[row] = 0;
    } else {
      const narrow = value | 0;
      if (narrow !== value) this.refuse(value, "a whole number of 32 bits");
      this.values[row] = narrow;
    }
    this.length = row + 1;
  }
}

type LongKind = "big" | "seconds" | "dollars";

/** What a number of 64 bits counts where it stands for a decimal: the parts of it that are kept. */
const PARTS = { seconds: "milliseconds", dollars: "millionths" } as const;

/** 64-bit integers as two halves, the lower first: the layout of DuckDB's vectors, without a `bigint` on the way. */
class LongCells extends NumberCells<Int32Array<ArrayBuffer>> implements Writer<number | null> {
  readonly kind: LongKind;

  constructor(where: string, nullable: boolean, kind: LongKind) {
    super(where, nullable, int32s, 2);
    this.kind = kind;
  }

  push(value: number | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (value === null) {
      if (!unset(this.valid, row)) this.refuse(value, "never null");
      this.nulls += 1;
      this.values[2 * row] = 0;
      this.values[2 * row + 1] = 0;
    } else {
      const low = value | 0;
      this.values[2 * row] = low;
      this.values[2 * row + 1] = low === value ? low >> 31 : this.#upper(value);
    }
    this.length = row + 1;
  }

  /** The upper half in two's complement. The lower one is `value | 0`, which is exact for any whole number. */
  #upper(value: number): number {
    if (this.kind === "big") {
      if (!Number.isSafeInteger(value)) this.refuse(value, "a whole number below 2^53");
    } else {
      const fits = Number.isInteger(value) && Math.abs(value) < 1e15;
      if (!fits) this.refuse(value, `a whole number of ${PARTS[this.kind]} below 10^15`);
    }
    return Math.floor(value / 2 ** 32);
  }
}

class RealCells extends NumberCells<Float64Array<ArrayBuffer>> implements Writer<number | null> {
  readonly kind = "real";

  constructor(where: string, nullable: boolean) {
    super(where, nullable, (numbers) => new Float64Array(numbers));
  }

  push(value: number | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (value === null) {
      if (!unset(this.valid, row)) this.refuse(value, "never null");
      this.nulls += 1;
      this.values[row] = 0;
    } else {
      // −0 becomes 0: DuckDB's compression takes them for one, and keeps whichever came first.
      this.values[row] = value + 0;
    }
    this.length = row + 1;
  }
}

class FlagCells extends NumberCells<Uint8Array<ArrayBuffer>> implements Writer<boolean | null> {
  readonly kind = "flag";

  constructor(where: string, nullable: boolean) {
    super(where, nullable, (numbers) => new Uint8Array(numbers));
  }

  push(value: boolean | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (value === null) {
      if (!unset(this.valid, row)) this.refuse(value, "never null");
      this.nulls += 1;
      this.values[row] = 0;
    } else {
      this.values[row] = value ? 1 : 0;
    }
    this.length = row + 1;
  }
}

class WordCells extends NumberCells<Codes> implements WordWriter<string, string | null> {
  readonly kind = "oneOf";
  readonly words: Words;
  readonly #size: number;
  /** Words come in runs, so the last one's code is kept at hand. */
  #lastWord = "";
  #lastCode = -1;

  constructor(where: string, nullable: boolean, words: Words) {
    const size = words.stored.length;
    super(where, nullable, (numbers) => codesFor(size, numbers));
    this.words = words;
    this.#size = size;
  }

  push(word: string | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (word === null) {
      if (!unset(this.valid, row)) this.refuse(word, "never null");
      this.nulls += 1;
      this.values[row] = 0;
    } else {
      if (word !== this.#lastWord || this.#lastCode < 0) {
        this.#lastCode = this.codeOf(word);
        this.#lastWord = word;
      }
      this.values[row] = this.#lastCode;
    }
    this.length = row + 1;
  }

  codeOf(word: string): number {
    return this.words.codes.get(word) ?? this.refuse(word, `one of ${listed(this.words)}`);
  }

  pushCode(code: number): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (code >>> 0 !== code || code >= this.#size) this.refuse(code, `a code below ${this.#size}`);
    this.values[row] = code;
    this.length = row + 1;
  }

  protected override take(other: Cells): void {
    invariant(other.kind === this.kind && this.words.same(other.words), `${this.where} takes cells of one dictionary`);
    super.take(other);
  }
}

/** Lists of words. Each list met is kept once and goes by its number: 0 is the empty one. */
class ListCells extends NumberCells<Int32Array<ArrayBuffer>> implements Writer<readonly string[] | null> {
  readonly kind = "listOf";
  readonly words: Words;
  /** The codes of each list met, by number; each was reached by adding the last of them to an earlier one. */
  readonly lists: (readonly number[])[] = [[]];
  /** From a list and a code to the list that has it at the end. */
  readonly #longer = new Map<number, number>();

  constructor(where: string, nullable: boolean, words: Words) {
    super(where, nullable, int32s);
    this.words = words;
  }

  push(words: readonly string[] | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (words === null) {
      if (!unset(this.valid, row)) this.refuse(words, "never null");
      this.nulls += 1;
      this.values[row] = 0;
    } else {
      let list = 0;
      for (let at = 0; at < words.length; at += 1) list = this.#with(list, this.#codeOf(words[at]!));
      this.values[row] = list;
    }
    this.length = row + 1;
  }

  protected override take(other: Cells): void {
    invariant(other.kind === this.kind && this.words.same(other.words), `${this.where} takes cells of one dictionary`);
    const own = other.lists.map((codes) => codes.reduce((list, code) => this.#with(list, code), 0));
    for (let row = 0; row < other.length; row += 1) this.values[this.length + row] = own[other.values[row]!]!;
  }

  #codeOf(word: string): number {
    return this.words.codes.get(word) ?? this.refuse(word, `a list from ${listed(this.words)}`);
  }

  #with(list: number, code: number): number {
    const step = list * this.words.stored.length + code;
    const known = this.#longer.get(step);
    if (known !== undefined) return known;
    const longer = this.lists.push([...this.lists[list]!, code]) - 1;
    this.#longer.set(step, longer);
    return longer;
  }
}

class TextCells extends ColumnCells implements Writer<string | null> {
  readonly kind = "text";
  readonly values: string[] = [];

  constructor(where: string, nullable: boolean) {
    super(where, nullable, 1);
  }

  push(value: string | null): void {
    const row = this.length;
    if (row === this.room) this.widen(row + 1);
    if (value === null) {
      if (!unset(this.valid, row)) this.refuse(value, "never null");
      this.nulls += 1;
      this.values.push("");
    } else {
      this.values.push(storable(value));
    }
    this.length = row + 1;
  }

  override clear(): void {
    super.clear();
    this.values.length = 0;
  }

  protected override take(other: Cells): void {
    invariant(other.kind === this.kind, `${this.where} takes cells of its own kind`);
    for (const value of other.values) this.values.push(value);
  }
}

/** Marks a row as null. False if the column has no mask, for then it is not nullable. */
function unset(valid: Uint32Array, row: number): boolean {
  const word = row >>> 5;
  if (word >= valid.length) return false;
  valid[word] = valid[word]! & ~(1 << (row & 31));
  return true;
}

/** Whether the row has a value. */
export function isValid(cells: Cells, row: number): boolean {
  return cells.nulls === 0 || (cells.valid[row >>> 5]! & (1 << (row & 31))) !== 0;
}

/** Lays `from`, a mask of `rows` rows, behind the first `at` rows of `into`. Bits behind a mask's last row are set. */
function mergeMask(into: Uint32Array, at: number, from: Uint32Array, rows: number): void {
  const shift = at & 31;
  const first = at >>> 5;
  for (let word = 0; word << 5 < rows; word += 1) {
    const gone = ~from[word]!;
    into[first + word] = into[first + word]! & ~(gone << shift);
    if (shift > 0 && gone >>> (32 - shift) !== 0) {
      into[first + word + 1] = into[first + word + 1]! & ~(gone >>> (32 - shift));
    }
  }
}

/** Codes as wide as DuckDB makes them for an `ENUM` of this size. */
export function codesFor(size: number, numbers: number): Codes {
  if (size <= 0xff) return new Uint8Array(numbers);
  return size <= 0xffff ? new Uint16Array(numbers) : new Uint32Array(numbers);
}

function listed({ stored }: Words): string {
  const shown = stored.slice(0, 12).map((word) => JSON.stringify(word.slice(0, 40)));
  return `${shown.join(", ")}${stored.length > shown.length ? ` and ${stored.length - shown.length} more` : ""}`;
}

function invariant(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${promise}`);
}
