/**
 * The measures: what each is called, in which unit, which way is better, and how it is asked of the tables.
 *
 * The one list that tables, charts, hypotheses and published figures are checked against. All but the medians are means over trials;
 * a sum per replicate is such a mean times the trials that an arm has in a replicate.
 */
import type { Unit } from "./numbers.ts";

export interface Measure {
  readonly measure: string;
  /** As a row of a table is headed. */
  readonly title: string;
  readonly unit: Unit;
  /** What it speaks of, as a group of rows is headed. */
  readonly group: "Outcomes" | "Control" | "Calls";
  readonly better: "lower" | "higher" | "neither";
  readonly says: string;
  /** Mean over trials; their sum in one replicate; or the median over calls in one replicate, averaged over replicates. */
  readonly kind: "mean per trial" | "sum per replicate" | "median";
  /** Of one trial (mean, sum), or the calls of which the median is taken: value and condition. */
  readonly sql: string;
  /** Made for a chart: no panel can name it, and it is no part of a summary. */
  readonly derived?: true;
}

export const MEASURES: readonly Measure[] = [
  {
    measure: "outer_timeouts",
    title: "outer timeouts per replicate",
    unit: "count",
    group: "Outcomes",
    better: "lower",
    says: "trials that the outer harness cut off",
    kind: "sum per replicate",
    sql: "outer_timeout::INTEGER",
  },
  {
    measure: "outer_timeout",
    title: "outer timeouts",
    unit: "share",
    group: "Outcomes",
    better: "lower",
    says: "share of trials that the outer harness cut off",
    kind: "mean per trial",
    sql: "outer_timeout::INTEGER",
  },
  {
    measure: "reward",
    title: "reward",
    unit: "share",
    group: "Outcomes",
    better: "higher",
    says: "as the grader gives it, 0 to 1; trials that were not graded are left out",
    kind: "mean per trial",
    sql: "reward",
  },
  {
    measure: "finalized",
    title: "finalized",
    unit: "share",
    group: "Outcomes",
    better: "higher",
    says: "share of trials submitted before the outer limit",
    kind: "mean per trial",
    sql: "finalized::INTEGER",
  },
  {
    measure: "duration_seconds",
    title: "duration",
    unit: "s",
    group: "Outcomes",
    better: "lower",
    says: "from the trial's start to its submission or cut-off",
    kind: "mean per trial",
    sql: "duration_seconds",
  },
  {
    measure: "longest_control_gap_seconds",
    title: "longest stretch without control",
    unit: "s",
    group: "Control",
    better: "lower",
    says: "longest single call in which the model had no control",
    kind: "mean per trial",
    sql: "longest_control_gap_seconds",
  },
  {
    measure: "held_on_unfinished_seconds",
    title: "held on commands that never finished",
    unit: "s",
    group: "Control",
    better: "lower",
    says: "held on processes that never came to their own end",
    kind: "mean per trial",
    sql: "held_on_unfinished_seconds",
  },
  {
    measure: "held_in_reserve_seconds",
    title: "held in the reserve",
    unit: "s",
    group: "Control",
    better: "lower",
    says: "held by waits and auto-await inside the finalization reserve; for an arm that was not told, inside the outer limit less its reserve setting",
    kind: "mean per trial",
    sql: "held_in_reserve_seconds",
  },
  {
    measure: "control_given_up_seconds",
    title: "control given up",
    unit: "s",
    group: "Control",
    better: "neither",
    says: "held by auto-await and by process waits together",
    kind: "mean per trial",
    sql: "total_foreground_auto_await_seconds + total_process_wait_seconds",
    derived: true,
  },
  {
    measure: "total_foreground_auto_await_seconds",
    title: "auto-await",
    unit: "s",
    group: "Control",
    better: "neither",
    says: "held by auto-await, past the initial boundary",
    kind: "mean per trial",
    sql: "total_foreground_auto_await_seconds",
  },
  {
    measure: "total_process_wait_seconds",
    title: "process waits",
    unit: "s",
    group: "Control",
    better: "neither",
    says: "held by process waits",
    kind: "mean per trial",
    sql: "total_process_wait_seconds",
  },
  {
    measure: "time_to_first_control_seconds",
    title: "time to first control, median",
    unit: "s",
    group: "Control",
    better: "lower",
    says: "from a foreground command's start until the model had control again; calls that were cut off are left out",
    kind: "median",
    sql: "NOT background",
  },
  {
    measure: "time_at_return_seconds",
    title: "time at return, median",
    unit: "s",
    group: "Control",
    better: "neither",
    says: "from a foreground command's start until it was handed back still running",
    kind: "median",
    sql: "NOT background AND returned_running",
  },
  {
    measure: "tool_calls",
    title: "tool calls",
    unit: "count",
    group: "Calls",
    better: "neither",
    says: "commands and process calls together",
    kind: "mean per trial",
    sql: "tool_calls",
  },
  {
    measure: "low_information_waits",
    title: "low-information waits",
    unit: "count",
    group: "Calls",
    better: "lower",
    says: "waits that came back running with nothing new",
    kind: "mean per trial",
    sql: "low_information_waits",
  },
  {
    measure: "calls_returned_running",
    title: "calls returned running per replicate",
    unit: "count",
    group: "Calls",
    better: "neither",
    says: "foreground calls that handed back a live process",
    kind: "sum per replicate",
    sql: "calls_returned_running",
  },
  {
    measure: "wait_actions",
    title: "wait and status calls per replicate",
    unit: "count",
    group: "Calls",
    better: "lower",
    says: "process waits and status looks",
    kind: "sum per replicate",
    sql: "wait_actions",
  },
  {
    measure: "process_tool_trials",
    title: "trials using the process tool per replicate",
    unit: "count",
    group: "Calls",
    better: "neither",
    says: "trials that made any process call",
    kind: "sum per replicate",
    sql: "uses_process_tool::INTEGER",
  },
];

/** Outcomes that are mostly 0: there the sign-flip permutation decides, not the t interval. */
export const BY_PERMUTATION: ReadonlySet<string> = new Set(["outer_timeout", "outer_timeouts"]);

export function measureCalled(name: string): Measure | undefined {
  return MEASURES.find(({ measure }) => measure === name);
}

export const isMedian = ({ kind }: Measure): boolean => kind === "median";
