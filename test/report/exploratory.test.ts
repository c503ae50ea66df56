import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Difference } from "../../src/report/estimates.ts";
import { explore } from "../../src/report/exploratory.ts";
import type { JudgedHypothesis } from "../../src/report/judged.ts";
import { measureCalled } from "../../src/report/measures.ts";
import { type Summary, writeReport } from "../../src/report/report.ts";
import { benjaminiHochberg } from "../../src/stats/multiple.ts";
import { readStore } from "../../src/telemetry/store.ts";
import { folder } from "./folder.ts";
import { writeSynthetic } from "./synthetic.ts";

const place = folder();

const found = (arm: string, p: number | null) =>
  ({ arm, against: "first", measure: measureCalled("reward")!, value: 1, p }) as unknown as Difference;

const declared = (arm: string, kind?: string) =>
  ({
    hypothesis: { measure: "reward", arm, against: "first", expect: "higher", ...(kind === undefined ? {} : { kind }) },
    verdict: "PASS",
  }) as unknown as JudgedHypothesis;

describe("differences that no hypothesis declares", () => {
  test("are adjusted together, whatever their p-values, and stand at 5 % of what is found wrongly", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }), (ps) => {
        const shown = ps.map((p, at) => found(`arm ${at}`, p));
        const exploration = explore(shown, []);
        expect(exploration.family).toBe(ps.length);
        const adjusted = benjaminiHochberg(ps);
        expect(shown.map(exploration.adjusted)).toEqual(adjusted);
        expect(shown.map(exploration.stands)).toEqual(adjusted.map((p) => p <= 0.05 + 1e-12));
      }),
    );
  });

  test("do not count those that one declares, nor those without an interval", () => {
    const [a, b, c] = [found("a", 0.02), found("b", 0.04), found("c", null)];
    const exploration = explore([a!, b!, c!], [declared("a")]);
    expect(exploration).toMatchObject({ family: 1 });
    expect([a, b, c].map((each) => exploration.adjusted(each!))).toEqual([null, 0.04, null]);
    expect([a, b, c].map((each) => exploration.verdicts(each!))).toEqual([["PASS"], [], []]);
  });

  test("are still unforetold where one declares it of a kind of trials only", () => {
    const all = found("a", 0.02);
    expect(explore([all], [declared("a", "hanging")]).verdicts(all)).toEqual([]);
  });
});

describe("a page that shows differences", () => {
  let page: string;
  let summary: Summary;
  beforeAll(async () => {
    await writeSynthetic(join(place, "it.duckdb"));
    summary = await writeReport(join(place, "it.duckdb"), join(place, "it.html"));
    page = readFileSync(join(place, "it.html"), "utf8");
  });

  test("calls them exploratory, says how many they are, and what hypotheses say of the others", () => {
    expect(page).toMatch(/All others, \d+ differences, are <em>exploratory<\/em>: found, not foretold/);
    expect(page).toContain("<small>declared: PASS</small>");
  });

  test("marks those that stand by a word, and no other", () => {
    const standing = Object.values(summary.differences)
      .flatMap((measures) => Object.values(measures))
      .filter(({ p_exploratory: p, value }) => p !== undefined && p <= 0.05 && value !== 0);
    expect(standing.length).toBeGreaterThan(10);
    const marks = page.match(/▲ better|▼ worse|● differs/g)!;
    expect(marks.length).toBeGreaterThanOrEqual(standing.length);
    const cells = [...page.matchAll(/<td class="number[^"]*">(.*?)<\/td>/gs)].map(([, inside]) => inside!);
    const none = cells.filter((cell) => /<b>0(\.0+)?( s| points)?<\/b>/.test(cell));
    expect(none.filter((cell) => /better|worse|differs/.test(cell))).toEqual([]);
  });

  test("gives p-values that only grow, and none of these to what is declared", () => {
    const all = Object.entries(summary.differences).flatMap(([arm, measures]) =>
      Object.entries(measures).map(([measure, figure]) => ({ arm, measure, ...figure })),
    );
    expect(all.filter(({ p = 0, p_exploratory: adjusted = 1 }) => adjusted < p)).toEqual([]);
    const treatment = all.find(({ arm, measure }) => arm === "treatment" && measure === "outer_timeout")!;
    expect(treatment.p).toBeDefined();
    expect(treatment.p_exploratory).toBeUndefined();
  });
});

test("what pairing saves is the variance of two arms that meet nothing in common, over that of pairs", async () => {
  const path = join(place, "paired.duckdb");
  await writeSynthetic(path);
  const { hypotheses } = await writeReport(path, join(place, "paired.html"));
  const tables = await readStore(path);
  try {
    const [row] = await tables.rows<{ ratio: number }>(
      `WITH means AS (SELECT arm::VARCHAR AS arm, replicate, avg(duration_seconds::DOUBLE) AS mean FROM trials GROUP BY ALL),
         pairs AS (SELECT t.mean AS treatment, c.mean AS control FROM means AS t JOIN means AS c USING (replicate)
                   WHERE t.arm = 'budgeted' AND c.arm = 'treatment')
       SELECT (var_samp(treatment) + var_samp(control)) / var_samp(treatment - control) AS ratio FROM pairs`,
    );
    const { variance_ratio: told } = hypotheses.find(({ measure }) => measure === "duration_seconds")!;
    expect(told).toBeCloseTo(row!.ratio, 6);
    expect(told).toBeGreaterThan(1);
  } finally {
    await tables.close();
  }
});
