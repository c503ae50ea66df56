/**
 * Several runs on one page: two seeds, two versions, a simulation beside what was measured.
 *
 * Each run keeps a page of its own; here stands what they say of the same things. Nothing is estimated across runs: whether two figures
 * agree, their own intervals say.
 */
import { nameOf } from "./baseline.ts";
import { DEFAULT_DEFINITION, loadDefinition } from "./definition.ts";
import { short } from "./experiment.ts";
import { type Html, html } from "./html.ts";
import { MEASURES } from "./measures.ts";
import { intervalOf, shownValue } from "./numbers.ts";
import { page } from "./page.ts";
import type { Summary } from "./summary.ts";
import { badge } from "./verdict.ts";
import { counted, listed, scrolling, table } from "./words.ts";

export interface Run {
  /** What it is called on the page; no other run's. */
  readonly name: string;
  readonly summary: Summary;
}

export function sideBySide(runs: readonly Run[], madeAt: Date): string {
  const hypotheses = [...new Set(runs.flatMap(({ summary }) => summary.hypotheses.map(nameOf)))];
  const apart = hypotheses.filter((name) => new Set(runs.flatMap((run) => verdictOf(run, name) ?? [])).size > 1);
  const answer =
    hypotheses.length === 0
      ? "None of them declares a hypothesis."
      : apart.length === 0
        ? `On ${counted(hypotheses.length, "hypothesis", "hypotheses")} no two of them say different things.`
        : `${counted(apart.length, "hypothesis is", "hypotheses are")} judged differently, of ${hypotheses.length}.`;
  const panels = [...new Set(runs.map(({ summary }) => summary.panel))];
  const definition = loadDefinition(DEFAULT_DEFINITION);
  return page({
    title: `${short(listed(panels))}, side by side – yieldpoint`,
    hero: html`<header class="hero"><p class="eyebrow"><span class="brand">yieldpoint</span> <bdi>${short(listed(panels))}</bdi></p>
<h1>${counted(runs.length, "run")} side by side</h1><p class="answer">${answer}</p>
<p class="basis">Each has a page of its own. Figures stand with their 95 % intervals; nothing is estimated across runs.</p></header>`,
    sections: [
      { id: "runs", nav: "Runs", content: section("runs", "Which runs are they?", runsTable(runs)) },
      {
        id: "verdicts",
        nav: "Verdicts",
        content: section("verdicts", "Do they say the same?", verdictsTable(runs, hypotheses)),
      },
      {
        id: "measures",
        nav: "Measures",
        content: section("measures", "All measures, arm by arm", measuresTable(runs)),
      },
    ],
    charts: [],
    style: definition.file("page.css"),
    script: "",
    madeAt,
    digest: runs.map(({ summary }) => summary.digest).join(" "),
  });
}

function section(id: string, title: string, content: Html): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${scrolling(title, content)}</section>`;
}

function runsTable(runs: readonly Run[]): Html {
  return table(
    "The runs",
    [{ head: "run" }, { head: "panel" }, { head: "source" }, { head: "what it answers" }, { head: "results" }],
    runs.map(({ name, summary }) => [
      html`<bdi>${name}</bdi>`,
      html`<bdi>${short(summary.panel)}</bdi>`,
      summary.source,
      summary.verdict.withheld === null ? summary.verdict.sentence : `withheld: ${summary.verdict.withheld}`,
      html`<code>${summary.digest}</code>`,
    ]),
  );
}

function verdictsTable(runs: readonly Run[], hypotheses: readonly string[]): Html {
  return table(
    "Each hypothesis in each run",
    [{ head: "hypothesis" }, ...runs.map(({ name }) => ({ head: html`<bdi>${name}</bdi>` })), { head: "together" }],
    hypotheses.map((hypothesis) => {
      const said = runs.map((run) => verdictOf(run, hypothesis));
      const different = new Set(said.filter((each) => each !== null)).size;
      return [
        short(hypothesis, 120),
        ...said.map((verdict) => (verdict === null ? "not declared" : badge(verdict))),
        different > 1 ? html`<strong>differ</strong>` : said.includes(null) ? "declared in some" : "agree",
      ];
    }),
  );
}

function measuresTable(runs: readonly Run[]): Html {
  const columns = runs.flatMap(({ name, summary }) =>
    Object.entries(summary.arms).map(([arm, figures]) => ({ name, arm, figures })),
  );
  const shown = MEASURES.filter(({ measure }) => columns.some(({ figures }) => figures[measure] !== undefined));
  return table(
    "All measures of all arms",
    [
      { head: "measure" },
      ...columns.map(({ name, arm }) => ({
        head: html`<bdi>${short(arm)}</bdi><br><span class="quiet"><bdi>${name}</bdi></span>`,
        number: true,
      })),
    ],
    shown.map(({ measure, title, unit }) => [
      title,
      ...columns.map(({ figures }) => {
        const figure = figures[measure];
        if (figure === undefined) return html`<span class="quiet">–</span>`;
        const interval = intervalOf(figure, unit);
        return html`<b>${shownValue(figure, unit)}</b>${interval !== null && html`<small>${interval}</small>`}`;
      }),
    ]),
    { kind: "measures" },
  );
}

/** Null where it does not declare it. */
function verdictOf({ summary }: Run, hypothesis: string): "PASS" | "FAIL" | "NOT SHOWN" | "WITHHELD" | null {
  const judged = summary.hypotheses.find((each) => nameOf(each) === hypothesis);
  if (judged === undefined) return null;
  return summary.verdict.withheld === null ? judged.verdict : "WITHHELD";
}
