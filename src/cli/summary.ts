/** The answer in the terminal: arms side by side, the verdict in words. */
import type { Summary } from "../report/report.ts";
import { EXIT } from "./exit.ts";
import type { Screen } from "./screen.ts";

/** What a person wants to see first, in this order. */
const SHOWN: readonly (readonly [string, string, (value: number) => string])[] = [
  ["outer_timeouts", "outer timeouts", (value) => value.toFixed(1)],
  ["reward", "reward", (value) => value.toFixed(3)],
  ["duration_seconds", "mean duration (s)", (value) => value.toFixed(0)],
  ["calls_returned_running", "returned running", (value) => value.toFixed(1)],
  ["time_at_return_seconds", "median time at return (s)", (value) => value.toFixed(2)],
  ["wait_actions", "wait and status calls", (value) => value.toFixed(1)],
  ["process_tool_trials", "trials using process", (value) => value.toFixed(1)],
  ["longest_control_gap_seconds", "longest control gap (s)", (value) => value.toFixed(0)],
  ["held_in_reserve_seconds", "held in the reserve (s)", (value) => value.toFixed(1)],
];

/** Arms as columns up to this many; more read better as rows. */
const ARMS_ACROSS = 5;

export function printSummary(summary: Summary, screen: Screen): void {
  const { line, table, colours } = screen;
  const names = Object.keys(summary.arms);
  line();
  line(colours.bold(summary.question));
  line();
  const cell = (arm: string, measure: string, spell: (value: number) => string) => {
    const figure = summary.arms[arm]?.[measure];
    return figure === undefined ? "–" : spell(figure.value);
  };
  if (names.length <= ARMS_ACROSS) {
    const rows = SHOWN.map(([measure, says, spell]) => [says, ...names.map((arm) => cell(arm, measure, spell))]);
    table(["per replicate", ...names], rows, `l${"r".repeat(names.length)}`);
  } else {
    const rows = names.map((arm) => [arm, ...SHOWN.map(([measure, , spell]) => cell(arm, measure, spell))]);
    table(["arm", ...SHOWN.map(([, says]) => says)], rows, `l${"r".repeat(SHOWN.length)}`);
  }
  line();
  if (summary.verdict.withheld !== null) line(`${colours.yellow("verdict withheld")}  ${summary.verdict.withheld}`);
  else if (summary.verdict.sentence !== "") line(summary.verdict.sentence);
  for (const { verdict, sentence } of summary.hypotheses) line(`${badge(verdict, screen)}  ${sentence}`);
  for (const figure of summary.published) {
    const mark =
      figure.verdict === "reproduced" ? colours.green("= reproduced    ") : colours.yellow("≠ not reproduced");
    const change = figure.against === null ? "" : ` against ${figure.against}`;
    line(
      `${mark}  ${figure.arm} ${figure.measure}${change}: published ${spelled(figure.published)}, simulated ${round(figure.mean)}`,
    );
  }
  if (summary.published.length > 0)
    line("Inputs were fitted to published figures: agreement shows that they suffice, not that they are the cause.");
  line();
}

function badge(verdict: string, { colours }: Screen): string {
  const word = verdict.padEnd(9);
  if (verdict === "PASS") return colours.green(`✓ ${word}`);
  if (verdict === "FAIL") return colours.red(`✗ ${word}`);
  return colours.yellow(`○ ${word}`);
}

function spelled(published: number | readonly [number, number]): string {
  return typeof published === "number" ? String(published) : `${published[0]} to ${published[1]}`;
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** The exit code that a summary stands for. */
export function verdictCode({ verdict, hypotheses }: Summary): number {
  if (verdict.withheld !== null) return EXIT.incomplete;
  return hypotheses.some((hypothesis) => hypothesis.verdict === "FAIL") ? EXIT.hypothesisFails : EXIT.done;
}
