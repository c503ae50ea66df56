/** A panel beside its lock, on disk: what was frozen, and whether it still stands. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type Changed,
  changedFiles,
  changedInputs,
  contradictions,
  inText,
  type Lock,
  type LockedFile,
  lockOf,
  readLock,
} from "../experiment/lock.ts";
import { ANALYSIS } from "../report/judged.ts";
import { FileFaults } from "../scenario/fault.ts";
import { loadPanel, type Panel } from "../scenario/load.ts";
import { candidates, exists, packageRoot, spoken } from "../scenario/names.ts";
import { EngineDiffers, Tampered } from "./exit.ts";
import { messageOf, writeWhole } from "./folder.ts";
import { engineVersion } from "./versions.ts";

/** Where the lock of a panel's file lies. */
export function lockPath(file: string): string {
  return `${file.replace(/\.ya?ml$/, "")}.lock.json`;
}

/** The file that a reference stands for: of files of that name, the one that is frozen. */
function panelFile(reference: string): string {
  const found = candidates(reference, "command line");
  return found.find((path) => exists(lockPath(path))) ?? found[0] ?? resolve(`${reference}.yaml`);
}

/** Freezes a panel: loads it, names every file of it by its bytes, and writes the lock beside it. */
export function freeze(reference: string, frozenAt: Date): { readonly lock: Lock; readonly path: string } {
  const panel = loadPanel(reference);
  const file = resolve(panel.file);
  const files = panel.inputs.map((input) => located(input, file));
  const lock = lockOf(panel, files, { engine: engineVersion(), analysis: ANALYSIS, frozenAt });
  const path = lockPath(file);
  writeWhole(path, inText(lock));
  return { lock, path };
}

export interface Verified {
  readonly lock: Lock;
  readonly path: string;
  readonly panel: Panel;
}

/**
 * The panel, if it is what its lock says.
 *
 * Bytes are looked at before anything is read from them: a file that was changed into nonsense was changed, too.
 *
 * @throws FileFaults without a lock, or with one that cannot be; Tampered, EngineDiffers
 */
export function verified(reference: string): Verified {
  const file = panelFile(reference);
  const path = lockPath(file);
  const lock = lockAt(path, reference);
  const changed = changedFiles(comparable(lock), digestFrom(file));
  if (changed.length > 0) throw new Tampered(changed.map((each) => inWords(each, path)));
  if (lock.engine !== engineVersion()) throw new EngineDiffers(engineInWords(lock, path));
  const panel = loadPanel(reference);
  const resolved = changedInputs(lock, panel);
  if (resolved.length > 0) throw new Tampered(resolved.map((each) => inWords(each, path)));
  const contrary = contradictions(lock, panel, ANALYSIS);
  if (contrary.length > 0) throw new Tampered(contrary.map((says) => `TAMPERED  ${spoken(path)}: ${says}`));
  return { lock, path, panel };
}

/** What of a frozen panel is still there and no longer the same; null where no file of it is to be found here. */
export function changedSince(lock: Lock, file: string): readonly string[] | null {
  const digestAt = digestFrom(file);
  const compared = comparable(lock);
  const own = compared.files.filter(({ of }) => of === "panel" || dirname(file).startsWith(packageRoot));
  if (own.every((each) => digestAt(each) === null)) return null;
  return changedFiles(compared, digestAt).map((each) => inWords(each, lockPath(file)));
}

/** What ships with another version was not changed by anybody: of a panel that was frozen with one, only its own files are compared. */
function comparable(lock: Lock): Lock {
  if (lock.engine === engineVersion()) return lock;
  return { ...lock, files: lock.files.filter(({ of }) => of === "panel") };
}

function lockAt(path: string, reference: string): Lock {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new FileFaults([
      missing
        ? `${spoken(path)} does not exist: the panel is not frozen; yieldpoint freeze ${reference} writes it`
        : `${spoken(path)} cannot be read: ${messageOf(error)}`,
    ]);
  }
  const read = readLock(text);
  if ("faults" in read) throw new FileFaults(read.faults.map((fault) => `${spoken(path)}: ${fault}`));
  return read.lock;
}

/** Where one of the panel's inputs lies: the place that has these bytes. */
function located({ path, sha256 }: Panel["inputs"][number], file: string): LockedFile {
  const digestAt = digestFrom(file);
  const isOf = (of: LockedFile["of"]) => digestAt({ path, of, sha256 }) === sha256;
  return { path, of: isOf("package") ? "package" : "panel", sha256 };
}

const digestFrom =
  (file: string) =>
  ({ path, of }: LockedFile): string | null => {
    try {
      const bytes = readFileSync(of === "package" ? join(packageRoot, path) : resolve(dirname(file), path));
      return createHash("sha256").update(bytes).digest("hex");
    } catch {
      return null;
    }
  };

function inWords({ path, was, is }: Changed, lock: string): string {
  const told = (digest: string) => `${digest.slice(0, 12)}…`;
  if (was === null) return `TAMPERED  ${path}: the panel resolves to it now, and did not when it was frozen`;
  if (is === null) return `TAMPERED  ${path}: it was ${told(was)} when the panel was frozen, and is gone`;
  return `TAMPERED  ${path}: it was ${told(was)} when the panel was frozen (${spoken(lock)}), and is ${told(is)}`;
}

function engineInWords({ engine }: Lock, path: string): string {
  return `engine differs: ${spoken(path)} was frozen with yieldpoint ${engine}, and this is ${engineVersion()}; freeze the panel again, or use that version`;
}
