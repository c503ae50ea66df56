/** The README's recipe for a chart, followed to the letter: what stands in it is what is put into the folder. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_DEFINITION } from "../../src/report/definition.ts";
import { writeReport } from "../../src/report/report.ts";
import { folder } from "./folder.ts";
import { writeSynthetic } from "./synthetic.ts";

const place = folder();
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("a chart is added by one query, one spec and one line", async () => {
  const steps = [...readme.matchAll(/<!-- recipe: my-report\/(\S+?)(?:, (\w+))? -->\n```\w+\n([\s\S]*?)```/g)].map(
    ([, file, section, text]) => ({
      file: file!,
      section,
      text: text!,
    }),
  );
  expect(steps.map(({ file }) => file)).toEqual(["exits.sql", "exits.vl.json", "report.yaml"]);
  const definition = join(place, "my-report");
  cpSync(join(DEFAULT_DEFINITION, "report.yaml"), join(definition, "report.yaml"));
  for (const { file, section, text } of steps) {
    const path = join(definition, file);
    if (section === undefined) writeFileSync(path, text);
    else {
      const before = readFileSync(path, "utf8");
      const after = before.replace(new RegExp(`(  - section: ${section}\\n[\\s\\S]*?    parts:\\n)`), `$1${text}`);
      expect(after).not.toBe(before);
      writeFileSync(path, after);
    }
  }
  const database = join(place, "experiment.duckdb");
  await writeSynthetic(database);
  await writeReport(database, join(place, "report.html"), { definition });
  const page = readFileSync(join(place, "report.html"), "utf8");
  const figure = /<figure class="chart" id="chart-exits"[\s\S]*?<\/figure>/.exec(page)![0];
  expect(figure).toContain("How did the calls of commands end?");
  expect(figure.match(/<svg /g)).toHaveLength(2);
  expect(figure).toContain("The data behind it");
  // Everything else is where it was.
  await writeReport(database, join(place, "plain.html"));
  const ids = (markup: string) => [...markup.matchAll(/ id="(chart-[a-z-]+)"/g)].map(([, id]) => id);
  expect(ids(page).filter((id) => !id!.startsWith("chart-exits"))).toEqual(
    ids(readFileSync(join(place, "plain.html"), "utf8")),
  );
});
