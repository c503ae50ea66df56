/**
 * The words that files are described with: a mapping with these keys, a length of time, one of several forms.
 *
 * Each says what is wrong in our own words, as the rest of a sentence that begins with the key (`is -8: expected …`): no
 * message of the library's own reaches a reader.
 */
import { z } from "zod";
import { LONGEST_SECONDS } from "../policy/settings.ts";
import { listed, shown, suggestion } from "./fault.ts";

export interface Wrong {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/** The rest of the sentence that begins with a key: what was found there, and what was expected. */
export function instead(input: unknown, expectation: string, hint = ""): string {
  return `${input === undefined ? "is missing" : `is ${shown(input)}`}: expected ${expectation}${hint}`;
}

export const wanted = (expectation: string) => (wrong: Wrong) => instead(wrong.input, expectation);

/** Keys that are looked for where they cannot stand: why not, and where instead. */
type Elsewhere = Readonly<Record<string, string>>;

/** Why a key cannot stand where it does. */
function unknownKey(key: string, of: string, known: readonly string[], elsewhere: Elsewhere): string {
  if (Object.hasOwn(elsewhere, key)) return `is not a key of ${of}: ${elsewhere[key]}`;
  return `is not a key of ${of}${suggestion(key, known)}`;
}

/** A mapping with these keys and no others. */
export function keys<Shape extends z.ZodRawShape>(of: string, shape: Shape, elsewhere: Elsewhere = {}) {
  const known = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: (wrong) =>
        wrong.code === "unrecognized_keys"
          ? (wrong.keys as readonly string[]).map((key) => unknownKey(key, of, known, elsewhere)).join("\n")
          : instead(wrong.input, `${of}, with keys like ${listed(known.slice(0, 4))}`),
    })
    .meta({ title: of });
}

type Optional<Shape extends z.ZodRawShape> = { [Key in keyof Shape]: z.ZodOptional<Shape[Key]> };

/** A mapping with exactly one of these keys. */
export function oneKey<Shape extends z.ZodRawShape>(of: string, shape: Shape, elsewhere: Elsewhere = {}) {
  const known = Object.keys(shape);
  const optional = Object.fromEntries(known.map((key) => [key, z.optional(shape[key]!)])) as unknown as Optional<Shape>;
  return agreeing(keys(of, optional, elsewhere), (given) => notOneOf(of, Object.keys(given), known)).meta({
    title: of,
    minProperties: 1,
    maxProperties: 1,
  });
}

/** Why what was found is not exactly one of what there is; null if it is. */
export function notOneOf(of: string, found: readonly string[], known: readonly string[]): string | null {
  if (found.length === 1) return null;
  const says = found.length === 0 ? "says nothing" : `says ${listed(found)} at once`;
  return `${says}: ${of} is one of ${listed(known, "or")}`;
}

/** A mapping whose keys have to agree with each other: `wrong` says how they do not, or null. */
export function agreeing<Schema extends z.ZodType>(schema: Schema, wrong: (given: z.output<Schema>) => string | null) {
  return schema.refine((given) => wrong(given as z.output<Schema>) === null, {
    error: ({ input }) => wrong(input as z.output<Schema>) ?? "",
  });
}

interface Range {
  readonly least?: number;
  /** Below the range itself. */
  readonly above?: number;
  readonly most?: number;
  readonly whole?: boolean;
  /** Whether the number counts seconds, so that `30s` can be answered with `30`. */
  readonly seconds?: boolean;
}

export function number(expectation: string, { least, above, most, whole, seconds }: Range) {
  const error = ({ input }: Wrong) => instead(input, expectation, hint(input, seconds ?? false));
  let schema = whole ? z.int({ error }) : z.number({ error });
  if (least !== undefined) schema = schema.min(least, { error });
  if (above !== undefined) schema = schema.gt(above, { error });
  if (most !== undefined) schema = schema.max(most, { error });
  return schema;
}

const SECONDS_IN: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minutes: 60,
  h: 3_600,
  hours: 3_600,
};

/** What to write instead, where that can be guessed. */
export function hint(input: unknown, isSeconds: boolean): string {
  if (typeof input === "number") return Number.isFinite(input) ? "" : ", and finite";
  if (typeof input !== "string") return "";
  const text = input.trim();
  if (/^\d[\d_,]*(\.\d+)?$/.test(text)) return `; write ${text.replace(/[_,]/g, "")}, without quotes or separators`;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : SECONDS_IN[unit];
  return isSeconds && factor !== undefined ? `; write ${Number(amount) * factor}` : "";
}

export const length = () =>
  number("a length of time in seconds, zero or more", { least: 0, most: LONGEST_SECONDS, seconds: true });
export const someLength = () =>
  number("a length of time in seconds, 0.001 or more", { least: 0.001, most: LONGEST_SECONDS, seconds: true });
/** How many of something there are, or which of them is meant. */
export const count = (what: string, least: number, most: number) =>
  number(`${what}, a whole number from ${least} to ${most}`, { least, most, whole: true });
export const share = () => number("a probability from 0 to 1", { least: 0, most: 1 });
export const positive = () => number("a number above 0", { above: 0, most: 1e9 });

export const text = (expectation = "text") =>
  z.string({ error: wanted(expectation) }).min(1, { error: wanted(expectation) });
export const flag = () => z.boolean({ error: wanted("true or false") });
export const words = <const Word extends string>(of: readonly Word[]) =>
  z.enum(of, { error: wanted(listed(of, "or")) });

/** Names become folders, tables and parts of other names. */
const NAME = /^[A-Za-z0-9_][\w.-]*$/;
export const name = (of: string) => {
  const error = wanted(`the name of ${of}: letters, digits, and . _ - between them`);
  return z.string({ error }).max(120, { error }).regex(NAME, { error });
};
/** A name that leads to a file: a name, or a path to one. */
export const reference = (to: string) => text(`the name of ${to}`);

export const list = <Item extends z.ZodType>(item: Item, of: string) => z.array(item, { error: wanted(of) });
export const someOf = <Item extends z.ZodType>(item: Item, of: string) =>
  list(item, of).min(1, { error: wanted(`${of}, at least one`) });

/** @param isSeconds whether a string that means a length can be answered with a number */
export const oneOf = <const Options extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(
  options: Options,
  expectation: string,
  isSeconds = false,
) => z.union(options, { error: ({ input }) => instead(input, expectation, hint(input, isSeconds)) });

/** Probabilities of things of which exactly one happens. */
export const whole = <Item extends z.ZodType<{ p: number }>>(item: Item, of: string) =>
  someOf(item, of).refine((items) => Math.abs(total(items) - 1) <= 1e-9, {
    error: ({ input }) => `has probabilities that add up to ${+total(input as { p: number }[]).toFixed(9)}: expected 1`,
  });

function total(items: readonly { readonly p: number }[]): number {
  return items.reduce((sum, { p }) => sum + p, 0);
}

const LOGNORMALS = [
  ["mu", "sigma"],
  ["mean", "sigma"],
  ["median", "p99"],
] as const;

/** Distributions of amounts of zero or more: lengths in seconds, or counts. */
export const distributionForms = {
  lognormal: keys("a lognormal", {
    mu: number("the mean of the logarithm", { least: -1e3, most: 1e3 }).optional(),
    sigma: number("the standard deviation of the logarithm, 0 or more", { least: 0, most: 100 }).optional(),
    mean: positive().optional(),
    median: positive().optional(),
    p99: positive().optional(),
  })
    .refine(
      (given) =>
        LOGNORMALS.some((form) => form.length === Object.keys(given).length && form.every((key) => key in given)),
      {
        error: ({ input }) =>
          `gives ${listed(Object.keys(input as object)) || "nothing"}: expected mu and sigma, mean and sigma, or median and p99`,
      },
    )
    .refine(({ median, p99 }) => median === undefined || p99 === undefined || p99 >= median, {
      error: "has its p99 below its median: expected a p99 of the median or more",
    }),
  uniform: z
    .tuple(
      [
        number("an amount, zero or more", { least: 0, most: 1e9 }),
        number("an amount, zero or more", { least: 0, most: 1e9 }),
      ],
      {
        error: wanted("two amounts, [from, to]"),
      },
    )
    .refine(([from, to]) => from <= to, { error: "ends before it begins: expected [from, to]" }),
  exponential: keys("an exponential", { mean: positive() }),
  poisson_gamma: keys("a poisson_gamma", {
    mean: number("a mean above 0, 10000 at most", { above: 0, most: 10_000 }),
    k: number("a shape above 0", { above: 0, most: 1e6 }),
  }),
  choice: whole(
    keys("a choice", {
      value: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS, seconds: true }),
      p: share(),
    }),
    "a list of { value, p }",
  ),
  histogram: whole(
    keys("a bin", {
      from: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS }),
      to: number("an amount, zero or more", { least: 0, most: LONGEST_SECONDS }),
      p: share(),
    }),
    "a list of bins { from, to, p }",
  ).refine((bins) => bins.every(({ from, to }, at) => from <= to && (at === 0 || bins[at - 1]!.to <= from)), {
    error: "has bins that overlap or run backwards: expected them in ascending order",
  }),
  samples: text("the name of a CSV file with one number per line"),
};

export const distribution = oneKey("a distribution", distributionForms).meta({ id: "distribution" });

export const lengthOrDistribution = oneOf(
  [length(), distribution],
  "a length of time in seconds, or a distribution",
  true,
);

/** A bound that may be said not to apply. */
export const bound = (expectation: string, range: Range) =>
  oneOf([number(expectation, range), z.literal("none", { error: wanted("none") })], `${expectation}, or none`);
