/**
 * What a table says, in 64 bits: the sum of its rows' hashes, and how many rows there are.
 *
 * A sum, because rows come from workers in any order and a resumed run must agree with an uninterrupted one. Rows are hashed
 * as a batch holds them, whole milliseconds and millionths, and words by what they spell rather than by their code, so that
 * neither DuckDB nor the order of a dictionary has a say. A column counts with its name: the same value in another column
 * makes another row.
 */
import { type Key, keyed } from "../random.ts";
import type { Batch, Cells, Words } from "./table.ts";

export interface Digest {
  readonly rows: number;
  /** The upper 32 bits, without sign. */
  readonly high: number;
  readonly low: number;
}

/** The digest of a table without rows. */
export const noRows: Digest = { rows: 0, high: 0, low: 0 };

export function digestOf(batch: Batch): Digest {
  batch.seal();
  const columns = batch.cells.map((cells) => ({
    cells,
    key: keyed.within(origin, cells.where),
    hashes: hashesOf(cells),
  }));
  let total = noRows;
  for (let first = 0; first < batch.rows; first += BLOCK) {
    const rows = Math.min(BLOCK, batch.rows - first);
    state.high.fill(0);
    state.low.fill(0);
    for (const { cells, key, hashes } of columns) mixColumn(cells, key, hashes, first, rows);
    total = addDigests(total, sumOfRows(rows));
  }
  return total;
}

/** The digest of both tables' rows together. */
export function addDigests(a: Digest, b: Digest): Digest {
  const low = a.low + b.low;
  const carry = low >= 2 ** 32 ? 1 : 0;
  return { rows: a.rows + b.rows, high: (a.high + b.high + carry) >>> 0, low: low >>> 0 };
}

/** The sum as sixteen hexadecimal digits. */
export function hex16({ high, low }: Digest): string {
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

const origin: Key = { high: 0, low: 0 };

/** Rows taken at a time: what is kept of them between two columns then stays in the processor's nearest cache. */
const BLOCK = 1_024;

/** The hashes of the block's rows so far, and the cells of the column that comes next: 64 bits each, in two lanes. */
const state = { high: new Int32Array(BLOCK), low: new Int32Array(BLOCK) };
const cell = { high: new Int32Array(BLOCK), low: new Int32Array(BLOCK) };

/** No value has this upper lane: not a whole number below 2^53, and as a double it would be a NaN that we never write. */
const NULL_HIGH = 0x7fffffff;
const NAN_HIGH = 0x7ff80000;

/** One column of a block. Nearly all are numbers without nulls, which are mixed in as they lie. */
function mixColumn(cells: Cells, key: Key, hashes: Int32Array, first: number, rows: number): void {
  const { kind } = cells;
  if (hasNulls(cells, first, rows)) mixLanes(cells, key, hashes, first, rows);
  else if (kind === "whole") mixWholes(cells.values, key, first, rows);
  else if (kind === "flag") mixFlags(cells.values, key, first, rows);
  else if (kind === "big" || kind === "seconds" || kind === "dollars") mixLongs(cells.values, key, first, rows);
  else mixLanes(cells, key, hashes, first, rows);
}

/** Whether any row of the block is null. Blocks begin at a word of the mask. */
function hasNulls({ nulls, valid }: Cells, first: number, rows: number): boolean {
  if (nulls === 0) return false;
  // Bits behind the last row are set.
  for (let word = first >>> 5; word << 5 < first + rows; word += 1) if (valid[word] !== ALL_VALID) return true;
  return false;
}

const ALL_VALID = 0xffffffff;

function fillLanes(cells: Cells, hashes: Int32Array, first: number, rows: number): void {
  const { high, low } = cell;
  switch (cells.kind) {
    case "whole":
    case "flag": {
      const { values } = cells;
      for (let row = 0; row < rows; row += 1) low[row] = values[first + row]!;
      high.fill(0);
      break;
    }
    case "big":
    case "seconds":
    case "dollars": {
      const { values } = cells;
      for (let row = 0, at = 2 * first; row < rows; row += 1, at += 2) {
        low[row] = values[at]!;
        high[row] = values[at + 1]!;
      }
      break;
    }
    case "real": {
      const halves = new Int32Array(cells.values.buffer, cells.values.byteOffset, 2 * (first + rows));
      for (let row = 0, at = 2 * first; row < rows; row += 1, at += 2) {
        const nan = Number.isNaN(cells.values[first + row]);
        low[row] = nan ? 0 : halves[at]!;
        high[row] = nan ? NAN_HIGH : halves[at + 1]!;
      }
      break;
    }
    case "oneOf":
    case "listOf": {
      const { values } = cells;
      for (let row = 0; row < rows; row += 1) {
        const at = 2 * values[first + row]!;
        low[row] = hashes[at]!;
        high[row] = hashes[at + 1]!;
      }
      break;
    }
    case "text":
      for (let row = 0; row < rows; row += 1) {
        const hash = keyed.within(origin, cells.values[first + row]!);
        low[row] = hash.low;
        high[row] = hash.high;
      }
  }
  if (cells.nulls > 0) setNulls(cells.valid, first, rows);
}

function setNulls(valid: Uint32Array, first: number, rows: number): void {
  for (let row = 0; row < rows; row += 1) {
    const at = first + row;
    if ((valid[at >>> 5]! & (1 << (at & 31))) !== 0) continue;
    cell.high[row] = NULL_HIGH;
    cell.low[row] = 0;
  }
}

/**
 * Mixes one cell into each row. For a given cell this permutes the row's state, and for a given state no two cells end alike:
 * a row that differs in one cell has another hash for certain, not just very likely.
 */
function mix(row: number, cellHigh: number, cellLow: number): void {
  const { high, low } = state;
  let lower = Math.imul(low[row]! ^ cellLow, 0x85ebca6b);
  lower = ((lower ^ (lower >>> 15)) + high[row]!) | 0;
  const upper = Math.imul(high[row]! ^ cellHigh, 0xc2b2ae35);
  low[row] = lower;
  high[row] = (upper ^ (upper >>> 13)) + lower;
}

// One loop for each kind of array, so that each is compiled for its own.

function mixLanes(cells: Cells, key: Key, hashes: Int32Array, first: number, rows: number): void {
  fillLanes(cells, hashes, first, rows);
  const { high, low } = cell;
  for (let row = 0; row < rows; row += 1) mix(row, high[row]! ^ key.high, low[row]! ^ key.low);
}

function mixWholes(values: Int32Array, key: Key, first: number, rows: number): void {
  for (let row = 0; row < rows; row += 1) mix(row, key.high, values[first + row]! ^ key.low);
}

function mixFlags(values: Uint8Array, key: Key, first: number, rows: number): void {
  for (let row = 0; row < rows; row += 1) mix(row, key.high, values[first + row]! ^ key.low);
}

function mixLongs(values: Int32Array, key: Key, first: number, rows: number): void {
  for (let row = 0, at = 2 * first; row < rows; row += 1, at += 2) {
    mix(row, values[at + 1]! ^ key.high, values[at]! ^ key.low);
  }
}

/** The sum of the block's rows, each stirred once more so that every bit of its state reaches every bit of its hash. */
function sumOfRows(rows: number): Digest {
  let high = 0;
  let low = 0;
  for (let row = 0; row < rows; row += 1) {
    let left = state.high[row]!;
    let right = state.low[row]!;
    left ^= stirred(right);
    right ^= stirred(left);
    left ^= stirred(right + 0x9e3779b9);
    right ^= stirred(left + 0x3c6ef372);
    high += left >>> 0;
    low += right >>> 0;
  }
  return { rows, high: (high + Math.floor(low / 2 ** 32)) % 2 ** 32, low: low % 2 ** 32 };
}

/** The finalizer of MurmurHash3 (Appleby): a permutation of 32 bits. */
function stirred(lane: number): number {
  let bits = lane ^ (lane >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** For a column of words or of lists of words: the hash of each by its number, lower lane first. */
function hashesOf(cells: Cells): Int32Array {
  if (cells.kind === "oneOf") return hashesOfWords(cells.words);
  if (cells.kind !== "listOf") return none;
  const { words, lists } = cells;
  return inLanes(lists, (list) => list.reduce((key, code) => keyed.within(key, words.stored[code]!), origin));
}
const none = new Int32Array(0);

/** Hashed once for each dictionary, however many batches use it. */
const known = new WeakMap<Words, Int32Array>();

function hashesOfWords(words: Words): Int32Array {
  const found = known.get(words);
  if (found !== undefined) return found;
  const hashes = inLanes(words.stored, (word) => keyed.within(origin, word));
  known.set(words, hashes);
  return hashes;
}

function inLanes<T>(things: readonly T[], hash: (thing: T) => Key): Int32Array {
  const lanes = new Int32Array(2 * things.length);
  for (const [index, thing] of things.entries()) {
    const { high, low } = hash(thing);
    lanes[2 * index] = low;
    lanes[2 * index + 1] = high;
  }
  return lanes;
}
