/** What axe says of a page, in light and dark, with everything unfolded; and what comes out of the printer. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { folder } from "../report/folder.ts";
import { writeGallery } from "../report/galleryRun.ts";
import { HOSTILE } from "../report/hostile.ts";
import { crossedArms, writeSynthetic } from "../report/synthetic.ts";
import { launch, noBrowser, openPage } from "./browser.ts";

const place = folder();
const path = (name: string) => join(place, `${name}.html`);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Serious and critical faults by the rules of WCAG 2.0 to 2.2, A and AA, and by good practice. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(() => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });
  await page.evaluate(axe);
  const violations = await page.evaluate<readonly Found[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}\n${nodes
          .slice(0, 4)
          .map(({ html, failureSummary }) => `  ${html.slice(0, 200)}\n  ${failureSummary}`)
          .join("\n")}`,
    );
}

describe.skipIf(noBrowser)("a page for everybody", () => {
  let browser: Browser;

  beforeAll(async () => {
    const crossed = {
      arms: crossedArms(),
      crossed: true,
      tasks: 6,
      replicates: 3,
      hypotheses: [],
      published: [],
      exhibits: [],
    };
    for (const [name, options] of Object.entries({ usual: {}, hostile: HOSTILE, crossed })) {
      await writeSynthetic(join(place, `${name}.duckdb`), options);
      await writeReport(join(place, `${name}.duckdb`), path(name));
    }
    await writeGallery(loadPanel("public-cases"), join(place, "gallery.duckdb"));
    await writeReport(join(place, "gallery.duckdb"), path("gallery"));
    browser = await launch();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    for (const name of ["usual", "hostile", "crossed", "gallery"]) {
      test(`has no serious fault on a ${colorScheme} screen: the ${name} page`, async () => {
        const { page, close } = await openPage(browser, path(name), { colorScheme, charts: name !== "gallery" });
        expect(await faultsOf(page)).toEqual([]);
        await close();
      });
    }
  }

  test("would not pass with a fault in it", async () => {
    const { page, close } = await openPage(browser, path("usual"));
    await page.evaluate(() => document.querySelector("main")!.insertAdjacentHTML("beforeend", "<button></button>"));
    expect((await faultsOf(page)).join()).toContain("button-name");
    await close();
  });

  for (const javaScriptEnabled of [true, false]) {
    test(`is printed on pages of A4, script ${javaScriptEnabled ? "on" : "off"}`, async () => {
      const { page, close } = await openPage(browser, path("usual"), { javaScriptEnabled });
      const printed = (await page.pdf({ format: "A4", printBackground: true })).toString("latin1");
      expect(printed.startsWith("%PDF-")).toBe(true);
      const pages = printed.match(/\/Type\s*\/Page\b/g)!.length;
      expect(pages).toBeGreaterThanOrEqual(4);
      expect(pages).toBeLessThan(40);
      await close();
    });
  }
});
