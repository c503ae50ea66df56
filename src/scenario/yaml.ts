/**
 * YAML as text into data that remembers where each part of it stands.
 *
 * Everything that can be wrong with a file before anyone asks what it means is found here, and said in our
 * words: the parser's own never reach a reader.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import type { Faults, Path, Position } from "./fault.ts";
import { shown } from "./fault.ts";

/** One file, read. */
export interface Source {
  /** As messages name it. */
  readonly file: string;
  readonly data: unknown;
  /** Where a value stands; its nearest parent if it is missing. */
  at(path: Path): Position;
  /** What stands at a place; undefined if nothing does. */
  valueAt(path: Path): unknown;
  /** Where a key stands. */
  keyAt(path: Path): Position;
}

/** More aliases than this, once expanded, are refused: a small file can otherwise stand for a huge one. */
const MOST_ALIASES = 100;

const TOO_DEEP = "the file is nested too deeply: expected a few levels";

/** Reads a text as YAML; null where faults make it unreadable. */
export function readYaml(text: string, file: string, faults: Faults): Source | null {
  const lines = new LineCounter();
  const found: { readonly at: number; readonly says: string }[] = [];
  let document: Document.Parsed | null = null;
  let data: unknown = null;
  try {
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, stringKeys: true, prettyErrors: false });
    // One slip in the structure makes many: the first says where to look. A key that stands twice is a slip of its own.
    const slips = [...document.errors, ...document.warnings];
    const first = slips.find(({ code }) => code !== "DUPLICATE_KEY");
    for (const slip of slips) {
      if (slip === first || slip.code === "DUPLICATE_KEY")
        found.push({ at: slip.code === "RESOURCE_EXHAUSTION" ? 0 : slip.pos[0], says: inOurWords(slip, text) });
    }
    found.push(...strange(document));
    if (found.length === 0) data = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (thrown) {
    if (thrown instanceof RangeError) found.push({ at: 0, says: TOO_DEEP });
    else if (thrown instanceof ReferenceError) {
      found.push({
        at: firstAlias(document),
        says: `aliases stand for more than ${MOST_ALIASES} parts of the file: write them out`,
      });
    } else throw thrown;
  }
  if (found.length > 0) {
    for (const { at, says } of found) faults.add(file, positionAt(at), says);
    return null;
  }
  if (data === null) {
    faults.add(file, { line: 1, column: 1 }, "the file is empty: expected keys and values");
    return null;
  }
  const root = document!.contents as Node;
  return {
    file,
    data,
    at: (path) => positionAt(walk(document!, root, path).value),
    valueAt: (path) =>
      path.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], data),
    keyAt: (path) => positionAt(walk(document!, root, path).key),
  };

  function positionAt(offset: number): Position {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

interface Place {
  readonly key: number;
  readonly value: number;
}

function walk(document: Document, root: Node, path: Path): Place {
  let node: unknown = root;
  let place: Place = { key: begins(root), value: begins(root) };
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined) return place;
      const key = begins(pair.key as Node);
      node = pair.value;
      place = { key, value: node === null ? key : begins(node as Node) };
    } else if (isSeq(node)) {
      const item = node.items[Number(part)];
      if (item === undefined) return place;
      node = item;
      place = { key: begins(item as Node), value: begins(item as Node) };
    } else {
      return place;
    }
  }
  return place;
}

function begins(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** What parses and still cannot be meant: names that nobody gave, and keys that JavaScript takes for its own. */
function strange(document: Document): { readonly at: number; readonly says: string }[] {
  const found: { readonly at: number; readonly says: string }[] = [];
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      found.push({
        at: begins(alias),
        says: `*${alias.source} stands for nothing: no &${alias.source} comes before it`,
      });
    },
    Pair(_, { key }) {
      if (isScalar(key) && key.value === "__proto__")
        found.push({ at: begins(key), says: "__proto__ is not a key of anything" });
    },
  });
  return found;
}

function firstAlias(document: Document | null): number {
  let at = 0;
  if (document !== null) {
    visit(document, {
      Alias(_, alias) {
        at = begins(alias);
        return visit.BREAK;
      },
    });
  }
  return at;
}

function inOurWords({ code, pos: [from, to] }: YAMLError, text: string): string {
  const here = text.slice(from, Math.max(to, from + 1)).split("\n")[0] ?? "";
  switch (code) {
    case "DUPLICATE_KEY":
      return `${shown(/^[^:\s]+/.exec(text.slice(from))?.[0] ?? here)} is a key twice: expected it once`;
    case "MULTIPLE_DOCS":
      return "a second document begins here: expected one document to a file";
    case "TAB_AS_INDENT":
      return "a tab indents this line: expected spaces";
    case "BAD_INDENT":
    case "BLOCK_AS_IMPLICIT_KEY":
    case "BLOCK_IN_FLOW":
      return "the structure breaks here: expected every bracket above to be closed, and lines of one level to begin in one column";
    case "RESOURCE_EXHAUSTION":
      return TOO_DEEP;
    case "MISSING_CHAR":
      return "something is left open before this: expected a closing quote, bracket, brace, comma or colon";
    case "MULTILINE_IMPLICIT_KEY":
    case "KEY_OVER_1024_CHARS":
      return "a key is not closed here: expected a colon after it, on its line";
    case "BAD_SCALAR_START":
      return `a value begins with ${shown(here.slice(0, 1))}: put it in quotes`;
    case "BAD_DQ_ESCAPE":
      return "a backslash in double quotes says nothing YAML knows: double it, or use single quotes";
    case "TAG_RESOLVE_FAILED":
      return "a tag says what YAML here does not know: expected plain values";
    case "NON_STRING_KEY":
      return "a key is not a word: expected keys in letters";
    case "ALIAS_PROPS":
    case "BAD_ALIAS":
    case "MULTIPLE_ANCHORS":
    case "MULTIPLE_TAGS":
    case "BAD_PROP_ORDER":
      return "an anchor, alias or tag stands where none can: write the value out";
    default:
      return "this is not YAML: expected keys and values";
  }
}
