/** The answer in the terminal: arms side by side, the verdict in words. */
import type { Baseline } from "../report/baseline.ts";
import type { Summary } from "../report/report.ts";
import { EXIT } from "./exit.ts";
import type { Screen } from "./screen.ts";

interface Shown {
  readonly measure: string;
  readonly says: string;
  /** As the head of a column among many, in two lines. */
  readonly head: string;
  readonly decimals: number;
}

/** What a person wants to see first, in this order; what no arm has a value of is left out. */
const SHOWN: readonly Shown[] = [
  { measure: "outer_timeouts", says: "outer timeouts", head: "outer\ntimeouts", decimals: 1 },
  { measure: "reward", says: "reward", head: "\nreward", decimals: 3 },
  { measure: "duration_seconds", says: "mean duration (s)", head: "duration\n(s)", decimals: 0 },
  { measure: "calls_returned_running", says: "returned running", head: "returned\nrunning", decimals: 1 },
  { measure: "time_at_return_seconds", says: "median time at return (s)", head: "return\nat (s)", decimals: 2 },
  { measure: "wait_actions", says: "wait and status calls", head: "waits,\nlooks", decimals: 1 },
  { measure: "process_tool_trials", says: "trials using process", head: "process\ntrials", decimals: 1 },
  { measure: "longest_control_gap_seconds", says: "longest control gap (s)", head: "longest\ngap (s)", decimals: 0 },
  { measure: "held_in_reserve_seconds", says: "held in the reserve (s)", head: "in reserve\n(s)", decimals: 1 },
  { measure: "finite_commands_killed", says: "finite killed per trial", head: "finite\nkilled", decimals: 2 },
  { measure: "cost_usd", says: "cost (USD)", head: "cost\n(USD)", decimals: 3 },
  { measure: "reward_regret", says: "reward lost to the oracle", head: "lost:\nreward", decimals: 3 },
  { measure: "regret_seconds", says: "time lost to the oracle (s)", head: "lost:\ntime (s)", decimals: 0 },
];

/** Arms as columns up to this many; more read better as rows. */
const ARMS_ACROSS = 5;

export function printSummary(summary: Summary, screen: Screen): void {
  const { line, colours } = screen;
  line();
  line(colours.bold(summary.question));
  line();
  if (summary.cases.length > 0) printCases(summary, screen);
  else if (summary.sensitivity.length > 0) printCells(summary, screen);
  else printComparison(summary, screen);
}

function printComparison(summary: Summary, screen: Screen): void {
  const { line, table, colours } = screen;
  const names = Object.keys(summary.arms);
  const cell = (arm: string, { measure, decimals }: Shown) => {
    const figure = summary.arms[arm]?.[measure];
    // A zero has no sign, whatever it was rounded from.
    return figure === undefined ? "–" : figure.value.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1");
  };
  const shown = SHOWN.filter(({ measure }) => names.some((arm) => summary.arms[arm]?.[measure] !== undefined));
  const { tradeoffs } = summary;
  const mark = (arm: string) => (tradeoffs?.arms[arm]?.front ? "◆" : "○");
  if (names.length <= ARMS_ACROSS) {
    const rows = shown.map((each) => [each.says, ...names.map((arm) => cell(arm, each))]);
    const front = tradeoffs === null ? [] : [["on the front", ...names.map(mark)]];
    table(["per replicate", ...names], [...rows, ...front], `l${"r".repeat(names.length)}`);
  } else {
    const rows = names.map((arm) => [
      tradeoffs === null ? arm : `${mark(arm)} ${arm}`,
      ...shown.map((each) => cell(arm, each)),
    ]);
    table(["\narm", ...shown.map(({ head }) => head)], rows, `l${"r".repeat(shown.length)}`);
  }
  line();
  if (summary.verdict.withheld !== null) line(`${colours.yellow("verdict withheld")}  ${summary.verdict.withheld}`);
  else if (summary.verdict.sentence !== "") line(summary.verdict.sentence);
  if (tradeoffs !== null) line(frontInWords(tradeoffs));
  for (const { verdict, sentence } of summary.hypotheses) line(`${badge(verdict, screen)}  ${sentence}`);
  const failed = failuresInWords(summary);
  if (failed !== null) line(failed);
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

/** Of hundreds of arms nobody reads a table: how often each hypothesis passes at each level, and where it turns. */
function printCells({ sensitivity, hypotheses, verdict }: Summary, screen: Screen): void {
  const { line, table, colours } = screen;
  const heads = sensitivity.map(({ measure }) => `${measure}\npasses`);
  const rows = (sensitivity[0]?.levels ?? []).map(({ varied, level }, at, all) => [
    varied === all[at - 1]?.varied ? "" : varied,
    level,
    ...sensitivity.map(({ levels }) => `${levels[at]!.passed} of ${levels[at]!.cells}`),
  ]);
  table(["\nvaried", "\nlevel", ...heads], rows, `ll${"r".repeat(heads.length)}`, 2);
  line();
  if (verdict.withheld !== null) line(`${colours.yellow("verdict withheld")}  ${verdict.withheld}`);
  else for (const { sentence } of sensitivity) line(sentence);
  if (hypotheses.length > 0) line("Where nothing is changed:");
  for (const { verdict, sentence } of hypotheses) line(`${badge(verdict, screen)}  ${sentence}`);
  line();
}

/** What was left out, and whether anything hangs on it. */
function failuresInWords({ infrastructure_failures: failed, hypotheses }: Summary): string | null {
  const all = Object.values(failed).reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  const changed = hypotheses.filter(
    ({ verdict, with_infrastructure_failures: counted }) => counted !== undefined && counted.verdict !== verdict,
  ).length;
  const then =
    changed === 0 ? "no verdict changes" : changed === 1 ? "1 verdict changes" : `${changed} verdicts change`;
  return `${all === 1 ? "1 trial is" : `${all} trials are`} left out, since the infrastructure failed; counted as failures, ${then}.`;
}

/** What of a case is seen at a glance. */
const SEEN: readonly (readonly [string, string])[] = [
  ["always_ended", "ended"],
  ["always_ended_after_seconds", "after (s)"],
  ["always_reward", "reward"],
  ["longest_without_control_seconds", "longest\ngap (s)"],
  ["tool_calls", "calls"],
  ["commands_killed", "killed"],
  ["orphaned_processes", "left\nbehind"],
  ["tokens", "tokens"],
];

/** A gallery has no verdict: how each of its cases ended, under each arm. */
function printCases({ cases, verdict }: Summary, { line, table, colours }: Screen): void {
  const spell = (value: unknown) =>
    value === null || value === undefined
      ? "–"
      : typeof value === "number"
        ? Number(value.toFixed(2)).toLocaleString("en")
        : String(value);
  const rows = cases.flatMap(({ case: name, scenario, arms }) =>
    Object.entries(arms).map(([arm, seen], at) => [
      at > 0 ? "" : scenario === name ? name : scenario,
      arm,
      ...SEEN.map(([column]) => spell(seen[column])),
    ]),
  );
  table(
    ["\nscenario", "\narm", ...SEEN.map(([, head]) => (head.includes("\n") ? head : `\n${head}`))],
    rows,
    "lllrrrrrrr",
    2,
  );
  line();
  if (verdict.withheld !== null) line(`${colours.yellow("verdict withheld")}  ${verdict.withheld}`);
  else line(verdict.sentence);
  line();
}

const WEIGHED: Readonly<Record<string, string>> = {
  reward: "reward",
  outer_timeout: "outer timeouts",
  longest_control_gap_seconds: "longest control gap",
  cost_usd: "cost",
  finite_commands_killed: "finite commands killed",
  tokens: "tokens",
  provider_calls: "provider calls",
};

function frontInWords({ objectives, divided, arms }: NonNullable<Summary["tradeoffs"]>): string {
  const weighed = objectives.map((measure) => WEIGHED[measure] ?? measure);
  const all = Object.values(arms);
  const dominated = all.filter(({ front }) => !front).length;
  const others = dominated === 0 ? "no arm is dominated" : `○ is dominated, ${dominated} of ${all.length}`;
  const among = divided ? ", among the arms that meet the same model and surroundings" : "";
  return `◆ is on the front of ${weighed.slice(0, -1).join(", ")} and ${weighed.at(-1)}${among}; ${others}. No one number ranks the arms.`;
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

/** What has changed since an earlier run. */
export function printBaseline(
  { experiment, same, verdicts, moved, arms_gone, arms_new }: Baseline,
  { line, table, colours }: Screen,
): void {
  line(colours.bold(`Against the earlier run ${experiment}`));
  if (same) line("Every row is the same.");
  for (const { hypothesis, was, is } of verdicts)
    line(`${colours.yellow("turned")}  ${hypothesis}: ${was ?? "not declared"}, now ${is ?? "not declared"}`);
  if (!same && verdicts.length === 0) line("No verdict turned.");
  if (arms_gone.length + arms_new.length > 0)
    line(`arms gone: ${arms_gone.join(", ") || "none"}; new: ${arms_new.join(", ") || "none"}`);
  if (moved.length === 0) line("No figure moved beyond its interval.");
  else {
    const spelled = ({ value, low, high }: (typeof moved)[number]["is"]) =>
      `${round(value)}${low === null || high === null ? "" : ` (${round(low)} to ${round(high)})`}`;
    table(
      ["arm", "measure", "before", "now"],
      moved.slice(0, MOST_MOVED).map(({ arm, measure, was, is }) => [arm, measure, spelled(was), spelled(is)]),
      "llrr",
      2,
    );
    if (moved.length > MOST_MOVED) line(`${moved.length - MOST_MOVED} more stand in summary.json`);
  }
  line();
}

const MOST_MOVED = 20;

/**
 * The exit code that a summary stands for.
 *
 * @param strict whether a hypothesis that is not shown counts as one that fails
 */
export function verdictCode({ verdict, hypotheses }: Summary, strict: boolean): number {
  if (verdict.withheld !== null) return EXIT.incomplete;
  const fails = hypotheses.some((judged) => judged.verdict === "FAIL" || (strict && judged.verdict === "NOT SHOWN"));
  return fails ? EXIT.hypothesisFails : EXIT.done;
}
