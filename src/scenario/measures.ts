/**
 * The measures that hypotheses and published figures may name.
 *
 * Names only: what each is and how it is asked of the tables, the report says. A test keeps the two lists equal.
 */
export const measureNames = [
  // Means per trial
  "outer_timeout",
  "reward",
  "tests_passed_share",
  "finalized",
  "committed",
  "duration_seconds",
  "reward_regret",
  "regret_seconds",
  "longest_control_gap_seconds",
  "held_on_unfinished_seconds",
  "held_in_reserve_seconds",
  "initial_held_in_reserve_seconds",
  "hard_held_in_reserve_seconds",
  "reserve_used_seconds",
  "first_budget_signal_seconds",
  "budget_signal_lead_seconds",
  "total_foreground_auto_await_seconds",
  "total_process_wait_seconds",
  "tool_calls",
  "provider_calls",
  "polls",
  "low_information_waits",
  "processes_stopped",
  "finite_commands_killed",
  "commands_rerun",
  "risk_shortened",
  "seconds_wasted",
  "orphaned_processes",
  "output_lost_bytes",
  "tokens",
  "uncached_tokens",
  "cache_write_tokens",
  "cache_read_tokens",
  "output_tokens",
  "poll_tokens",
  "cost_usd",
  "pause_tax_usd",
  "peak_context_tokens",
  "compactions",
  "provider_retries",
  // Sums per replicate
  "outer_timeouts",
  "calls_returned_running",
  "wait_actions",
  "process_tool_trials",
  // Quantiles over calls
  "time_to_first_control_seconds",
  "time_to_first_control_p90_seconds",
  "time_to_first_control_p99_seconds",
  "time_to_first_control_longest_seconds",
  "time_at_return_seconds",
] as const;

export type MeasureName = (typeof measureNames)[number];
