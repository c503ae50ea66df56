/**
 * A report definition: the folder that says what a report asks and shows.
 *
 * `report.yaml` names sections and their parts in order; a part `chart: NAME` is `NAME.sql` and `NAME.vl.json`, a part
 * `table: NAME` only `NAME.sql`, and `NAME.answer.sql`, where it is there, gives the one sentence below. The remaining parts
 * (`show: …`) are made here, because they are more than one query. So a chart is added by one query, one spec and one line.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { ReportError } from "./experiment.ts";

/** The definition that ships. */
export const DEFAULT_DEFINITION = fileURLToPath(new URL("../../reports/default/", import.meta.url));

/** The one that ships for galleries. */
export const GALLERY_DEFINITION = fileURLToPath(new URL("../../reports/gallery/", import.meta.url));

/** The one that ships for trials that somebody else has measured. */
export const MEASURED_DEFINITION = fileURLToPath(new URL("../../reports/measured/", import.meta.url));

/** The one that ships for panels that vary what is around their arms. */
export const SENSITIVITY_DEFINITION = fileURLToPath(new URL("../../reports/sensitivity/", import.meta.url));

/** Parts that are more than a query. */
const SHOWN = [
  "thin",
  "trials",
  "arms",
  "measures",
  "exhibits",
  "published",
  "cases",
  "cells",
  "provenance",
  "dictionary",
] as const;

const text = z.string().min(1);
/** What a query needs of a file: single calls, requests to the model, published figures, several arms to weigh, or an oracle. */
const need = z.enum(["calls", "requests", "published", "tradeoffs", "oracle"]);
const needs = z.union([need, z.array(need)]).optional();

const part = z.union([
  z.strictObject({ chart: text, question: text, note: text.optional(), needs }),
  z.strictObject({ table: text, question: text, note: text.optional(), needs }),
  z.strictObject({ show: z.enum(SHOWN), note: text.optional() }),
]);

const section = z.strictObject({
  section: z.string().regex(/^[a-z][a-z0-9-]*$/, "a section is called by lower-case letters, digits and hyphens"),
  nav: text,
  title: text,
  lead: text.optional(),
  parts: z.array(part),
});

const shape = z.strictObject({
  report: text,
  says: text,
  /** A query for the one sentence that answers the panel's question, without `.answer.sql`. */
  answer: text,
  /** The chart of each exhibit; its query is given the parameters scenario and limit. */
  exhibit: text.optional(),
  /** What was observed of each trial that a gallery shows, as a query. */
  observed: text.optional(),
  /** What the page says of its basis: scripted commands, or a real agent's. */
  simulated: text,
  measured: text.default("Measured, not simulated: a real agent in a served session."),
  sections: z.array(section),
});

export type Section = z.infer<typeof section>;
export type Part = z.infer<typeof part>;

export type Spec = Readonly<Record<string, unknown>>;

export interface Definition extends z.infer<typeof shape> {
  query(name: string): string;
  /** Null where a part has no sentence of its own. */
  answerQuery(name: string): string | null;
  spec(name: string): Spec;
  /** A file of the page itself, its style or its script: its own, or that of the definition that ships. */
  file(name: string): string;
}

export function loadDefinition(folder: string): Definition {
  // What a definition does not say itself is that of the one that ships: it need not copy what it does not change.
  const places = [folder, DEFAULT_DEFINITION];
  const isThere = (name: string) => places.some((place) => existsSync(join(place, name)));
  const read = (name: string) => {
    const place = places.find((each) => existsSync(join(each, name)));
    if (place === undefined)
      throw new ReportError(`${join(folder, name)} is not there, and the report definition asks for it`);
    return readFileSync(join(place, name), "utf8");
  };
  const own = (name: string) => {
    const path = join(folder, name);
    if (!existsSync(path)) throw new ReportError(`${path} is not there: a report definition begins with it`);
    return readFileSync(path, "utf8");
  };
  const path = join(folder, "report.yaml");
  const parsed = shape.safeParse(fromYaml(path, own("report.yaml")));
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path: where, message }) => `${path}: ${where.join(".")}: ${message}`);
    throw new ReportError(faults.join("\n"));
  }
  return {
    ...parsed.data,
    query: (name) => read(`${name}.sql`),
    answerQuery: (name) => (isThere(`${name}.answer.sql`) ? read(`${name}.answer.sql`) : null),
    spec: (name) => {
      const file = `${name}.vl.json`;
      try {
        return JSON.parse(read(file)) as Spec;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new ReportError(`${join(folder, file)} is not JSON: ${error.message}`);
      }
    },
    file: read,
  };
}

function fromYaml(path: string, source: string): unknown {
  try {
    return parse(source);
  } catch (error) {
    throw new ReportError(`${path} is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Words with `{names}` filled in. A name that nobody knows stays as it is, and so is seen. */
export function filled(words: string, facts: Readonly<Record<string, string>>): string {
  return words.replace(/\{(\w+)\}/g, (whole, name: string) => facts[name] ?? whole).trim();
}
