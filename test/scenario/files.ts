/** Files to load, written for one test into a folder of its own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { FileFaults } from "../../src/scenario/fault.ts";
import { packageRoot } from "../../src/scenario/names.ts";

export interface Folder {
  readonly path: (file: string) => string;
  /** The faults of loading, with the folder's own path left out. */
  readonly faults: (load: () => unknown) => readonly string[];
}

/** A folder with these files in it; a file without content is a folder. */
export function folder(files: Readonly<Record<string, string | Uint8Array | null>>): Folder {
  const root = mkdtempSync(join(tmpdir(), "yieldpoint-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const path = (file: string) => join(root, file);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(path(file)), { recursive: true });
    if (content === null) mkdirSync(path(file));
    else writeFileSync(path(file), content);
  }
  return {
    path,
    faults(load) {
      try {
        load();
      } catch (thrown) {
        if (thrown instanceof FileFaults) return thrown.faults.map((fault) => fault.replaceAll(`${root}/`, ""));
        throw thrown;
      }
      return [];
    },
  };
}

/**
 * A text with marks in it, `▸` before each place where a fault is expected, one for each fault.
 *
 * @returns the text without its marks, and for each of them `line:column`
 */
export function marked(text: string): { readonly text: string; readonly marks: readonly string[] } {
  const marks: string[] = [];
  let bare = "";
  for (const part of text.split(/(▸)/)) {
    if (part !== "▸") bare += part;
    else marks.push(`${bare.split("\n").length}:${bare.length - bare.lastIndexOf("\n")}`);
  }
  return { text: bare, marks };
}

/** A file that ships, as text. */
export function shippedText(file: string): string {
  return readFileSync(join(packageRoot, file), "utf8");
}

/** A scenario in which only the changed lines matter. */
export function aScenario(changes: Readonly<Record<string, string>> = {}): string {
  const lines = {
    scenario: "situation",
    question: "What happens?",
    outer_limit_seconds: "5400",
    commands: "{ pytest: { line: pytest -q, phases: [{ hang: { output: none } }] } }",
    plan: "[{ run: pytest }, { submit: {} }]",
    grading: "{ tests: 1, reward: all_tests, credit: submitted }",
    ...changes,
  };
  return inLines(lines);
}

/** A panel of one scenario and the note's arms, in which only the changed lines matter. An empty change leaves a line out. */
export function aPanel(changes: Readonly<Record<string, string>> = {}): string {
  const lines = {
    panel: "comparison",
    question: "Which is better?",
    scenarios: "[hung-test-run]",
    replicates: "1",
    factors: "[cap, habit, slice, budget]",
    arms: "[control, treatment, budgeted]",
    ...changes,
  };
  return inLines(lines);
}

function inLines(lines: Readonly<Record<string, string>>): string {
  return Object.entries(lines)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("");
}

/** The faults of one file, which may hold marks. */
export function faultsOf(
  content: string | Uint8Array | null,
  load: (file: string) => unknown,
  beside: Readonly<Record<string, string>> = {},
): readonly string[] {
  const { path, faults } = folder({
    ...beside,
    "f.yaml": typeof content === "string" ? marked(content).text : content,
  });
  return faults(() => load(path("f.yaml"))).map((fault) => fault.replace(`${packageRoot}/`, ""));
}

/** What is said at each mark of a file; of the file as a whole, if there is none. */
export function expectedOf(content: string | Uint8Array | null, says: readonly string[]): readonly string[] {
  const marks = typeof content === "string" ? marked(content).marks : [];
  return says.map((said, at) => (marks.length === 0 ? `f.yaml: ${said}` : `f.yaml:${marks[at]}: ${said}`));
}

/** A profile in which only the changed lines matter. */
export function aProfile(changes: Readonly<Record<string, string>> = {}): string {
  return inLines({
    profile: "patient",
    step_seconds: "12",
    waits: "[{ from: 1, seconds: 240 }]",
    stops_a_process: "never",
    in_the_reserve: "ignore",
    ...changes,
  });
}

/** A provider in which only the changed lines matter. */
export function aProvider(changes: Readonly<Record<string, string>> = {}): string {
  return inLines({
    provider: "somebody",
    cache: "{ lifetime_seconds: 300, write: 1.25, read: 0.1 }",
    price: "{ input_usd_per_million: 5, output_usd_per_million: 25 }",
    ...changes,
  });
}
