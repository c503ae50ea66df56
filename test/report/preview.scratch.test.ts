import { existsSync } from "node:fs";
import { test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { crossedArms, writeSynthetic } from "./synthetic.ts";

test("preview", async () => {
  await writeSynthetic("/tmp/rp/three.duckdb");
  console.time("report");
  const s = await writeReport("/tmp/rp/three.duckdb", "/tmp/rp/three.html");
  console.timeEnd("report");
  console.log(
    s.verdict,
    s.hypotheses.map((h) => h.verdict + " " + h.sentence),
  );
  if (process.env["ALL"]) {
    await writeSynthetic("/tmp/rp/crossed.duckdb", {
      arms: crossedArms(),
      crossed: true,
      hypotheses: [],
      published: [],
      exhibits: [],
    });
    console.time("report");
    await writeReport("/tmp/rp/crossed.duckdb", "/tmp/rp/crossed.html");
    console.timeEnd("report");
  }
  for (const name of ["deepswe-headline", "cap-by-habit"]) {
    const db = `out/${name}/experiment.duckdb`;
    if (existsSync(db)) {
      console.time(name);
      const s = await writeReport(db, `/tmp/rp/${name}.html`);
      console.timeEnd(name);
      console.log(s.verdict.sentence);
    }
  }
});
