/** Trials one by one, in a browser: found, sorted, opened by their address, and read without a script. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { readStore } from "../../src/telemetry/store.ts";
import { yieldpoint } from "../program.ts";
import { folder } from "../report/folder.ts";
import { HOSTILE } from "../report/hostile.ts";
import { writeSynthetic } from "../report/synthetic.ts";
import { launch, noBrowser, openPage, overflow } from "./browser.ts";

const place = folder();
const path = join(place, "out", "report.html");

describe.skipIf(noBrowser)("the trials of a page", () => {
  let browser: Browser;
  /** A trial whose moments were kept, and one whose were not. */
  let drilled = 0;
  let other = 0;

  beforeAll(async () => {
    const ended = yieldpoint(["run", "panels/long-tail.yaml", "--replicates", "3", "--out", join(place, "out")]);
    expect([0, 1]).toContain(ended.code);
    const store = await readStore(join(place, "out", "experiment.duckdb"));
    const [found] = await store.rows<{ drilled: number; other: number }>(
      `SELECT (SELECT min(trial_id) FROM events WHERE trial_id IS NOT NULL) AS drilled,
        (SELECT min(trial_id) FROM trials WHERE arm = 'budgeted' AND pair_key NOT IN
          (SELECT t.pair_key FROM events AS e JOIN trials AS t USING (trial_id))) AS other`,
    );
    [drilled, other] = [found!.drilled, found!.other];
    await store.close();
    browser = await launch();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  const cells = (page: Page, column: number) =>
    page.locator(`#trial-table tbody tr > :nth-child(${column})`).allTextContents();
  const numbers = async (page: Page, column: number) =>
    (await cells(page, column)).map((text) => Number(text.replaceAll(",", "").replace("−", "-")));
  const descending = (values: readonly number[]) => values.every((value, at) => at === 0 || value <= values[at - 1]!);

  test("stand by how far apart the arms are, and by any column that is asked for, with the keyboard too", async () => {
    const { page, faults, close } = await openPage(browser, path);
    const apart = (await numbers(page, 8)).map(Math.abs);
    expect(apart).toHaveLength(25);
    expect(descending(apart)).toBe(true);
    expect(apart[0]).toBeGreaterThan(1_000);
    await page.locator("#trial-table th button", { hasText: /^treatment$/ }).focus();
    await page.keyboard.press("Enter");
    expect(descending(await numbers(page, 5))).toBe(true);
    expect(await page.locator("#trial-table th[aria-sort=descending]").textContent()).toBe("treatment ▼");
    // The keyboard is still on it.
    await page.keyboard.press("Enter");
    expect(descending((await numbers(page, 5)).toReversed())).toBe(true);
    expect(await page.evaluate("window.violations")).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test("are found by their name, their outcome and their arms, and leafed through", async () => {
    const { page, close } = await openPage(browser, path);
    const status = () => page.locator("#trial-table [role=status]").textContent();
    expect(await status()).toBe("120 of 120 pairs, by duration (s)");
    await page.locator("#trial-table button", { hasText: "Next" }).click();
    expect(await page.locator(".pager").textContent()).toContain("page 2 of 5");
    await page.getByLabel("Outcome", { exact: true }).selectOption("outer_timeout");
    const outcomes = [...(await cells(page, 4)), ...(await cells(page, 6))];
    expect(outcomes).toContain("outer timeout");
    expect(await page.locator(".pager").textContent()).toContain("page 1 of 1");
    await page.getByLabel("Outcome", { exact: true }).selectOption("");
    await page.getByLabel("Find", { exact: true }).fill("/017");
    expect(await status()).toBe("3 of 120 pairs, by duration (s)");
    expect(new Set(await cells(page, 1))).toEqual(new Set(["long-tail/017"]));
    await page.getByLabel("Arm", { exact: true }).selectOption("2");
    await page.getByLabel("Measure", { exact: true }).selectOption({ label: "cost (USD)" });
    expect(await status()).toBe("3 of 120 pairs, by cost (USD)");
    expect(await page.locator("#trial-table thead").textContent()).toContain("budgeted: outcome");
    await close();
  });

  test("open moment by moment at their address: arms on one axis, journals, and a trace to take along", async () => {
    const { page, faults, close } = await openPage(browser, path, { fragment: `#trial-${drilled}` });
    const pair = page.locator("details.pair[open]");
    expect(await pair.count()).toBe(1);
    expect(await pair.locator(`#trial-${drilled}`).isVisible()).toBe(true);
    expect(await pair.locator(".journal").count()).toBe(3);
    expect(await pair.locator(".drawing .live svg").first().isVisible()).toBe(true);
    const href = (await pair.locator("a[download]").getAttribute("href"))!;
    const trace = JSON.parse(Buffer.from(href.split("base64,")[1]!, "base64").toString()) as {
      traceEvents: readonly { ph: string; name: string; ts?: number; dur?: number; pid: number }[];
    };
    expect(trace.traceEvents.filter(({ ph, name }) => ph === "M" && name === "process_name")).toHaveLength(3);
    const spans = trace.traceEvents.filter(({ ph }) => ph === "X");
    expect(spans.length).toBeGreaterThan(20);
    for (const { ts, dur } of spans)
      expect(ts! >= 0 && dur! >= 0 && Number.isInteger(ts) && Number.isInteger(dur)).toBe(true);
    expect(Math.max(...spans.map(({ ts, dur }) => ts! + dur!))).toBeLessThanOrEqual(5_400e6);
    expect(faults).toEqual([]);
    await close();
  });

  test("have an address even where no moment was kept, which says what shows them; and it does", async () => {
    const { page, close } = await openPage(browser, path);
    await page.evaluate((id) => {
      location.hash = `#trial-${id}`;
    }, other);
    const shown = page.locator("#trial-shown");
    await shown.waitFor({ state: "visible" });
    expect(await shown.locator("tr[aria-current] th").textContent()).toBe("budgeted");
    const command = (await shown.locator("code").textContent())!;
    expect(command).toMatch(/^yieldpoint replay panels\/long-tail\.yaml#\d{3} --arm budgeted --replicate \d --seed 1$/);
    const lasted = Number((await shown.locator("tr[aria-current] td").nth(1).textContent())!.replaceAll(",", ""));
    const { code, stdout } = yieldpoint(command.split(" ").slice(1));
    expect(code).toBe(0);
    const last = Number(/^\s*([\d.]+) {2}.*$/m.exec(stdout.trim().split("\n").at(-1)!)![1]);
    expect(Math.abs(last - lasted)).toBeLessThan(0.051);
    await close();
  });

  test("that differ most stand in a page without a script, some moment by moment", async () => {
    const { page, faults, close } = await openPage(browser, path, { javaScriptEnabled: false });
    expect(await page.locator("#trial-table tbody tr").count()).toBe(30);
    expect(await page.locator("details.pair").count()).toBeGreaterThan(3);
    await page.locator("details.pair summary").first().click();
    expect(await page.locator("details.pair .still.wide svg").first().isVisible()).toBe(true);
    expect(await page.locator("details.pair pre").first().isVisible()).toBe(true);
    expect(faults).toEqual([]);
    await close();
  });

  test("keep whoever leafs through them with the keyboard on the button", async () => {
    const { page, close } = await openPage(browser, path);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.locator(".pager button", { hasText: "Next" }).focus();
    for (let leaf = 2; leaf <= 5; leaf += 1) {
      expect(await focused()).toBe("Next");
      await page.keyboard.press("Enter");
      expect(await page.locator(".pager").textContent()).toContain(`page ${leaf} of 5`);
    }
    // There is no next page any more.
    expect(await focused()).toBe("Previous");
    await close();
  });

  test("are narrowed down by kind and replicate, and say so where none is left", async () => {
    const { page, close } = await openPage(browser, path);
    await page.getByLabel("Kind", { exact: true }).selectOption("hanging");
    await page.getByLabel("Replicate", { exact: true }).selectOption("2");
    expect(new Set(await cells(page, 3))).toEqual(new Set(["hanging"]));
    expect(new Set(await cells(page, 2))).toEqual(new Set(["2"]));
    await page.getByLabel("Find", { exact: true }).fill("no such scenario");
    expect(await page.locator("#trial-table [role=status]").textContent()).toMatch(/^0 of 120 pairs/);
    expect(await page.locator("#trial-table tbody tr").count()).toBe(0);
    await close();
  });

  test("come out of the printer moment by moment, without what is there to press", async () => {
    const { page, close } = await openPage(browser, path, { viewport: { width: 720, height: 1_000 } });
    await page.emulateMedia({ media: "print" });
    expect(await page.locator(".trials .controls").isVisible()).toBe(false);
    expect(await page.locator("details.pair pre").first().isVisible()).toBe(true);
    const beyond = await page.evaluate(
      () =>
        [...document.querySelectorAll("#trials *")].filter(
          (each) => each.getBoundingClientRect().right > window.innerWidth + 1,
        ).length,
    );
    expect(beyond).toBe(0);
    await close();
  });

  test("with names that are anything but names stay text, whichever of them is opened", async () => {
    const names = [
      `</script><script>window.hacked = "scenario"</script>`,
      `"'><img src=x onerror="window.hacked='image'">\u202Egnp.evil`,
      "a".repeat(10_000),
      "__proto__",
    ];
    const hostile = join(place, "hostile.duckdb");
    await writeSynthetic(hostile, { ...HOSTILE, scenarios: names, replicates: 3 });
    await writeReport(hostile, join(place, "hostile.html"));
    const { page, faults, close } = await openPage(browser, join(place, "hostile.html"), {
      viewport: { width: 400, height: 800 },
    });
    const links = await page
      .locator("#trial-table tbody a")
      .evaluateAll((all) => all.map((each) => each.getAttribute("href")!));
    expect(links).toHaveLength(12);
    for (const link of links) {
      await page.evaluate((to) => {
        location.hash = to;
      }, link);
      await page.locator("#trial-shown").waitFor({ state: "visible" });
      expect(await page.locator("#trial-shown code").textContent()).toMatch(/^yieldpoint replay /);
    }
    expect(await overflow(page)).toBe(0);
    expect(await page.evaluate("window.hacked ?? null")).toBeNull();
    expect(await page.evaluate("window.violations")).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test("give their trace to whoever asks for it, under a name", async () => {
    const { page, close } = await openPage(browser, path, { fragment: `#trial-${drilled}`, acceptDownloads: true });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("details.pair[open] a[download]").click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^trial-\d+\.trace\.json$/);
    const trace = JSON.parse(readFileSync(await download.path(), "utf8")) as {
      readonly traceEvents: readonly object[];
    };
    expect(trace.traceEvents.length).toBeGreaterThan(20);
    await close();
  });

  test("never make a narrow page scroll sideways", async () => {
    const { page, close } = await openPage(browser, path, {
      viewport: { width: 400, height: 800 },
      fragment: `#trial-${drilled}`,
    });
    expect(await overflow(page)).toBe(0);
    await close();
  });
});
