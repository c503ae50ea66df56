/**
 * The measures that hypotheses and published figures may name.
 *
 * Names only: what each is and how it is asked of the tables, the report says. A test keeps the two lists equal.
 */
export const measureNames = [
  // Means per trial
  "reward",
  "outer_timeout",
  "finalized",
  "duration_seconds",
  "tool_calls",
  "total_foreground_auto_await_seconds",
  "total_process_wait_seconds",
  "longest_control_gap_seconds",
  "held_on_unfinished_seconds",
  "held_in_reserve_seconds",
  "low_information_waits",
  // Sums per replicate
  "calls_returned_running",
  "wait_actions",
  "process_tool_trials",
  "outer_timeouts",
  // Medians
  "time_at_return_seconds",
  "time_to_first_control_seconds",
] as const;

export type MeasureName = (typeof measureNames)[number];
