/** Writes the JSON Schemas anew: `npm run build && npm run schemas`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inText, jsonSchemas } from "../scenario/jsonSchema.ts";
import { packageRoot } from "../scenario/names.ts";

for (const [file, schema] of Object.entries(jsonSchemas())) {
  writeFileSync(join(packageRoot, "scenarios/schema", file), inText(schema));
}
