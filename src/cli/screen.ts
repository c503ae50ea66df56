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
  /** @param align one letter a column: l or r */
  table(head: readonly string[], rows: readonly (readonly string[])[], align: string): void;
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
    table(head, rows, align) {
      const table = new Table({
        head: head.map((word) => colours.bold(word)),
        style: { head: [], border: [], compact: true },
        colAligns: [...align].map((letter) => (letter === "r" ? "right" : "left")),
        chars: PLAIN_BORDER,
      });
      for (const row of rows) table.push([...row]);
      line(table.toString().replace(/[ \t]+$/gm, ""));
    },
    progress: (what, total) => (lively ? bar(stream, what, total) : plainProgress(line, what, total)),
  };
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
