/**
 * Flags, said once: what they are called, what they take, what they are for.
 *
 * yargs finds the words; what they may mean is checked here, so that every fault is said at once and in
 * the same voice as a fault in a file, and nothing is quietly turned into NaN, an array or 0.
 */
import { listed, nearest } from "../scenario/fault.ts";
import { UsageError } from "./exit.ts";

interface Taking<Kind extends string, Value> {
  readonly kind: Kind;
  readonly says: string;
  readonly default?: Value;
  /** What stands for the value in the help. */
  readonly placeholder?: string;
}

interface Whole extends Taking<"whole", number> {
  readonly least: number;
  readonly most: number;
}

interface Amount extends Taking<"amount", number> {
  readonly least: number;
}

interface Choice<Word extends string> extends Taking<"choice", Word> {
  readonly words: readonly Word[];
}

export type Flag =
  | Whole
  | Amount
  | Choice<string>
  | Taking<"text", string>
  | Taking<"texts", readonly string[]>
  | Taking<"on", boolean>;

export type Flags = Readonly<Record<string, Flag>>;

type Read<F extends Flag> = F extends Whole | Amount
  ? number
  : F extends Choice<infer Word>
    ? Word
    : F extends { readonly kind: "text" }
      ? string
      : F extends { readonly kind: "texts" }
        ? readonly string[]
        : boolean;

/** What was given, or the default; undefined where there is neither. */
export type Given<F extends Flags> = {
  readonly [Name in keyof F]: F[Name] extends { readonly default: infer _ } | { readonly kind: "on" | "texts" }
    ? Read<F[Name]>
    : Read<F[Name]> | undefined;
};

export const whole = <const D extends { readonly default?: number }>(
  says: string,
  least: number,
  more: D = {} as D,
): Whole & D => ({ kind: "whole", says, least, most: Number.MAX_SAFE_INTEGER, placeholder: "N", ...more });

/** A length of time in seconds, zero or more. */
export const amount = (says: string): Amount => ({ kind: "amount", says, least: 0, placeholder: "SECONDS" });

export const choice = <const Word extends string, const D extends { readonly default?: Word }>(
  words: readonly Word[],
  says: string,
  more: D = {} as D,
): Choice<Word> & D => ({ kind: "choice", says, words, ...more });

export const text = (says: string, placeholder: string): Taking<"text", string> => ({
  kind: "text",
  says,
  placeholder,
});

export const texts = (says: string, placeholder: string): Taking<"texts", readonly string[]> => ({
  kind: "texts",
  says,
  placeholder,
});

export const on = (says: string): Taking<"on", boolean> => ({ kind: "on", says });

/**
 * How yargs is told of them: every value stays the text it was.
 *
 * @param completing whether a shell asks for words to complete; otherwise yargs would refuse a wrong word before
 *   whatever else is wrong has been found
 */
export function yargsOptions(flags: Flags, completing: boolean): Record<string, object> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => {
      const words = flag.kind === "choice" ? `: ${listed(flag.words, "or")}` : "";
      return [
        name,
        {
          type: flag.kind === "on" ? "boolean" : "string",
          describe: `${flag.says}${words}`,
          ...(flag.default === undefined ? {} : { defaultDescription: String(flag.default) }),
          ...(flag.kind === "choice" && completing ? { choices: flag.words } : {}),
        },
      ];
    }),
  );
}

/** What yargs itself puts among the arguments. */
const YARGS_OWN = new Set(["_", "$0", "help", "version"]);

export interface Reading<F extends Flags> {
  readonly given: Given<F>;
  readonly faults: readonly string[];
}

/** Reads what was given. Faulty values are left out of `given`, so that whatever else is wrong can be found too. */
export function readFlags<F extends Flags>(
  argv: Readonly<Record<string, unknown>>,
  flags: F,
  positionals: readonly string[],
): Reading<F> {
  const faults: string[] = [];
  const known = Object.keys(flags);
  const [, ...surplus] = argv["_"] as readonly (string | number)[];
  for (const word of surplus) faults.push(`${word} is one word too many`);
  for (const name of Object.keys(argv)) {
    if (YARGS_OWN.has(name) || positionals.includes(name) || known.includes(name)) continue;
    const near = nearest(name, known);
    faults.push(`--${name} is not a flag of this command${near === null ? "" : `; did you mean --${near}?`}`);
  }
  const given: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const value = argv[name];
    if (value === undefined) {
      given[name] = flag.kind === "texts" ? [] : flag.kind === "on" ? false : flag.default;
    } else if (flag.kind === "texts") {
      given[name] = (Array.isArray(value) ? value : [value]).map(String);
    } else if (Array.isArray(value)) {
      faults.push(`--${name} is given ${value.length} times: give it once`);
    } else {
      const read = readOne(name, flag, value);
      if ("fault" in read) faults.push(read.fault);
      else given[name] = read.value;
    }
  }
  return { given: given as Given<F>, faults };
}

function readOne(name: string, flag: Flag, value: unknown): { readonly value: unknown } | { readonly fault: string } {
  if (flag.kind === "on") return { value: value === true || value === "true" };
  const said = String(value);
  switch (flag.kind) {
    case "whole": {
      const number = said.trim() === "" ? Number.NaN : Number(said);
      if (Number.isInteger(number) && number >= flag.least && number <= flag.most) return { value: number };
      return { fault: `--${name} is ${said || "empty"}: expected a whole number, ${flag.least} or more` };
    }
    case "amount": {
      const number = said.trim() === "" ? Number.NaN : Number(said);
      if (Number.isFinite(number) && number >= flag.least) return { value: number };
      return { fault: `--${name} is ${said || "empty"}: expected seconds, ${flag.least} or more` };
    }
    case "choice":
      if (flag.words.includes(said)) return { value: said };
      return { fault: `--${name} is ${said || "empty"}: expected ${listed(flag.words, "or")}` };
    default:
      return said === "" ? { fault: `--${name} is empty: expected ${flag.placeholder ?? "a value"}` } : { value: said };
  }
}

/** Ends here if there are faults, with all of them. */
export function refuse(...faults: readonly string[]): void {
  if (faults.length > 0) throw new UsageError(...faults);
}
