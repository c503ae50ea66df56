/** The report of a gallery: each case, what was seen under each arm, and the journals. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Summary, summarise, writeReport } from "../../src/report/report.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { observed, the } from "../cases/observed.ts";
import { folder } from "./folder.ts";
import { writeGallery, writeHostileGallery } from "./galleryRun.ts";

const place = folder();
const database = join(place, "all.duckdb");
const shipped = loadPanel("public-cases");
const { cases } = shipped;
let page: string;
let summary: Summary;

beforeAll(async () => {
  await writeGallery(shipped, database);
  summary = await writeReport(database, join(place, "all.html"), { madeAt: new Date(0) });
  page = readFileSync(join(place, "all.html"), "utf8");
}, 60_000);

const articles = () => [...page.matchAll(/<article class="case"[\s\S]*?<\/article>/g)].map(([whole]) => whole);
const article = (name: string) => articles().find((each) => each.includes(`<bdi>${name}</bdi></h3>`))!;
const rows = (markup: string) =>
  [...markup.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell]) => cell!.replace(/<[^>]*>/g, "").trim()),
  );

describe("the page of a gallery", () => {
  test("has every case once, in the index and below, and each link leads somewhere", () => {
    expect(articles()).toHaveLength(cases.length);
    const ids = new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, to]) => to);
    expect(links.filter((to) => !ids.has(to))).toEqual([]);
    for (const at of cases.keys()) expect(links).toContain(`case-${at + 1}`);
  });

  test("says the symptom, and what happened under each arm", () => {
    const c22 = article("c22-killed-good-work");
    expect(c22).toContain("A build of three and a half minutes was killed after one");
    const found = rows(c22);
    expect(found[0]).toEqual(["what was seen", "✗faulty", "faulty-and-shallow", "✓right"]);
    expect(found).toContainEqual(["reward", "0", "0", "1"]);
    expect(found).toContainEqual(["commands came back as", "timed out, failed", "timed out, failed", "running"]);
    expect(found).toContainEqual(["control came back at (s)", "120 · 132", "120 · 132", "120 · 270"]);
  });

  test("leaves out what does not differ, but for how it ended", () => {
    const heads = rows(article("c26-is-it-done-yet")).map(([head]) => head);
    expect(heads).toEqual(
      expect.arrayContaining(["ended", "ended after (s)", "reward", "polls", "tokens", "cost (USD)"]),
    );
    expect(heads).not.toContain("commands killed");
    expect(heads).not.toContain("orphaned processes");
  });

  test("has arms as rows where they are many", () => {
    const found = rows(article("c44-merged-waits"));
    expect(found[0]![0]).toBe("arm");
    expect(found).toHaveLength(1 + 12);
  });

  test("folds the journals, whole where they are short, and says how to see the others", () => {
    const c12 = article("c12-lost-end");
    expect(c12).toMatch(/<details class="fold"><summary>Journals of 2 and 3 lines<\/summary>/);
    expect(c12).toContain(" 3600.000  cut off</pre>");
    const c25 = article("c25-polling-every-second");
    expect(c25).toContain("225 lines more");
    expect(c25).toContain("yieldpoint replay panels/cases/c25-polling-every-second.yaml#1 --arm faulty");
  });

  test("needs no script, and allows none", () => {
    expect(page).toContain("script-src &#39;none&#39;");
    expect(page.match(/<script(?! type="application\/json")/)).toBeNull();
    expect(page).toContain("Skip to the cases");
    expect(page).not.toContain('href="#verdict"');
  });

  test("is the same each time, and small", async () => {
    await writeReport(database, join(place, "again.html"), { madeAt: new Date(0) });
    expect(readFileSync(join(place, "again.html"), "utf8") === page).toBe(true);
    expect(page.length).toBeLessThan(1e6);
  });
});

describe("the summary of a gallery", () => {
  test("tells each case as its own panel does", () => {
    for (const { panel: name, source } of cases) {
      const alone = observed(name);
      for (const { scenario } of "scenarios" in source ? source.scenarios : []) {
        const found = summary.cases.find((each) => each.case === name && each.scenario === scenario)!;
        for (const [arm, seen] of Object.entries(found.arms)) {
          const { reward, seconds, outerTimeout } = the(alone, arm, scenario);
          expect(seen).toMatchObject({ always_reward: reward, always_ended_after_seconds: seconds });
          expect(seen["always_ended"] === "outer timeout").toBe(outerTimeout);
        }
      }
    }
  });

  test("compares and weighs nothing across cases, and judges nothing", () => {
    expect(summary).toMatchObject({ tradeoffs: null, differences: {}, hypotheses: [], published: [] });
    expect(summary.verdict.sentence).toMatch(/^\d+ cases in \d+ scenarios\. Of \d+ that are told both ways/);
  });

  test("is had without the page, too", async () => {
    expect(await summarise(database)).toEqual(summary);
  });
});

test("names that mean harm are text, in a gallery too", async () => {
  const hostile = join(place, "hostile.duckdb");
  await writeHostileGallery(hostile);
  await writeReport(hostile, join(place, "hostile.html"));
  const markup = readFileSync(join(place, "hostile.html"), "utf8");
  expect(markup.match(/<script(?! type="application\/json")/)).toBeNull();
  for (const what of [
    "panel",
    "case",
    "case question",
    "scenario question",
    "says",
    "source",
    "arm",
    "arm says",
    "line",
  ])
    expect(markup, what).toContain(`&lt;script&gt;window.hacked = &quot;${what}&quot;`);
  expect(markup).not.toMatch(/[\u202a-\u202e]/);
});
