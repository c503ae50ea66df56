/** JSON Schemas for editors, from the same definitions that files are checked by. */
import { z } from "zod";
import { schemas } from "./schema.ts";

/** File name in `scenarios/schema` to its content. */
export function jsonSchemas(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([kind, schema]) => [`${kind}.schema.json`, z.toJSONSchema(schema, { io: "input" })]),
  );
}

/** As it is written to disk. */
export function inText(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
