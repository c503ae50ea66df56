import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { folder } from "./folder.ts";
import { writeSynthetic } from "./synthetic.ts";

const place = folder();

interface Step {
  readonly arm: string;
  readonly seconds: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly at_risk: number;
}

describe("the curve of submission", async () => {
  await writeSynthetic(join(place, "experiment.duckdb"), { hangs: 0.02 });
  const summary = await writeReport(join(place, "experiment.duckdb"), join(place, "report.html"));
  const page = readFileSync(join(place, "report.html"), "utf8");
  const { charts } = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(page)![1]!) as {
    charts: Record<string, { rows: readonly Step[] }>;
  };
  const of = (arm: string) => charts["survival"]!.rows.filter((row) => row.arm === arm);

  test("begins with all trials and ends with those that the limit took", () => {
    for (const arm of ["control", "treatment", "budgeted"]) {
      const steps = of(arm);
      expect(steps[0]).toMatchObject({ seconds: 0, share: 1, at_risk: 200 });
      expect(steps.at(-1)!.share).toBeCloseTo(summary.arms[arm]!["outer_timeout"]!.value, 10);
      for (const [at, { share, low, high, seconds }] of steps.entries()) {
        expect(share).toBeLessThanOrEqual(steps[at - 1]?.share ?? 1);
        expect(seconds).toBeGreaterThanOrEqual(steps[at - 1]?.seconds ?? 0);
        expect(low).toBeLessThanOrEqual(share + 1e-12);
        expect(high).toBeGreaterThanOrEqual(share - 1e-12);
      }
    }
    expect(of("treatment").at(-1)!.share).toBeGreaterThan(of("control").at(-1)!.share);
  });

  test("has under it the mean time until a trial is submitted or cut off: its duration, where all run to one limit", () => {
    const text = page
      .slice(page.indexOf("<body>"))
      .replace(/<[^>]*>/g, "")
      .replaceAll("\u00a0", " ");
    const said = /Up to 5,400 s, a trial takes ([\d,]+) s under control/.exec(text)!;
    expect(Number(said[1]!.replace(",", ""))).toBe(Math.round(summary.arms["control"]!["duration_seconds"]!.value));
  });
});
