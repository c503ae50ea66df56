/** Where the files lie that a name stands for: beside the file that uses it, around it, then among what ships. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's own folder; the same from `src` and from `dist`. */
export const packageRoot = fileURLToPath(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

const SHIPPED = ["scenarios", "panels", "panels/policies", "panels/profiles", "panels/providers"] as const;
const AROUND = [".", ...SHIPPED.map((folder) => `../${folder}`)];
const HERE = [".", ...SHIPPED];

/** Where a name is used: in a file of this folder, or on the command line. */
export type From = { readonly folder: string } | "command line";

/** The folders in which a name is looked for, in this order. */
export function foldersFor(from: From): readonly string[] {
  const near =
    from === "command line"
      ? HERE.map((folder) => resolve(folder))
      : AROUND.map((folder) => resolve(from.folder, folder));
  return [...new Set([...near, ...SHIPPED.map((folder) => join(packageRoot, folder))])];
}

/** The same in words, for a message. */
export function looked(from: From): string {
  const near =
    from === "command line" ? `here, in ${SHIPPED.join(", ")}` : `beside the file, in ${AROUND.slice(1).join(", ")}`;
  return `${near}, or among what ships`;
}

const ENDING = /\.ya?ml$/;

/** Whether a reference is a path rather than a name. */
export function isPath(reference: string): boolean {
  return ENDING.test(reference) || reference.includes("/") || reference.includes(sep);
}

/** The files that a name or a path may stand for, nearest first; those that exist, or the one that ought to. */
export function candidates(reference: string, from: From): readonly string[] {
  if (isPath(reference)) {
    const direct = resolve(from === "command line" ? "." : from.folder, reference);
    const shipped = join(packageRoot, reference);
    return [exists(direct) || !exists(shipped) ? direct : shipped];
  }
  return foldersFor(from).flatMap((folder) =>
    [`${reference}.yaml`, `${reference}.yml`].map((file) => join(folder, file)).filter(exists),
  );
}

/** Whether anything lies at a path. */
export function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Not even a path: too long, or with a zero in it.
    return false;
  }
}

/** Every YAML file in some folders. */
export function filesIn(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder)
        .filter((file) => ENDING.test(file))
        .sort()
        .map((file) => join(folder, file));
    } catch {
      return [];
    }
  });
}

/** The name that a file is found by. */
export function nameOf(path: string): string {
  return basename(path).replace(ENDING, "");
}

/** A path as messages and people spell it: from here, unless that leads upwards. */
export function spoken(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}

/** A path that is the same wherever the package and the file's folder lie. */
export function stable(path: string, from: string): string {
  const shipped = relative(packageRoot, path);
  const inPackage = !shipped.startsWith("..") && !shipped.startsWith("node_modules");
  return (inPackage ? shipped : relative(dirname(from), path)).split(sep).join("/");
}
