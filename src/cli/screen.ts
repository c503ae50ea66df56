/**
 * What a person sees in the terminal: colours where they are wanted, a progress line, tables.
 *
 * People's output goes to stderr where stdout is for a machine. Without a terminal, in CI and under
 * NO_COLOR everything is plain lines.
 */
import { Presets, SingleBar } from "cli-progress";
import Table from "cli-table3";
import { createColors } from "picocolors";

export type Colours = ReturnType<typeof createColors>;

export interface Screen {
  readonly colours: Colours;
  line(text?: string): void;
  /**
   * One that is wider than the terminal is folded: its columns in several blocks, each beginning with those that name the rows.
   * Where those alone take half of it there is nothing to be won, and lines run on.
   *
   * @param align one letter a column: l or r
   * @param names how many columns name the rows
   */
  table(head: readonly string[], rows: readonly (readonly string[])[], align: string, names?: number): void;
  progress(what: string, total: number): Progress;
}

export interface Progress {
  /** @param note a few words on how it stands */
  to(done: number, note: string): void;
  stop(): void;
}

export interface ScreenOptions {
  readonly stream: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Lines between two plain progress lines, as a share of the whole. */
const PLAIN_STEPS = 10;

export function openScreen({ stream, environment }: ScreenOptions): Screen {
  const lively = stream.isTTY === true && environment["CI"] === undefined;
  const colours = createColors(lively && environment["NO_COLOR"] === undefined && environment["TERM"] !== "dumb");
  const line = (text = "") => void stream.write(`${text}\n`);
  return {
    colours,
    line,
    table(head, rows, align, names = 1) {
      for (const [at, block] of folded(head, rows, names, stream.columns).entries()) {
        const table = new Table({
          head: block.map((column) => colours.bold(head[column]!)),
          style: { head: [], border: [], compact: true },
          colAligns: block.map((column) => (align[column] === "r" ? "right" : "left")),
          chars: PLAIN_BORDER,
        });
        for (const row of rows) table.push(block.map((column) => row[column]!));
        if (at > 0) line();
        line(table.toString().replace(/[ \t]+$/gm, ""));
      }
    },
    progress: (what, total) => (lively ? bar(stream, what, total) : plainProgress(line, what, total)),
  };
}

/** Blanks that a column takes beside its words: one either side, and two from the column before. */
const BESIDE = 4;

/** Which columns stand in which block. @param width in characters; undefined: there is no end to a line */
function folded(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  names: number,
  width: number | undefined,
): readonly (readonly number[])[] {
  const widths = head.map((words, column) =>
    Math.max(...[...words.split("\n"), ...rows.map((row) => row[column]!)].map(({ length }) => length + BESIDE)),
  );
  const naming = widths.slice(0, names);
  const room = (width ?? Number.POSITIVE_INFINITY) - naming.reduce((sum, each) => sum + each, 0);
  const folds = width !== undefined && room >= width / 2;
  const blocks: number[][] = [[...naming.keys()]];
  let left = room;
  for (let column = names; column < head.length; column += 1) {
    if (folds && widths[column]! > left && left < room) {
      blocks.push([...naming.keys()]);
      left = room;
    }
    blocks.at(-1)!.push(column);
    left -= widths[column]!;
  }
  return blocks;
}

function bar(stream: NodeJS.WriteStream, what: string, total: number): Progress {
  const single = new SingleBar(
    { stream, format: `${what} {bar} {value}/{total}  {note}`, hideCursor: true, clearOnComplete: true, barsize: 24 },
    Presets.shades_classic,
  );
  single.start(total, 0, { note: "" });
  return {
    to: (done, note) => single.update(done, { note }),
    stop: () => single.stop(),
  };
}

function plainProgress(line: (text: string) => void, what: string, total: number): Progress {
  let told = 0;
  return {
    to(done, note) {
      const step = Math.floor((done * PLAIN_STEPS) / total);
      if (step <= told) return;
      told = step;
      line(`${what} ${done}/${total}  ${note}`);
    },
    stop() {},
  };
}

const PLAIN_BORDER = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};
