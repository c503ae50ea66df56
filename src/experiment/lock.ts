/**
 * A frozen panel: what was to be run and how it was to be judged, written down before anybody saw a result.
 *
 * A lock names every file that the panel is made of by the digest of its bytes. Whoever runs or reports the panel later can
 * then say whether it is still the one that was declared. Files lie somewhere else on another machine, so a lock knows
 * them by their place in the package or beside the panel.
 */
import { z } from "zod";
import type { Panel } from "../scenario/load.ts";

/** Where a file lies: in what ships with yieldpoint, or as seen from the panel's folder. */
const ORIGINS = ["package", "panel"] as const;

const digest = z.string().regex(/^[0-9a-f]{64}$/, "expected a SHA-256 in 64 hexadecimal digits");

const lockSchema = z.strictObject({
  lock: z.literal(1, "expected 1, the only version of locks there is"),
  panel: z.string().min(1),
  /** ISO 8601. */
  frozen_at: z.iso.datetime("expected a moment in ISO 8601"),
  engine: z.string().min(1),
  seed: z.number(),
  replicates: z.number(),
  hypotheses: z.array(z.record(z.string(), z.unknown())),
  /** How hypotheses are judged: words and levels by name. */
  analysis: z.record(z.string(), z.union([z.string(), z.number()])),
  files: z.array(z.strictObject({ path: z.string().min(1), of: z.enum(ORIGINS), sha256: digest })).min(1),
});

export type Lock = z.infer<typeof lockSchema>;
export type LockedFile = Lock["files"][number];
export type Analysis = Lock["analysis"];

/** @param files every input of the panel, and where it lies */
export function lockOf(
  panel: Panel,
  files: readonly LockedFile[],
  { engine, analysis, frozenAt }: { readonly engine: string; readonly analysis: Analysis; readonly frozenAt: Date },
): Lock {
  return {
    lock: 1,
    panel: panel.panel,
    frozen_at: frozenAt.toISOString(),
    engine,
    seed: panel.seed,
    replicates: panel.replicates,
    hypotheses: panel.hypotheses.map((hypothesis) => ({ ...hypothesis })),
    analysis,
    files: [...files],
  };
}

/** A lock as its file holds it; every fault, each as the rest of a sentence that begins with the file's name. */
export function readLock(text: string): { readonly lock: Lock } | { readonly faults: readonly string[] } {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { faults: ["is not JSON: expected a lock as freeze writes it; freeze the panel again"] };
  }
  const read = lockSchema.safeParse(data);
  if (read.success) return { lock: read.data };
  return {
    faults: read.error.issues.map(
      ({ path, message }) => `${path.join(".") || "the lock"}: ${message}; freeze the panel again`,
    ),
  };
}

export function inText(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** A file that is not what was frozen. */
export interface Changed {
  readonly path: string;
  /** Null: it was not there, and now the panel resolves to it. */
  readonly was: string | null;
  /** Null: it is gone, or the panel no longer resolves to it. */
  readonly is: string | null;
}

/** @param digestAt of the bytes that are there now; null where there are none */
export function changedFiles({ files }: Lock, digestAt: (file: LockedFile) => string | null): readonly Changed[] {
  return files.flatMap((file) => {
    const is = digestAt(file);
    return is === file.sha256 ? [] : [{ path: file.path, was: file.sha256, is }];
  });
}

/** The same for what the panel resolves to: another file may have come to lie nearer than the one that was frozen. */
export function changedInputs({ files }: Lock, { inputs }: Panel): readonly Changed[] {
  const frozen = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const now = new Map(inputs.map(({ path, sha256 }) => [path, sha256]));
  const paths = [...new Set([...frozen.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [frozen.get(path) ?? null, now.get(path) ?? null];
    return was === is ? [] : [{ path, was, is }];
  });
}

/** In what a lock says something else than the panel whose bytes it names: somebody has changed the lock. */
export function contradictions(lock: Lock, panel: Panel, analysis: Analysis): readonly string[] {
  const said = (value: unknown) => JSON.stringify(value);
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["panel", lock.panel, panel.panel],
    ["seed", lock.seed, panel.seed],
    ["replicates", lock.replicates, panel.replicates],
    ["hypotheses", lock.hypotheses, panel.hypotheses],
    ["analysis", lock.analysis, analysis],
  ];
  return pairs.flatMap(([what, locked, own]) =>
    said(locked) === said(own) ? [] : [`${what} is ${said(locked)}, and the panel has ${said(own)}`],
  );
}
