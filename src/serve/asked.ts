/**
 * What a client asks for, read: every argument checked, every fault said at once, in words that a model can act on.
 *
 * The protocol's own schemas tell a client what to send; here is what becomes of it if it sends something else.
 */
import type { ProcessId } from "../agent/effects.ts";
import { ACTIONS, type Action } from "../agent/events.ts";
import { processId } from "../agent/processes.ts";
import { type Duration, seconds } from "../policy/time.ts";
import { listed, nearest } from "../scenario/fault.ts";

export interface ExecAsked {
  readonly command: string;
  readonly cwd: string | null;
  readonly timeout: Duration | null;
  readonly background: boolean;
  readonly persist: boolean;
}

export interface ProcessAsked {
  readonly action: Action;
  /** Null only for a list. */
  readonly process: ProcessId | null;
  readonly wait: Duration | null;
  readonly offset: number;
  readonly limit: number | null;
}

export interface ConditionAsked {
  readonly command: string;
  readonly cwd: string | null;
  readonly timeout: Duration | null;
  readonly every: Duration | null;
}

/** What was asked, or why it cannot be told. `as` is as much of it as can be written down. */
export type Asked<What, As> = { readonly asked: What } | { readonly faults: readonly string[]; readonly as: As };

export const EXEC_ARGUMENTS = ["command", "cwd", "timeout_seconds", "background"] as const;
export const PROCESS_ARGUMENTS = ["action", "process_id", "wait_sec", "offset", "limit"] as const;
export const CONDITION_ARGUMENTS = ["command", "cwd", "timeout_seconds", "every_seconds"] as const;

/** More than anybody waits, and as much as a column of seconds holds. */
const MOST_SECONDS = 1e11;

type Arguments = Readonly<Record<string, unknown>>;

export function execAsked(given: Arguments): Asked<ExecAsked, string> {
  const read = new Reader("exec", given, EXEC_ARGUMENTS, ["timeout", "persist"]);
  const command = read.text("command", "a command line");
  const cwd = read.optional("cwd", (name) => read.text(name, "the path of a folder"));
  const named = read.seconds("timeout_seconds", "more than 0", (number) => number > 0);
  const short = read.seconds("timeout", "more than 0", (number) => number > 0);
  if (named !== null && short !== null && named !== short) {
    read.faults.push(`timeout_seconds is ${given["timeout_seconds"]} and timeout is ${given["timeout"]}: give one`);
  }
  const background = read.optional("background", (name) => read.flag(name)) ?? false;
  const persist = read.optional("persist", (name) => read.flag(name)) ?? false;
  if (command === null) read.missing("command", "a command line");
  if (command === null || read.faults.length > 0) return { faults: read.faults, as: command ?? "" };
  return { asked: { command, cwd, timeout: named ?? short, background, persist } };
}

export function conditionAsked(given: Arguments): Asked<ConditionAsked, "wait_for_condition"> {
  const read = new Reader("wait_for_condition", given, CONDITION_ARGUMENTS, []);
  const command = read.text("command", "a command line");
  const cwd = read.optional("cwd", (name) => read.text(name, "the path of a folder"));
  const timeout = read.seconds("timeout_seconds", "more than 0", (number) => number > 0);
  const every = read.seconds("every_seconds", "more than 0", (number) => number > 0);
  if (command === null) read.missing("command", "a command line");
  if (command === null || read.faults.length > 0) return { faults: read.faults, as: "wait_for_condition" };
  return { asked: { command, cwd, timeout, every } };
}

export function processAsked(given: Arguments): Asked<ProcessAsked, Action | null> {
  const read = new Reader("process", given, PROCESS_ARGUMENTS, []);
  const action = read.word("action", ACTIONS);
  const process = read.optional("process_id", (name) => read.process(name));
  const wait = read.seconds("wait_sec", "0 or more", (number) => number >= 0);
  const offset = read.optional("offset", (name) => read.bytes(name)) ?? 0;
  const limit = read.optional("limit", (name) => read.bytes(name));
  if (action !== null && action !== "list" && given["process_id"] === undefined) {
    read.faults.push(
      `process_id is missing: expected the name of a process, such as "process-1"; process(action: "list") names them`,
    );
  }
  if (action === null || read.faults.length > 0) return { faults: read.faults, as: action };
  return { asked: { action, process: action === "list" ? null : process, wait, offset, limit } };
}

class Reader {
  readonly faults: string[] = [];
  readonly #given: Arguments;

  /** @param also names that are read too, though nobody is told of them */
  constructor(tool: string, given: Arguments, names: readonly string[], also: readonly string[]) {
    this.#given = given;
    for (const name of Object.keys(given)) {
      if (names.includes(name) || also.includes(name)) continue;
      const near = nearest(name, names);
      const meant = near === null ? `it has ${listed(names)}` : `did you mean ${near}?`;
      this.faults.push(`${name} is not an argument of ${tool}; ${meant}`);
    }
  }

  /** Null if it was left out or is at fault. */
  optional<Value>(name: string, read: (name: string) => Value | null): Value | null {
    return this.#given[name] === undefined ? null : read(name);
  }

  missing(name: string, expected: string): void {
    if (this.#given[name] === undefined) this.faults.push(`${name} is missing: expected ${expected}`);
  }

  text(name: string, expected: string): string | null {
    const value = this.#given[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (value !== undefined) this.#refuse(name, value, expected);
    return null;
  }

  flag(name: string): boolean | null {
    const value = this.#given[name];
    return typeof value === "boolean" ? value : this.#refuse(name, value, "true or false");
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word | null {
    const value = this.#given[name];
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const near = typeof value === "string" ? nearest(value, words) : null;
    const meant = near === null ? "" : `; did you mean ${near}?`;
    return this.#refuse(name, value, `${listed(words, "or")}${meant}`);
  }

  process(name: string): ProcessId | null {
    const value = this.#given[name];
    const id = typeof value === "string" ? processId(value) : null;
    if (id !== null) return id;
    return this.#refuse(name, value, `the name of a process, such as "process-1"; process(action: "list") names them`);
  }

  seconds(name: string, range: string, fits: (number: number) => boolean): Duration | null {
    const value = this.#given[name];
    if (value === undefined) return null;
    if (typeof value === "number" && fits(value) && value <= MOST_SECONDS) return seconds(value);
    return this.#refuse(name, value, `a number of seconds, ${range}`);
  }

  bytes(name: string): number | null {
    const value = this.#given[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    return this.#refuse(name, value, "a whole number of bytes, 0 or more");
  }

  #refuse(name: string, value: unknown, expected: string): null {
    this.faults.push(`${name} is ${spelled(value)}: expected ${expected}`);
    return null;
  }
}

/** As JSON spells it, and not at length. Not a number arrives as null. */
function spelled(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
