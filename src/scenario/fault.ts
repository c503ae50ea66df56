/**
 * What is wrong with files, said in one voice.
 *
 * A fault says where it is, what was found and what was expected: `path:line:column: key.path is VALUE:
 * expected …`. Faults are gathered over all files of one loading and thrown once, so that whoever wrote
 * them can mend everything in one go.
 */

/** Files that say something impossible: every fault at once. The caller's mistake, not ours. */
export class FileFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "FileFaults";
    this.faults = faults;
  }
}

export interface Position {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly column: number;
}

interface Fault {
  readonly file: string;
  /** Null when the file as a whole is meant. */
  readonly position: Position | null;
  readonly says: string;
}

/** Faults as they are found; told file by file, in the order the files were met, top to bottom. */
export class Faults {
  readonly #found: Fault[] = [];
  readonly #files: string[] = [];

  /** A file takes its turn where it was met, whether or not its faults are the first to be found. */
  meet(file: string): void {
    if (!this.#files.includes(file)) this.#files.push(file);
  }

  add(file: string, position: Position | null, says: string): void {
    this.meet(file);
    this.#found.push({ file, position, says });
  }

  /** Takes over what another found. */
  take(others: Faults): void {
    for (const { file, position, says } of others.#found) this.add(file, position, says);
  }

  get none(): boolean {
    return this.#found.length === 0;
  }

  get all(): readonly string[] {
    const files = this.#files;
    const ordered = this.#found.toSorted(
      (a, b) =>
        files.indexOf(a.file) - files.indexOf(b.file) ||
        (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
        (a.position?.column ?? 0) - (b.position?.column ?? 0),
    );
    return [...new Set(ordered.map(inWords))];
  }
}

function inWords({ file, position, says }: Fault): string {
  return `${file}${position === null ? "" : `:${position.line}:${position.column}`}: ${says}`;
}

export type Path = readonly (string | number)[];

/** A place in a file as its writer would name it: `commands.pytest.phases[1].run.seconds`. */
export function dotted(path: Path): string {
  if (path.length === 0) return "the file";
  return path.reduce<string>(
    (said, part) =>
      typeof part === "number" ? `${said}[${part}]` : said === "" ? spelled(part) : `${said}.${spelled(part)}`,
    "",
  );
}

function spelled(key: string): string {
  return /^[\w.<>-]+$/.test(key) ? key : shown(key);
}

/** A value as a message repeats it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "number" && !Number.isFinite(value))
    return Number.isNaN(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a mapping" : String(value);
}

/** The name that was probably meant: the same but for its unit, a longer one, or a few letters away; null if none is near. */
export function nearest(word: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(stem(word).length / 3)) + 1;
  for (const name of names) {
    const apart = stem(name) === stem(word) ? 0 : contains(name, word) ? 1 : lettersAway(word, name);
    if (apart < least) [best, least] = [name, apart];
  }
  return best;
}

/** `; did you mean …?`, or what there is to choose from. */
export function suggestion(word: string, names: readonly string[]): string {
  const near = nearest(word, names);
  if (near !== null) return `; did you mean ${near}?`;
  return names.length === 0 ? "" : `; there ${names.length === 1 ? "is" : "are"} ${listed(names)}`;
}

/** `a, b and c`, cut after a dozen where that spares more than one of them. */
export function listed(names: readonly string[], and = "and"): string {
  if (names.length > 13) return `${names.slice(0, 12).join(", ")} ${and} ${names.length - 12} more`;
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${and} ${names.at(-1)}`;
}

function contains(name: string, word: string): boolean {
  return word.length >= 4 && name.includes(word);
}

function stem(key: string): string {
  return key.toLowerCase().replace(/[_-]?(seconds?|secs?|minutes?|mins?|hours?|milliseconds?|ms|s|m|h)$/, "");
}

/** With the unit or without: what looks like one can be part of a name. */
function lettersAway(word: string, name: string): number {
  return Math.min(distance(stem(word), stem(name)), distance(word, name));
}

/** Levenshtein's distance, and a swap of neighbours counts once. */
function distance(one: string, other: string): number {
  let [before, above] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, above] = [above, row];
  }
  return above[other.length]!;
}
