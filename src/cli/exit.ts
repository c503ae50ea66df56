/** How the program ends: its exit codes, and what is a user's mistake rather than ours. */

export const EXIT = {
  done: 0,
  hypothesisFails: 1,
  usage: 2,
  tampered: 3,
  incomplete: 4,
  internal: 5,
  interrupted: 130,
} as const;

/** Flags, folders and the like that cannot be: every fault at once, printed without a stack. */
export class UsageError extends Error {
  readonly faults: readonly string[];
  constructor(...faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "UsageError";
    this.faults = faults;
  }
}

/** A frozen panel that is no longer what was frozen: every file of it that is not, in words. */
export class Tampered extends Error {
  readonly files: readonly string[];
  constructor(files: readonly string[]) {
    super(files.join("\n"));
    this.name = "Tampered";
    this.files = files;
  }
}

/** A panel that was frozen with another version of yieldpoint. */
export class EngineDiffers extends Error {}

/** Something outside failed once whole worlds were kept: disk, lock, folder. */
export class Incomplete extends Error {}

/** Ctrl-C, between two worlds. */
export class Interrupted extends Error {}
