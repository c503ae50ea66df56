/**
 * The browser that pages are opened in: from disk, with the network off, noting whatever goes wrong.
 *
 * Needs Chromium (`apt-get install chromium`, or CHROMIUM=/path/to/it). Without one these tests are skipped, which is said
 * aloud, and in CI they fail, since there nobody reads what is said.
 */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const isThere = existsSync(executablePath);
const isCi = Boolean(process.env["CI"]);

/** For `describe.skipIf`: true where there is no browser and somebody reads that it was skipped. */
export const noBrowser = !isThere && !isCi;
if (noBrowser) {
  console.warn(
    `\n  SKIPPED: the report was not opened in a browser, since there is none at ${executablePath}.\n  apt-get install chromium, or set CHROMIUM.\n`,
  );
}

export async function launch(): Promise<Browser> {
  if (!isThere) throw new Error(`there is no browser at ${executablePath}: apt-get install chromium, or set CHROMIUM`);
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Opened {
  readonly page: Page;
  /** Warnings, errors, dialogs and requests that leave the disk, as they come. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

interface Opening extends BrowserContextOptions {
  /** A script to run before the page's own. */
  readonly before?: string;
  /** Of the page's address, with its `#`. */
  readonly fragment?: string;
  /** Whether the page has charts to wait for. A gallery has none, and so no script. */
  readonly charts?: boolean;
}

/** Opens a file, and waits for its charts where it has a script. */
export async function openPage(
  browser: Browser,
  path: string,
  { before = "", fragment = "", charts = true, ...options }: Opening = {},
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => faults.push(dialog.message()));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) faults.push(`asks for ${request.url()}`);
  });
  const hasScript = options.javaScriptEnabled !== false;
  if (hasScript) {
    await page.addInitScript(`
      window.violations = [];
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => violations.push(violatedDirective + " " + blockedURI));
      ${before}`);
  }
  await page.goto(`${pathToFileURL(path).href}${fragment}`);
  if (hasScript && charts) await page.waitForSelector("html[data-charts=drawn]", { timeout: 60_000 });
  return { page, faults, close: () => context.close() };
}

/** By how many pixels a page is wider than its window. */
export const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
