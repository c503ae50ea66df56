import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { folder } from "./folder.ts";
import { writeSynthetic } from "./synthetic.ts";

const place = folder();

/** The rows of the table under this heading, as a page shows them. */
function tableUnder(page: string, heading: string): readonly (readonly string[])[] {
  const figure = page.slice(page.indexOf(`>${heading}</h3>`));
  const body = /<tbody>([\s\S]*?)<\/tbody>/.exec(figure)![1]!;
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[dh][^>]*>([\s\S]*?)<\/t[dh]>/g)].map(([, cell]) =>
      cell!
        .replace(/<[^>]*>/g, "")
        .replaceAll(",", "")
        .replace("−", "-")
        .trim(),
    ),
  );
}

describe("the exchange, taken apart", async () => {
  const path = join(place, "experiment.duckdb");
  await writeSynthetic(path, { servers: 0.02 });
  const summary = await writeReport(path, join(place, "report.html"));
  const page = readFileSync(join(place, "report.html"), "utf8");
  const rows = tableUnder(page, "Where is control given up, and for which waits?");
  const sum = (by: string, arm: string, column: number) =>
    rows.filter(([b, , a]) => b === by && a === arm).reduce((total, row) => total + Number(row[column]), 0);

  test("leaves nothing out: every split adds up to the same, arm by arm", () => {
    for (const arm of ["control", "treatment", "budgeted"]) {
      expect(sum("kind of command", arm, 3)).toBeGreaterThan(100);
      expect(sum("since the start", arm, 3) / sum("kind of command", arm, 3)).toBeCloseTo(1, 2);
      const waits = summary.arms[arm]!["low_information_waits"]!.value;
      expect(sum("kind of command", arm, 4)).toBeCloseTo(waits, 2);
      expect(sum("since the start", arm, 4)).toBeCloseTo(waits, 2);
    }
  });

  test("prices a wait where one is saved, and nowhere else", () => {
    const priced = rows.filter((row) => row[7] !== "–");
    expect(priced.length).toBeGreaterThan(0);
    for (const row of rows.filter(([, , arm]) => arm !== "control")) {
      expect(row[7] !== "–", row.join(" · ")).toBe(Number(row[6]) > 0.005);
      if (row[7] !== "–") expect(Number(row[7]) / (Number(row[5]) / Number(row[6]))).toBeCloseTo(1, 1);
    }
  });

  test("says on which kind of command a saved wait is cheapest, and on which dearest", () => {
    const text = page
      .slice(page.indexOf("<body>"))
      .replace(/<[^>]*>/g, "")
      .replaceAll("\u00a0", " ");
    expect(text).toMatch(
      /Against control, a low-information wait saved is cheapest on [a-z ]+ \([\d,]+ s of control under \w+\) and dearest on/,
    );
  });
});
