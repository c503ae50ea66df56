/** What the two rooms at the bottom of the house have never heard of: clocks, luck, promises, the outside. */
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const UNHEARD = new Set([
  ...["Date", "performance", "Intl", "Promise", "AbortSignal", "AbortController", "globalThis", "fetch", "console"],
  ...[
    "setTimeout",
    "setInterval",
    "setImmediate",
    "clearTimeout",
    "clearInterval",
    "queueMicrotask",
    "structuredClone",
  ],
]);

/** Members by which the global `process` would be known; managed processes have none of these. */
const OF_THE_GLOBAL_PROCESS = new Set([
  ...["env", "argv", "nextTick", "hrtime", "exit", "cwd", "pid", "uptime", "memoryUsage", "stdout", "stderr", "stdin"],
  ...["platform", "on", "once", "emit", "kill", "cpuUsage", "version", "versions", "execArgv", "emitWarning"],
]);

interface Rules {
  readonly imports: RegExp;
  /** Whether the word `process` may name anything at all. */
  readonly process: boolean;
}

const rooms: Readonly<Record<string, Rules>> = {
  policy: { imports: /^\.\/[\w]+\.ts$/, process: false },
  agent: { imports: /^(\.\/\w+|\.\.\/policy\/\w+|\.\.\/random|\.\.\/distribution)\.ts$/, process: true },
};

const folder = (room: string) => new URL(`../../src/${room}/`, import.meta.url);
const files = Object.entries(rooms).flatMap(([room, rules]) =>
  readdirSync(folder(room))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [`${room}/${name}`, readFileSync(new URL(name, folder(room)), "utf8"), rules] as const),
);

test("there are files to look at", () => {
  expect(files.length).toBeGreaterThan(12);
});

describe.each(files)("src/%s", (name, text, rules) => {
  test("knows no clock, no luck, no promise and nothing outside", () => {
    expect(faultsOf(name, text, rules)).toEqual([]);
  });
});

test.each([
  ["const now = Date.now();", "Date"],
  ["const luck = Math.random();", "Math.random"],
  ["async function f() {}", "async"],
  ["const f = async () => {};", "async"],
  ["const { env } = process;", "process"],
  ['import { readFileSync } from "node:fs";', "import of node:fs"],
  ['import type { Row } from "../telemetry/tables.ts";', "import of ../telemetry/tables.ts"],
  ['const later = import("./time.ts");', "import()"],
  ["function* f() { try { yield 1; } finally { yield 2; } }", "yield in finally"],
  ["function* f() { try { yield 1; } finally { yield* g(); } }", "yield in finally"],
  ["setTimeout(() => {}, 1);", "setTimeout"],
])("%s is caught", (text, fault) => {
  expect(faultsOf("it.ts", text, rooms["policy"]!)).toContain(fault);
});

test("a managed process is no fault, the global one is", () => {
  const agent = rooms["agent"]!;
  expect(faultsOf("it.ts", "const { end } = process; process.end; // process.env", agent)).toEqual([]);
  expect(faultsOf("it.ts", "process.env; process.hrtime.bigint();", agent)).toEqual(["process.env", "process.hrtime"]);
});

function faultsOf(name: string, text: string, rules: Rules): string[] {
  const faults: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
      const isKey = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
      if (UNHEARD.has(node.text) && !isMember && !isKey) faults.push(node.text);
      if (node.text === "process" && !rules.process && !isMember) faults.push("process");
    }
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const [of, member] = [node.expression.text, node.name.text];
      if (of === "Math" && member === "random") faults.push("Math.random");
      if (of === "process" && OF_THE_GLOBAL_PROCESS.has(member)) faults.push(`process.${member}`);
    }
    if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)) faults.push("async");
    if (node.kind === ts.SyntaxKind.ImportKeyword && ts.isCallExpression(node.parent)) faults.push("import()");
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      const from = (node.moduleSpecifier as ts.StringLiteral).text;
      if (!rules.imports.test(from)) faults.push(`import of ${from}`);
    }
    if (ts.isTryStatement(node) && node.finallyBlock !== undefined && yields(node.finallyBlock)) {
      faults.push("yield in finally");
    }
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true));
  return faults;
}

/** Whether a block yields itself, not by way of a function that it declares. */
function yields(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false;
  return ts.isYieldExpression(node) || (ts.forEachChild(node, (child) => yields(child) || undefined) ?? false);
}
