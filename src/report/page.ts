/**
 * The page: one file that a reviewer opens from disk, with the network off.
 *
 * Its policy allows the scripts that stand in it, each by its hash, and nothing from anywhere else. What it says does not
 * depend on JavaScript; what it may not say is when it was made, but for one line, so that the same run gives the same bytes.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Chart } from "./chart.ts";
import { type Html, html, inlineJson, trusted } from "./html.ts";
import { CHART_CONFIG, colourStyles } from "./theme.ts";

export interface PageSection {
  readonly id: string;
  readonly nav: string;
  readonly content: Html;
}

export interface PageParts {
  readonly title: string;
  readonly hero: Html;
  readonly sections: readonly PageSection[];
  readonly charts: readonly Chart[];
  readonly style: string;
  readonly script: string;
  readonly madeAt: Date;
  readonly digest: string;
}

export function page({ title, hero, sections, charts, style, script, madeAt, digest }: PageParts): string {
  const data = {
    config: CHART_CONFIG,
    charts: Object.fromEntries(
      charts.map(({ name, rows, wide, narrow }) => [name, { rows, wide: wide.spec, narrow: narrow.spec }]),
    ),
  };
  const scripts = charts.length === 0 ? [] : [...libraries(), script].map(asInline);
  const allowed = scripts.map((source) => `'sha256-${createHash("sha256").update(source).digest("base64")}'`);
  const csp = [
    "default-src 'none'",
    `script-src ${allowed.join(" ") || "'none'"}`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${csp}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="yieldpoint">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${trusted(colourStyles())}
${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the ${sections[0]?.nav.toLowerCase() ?? "content"}</a>
${hero}
<nav aria-label="Sections of the report"><ol>${sections.map(({ id, nav }) => html`<li><a href="#${id}">${nav}</a></li>`)}</ol></nav>
<main id="content" tabindex="-1">
${sections.map(({ content }) => content)}
</main>
<footer><p>Results <code>${digest}</code></p><p>Report made <time datetime="${madeAt.toISOString()}">${madeAt.toISOString()}</time> by yieldpoint.</p></footer>
<script type="application/json" id="chart-data">${inlineJson(data)}</script>
${scripts.map((source) => html`<script>${trusted(source)}</script>\n`)}</body>
</html>
`;
  return document.markup;
}

/** Vega, Vega-Lite and Vega-Embed for browsers. Their packages do not export these files, so each is found beside what they do. */
function libraries(): readonly string[] {
  return [
    beside("vega", "vega.min.js"),
    beside("vega-lite", "vega-lite.min.js"),
    beside("vega-embed", "vega-embed.min.js"),
  ];
}

function beside(library: string, file: string): string {
  const path = fileURLToPath(new URL(file, import.meta.resolve(library)));
  // Source maps are looked for where the page is, and are not there.
  return readFileSync(path, "utf8").replace(/\n?\/\/# sourceMappingURL=\S*\s*$/, "");
}

/** A script that holds what ends a script would end early: a file of ours or of Vega's that changed in a way nobody foresaw. */
function asInline(source: string): string {
  if (/<\/script|<!--/i.test(source)) throw new Error("invariant: no inlined script holds what ends a script");
  return source;
}
