/**
 * What a process prints, in a file, by the byte.
 *
 * The file is always a true beginning of the output: written in order, never with a gap. When it cannot take any more
 * (a full disk, a stated most) the rest is let go, and the spool says so; whoever prints is neither held up nor
 * stopped by it. Nothing is kept in memory, however much is printed.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";

export class Spool {
  readonly path: string;
  readonly #most: number;
  /** Open for as long as more may come. */
  #file: number | null = null;
  #written = 0;
  #complete = true;

  /** @param most how many bytes are kept at most */
  constructor(path: string, most: number) {
    this.path = path;
    this.#most = most;
    try {
      this.#file = openSync(path, "w+", 0o600);
    } catch {
      this.#complete = false;
    }
  }

  /** How many bytes are kept, from the first on. */
  get written(): number {
    return this.#written;
  }

  /** Whether everything that was printed is kept. */
  get complete(): boolean {
    return this.#complete;
  }

  append(bytes: Uint8Array): void {
    const fits = Math.min(bytes.length, this.#most - this.#written);
    try {
      for (let done = 0; this.#complete && done < fits; ) {
        const more = writeSync(this.#file!, bytes, done, fits - done, this.#written);
        done += more;
        this.#written += more;
      }
    } catch {
      // Once and for all: a byte more after a gap would stand where it does not belong.
      this.#complete = false;
    }
    if (fits < bytes.length) this.#complete = false;
  }

  /** Something was printed that nobody has read. */
  lose(): void {
    this.#complete = false;
  }

  /** At most `limit` bytes from `from` on; fewer if the file has been cut or taken away behind our back. */
  read(from: number, limit: number): Uint8Array {
    const bytes = new Uint8Array(Math.max(Math.min(limit, this.#written - from), 0));
    if (bytes.length === 0) return bytes;
    let got = 0;
    try {
      const file = this.#file ?? openSync(this.path, "r");
      try {
        while (got < bytes.length) {
          const more = readSync(file, bytes, got, bytes.length - got, from + got);
          if (more === 0) break;
          got += more;
        }
      } finally {
        if (this.#file === null) closeSync(file);
      }
    } catch {
      // Told by the flag below, like any other loss.
    }
    if (got < bytes.length) this.#complete = false;
    return bytes.subarray(0, got);
  }

  /** No more will come. What there is can still be read. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
