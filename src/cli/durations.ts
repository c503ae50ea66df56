/**
 * How long somebody's commands took, from a table with one row for each, as shares of a population.
 *
 * Runs of one command line with one exit code are a share of their own, with the lengths that were measured. Everything that is wrong
 * with the rows is found before anything is made of them, each fault with its row and column.
 */
import { LONGEST_SECONDS } from "../policy/settings.ts";
import { listed, nearest, shown } from "../scenario/fault.ts";
import { hint } from "../scenario/vocabulary.ts";
import type { ForeignTable } from "../telemetry/store.ts";
import { readCell } from "./imported.ts";

/** What such a table may hold; `seconds` it must. */
export const COLUMNS = ["seconds", "command", "exit_code", "count", "background", "timed_out"] as const;

/** How long runs of a share last: measured in seconds and ascending, or said by two quantiles, or without an end. */
export type Lasts = readonly number[] | { readonly median: number; readonly p99: number } | "never";

/** Commands that look and end alike. */
export interface Share {
  /** Of all foreground commands; shares add up to a million. */
  readonly perMillion: number;
  /** Null: nobody told its command line. */
  readonly line: string | null;
  readonly exitCode: number;
  readonly lasts: Lasts;
}

export interface Durations {
  readonly shares: readonly Share[];
  readonly foreground: number;
  readonly background: number;
  readonly neverEnded: number;
  /** Commands whose line is not kept, since too few had the same. */
  readonly lineless: number;
}

/** So many shares keep their command lines, the greatest first; what the others were called is left out. */
const MOST_NAMED = 24;
const MOST_COMMANDS = 1_000_000;
const NEVER = "never";

interface Row {
  readonly line: string | null;
  readonly exitCode: number;
  /** Null: it never ended, as far as anybody waited. */
  readonly seconds: number | null;
  readonly count: number;
  readonly background: boolean;
}

/** @param file as messages name it */
export function durationsFrom(
  { columns, rows }: ForeignTable,
  file: string,
): { readonly durations: Durations } | { readonly faults: readonly string[] } {
  const faults = columns
    .filter((name) => !(COLUMNS as readonly string[]).includes(name))
    .map((name) => {
      const near = nearest(name, COLUMNS);
      const instead = near === null ? `expected ${listed(COLUMNS, "or")}, or leave it out` : `did you mean ${near}?`;
      return `${file}: ${shown(name)} is not a column of command durations; ${instead}`;
    });
  if (!columns.includes("seconds")) faults.push(`${file}: seconds is missing: expected a column of that name`);
  if (rows.length === 0) faults.push(`${file}: there are no rows: expected a command in each`);
  const read = rows.map((cells, index) => rowOf(columns, cells, `${file}: row ${index + 2}: `, faults));
  const inFront = read.filter(({ background }) => !background);
  const [foreground, all] = [inFront, read].map((some) => some.reduce((sum, { count }) => sum + count, 0));
  if (rows.length > 0 && inFront.length === 0)
    faults.push(
      `${file}: every command is in the background: expected some in the foreground, where they hold the model`,
    );
  if (all! > MOST_COMMANDS) faults.push(`${file}: count adds up to ${all}: expected ${MOST_COMMANDS} commands at most`);
  if (faults.length > 0) return { faults };
  const groups = grouped(inFront);
  return {
    durations: {
      shares: sharesOf(groups.kept, foreground!),
      foreground: foreground!,
      background: all! - foreground!,
      neverEnded: inFront.reduce((sum, { seconds, count }) => sum + (seconds === null ? count : 0), 0),
      lineless: groups.lineless,
    },
  };
}

function rowOf(columns: readonly string[], cells: readonly (string | null)[], place: string, faults: string[]): Row {
  const cell = (name: (typeof COLUMNS)[number]) => cells[columns.indexOf(name)] ?? null;
  /** What a cell holds, or `otherwise` where it is empty or at fault. */
  const value = <V>(
    name: (typeof COLUMNS)[number],
    kind: "whole" | "seconds" | "flag",
    otherwise: V,
    most: number,
    expected: string,
  ) => {
    const found = cell(name);
    if (found === null) return otherwise;
    const answer = readCell(found, { kind, words: null });
    if ("value" in answer && (typeof answer.value !== "number" || answer.value <= most)) return answer.value as V;
    faults.push(
      `${place}${name} is ${shown(found)}: expected ${expected}${kind === "seconds" ? hint(found, true) : ""}`,
    );
    return otherwise;
  };
  const endless = cell("seconds")?.trim().toLowerCase() === NEVER;
  const timedOut = value("timed_out", "flag", false, 1, "true or false");
  if (columns.includes("seconds") && cell("seconds") === null && !timedOut)
    faults.push(`${place}seconds is empty: expected a length of time in seconds, or ${NEVER}`);
  const wanted = `a length of time in seconds from 0 to ${LONGEST_SECONDS}, or ${NEVER}`;
  const milliseconds = endless
    ? null
    : value<number | null>("seconds", "seconds", null, LONGEST_SECONDS * 1_000, wanted);
  const count = value<number>("count", "whole", 1, MOST_COMMANDS, "a whole number, 1 or more");
  if (count === 0) faults.push(`${place}count is 0: expected a whole number, 1 or more`);
  return {
    line: cell("command"),
    exitCode: value("exit_code", "whole", 0, 255, "an exit code from 0 to 255, or nothing where it is not known"),
    seconds: milliseconds === null || timedOut ? null : milliseconds / 1_000,
    count,
    background: value("background", "flag", false, 1, "true or false"),
  };
}

interface Group {
  readonly line: string | null;
  readonly exitCode: number;
  readonly ends: boolean;
  readonly rows: Row[];
  count: number;
}

/** Runs that look and end alike; of those beyond the most frequent only whether they failed and whether they ended. */
function grouped(rows: readonly Row[]): { readonly kept: readonly Group[]; readonly lineless: number } {
  const byLine = gather(rows, ({ line, exitCode, seconds }) => [line, seconds === null ? 0 : exitCode]);
  // Equals keep the order of the table.
  const named = byLine.filter(({ line }) => line !== null).toSorted((a, b) => b.count - a.count);
  const few = new Set(named.slice(MOST_NAMED));
  const rest = byLine.filter((group) => group.line === null || few.has(group)).flatMap((group) => group.rows);
  return {
    kept: [
      ...named.slice(0, MOST_NAMED),
      ...gather(rest, ({ exitCode, seconds }) => [null, seconds === null || exitCode === 0 ? 0 : 1]),
    ],
    lineless: [...few].reduce((sum, { count }) => sum + count, 0),
  };
}

function gather(rows: readonly Row[], by: (row: Row) => readonly [string | null, number]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const [line, exitCode] = by(row);
    const ends = row.seconds !== null;
    const key = JSON.stringify([line, exitCode, ends]);
    const group = groups.get(key) ?? { line, exitCode, ends, rows: [], count: 0 };
    group.rows.push(row);
    group.count += row.count;
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Shares in whole millionths, which add up to one however they are rounded; none is nothing, for there are at most a million commands. */
function sharesOf(groups: readonly Group[], all: number): readonly Share[] {
  let below = 0;
  const millionths = (count: number) => Math.round((count * 1e6) / all);
  return groups.map(({ line, exitCode, ends, rows, count }) => {
    const perMillion = millionths(below + count) - millionths(below);
    below += count;
    const measured = rows.flatMap((row) => Array.from({ length: row.count }, () => row.seconds ?? 0));
    return { perMillion, line, exitCode, lasts: ends ? measured.sort((a, b) => a - b) : "never" };
  });
}
