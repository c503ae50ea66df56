/** The simulation beside what was published: agreement is judged row by row, and nothing is averaged away. */
import { type Html, html, trusted } from "./html.ts";
import type { JudgedFigure, UnjudgedFigure } from "./judged.ts";
import type { Unit } from "./numbers.ts";
import { decimalsOf, plain, quantity, relative, suffix } from "./numbers.ts";
import { counted, type Names, scrolling, table } from "./words.ts";

export function publishedBlock(
  judged: readonly JudgedFigure[],
  unjudged: readonly UnjudgedFigure[],
  names: Names,
): Html {
  if (judged.length + unjudged.length === 0) {
    return html`<p>The panel names no published figures, so there is nothing to hold the simulation against.</p>`;
  }
  const agree = judged.filter(({ reproduced }) => reproduced).length;
  const rows = judged.map((figure) => {
    const { published, row, low, high } = figure;
    const { told, spell } = spellings(figure);
    return [
      names.chip(row.arm),
      measureCell(figure, names),
      typeof published === "number" ? told(published) : `${told(published[0])} to ${told(published[1])}`,
      spell(figure.mean),
      low === high ? `${spell(low)}, always` : `${spell(low)} to ${spell(high)}`,
      mark(figure.reproduced),
      html`<span class="quiet">${row.source}</span>`,
    ];
  });
  const left = unjudged.map(({ row, why }) => [
    names.chip(row.arm),
    measureCell({ row, measure: undefined }, names),
    html`<span class="quiet">–</span>`,
    html`<span class="quiet">–</span>`,
    html`<span class="quiet">–</span>`,
    html`<span class="quiet">${why}</span>`,
    html`<span class="quiet">${row.source}</span>`,
  ]);
  return html`<p>${agree} of ${counted(judged.length, "published figure")} reproduced. <em>Reproduced</em> means that the published figure, which comes from single runs, lies inside the central 95 % of the values that single replicates give; where replicates do not vary, within 1 % of their mean. It says that the inputs suffice for the figure, not that they are its cause.</p>
${scrolling(
  "Simulated against published figures",
  table(
    "Simulated against published figures",
    [
      { head: "arm" },
      { head: "figure" },
      { head: "published", number: true },
      { head: "simulated mean", number: true },
      { head: "central 95 % of replicates", number: true },
      { head: "judgement" },
      { head: "source" },
    ],
    [...rows, ...left],
  ),
)}`;
}

function measureCell({ row, measure }: Pick<JudgedFigure, "row" | "measure">, names: Names): Html {
  return html`${measure?.title ?? row.measure}${
    row.against !== null && html`<small>relative change from <bdi>${names.of(row.against)}</bdi></small>`
  }`;
}

/** The published figure with the digits it was published with; the simulated ones with those that their spread allows. */
function spellings({ row, measure, mean, low, high }: JudgedFigure) {
  if (row.against !== null) return { told: relative, spell: relative };
  const unit: Unit = measure?.unit ?? "count";
  const decimals = decimalsOf({ value: mean, low, high }, unit);
  return {
    told: (value: number) => (unit === "share" ? quantity(value, unit) : `${plain(value)}${suffix(unit)}`),
    spell: (value: number) => quantity(value, unit, decimals),
  };
}

function mark(reproduced: boolean): Html {
  const svg = (inside: string) =>
    trusted(`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">${inside}</svg>`);
  return reproduced
    ? html`<span class="mark yes">${svg('<path d="M3 8.5 6.6 12 13 4.5"/>')}reproduced</span>`
    : html`<span class="mark no">${svg('<path d="M4 6h8M4 10h8M11 3 5 13"/>')}not reproduced</span>`;
}
