/**
 * Signs of failure in what a command prints: stated texts, looked for in each line as it comes.
 *
 * All of them are looked for at once, byte by byte and never twice, so that no output and no choice of texts makes it slow.
 * There is no pattern language: a line holds one of the texts, or it does not.
 */

/** Between texts, in a setting. */
const BETWEEN = " | ";

/** Where a search stands: how much of which text has just been read. */
export type Standing = number & { readonly [kind]: "standing" };
declare const kind: unique symbol;

const encoder = new TextEncoder();

/** A machine that reads output and knows when one of the texts is complete. Texts hold no line ends, so none reaches over two lines. */
export class Evidence {
  /** Bytes of the longest text: what lies further back is of no matter. */
  readonly longest: number;
  static readonly begin = 0 as Standing;
  readonly #edges: Map<number, number>[] = [new Map()];
  readonly #fallback: number[] = [0];
  readonly #complete: boolean[] = [false];

  constructor(texts: readonly string[]) {
    const encoded = texts.map((text) => encoder.encode(text));
    this.longest = Math.max(0, ...encoded.map(({ length }) => length));
    for (const text of encoded) this.#add(text);
    this.#link();
  }

  read(standing: Standing, byte: number): Standing {
    let at: number = standing;
    for (;;) {
      const next = this.#edges[at]!.get(byte);
      if (next !== undefined) return next as Standing;
      if (at === 0) return Evidence.begin;
      at = this.#fallback[at]!;
    }
  }

  isComplete(standing: Standing): boolean {
    return this.#complete[standing]!;
  }

  #add(text: Uint8Array): void {
    let at = 0;
    for (const byte of text) {
      let next = this.#edges[at]!.get(byte);
      if (next === undefined) {
        next = this.#edges.push(new Map()) - 1;
        this.#fallback.push(0);
        this.#complete.push(false);
        this.#edges[at]!.set(byte, next);
      }
      at = next;
    }
    if (text.length > 0) this.#complete[at] = true;
  }

  /** Where to go on when a text breaks off: at the longest beginning of another that has just been read. Shorter ones first. */
  #link(): void {
    const queue = [...this.#edges[0]!.values()];
    for (const at of queue) {
      for (const [byte, next] of this.#edges[at]!) {
        queue.push(next);
        const to = this.read(this.#fallback[at]! as Standing, byte);
        this.#fallback[next] = to;
        if (this.#complete[to]) this.#complete[next] = true;
      }
    }
  }
}

/** The texts of a setting, `one | another`. */
export function evidenceOf(setting: string): Evidence {
  return new Evidence(setting.split(BETWEEN).filter((text) => text !== ""));
}

/** What a hold is ended by: one of the texts, in what was printed beyond `cursor` (bytes). */
export interface Sought {
  readonly evidence: Evidence;
  readonly cursor: number;
}
