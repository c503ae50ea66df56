/**
 * The folder that a run writes into.
 *
 * A folder is ours if it is missing, empty, or holds a manifest that yieldpoint wrote; any other is
 * refused, so that a mistyped name costs nobody a file. The manifest is written first, and everything is
 * written beside its place and renamed, so that nothing half-written ever carries a final name.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Lock, readLock } from "../experiment/lock.ts";
import { UsageError } from "./exit.ts";

/** What a run writes, beside its manifest. */
const WRITTEN = [
  "experiment.duckdb",
  "experiment.duckdb.wal",
  "report.html",
  "report.md",
  "summary.json",
  "junit.xml",
] as const;
const MANIFEST = "manifest.json";
const MADE_BY = "yieldpoint";

export interface Folder {
  readonly path: string;
  readonly database: string;
  readonly report: string;
  readonly summary: string;
  readonly junit: string;
  readonly manifest: string;
}

export function folderAt(path: string): Folder {
  return {
    path,
    database: join(path, "experiment.duckdb"),
    report: join(path, "report.html"),
    summary: join(path, "summary.json"),
    junit: join(path, "junit.xml"),
    manifest: join(path, MANIFEST),
  };
}

/** Why a run may not write here; null if it may. Looks only. */
export function folderFault(path: string): string | null {
  try {
    if (!existsSync(path)) return null;
    if (!statSync(path).isDirectory()) return `${path} is a file: expected a folder to write into`;
    if (readdirSync(path).length === 0 || isOurs(path)) return null;
    return `${path} holds files of something else: name another folder with --out, or empty this one`;
  } catch (error) {
    return `${path} cannot be read: ${messageOf(error)}`;
  }
}

/** Takes the folder: its manifest first, then away with what an earlier run left. */
export function takeFolder(path: string, manifest: object): Folder {
  const folder = folderAt(path);
  try {
    makeFolder(resolve(path));
    writeWhole(folder.manifest, `${JSON.stringify({ made_by: MADE_BY, ...manifest }, null, 2)}\n`);
    for (const name of WRITTEN) rmSync(join(path, name), { force: true });
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${messageOf(error)}; name another folder with --out`);
  }
  return folder;
}

/** Makes a folder and those above it, one by one: where one cannot be made, Node's own way of doing so may never end. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

/** Writes beside the final place, then renames: a reader sees the old file or the new one, whole. */
export function writeWhole(path: string, content: string): void {
  const beside = `${path}.part`;
  try {
    writeFileSync(beside, content);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** What the manifest says of the frozen panel that was run; null where none was, or nobody knows. */
export function frozenPanel({ path }: Folder): { readonly panel: string; readonly lock: Lock } | null {
  const frozen = manifestIn(path)?.["frozen"] as { readonly panel?: unknown; readonly lock?: unknown } | undefined;
  if (typeof frozen?.panel !== "string") return null;
  const read = readLock(JSON.stringify(frozen.lock ?? null));
  if ("faults" in read)
    throw new UsageError(...read.faults.map((fault) => `${join(path, MANIFEST)}: frozen: ${fault}`));
  return { panel: frozen.panel, lock: read.lock };
}

function isOurs(path: string): boolean {
  return manifestIn(path)?.["made_by"] === MADE_BY;
}

function manifestIn(path: string): Readonly<Record<string, unknown>> | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(path, MANIFEST), "utf8"));
    return typeof manifest === "object" ? (manifest as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
