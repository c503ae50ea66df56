/**
 * The page in a browser: from disk, with the network off, with and without JavaScript, wide and narrow.
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { loadPanel } from "../../src/scenario/load.ts";
import { folder } from "../report/folder.ts";
import { writeGallery, writeHostileGallery } from "../report/galleryRun.ts";
import { HOSTILE } from "../report/hostile.ts";
import { crossedArms, writeSynthetic } from "../report/synthetic.ts";
import { launch, noBrowser, openPage, overflow } from "./browser.ts";

const place = folder();

describe.skipIf(noBrowser)("the report in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    const pages = {
      usual: {},
      hostile: HOSTILE,
      crossed: {
        arms: crossedArms(),
        crossed: true,
        tasks: 6,
        replicates: 3,
        hypotheses: [],
        published: [],
        exhibits: [],
      },
    };
    for (const [name, options] of Object.entries(pages)) {
      await writeSynthetic(join(place, `${name}.duckdb`), options);
      await writeReport(join(place, `${name}.duckdb`), join(place, `${name}.html`));
    }
    await writeGallery(loadPanel("public-cases"), join(place, "gallery.duckdb"));
    await writeHostileGallery(join(place, "hostile-gallery.duckdb"));
    for (const name of ["gallery", "hostile-gallery"])
      await writeReport(join(place, `${name}.duckdb`), join(place, `${name}.html`));
    browser = await launch();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  /** A gallery has no charts, and so no script. */
  const open = (name: string, options: Parameters<typeof openPage>[2] = {}) =>
    openPage(browser, join(place, `${name}.html`), { charts: !name.includes("gallery"), ...options });

  const drawings = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("[data-chart]")].map((each) => ({
        chart: each.dataset["chart"]!,
        drawn: each.dataset["drawn"] ?? null,
        marks: each.querySelectorAll(
          ".live svg .mark-rect path, .live svg .mark-symbol path, .live svg .mark-line path, .live svg .mark-rule line",
        ).length,
        failed: each.querySelector(".failed")?.textContent ?? null,
      })),
    );

  for (const name of ["usual", "hostile", "crossed"]) {
    test(`draws every chart of the ${name} page, and breaks no rule on the way`, async () => {
      const { page, faults, close } = await open(name);
      const drawn = await drawings(page);
      expect(drawn.length).toBeGreaterThanOrEqual(7);
      for (const each of drawn) {
        expect(each).toMatchObject({ drawn: "wide", failed: null });
        expect(each.marks, each.chart).toBeGreaterThan(1);
      }
      expect(await page.evaluate("window.violations")).toEqual([]);
      expect(await page.evaluate("window.hacked ?? null")).toBeNull();
      expect(faults).toEqual([]);
      await close();
    });
  }

  test("is whole without JavaScript: every chart as an SVG, every table", async () => {
    const { page, faults, close } = await open("usual", { javaScriptEnabled: false });
    for (const figure of await page.locator("figure.chart").all()) {
      expect(await figure.locator(".still.wide svg").isVisible()).toBe(true);
      expect(await figure.locator(".still.narrow svg").isVisible()).toBe(false);
      await figure.locator("summary").click();
      expect(await figure.locator("table").isVisible()).toBe(true);
    }
    expect(await page.locator(".badge").count()).toBe(3);
    expect(faults).toEqual([]);
    await close();
  });

  for (const [says, options] of [
    ["with JavaScript", {}],
    ["without", { javaScriptEnabled: false }],
  ] as const) {
    for (const name of ["usual", "hostile", "crossed"]) {
      test(`never scrolls sideways on a phone, ${says}: the ${name} page`, async () => {
        const { page, close } = await open(name, { viewport: { width: 400, height: 800 }, ...options });
        expect(await overflow(page)).toBe(0);
        expect(await page.locator(".still.wide svg").first().isVisible()).toBe(false);
        await close();
      });
    }
  }

  test("never scrolls sideways where all that is closed is opened", async () => {
    const { page, close } = await open("hostile", { viewport: { width: 400, height: 800 } });
    await page.evaluate(() => {
      for (const each of document.querySelectorAll("details")) each.open = true;
    });
    expect(await overflow(page)).toBe(0);
    await close();
  });

  describe("of a gallery", () => {
    const unfold = (page: Page) =>
      page.evaluate(() => {
        for (const each of document.querySelectorAll("details")) each.open = true;
      });

    for (const name of ["gallery", "hostile-gallery"]) {
      for (const javaScriptEnabled of [true, false]) {
        test(`never scrolls sideways, breaks no rule and runs nothing, script ${javaScriptEnabled ? "on" : "off"}: the ${name}`, async () => {
          const { page, faults, close } = await open(name, {
            viewport: { width: 400, height: 800 },
            javaScriptEnabled,
          });
          expect(await overflow(page)).toBe(0);
          await unfold(page);
          expect(await overflow(page)).toBe(0);
          expect(await page.evaluate("window.hacked ?? null")).toBeNull();
          expect(faults).toEqual([]);
          await close();
        });
      }
    }

    test("is walked with a keyboard: to a case, and into its journals", async () => {
      const { page, close } = await open("gallery", { javaScriptEnabled: false });
      await page.locator(".case-index a").nth(3).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/#case-4$/);
      const fold = page.locator("#case-4 details.fold");
      expect(await fold.locator("pre").first().isVisible()).toBe(false);
      await fold.locator("summary").focus();
      await page.keyboard.press("Enter");
      expect(await fold.locator("pre").first().isVisible()).toBe(true);
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("PRE");
      await close();
    });

    test("has headings in order, and a name for everything that has a role", async () => {
      const { page, close } = await open("gallery");
      const found = await page.evaluate(() => ({
        headings: [...document.querySelectorAll("h1, h2, h3, h4, h5")]
          .map((each) => Number(each.tagName[1]))
          .filter((level, at, all) => at > 0 && level > all[at - 1]! + 1).length,
        unnamed: [...document.querySelectorAll("section, article, [role=region]")].filter(
          (each) =>
            !each.getAttribute("aria-label") &&
            !document.getElementById(each.getAttribute("aria-labelledby") ?? "")?.textContent,
        ).length,
        tables: [...document.querySelectorAll("table")].filter(
          (each) => !each.caption?.textContent || each.querySelectorAll("th[scope=col]").length === 0,
        ).length,
      }));
      expect(found).toEqual({ headings: 0, unnamed: 0, tables: 0 });
      await close();
    });

    test("prints within the paper, with what is folded on the screen", async () => {
      const { page, close } = await open("gallery", { colorScheme: "dark", viewport: { width: 720, height: 1_000 } });
      await page.emulateMedia({ media: "print" });
      expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
      expect(await page.locator("#case-4 pre").first().isVisible()).toBe(true);
      expect(await overflow(page)).toBe(0);
      await close();
    });

    for (const colorScheme of ["light", "dark"] as const) {
      test(`can be read on a ${colorScheme} page`, async () => {
        const { page, close } = await open("gallery", { colorScheme, javaScriptEnabled: false });
        const [text, page_, soft] = await page.evaluate(() => {
          const of = (selector: string, key: "color" | "backgroundColor") =>
            getComputedStyle(document.querySelector(selector)!)[key];
          return [of(".symptom", "color"), of("body", "backgroundColor"), of(".case-question", "color")];
        });
        const luminance = (colour: string) => {
          const [red, green, blue] = colour
            .match(/[\d.]+/g)!
            .slice(0, 3)
            .map((value) => {
              const share = Number(value) / 255;
              return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
          return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
        };
        const contrast = (a: string, b: string) => {
          const [low, high] = [luminance(a), luminance(b)].sort((one, other) => one - other);
          return (high! + 0.05) / (low! + 0.05);
        };
        expect(contrast(text!, page_!)).toBeGreaterThan(7);
        expect(contrast(soft!, page_!)).toBeGreaterThan(4.5);
        await close();
      });
    }
  });

  test("is drawn anew where the window becomes narrow, and again where it grows", async () => {
    const { page, faults, close } = await open("usual");
    await page.setViewportSize({ width: 420, height: 800 });
    await page.waitForFunction(() =>
      [...document.querySelectorAll("[data-chart]")].every((each) => each.matches("[data-drawn=narrow]")),
    );
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.waitForFunction(() =>
      [...document.querySelectorAll("[data-chart]")].every((each) => each.matches("[data-drawn=wide]")),
    );
    expect(await page.locator("[data-chart] .live").count()).toBe(await page.locator("[data-chart]").count());
    expect(faults).toEqual([]);
    await close();
  });

  test("tells what a mark stands for when it is pointed at", async () => {
    const { page, close } = await open("usual");
    const mark = page.locator("#chart-ledger .live .mark-rect path").first();
    await mark.scrollIntoViewIfNeeded();
    await mark.hover();
    const tooltip = page.locator("#vg-tooltip-element.visible");
    await tooltip.waitFor();
    expect(await tooltip.textContent()).toMatch(/arm\s*control\s*part\s*model at work/);
    await close();
  });

  test("leaves the SVG where it is when a chart cannot be drawn, and says why", async () => {
    const broken = `Object.defineProperty(window, "vegaEmbed", { get: () => () => Promise.reject(new Error("no luck <b>today</b>")), set() {} });`;
    const { page, close } = await open("usual", { before: broken });
    const drawn = await drawings(page);
    for (const { drawn: how, failed } of drawn) {
      expect(how).toBeNull();
      expect(failed).toBe("This chart is not interactive: no luck <b>today</b>");
    }
    expect(await page.locator(".still.wide svg").first().isVisible()).toBe(true);
    await close();
  });

  for (const scheme of ["light", "dark"] as const) {
    test(`can be read on a ${scheme} page: text stands out from what it lies on, in charts too`, async () => {
      for (const javaScriptEnabled of [true, false]) {
        const { page, close } = await open("usual", { colorScheme: scheme, javaScriptEnabled });
        // Playwright looks for itself, so this works in a page without JavaScript, too.
        const contrasts = await page.evaluate(() => {
          const channels = (colour: string) =>
            colour
              .match(/[\d.]+/g)!
              .slice(0, 3)
              .map(Number);
          const luminance = (colour: string) => {
            const [red, green, blue] = channels(colour).map((value) => {
              const share = value / 255;
              return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
          };
          const contrast = (a: string, b: string) => {
            const [high, low] = [luminance(a), luminance(b)].sort((one, other) => other - one);
            return (high! + 0.05) / (low! + 0.05);
          };
          const card = getComputedStyle(document.querySelector("figure.chart")!).backgroundColor;
          const page = getComputedStyle(document.body).backgroundColor;
          const labels = [
            ...document.querySelectorAll(".drawing svg .role-axis-label text, .drawing svg .role-legend-label text"),
          ];
          return {
            labels: Math.min(...labels.map((each) => contrast(getComputedStyle(each).fill, card))),
            notes: Math.min(
              ...[...document.querySelectorAll("main > section > .note, .lead, .basis")].map((each) =>
                contrast(getComputedStyle(each).color, page),
              ),
            ),
            badges: Math.min(
              ...[...document.querySelectorAll(".badge")].map((each) =>
                contrast(getComputedStyle(each).color, getComputedStyle(each).backgroundColor),
              ),
            ),
            words: Math.min(
              ...[...document.querySelectorAll(".better, .worse")].map((each) =>
                contrast(getComputedStyle(each).color, card),
              ),
            ),
          };
        });
        for (const [what, contrast] of Object.entries(contrasts)) expect(contrast, what).toBeGreaterThan(4.5);
        await close();
      }
    });
  }

  test("can be walked with a keyboard and heard: skip link, landmarks, names, reachable scrolling", async () => {
    const { page, close } = await open("usual");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("skip");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    const found = await page.evaluate(() => ({
      landmarks: ["body > header", "nav[aria-label]", "main", "footer"].filter(
        (each) => document.querySelectorAll(each).length !== 1,
      ),
      headings: [...document.querySelectorAll("h1, h2, h3, h4")]
        .map((each) => Number(each.tagName[1]))
        .filter((level, at, all) => at > 0 && level > all[at - 1]! + 1).length,
      unnamed: [...document.querySelectorAll("section, figure.chart, [role=img], [role=region]")].filter(
        (each) =>
          !each.getAttribute("aria-label") &&
          !document.getElementById(each.getAttribute("aria-labelledby") ?? "")?.textContent,
      ).length,
      unreachable: [...document.querySelectorAll<HTMLElement>(".scroll, pre")].filter((each) => each.tabIndex !== 0)
        .length,
      tables: [...document.querySelectorAll("table")].filter(
        (each) => !each.caption?.textContent || each.querySelectorAll("th[scope=col]").length === 0,
      ).length,
    }));
    expect(found).toEqual({ landmarks: [], headings: 0, unnamed: 0, unreachable: 0, tables: 0 });
    await close();
  });

  test("prints: light, without navigation, every chart within the paper", async () => {
    const { page, close } = await open("usual", { colorScheme: "dark", viewport: { width: 720, height: 1_000 } });
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
    expect(await page.locator("nav").isVisible()).toBe(false);
    const wide = await page.evaluate(
      () =>
        [...document.querySelectorAll(".drawing svg")].filter(
          (each) => each.getBoundingClientRect().right > window.innerWidth + 1,
        ).length,
    );
    expect(wide).toBe(0);
    await close();
  });
});
