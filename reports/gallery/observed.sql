-- What an observer sees of each trial of the first replicate. Moments are seconds since the trial's start, as in its journal.
WITH calls AS (
  SELECT trial_id, call_index, returned_seconds, status::VARCHAR AS status, NOT background AS holds, true AS ran FROM shell_invocations
  UNION ALL
  SELECT trial_id, call_index, returned_seconds, NULL, action NOT IN ('status', 'stop', 'list', 'read_output'), false FROM process_waits
),
moments AS (
  SELECT trial_id, list(round(returned_seconds::DOUBLE, 2) ORDER BY call_index) FILTER (returned_seconds IS NOT NULL) AS all_of_them
  FROM calls WHERE holds GROUP BY trial_id
),
ends AS (
  SELECT trial_id, string_agg(replace(status, '_', ' ') || CASE WHEN times > 1 THEN ' × ' || times ELSE '' END, ', ' ORDER BY first_call) AS commands
  FROM (SELECT trial_id, status, count(*) AS times, min(call_index) AS first_call FROM calls WHERE ran GROUP BY trial_id, status) GROUP BY trial_id
)
SELECT t.arm::VARCHAR AS arm, t.scenario::VARCHAR AS scenario,
  replace(t.outcome::VARCHAR, '_', ' ') AS always_ended,
  t.duration_seconds::DOUBLE AS always_ended_after_seconds,
  t.reward AS always_reward,
  CASE WHEN m.trial_id IS NOT NULL THEN coalesce(array_to_string(list_transform(m.all_of_them[1:6], lambda moment: format('{:g}', moment)), ' · ')
    || CASE WHEN len(m.all_of_them) > 6 THEN ' · … ' || (len(m.all_of_them) - 6) || ' more' ELSE '' END, 'never') END AS always_control_came_back_at_seconds,
  t.longest_control_gap_seconds::DOUBLE AS longest_without_control_seconds,
  e.commands AS commands_came_back_as,
  t.tool_calls, t.polls, t.low_information_waits, t.probes,
  t.held_in_reserve_seconds::DOUBLE AS held_in_the_reserve_seconds,
  t.processes_stopped AS commands_killed, t.seconds_wasted::DOUBLE AS time_of_killed_commands_seconds, t.commands_rerun AS commands_run_again,
  t.orphaned_processes, t.tool_seconds_after_cut::DOUBLE AS tools_after_cut_seconds, t.requests_after_cut, t.cost_after_cut_usd::DOUBLE AS cost_after_cut_usd,
  t.output_lost_bytes::DOUBLE AS output_lost_bytes,
  CASE WHEN t.cost_usd IS NOT NULL THEN t.provider_calls END AS requests,
  (t.uncached_tokens + t.cache_write_tokens + t.cache_read_tokens + t.output_tokens)::DOUBLE AS tokens,
  t.cache_write_tokens::DOUBLE AS cache_writes_tokens, t.compactions, t.cost_usd::DOUBLE AS cost_usd, t.pause_tax_usd::DOUBLE AS pause_tax_usd
FROM trials AS t LEFT JOIN moments AS m USING (trial_id) LEFT JOIN ends AS e USING (trial_id)
WHERE t.replicate = 1
ORDER BY t.trial_id;
