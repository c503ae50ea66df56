/** `init`: a first panel of one's own, from a list of command durations or from a few questions. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { LONGEST_SECONDS } from "../policy/settings.ts";
import { lintFile } from "../scenario/lint.ts";
import { readForeign, StoreError } from "../telemetry/store.ts";
import type { Command, Outside } from "./command.ts";
import { COLUMNS, type Durations, durationsFrom, type Share } from "./durations.ts";
import { EXIT, Interrupted, UsageError } from "./exit.ts";
import { firstPanel, type MadeFile } from "./firstPanel.ts";
import { amount, readFlags, text, whole } from "./flags.ts";
import { messageOf } from "./folder.ts";
import { openScreen } from "./screen.ts";
import { commandLine } from "./versions.ts";

interface Question {
  readonly asks: string;
  /** What is taken where somebody only presses Enter. */
  readonly usual: number;
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

/** Of tasks: what no list of durations tells. */
const OF_TASKS = {
  "outer-limit-seconds": {
    asks: "After how many seconds does the harness end a trial?",
    usual: 5_400,
    least: 0.001,
    most: LONGEST_SECONDS,
  },
  "commands-per-task": {
    asks: "How many commands does a task run, on average?",
    usual: 20,
    least: 1,
    most: 10_000,
    whole: true,
  },
  "thinking-seconds": {
    asks: "How many seconds does the model think in a task, in total?",
    usual: 1_000,
    least: 0,
    most: LONGEST_SECONDS,
  },
} as const satisfies Readonly<Record<string, Question>>;

/** Of commands: what a list of durations tells. */
const OF_COMMANDS = {
  "median-seconds": {
    asks: "How many seconds does a command take, where half of them are quicker?",
    usual: 1,
    least: 0.001,
    most: 1e6,
  },
  "p99-seconds": {
    asks: "And a slow one, where one in a hundred is slower?",
    usual: 60,
    least: 0.001,
    most: 1e6,
  },
  "never-ending": {
    asks: "Of 1,000 commands, how many never end?",
    usual: 4,
    least: 0,
    most: 999,
    whole: true,
  },
} as const satisfies Readonly<Record<string, Question>>;

const QUESTIONS = { ...OF_TASKS, ...OF_COMMANDS };
type Name = keyof typeof QUESTIONS;
type Answers = Partial<Record<Name, number>>;

const flags = {
  out: text("folder to make (default: the name of the table, or my-panel)", "DIR"),
  "outer-limit-seconds": amount(`when the harness ends a trial (${OF_TASKS["outer-limit-seconds"].usual})`),
  "commands-per-task": whole(`how many commands a task runs, on average (${OF_TASKS["commands-per-task"].usual})`, 1),
  "thinking-seconds": amount(`how long the model thinks in a task, in total (${OF_TASKS["thinking-seconds"].usual})`),
  "median-seconds": amount("without a table: half of the commands are quicker"),
  "p99-seconds": amount("without a table: one command in a hundred is slower"),
  "never-ending": whole("without a table: of 1,000 commands, how many never end", 0),
};

export const init: Command = {
  usage: "init [durations]",
  says: `a first panel of one's own, from a CSV file of command durations (columns ${COLUMNS.join(", ")}; only seconds is needed) or from questions`,
  flags,
  examples: [
    ["init durations.csv", "a folder with a panel on commands that last as long as these"],
    ["init durations.csv --out mine --outer-limit-seconds 1800", "the same, under another outer limit"],
    ["init", "asks, in a terminal"],
    ["init --out mine --median-seconds 2 --p99-seconds 300 --never-ending 4", "the same without being asked"],
  ],
  async does(argv, outside) {
    const { given, faults } = readFlags(argv, flags, ["durations"]);
    const table = argv["durations"] === undefined ? null : String(argv["durations"]);
    const out = given.out ?? (table === null ? "my-panel" : basename(table).replace(/\.[a-z]+$/i, ""));
    const said: Answers = Object.fromEntries(
      (Object.keys(QUESTIONS) as Name[]).flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    );
    const mayAsk = table === null && process.stdin.isTTY === true && outside.environment["CI"] === undefined;
    const all = [...faults, ...faultsOf(said, table), ...unanswered(argv, table, mayAsk)];
    const fault = outFault(out);
    if (fault !== null) all.push(fault);
    const measured = table === null ? null : await durationsIn(table, all);
    if (all.length > 0) throw new UsageError(...all);

    const answers = answered(mayAsk ? await asked(said, process.stdin, outside.stderr) : said);
    const name = panelName(out);
    const files = firstPanel({
      name,
      source: table === null ? "answers to the questions of init" : `durations of ${basename(table)}`,
      outerLimitSeconds: answers["outer-limit-seconds"],
      commandsPerTask: answers["commands-per-task"],
      thinkingSeconds: answers["thinking-seconds"],
      shares: measured?.shares ?? sharesOf(answers),
      measured,
    });
    writeFolder(out, files);
    const panel = join(out, files[0]!.file);
    const { warnings, faults: own } = lintFile(panel);
    if (own.length > 0) throw new Error(`init has made a panel that cannot be:\n${own.join("\n")}`);
    tell(outside, { out, files, panel, warnings, answers, measured });
    return EXIT.done;
  },
};

/** What cannot be among the answers that were given as flags. */
function faultsOf(said: Answers, table: string | null): readonly string[] {
  const names = Object.keys(said) as Name[];
  const faults = names.flatMap((name) => {
    const expected = expectedOf(QUESTIONS[name], said[name]!);
    return expected === null ? [] : [`--${name} is ${said[name]}: expected ${expected}`];
  });
  const { "median-seconds": median, "p99-seconds": p99 } = said;
  if (median !== undefined && p99 !== undefined && p99 < median)
    faults.push(`--p99-seconds is ${p99}: expected the median of ${median} or more`);
  if (table === null) return faults;
  const beside = names.filter((name) => name in OF_COMMANDS);
  return [
    ...faults,
    ...beside.map((name) => `--${name} stands beside ${table}, which tells it: leave one of them out`),
  ];
}

/** What has to be known of commands, where there is nobody to be asked. */
function unanswered(argv: Readonly<Record<string, unknown>>, table: string | null, mayAsk: boolean): readonly string[] {
  if (table !== null || mayAsk) return [];
  const missing = (Object.keys(OF_COMMANDS) as (keyof typeof OF_COMMANDS)[]).filter((name) => argv[name] === undefined);
  if (missing.length === Object.keys(OF_COMMANDS).length)
    return [
      `init needs a CSV file of command durations, a terminal to ask in, or ${missing.map((name) => `--${name}`).join(", ")}`,
    ];
  return missing.map((name) => `--${name} is missing: ${OF_COMMANDS[name].asks}`);
}

/** What a question expects, if an answer is not it; null if it is. */
function expectedOf({ least, most, whole: inWhole }: Omit<Question, "asks" | "usual">, answer: number): string | null {
  if (answer >= least && answer <= most && (!inWhole || Number.isInteger(answer))) return null;
  return `a ${inWhole ? "whole " : ""}number from ${least} to ${most}`;
}

/** Asks what flags have not said, one question after the other; a wrong answer is asked for again. */
export async function asked(
  said: Answers,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<Answers> {
  const reader = createInterface({ input, output });
  let over = false;
  const closed = new Promise<never>((_, reject) => {
    reader.once("close", () => {
      if (!over) output.write("\n");
      reject(new Interrupted("interrupted: nothing is written"));
    });
  });
  // Whoever has all the answers no longer minds the end.
  closed.catch(() => {});
  const answers = { ...said };
  try {
    for (const [name, question] of Object.entries(QUESTIONS) as [Name, Question][]) {
      while (answers[name] === undefined) {
        const { asks, usual, ...bounds } = asThingsStand(name, question, answers);
        const words = (await Promise.race([reader.question(`${asks} (${usual}) `), closed])).trim();
        const answer = words === "" ? usual : Number(words);
        const expected = expectedOf(bounds, answer);
        if (expected === null) answers[name] = answer;
        else output.write(`expected ${expected}\n`);
      }
    }
  } finally {
    over = true;
    reader.close();
  }
  return answers;
}

/** A slow command is no quicker than a usual one, whichever of the two is known. */
function asThingsStand(
  name: Name,
  question: Question,
  { "median-seconds": median = question.least, "p99-seconds": p99 = question.most }: Answers,
): Question {
  const { usual } = question;
  if (name === "p99-seconds") return { ...question, usual: Math.max(usual, median), least: median };
  if (name === "median-seconds") return { ...question, usual: Math.min(usual, p99), most: p99 };
  return question;
}

/** With what is usual where nobody has said anything. */
function answered(answers: Answers): Readonly<Record<Name, number>> {
  const usual = Object.entries(QUESTIONS).map(([name, question]) => [name, question.usual]);
  return { ...(Object.fromEntries(usual) as Record<Name, number>), ...answers };
}

function sharesOf(answers: Readonly<Record<Name, number>>): readonly Share[] {
  const endless = answers["never-ending"] * 1_000;
  const plain = { line: null, exitCode: 0 };
  return [
    {
      ...plain,
      perMillion: 1e6 - endless,
      lasts: { median: answers["median-seconds"], p99: answers["p99-seconds"] },
    },
    ...(endless === 0 ? [] : [{ ...plain, perMillion: endless, lasts: "never" as const }]),
  ];
}

async function durationsIn(table: string, faults: string[]): Promise<Durations | null> {
  const found = await readForeign(table).catch((error: unknown) => {
    if (error instanceof StoreError) return error;
    throw error;
  });
  const read = found instanceof StoreError ? { faults: [found.message] } : durationsFrom(found, table);
  if ("durations" in read) return read.durations;
  faults.push(...read.faults);
  return null;
}

/** What a panel in this folder is called: the folder's name, as far as a name may be like it. */
function panelName(out: string): string {
  const name = basename(resolve(out))
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 100);
  return name === "" ? "my-panel" : name;
}

/** Why nothing may be written here; null if it may. Looks only. */
function outFault(out: string): string | null {
  try {
    if (!existsSync(out)) return null;
    if (statSync(out).isDirectory() && readdirSync(out).length === 0) return null;
    return `${out} is there already: name another folder with --out`;
  } catch (error) {
    return `${out} cannot be read: ${messageOf(error)}`;
  }
}

/** The whole folder or nothing of it: written beside its place, then renamed. */
function writeFolder(out: string, files: readonly MadeFile[]): void {
  const beside = `${resolve(out)}.part`;
  let ours = false;
  try {
    mkdirSync(beside);
    ours = true;
    for (const { file, text: content } of files) writeFileSync(join(beside, file), content);
    renameSync(beside, out);
  } catch (error) {
    if (ours) rmSync(beside, { recursive: true, force: true });
    throw new UsageError(`${out} cannot be written: ${messageOf(error)}; name another folder with --out`);
  }
}

interface Made {
  readonly out: string;
  readonly files: readonly MadeFile[];
  readonly panel: string;
  readonly warnings: readonly string[];
  readonly answers: Readonly<Record<Name, number>>;
  readonly measured: Durations | null;
}

/** So many files are named; the others lie beside them. */
const MOST_LISTED = 8;

function tell({ stdout, environment }: Outside, { out, files, panel, warnings, answers, measured }: Made): void {
  const { line, colours } = openScreen({ stream: stdout, environment });
  const many = (count: number) => count.toLocaleString("en");
  if (measured !== null)
    line(
      `${many(measured.foreground)} commands in the foreground, ${many(measured.background)} in the background; ${many(measured.neverEnded)} never ended`,
    );
  line(
    `a task runs ${answers["commands-per-task"]} commands and thinks for ${answers["thinking-seconds"]} s, and the outer limit is ${answers["outer-limit-seconds"]} s`,
  );
  for (const { file, says } of files.slice(0, MOST_LISTED)) line(`  ${join(out, file)}  ${colours.dim(says)}`);
  if (files.length > MOST_LISTED) line(`  and ${files.length - MOST_LISTED} more files of durations`);
  for (const warning of warnings) line(`${colours.yellow("warning")}  ${warning}`);
  line(`next: ${commandLine(["run", panel])}`);
}
