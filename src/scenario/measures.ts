/** The measures that hypotheses and published figures may name, with unit and how trials become one figure. */

export interface Measure {
  readonly measure: string;
  readonly unit: "s" | "share" | "count";
  /** Over the trials of one arm in one replicate: their mean, their sum, or the median over their calls. */
  readonly kind: "mean per trial" | "sum per replicate" | "median";
  readonly says: string;
}

const mean = (measure: string, unit: Measure["unit"], says: string): Measure => ({ measure, unit, kind: "mean per trial", says });
const sum = (measure: string, says: string): Measure => ({ measure, unit: "count", kind: "sum per replicate", says });
const median = (measure: string, says: string): Measure => ({ measure, unit: "s", kind: "median", says });

export const measures: readonly Measure[] = [
  mean("reward", "share", "as the grader gives it, 0 to 1"),
  mean("outer_timeout", "share", "whether the outer harness cut the trial off"),
  mean("finalized", "share", "whether the submission was complete before the outer limit"),
  mean("duration_seconds", "s", "from start to submission or cut-off"),
  mean("tool_calls", "count", "calls of exec and process together"),
  mean("total_foreground_auto_await_seconds", "s", "held by auto-await, past the initial boundary"),
  mean("total_process_wait_seconds", "s", "held by process waits"),
  mean("longest_control_gap_seconds", "s", "longest stretch in which the model had no control"),
  mean("held_on_unfinished_seconds", "s", "held on commands that never finished"),
  mean("held_in_reserve_seconds", "s", "held by waits and auto-await inside the finalization reserve"),
  mean("low_information_waits", "count", "waits that came back running with nothing new"),
  sum("calls_returned_running", "foreground calls that handed a live process back"),
  sum("wait_actions", "process waits and status looks"),
  sum("process_tool_trials", "trials that used the process tool at all"),
  sum("outer_timeouts", "trials that the outer harness cut off"),
  median("time_at_return_seconds", "when a foreground call handed a live process back, from the command's start"),
  median("time_to_first_control_seconds", "from a command's start until the model had control; cut-off calls left out"),
];

export const measureNames = measures.map(({ measure }) => measure);
