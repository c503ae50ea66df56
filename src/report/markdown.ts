/**
 * A run in short, as Markdown for a review: made from the summary alone.
 *
 * Names are whatever people wrote. In a table of Markdown a name may hold nothing that ends a cell, begins markup or turns the text
 * around it, and no name makes the summary long.
 */
import type { Baseline } from "./baseline.ts";
import { short } from "./experiment.ts";
import { measureCalled } from "./measures.ts";
import { changeIntervalOf, changeOf, type Figure, intervalOf, probability, shownValue } from "./numbers.ts";
import type { Summary } from "./summary.ts";

/** What of the arms a reviewer wants to see first; what no arm has a value of is left out. */
const SHOWN = [
  "outer_timeouts",
  "reward",
  "duration_seconds",
  "calls_returned_running",
  "wait_actions",
  "longest_control_gap_seconds",
  "held_in_reserve_seconds",
  "finite_commands_killed",
  "cost_usd",
] as const;

/** Hypotheses that stand in the table; of more, the report tells. */
const MOST_HYPOTHESES = 50;

/** Arms that stand in the table; of more, the report tells. */
const MOST_ARMS = 20;

export function markdownOf(summary: Summary, baseline: Baseline | null = null): string {
  const { panel, question, source, digest, verdict, hypotheses, sensitivity } = summary;
  const parts = [
    `# ${cell(panel)}: ${cell(question)}`,
    verdict.withheld === null ? cell(verdict.sentence) : `**Verdict withheld**: ${cell(verdict.withheld)}`,
    ...(hypotheses.length === 0 ? [] : ["## Hypotheses", hypothesesTable(summary)]),
    ...(summary.cases.length > 0 || sensitivity.length > 0 ? [] : ["## Arms", armsTable(summary)]),
    ...(sensitivity.length === 0
      ? []
      : [
          "## Where the verdict turns",
          sensitivity
            .slice(0, MOST_HYPOTHESES)
            .map(({ sentence }) => `- ${cell(sentence)}`)
            .join("\n"),
        ]),
    ...(baseline === null ? [] : ["## Since the earlier run", sinceInWords(baseline)]),
    `${source === "simulated" ? "Simulated, not measured" : "Measured, not simulated"}. Results ${cell(digest)}, experiment ${cell(summary.experiment)}.`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function hypothesesTable({ hypotheses }: Summary): string {
  const rows = hypotheses
    .slice(0, MOST_HYPOTHESES)
    .map(({ measure, arm, against, expect, verdict, effect, n, p_adjusted, minimal_detectable, sentence }) => {
      const unit = measureCalled(measure)?.unit ?? "count";
      const figure: Figure | null = effect;
      const interval = figure === null ? null : changeIntervalOf(figure, unit);
      const open =
        minimal_detectable === undefined
          ? ""
          : ` (shown from ${changeOf({ value: minimal_detectable, low: null, high: null }, unit).replace("+", "")})`;
      return [
        `**${verdict}**${open}`,
        `${cell(measure)}: ${cell(arm)}${against === null ? "" : ` against ${cell(against)}`}, ${expect}`,
        figure === null ? cell(sentence) : `${changeOf(figure, unit)}${interval === null ? "" : ` (95 % ${interval})`}`,
        p_adjusted === undefined ? "–" : probability(p_adjusted),
        String(n),
      ];
    });
  return table(["verdict", "declared", "found", "adjusted p", "n"], rows);
}

function armsTable({ arms }: Summary): string {
  const names = Object.keys(arms);
  const shown = SHOWN.filter((measure) => names.some((arm) => arms[arm]?.[measure] !== undefined));
  const rows = names.slice(0, MOST_ARMS).map((arm) => [
    cell(arm),
    ...shown.map((measure) => {
      const figure = arms[arm]?.[measure];
      const unit = measureCalled(measure)!.unit;
      if (figure === undefined) return "–";
      const interval = intervalOf(figure, unit);
      return `${shownValue(figure, unit)}${interval === null ? "" : ` (${interval})`}`;
    }),
  ]);
  const left = names.length > MOST_ARMS ? `\n\n${names.length - MOST_ARMS} more arms stand in the report.` : "";
  return `${table(["arm", ...shown.map((measure) => measureCalled(measure)!.title)], rows)}${left}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Moved figures that stand in the table. */
const MOST_MOVED = 20;

function sinceInWords({ same, verdicts, moved }: Baseline): string {
  if (same) return "Every row is the same.";
  const turned = verdicts
    .slice(0, MOST_HYPOTHESES)
    .map(
      ({ hypothesis, was, is }) => `- ${cell(hypothesis)}: ${was ?? "not declared"}, now **${is ?? "not declared"}**`,
    );
  const unitOf = (measure: string) => measureCalled(measure)?.unit ?? "count";
  const rows = moved
    .slice(0, MOST_MOVED)
    .map(({ arm, measure, was, is }) => [
      cell(arm),
      cell(measure),
      shownValue(was, unitOf(measure)),
      shownValue(is, unitOf(measure)),
    ]);
  return [
    turned.length === 0 ? "No verdict turned." : turned.join("\n"),
    rows.length === 0 ? "No figure moved beyond its interval." : table(["arm", "measure", "before", "now"], rows),
  ].join("\n\n");
}

const LONGEST = 300;

/** A text that is a text wherever it stands: on one line, not too long, and without a mark that Markdown or HTML would heed. */
function cell(text: string): string {
  return short(text, LONGEST)
    .replace(/[\\`*_{}[\]<>|#!~&@$]/g, (mark) =>
      mark === "<" ? "&lt;" : mark === ">" ? "&gt;" : mark === "&" ? "&amp;" : `\\${mark}`,
    )
    .replace(/(https?|ftp):/gi, "$1&#58;");
}
