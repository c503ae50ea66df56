/** Which engine this is, what it stands on, and how it was called. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cpus, platform, release } from "node:os";

interface PackageFile {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const root = new URL("../../", import.meta.url);

function packageFile(): PackageFile {
  return JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as PackageFile;
}

export function engineVersion(): string {
  return packageFile().version;
}

export function versions(): Readonly<Record<string, string>> {
  const { version, dependencies } = packageFile();
  return { yieldpoint: version, node: process.versions.node, duckdb: dependencies["@duckdb/node-api"] ?? "" };
}

export function host(): Readonly<Record<string, string | number>> {
  return { platform: platform(), release: release(), architecture: process.arch, cores: cpus().length };
}

/** The checkout that this program runs from; null where there is none. */
export function gitState(): { readonly commit: string; readonly changed: boolean } | null {
  try {
    const git = (...args: readonly string[]) =>
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return { commit: git("rev-parse", "HEAD"), changed: git("status", "--porcelain") !== "" };
  } catch {
    return null;
  }
}

/** The command line as a shell would need it to say the same again. */
export function commandLine(words: readonly string[]): string {
  return ["yieldpoint", ...words].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
