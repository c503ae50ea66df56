/** The page of the largest panel that a person is asked to read: 3 arms × 113 tasks × 30 replicates. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { folder } from "../report/folder.ts";
import { writeSynthetic } from "../report/synthetic.ts";
import { launch, noBrowser, openPage } from "./browser.ts";

const place = folder();
const path = join(place, "report.html");

describe.skipIf(noBrowser)("a page of 10,170 trials", () => {
  let browser: Browser;

  beforeAll(async () => {
    await writeSynthetic(join(place, "experiment.duckdb"), { tasks: 113, replicates: 30 });
    await writeReport(join(place, "experiment.duckdb"), path);
    browser = await launch();
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
  });

  test("is under 10 MB", () => {
    expect(statSync(path).size).toBeLessThan(10e6);
  });

  /**
   * Not a clock of the machine's but of the page's: what its own script keeps it from answering. A machine that is busy with something
   * else makes it slower, so the bound is held by the best of three.
   */
  test("answers a reader within two seconds of being opened", async () => {
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3 && !waits.some((wait) => wait < 2_000); attempt += 1) {
      const { page, faults, close } = await openPage(browser, path, { charts: false });
      const usable = await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            const link = document.querySelector<HTMLElement>("nav a")!;
            link.addEventListener("click", () => resolve(performance.now()), { once: true });
            requestAnimationFrame(() => setTimeout(() => link.click()));
          }),
      );
      waits.push(usable);
      expect(faults).toEqual([]);
      await close();
    }
    expect(Math.min(...waits)).toBeLessThan(2_000);
  });
});
