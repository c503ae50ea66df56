/**
 * One loading: every file that was read for it, and every fault that was found.
 *
 * A file is read once, whoever refers to it. Faults are gathered, not thrown, so that a panel, its policies and
 * its scenarios can all be mended in one go.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { z } from "zod";
import { dotted, Faults, FileFaults, type Path, shown, suggestion } from "./fault.ts";
import { candidates, exists, type From, filesIn, foldersFor, isPath, looked, nameOf, spoken, stable } from "./names.ts";
import type { schemas } from "./schema.ts";
import { instead } from "./vocabulary.ts";
import { readYaml, type Source } from "./yaml.ts";

export type FileKind = keyof typeof schemas;

/** A file that was read, digest and all. */
export interface Input {
  readonly path: string;
  readonly sha256: string;
}

/** A place in a file. */
export interface Place {
  readonly source: Source;
  readonly path: Path;
}

/** The place of a part of what stands at another. */
export function part({ source, path }: Place, ...further: readonly (string | number)[]): Place {
  return { source, path: [...path, ...further] };
}

const LARGEST_BYTES = 4 * 1_048_576;

interface Opened {
  readonly source: Source | null;
  readonly faults: Faults;
  readonly sha256: string | null;
}

export class Reading {
  readonly faults = new Faults();
  /** What is odd but not wrong. */
  readonly warnings: string[] = [];
  readonly #opened = new Map<string, Opened>();
  readonly #used = new Map<string, string>();

  /** What stands at a place is wrong: says the rest of a sentence that begins with its key. */
  fault({ source, path }: Place, says: string): void {
    this.faults.add(source.file, source.at(path), `${dotted(path)} ${says}`);
  }

  warn({ source, path }: Place, says: string): void {
    const { line, column } = source.at(path);
    this.warnings.push(`${source.file}:${line}:${column}: ${dotted(path)} ${says}`);
  }

  /** Throws all faults, if there are any. */
  settle(): void {
    if (!this.faults.none) throw new FileFaults(this.faults.all);
  }

  /** Everything that was read and used. Paths are stable: from the package's folder, or from that of `file`. */
  inputs(file: string): readonly Input[] {
    return [...this.#used]
      .map(([path, sha256]) => ({ path: stable(path, file), sha256 }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A file's data, for better or worse: its faults are now this loading's. */
  use(path: string): Source | null {
    const opened = this.#open(path);
    if (!this.#used.has(path)) {
      this.faults.meet(spoken(path));
      this.faults.take(opened.faults);
      if (opened.sha256 !== null) this.#used.set(path, opened.sha256);
    }
    return opened.source;
  }

  #open(path: string): Opened {
    const known = this.#opened.get(path);
    if (known !== undefined) return known;
    const opened = open(path);
    this.#opened.set(path, opened);
    return opened;
  }

  /** The text of a file that is not YAML, which `at` refers to; null, and a fault, where it cannot be read. */
  text(path: string, at: Place): string | null {
    const read = readText(path);
    if ("fault" in read) {
      this.fault(at, `is ${shown(at.source.valueAt(at.path))}: ${spoken(path)} ${read.fault}`);
      return null;
    }
    this.#used.set(path, read.sha256);
    return read.text;
  }

  /**
   * The file of this kind that a reference stands for; null, and a fault, if there is none.
   *
   * @param at where the reference stands; null on the command line
   */
  find(kind: FileKind, reference: string, from: From, at: Place | null): string | null {
    const found = candidates(reference, from);
    // On the command line a path is what it is: whatever is wrong with it is the file's own fault.
    if (isPath(reference) && at === null) return found[0]!;
    const fitting = found.find(
      (path) => this.#kindOf(path) === kind || (exists(path) && this.#open(path).source === null),
    );
    if (fitting !== undefined) return fitting;
    const problem = this.#whyNot(kind, reference, from, found[0]);
    if (at === null) this.faults.add(reference, null, problem);
    else this.fault(at, `is ${shown(reference)}: ${problem}`);
    return null;
  }

  #whyNot(kind: FileKind, reference: string, from: From, found: string | undefined): string {
    if (found === undefined) {
      return `there is no ${kind} of that name ${looked(from)}${suggestion(reference, this.names(kind, from))}`;
    }
    if (!exists(found)) return `${spoken(found)} does not exist`;
    const other = this.#kindOf(found);
    return `expected ${aKind(kind)}, but ${spoken(found)} is ${other === null ? "of no known kind" : aKind(other)}`;
  }

  /** Whether a name stands for a file of this kind. */
  knows(kind: FileKind, name: string, from: From): boolean {
    return candidates(name, from).some((path) => this.#kindOf(path) === kind);
  }

  /** The names of this kind that could be used from there. */
  names(kind: FileKind, from: From): readonly string[] {
    const files = filesIn(foldersFor(from)).filter((path) => this.#kindOf(path) === kind);
    return [...new Set(files.map(nameOf))];
  }

  #kindOf(path: string): FileKind | null {
    return kindOf(this.#open(path).source?.data);
  }

  /**
   * Data in the form that a schema asks for; null, and faults, if it is not.
   *
   * @param place where in the file it stands
   * @param standIns for top-level parts whose own faults need not keep the rest from being looked at. They never
   *   leave a loading, for it ends in the faults that they stand in for.
   */
  checked<Schema extends z.ZodType>(
    schema: Schema,
    place: Place,
    data: unknown,
    standIns: Readonly<Record<string, unknown>> = {},
  ): z.infer<Schema> | null {
    const result = schema.safeParse(data, { error: ({ input }) => instead(input, "something else") });
    if (result.success) return result.data;
    this.#reportAll(result.error.issues, place);
    if (typeof data !== "object" || data === null) return null;
    const mended: Record<string, unknown> = { ...data };
    for (const key of result.error.issues.flatMap(faultyKeys)) {
      if (standIns[key] === undefined) delete mended[key];
      else mended[key] = standIns[key];
    }
    const again = schema.safeParse(mended);
    const dropped = Object.keys(data).some((key) => !(key in mended) && !(key in standIns) && key in shapeOf(schema));
    return again.success && !dropped ? again.data : null;
  }

  /** Where a key is unknown, what is said of its mapping as a whole, or of the missing key that was meant, is the same fault again. */
  #reportAll(issues: readonly z.core.$ZodIssue[], place: Place): void {
    const unknown = new Map(
      issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? [[issue.path.join("\n"), issue.message]] : [])),
    );
    for (const issue of issues) {
      const meant = `did you mean ${String(issue.path.at(-1))}?`;
      const again =
        (issue.code === "custom" && unknown.has(issue.path.join("\n"))) ||
        (issue.message.startsWith("is missing") && unknown.get(issue.path.slice(0, -1).join("\n"))?.includes(meant));
      if (!again) this.#report(issue, place);
    }
  }

  #report(issue: z.core.$ZodIssue, { source, path }: Place): void {
    const place = { source, path: [...path, ...(issue.path as Path)] };
    if (issue.code === "invalid_union") {
      const meant = branchMeant(issue.errors);
      if (meant === undefined) this.fault(place, issue.message);
      else this.#reportAll(meant, place);
    } else if (issue.code === "unrecognized_keys") {
      const says = issue.message.split("\n");
      for (const [at, key] of issue.keys.entries()) {
        const keyPath = [...place.path, key];
        this.faults.add(source.file, source.keyAt(keyPath), `${dotted(keyPath)} ${says[at]}`);
      }
    } else {
      this.fault(place, issue.message);
    }
  }
}

/**
 * What is wrong inside the form that was meant: worth more than being told which forms there are.
 *
 * Every union here has one form at most for each kind of node, so the one meant is the one that did not mind the node itself.
 */
function branchMeant(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const atRoot = (issue: z.core.$ZodIssue) =>
    issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value");
  return (
    branches.find((issues) => !issues.some(atRoot)) ??
    // A number, but none that can be counted with.
    branches.find((issues) => issues.some((issue) => atRoot(issue) && "received" in issue))
  );
}

/** The keys at the top of a file that an issue is about. */
function faultyKeys(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.path.length > 0) return [String(issue.path[0])];
  return issue.code === "unrecognized_keys" ? issue.keys : [];
}

function shapeOf(schema: z.ZodType): object {
  return "shape" in schema ? (schema.shape as object) : {};
}

/** Keys that give a kind of file away, its name first; in the order in which kinds are tried. */
const SIGNS: Readonly<Record<FileKind, readonly string[]>> = {
  measured: ["measured"],
  panel: ["panel", "replicates"],
  scenario: ["scenario", "plan"],
  population: ["population", "commands_per_task"],
  profile: ["profile", "waits", "oracle"],
  policy: ["policy", "shell_execution"],
  arms: ["arms"],
  provider: ["provider", "price"],
};

/** What a file is, by its keys; null if they say nothing. */
export function kindOf(data: unknown): FileKind | null {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return null;
  const kinds = Object.keys(SIGNS) as readonly FileKind[];
  return kinds.find((kind) => SIGNS[kind].some((sign) => Object.hasOwn(data, sign))) ?? null;
}

export function aKind(kind: FileKind): string {
  if (kind === "measured") return "a file about measured trials";
  return kind === "arms" ? "a file of arms" : `a ${kind}`;
}

function open(path: string): Opened {
  const faults = new Faults();
  const file = spoken(path);
  const read = readText(path);
  if ("fault" in read) {
    faults.add(file, null, read.fault);
    return { source: null, faults, sha256: null };
  }
  return { source: readYaml(read.text, file, faults), faults, sha256: read.sha256 };
}

function readText(path: string): { readonly text: string; readonly sha256: string } | { readonly fault: string } {
  let bytes: Buffer;
  try {
    const status = statSync(path);
    if (status.isDirectory()) return { fault: "is a folder: expected a file" };
    if (!status.isFile()) return { fault: "is no ordinary file: expected one" };
    if (status.size > LARGEST_BYTES)
      return { fault: `is ${status.size} bytes long: expected ${LARGEST_BYTES} at most` };
    bytes = readFileSync(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return {
      fault:
        code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read (${code ?? "unknown reason"})`,
    };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what gives a binary file away
    if (/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) return { fault: "is not text: it holds control characters" };
    return { text, sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch {
    return { fault: "is not text: it is not UTF-8" };
  }
}
