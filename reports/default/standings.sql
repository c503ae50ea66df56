-- The same arm by arm, with what the objectives leave out, and who dominates whom. Blanks that must not break a line are no-break spaces.
SELECT s.arm, replace(CASE WHEN s.on_front THEN '◆ on the front' ELSE '○ dominated' END, ' ', chr(160)) AS standing,
  CASE WHEN s.replicates > 1 THEN replace(s.fronts || ' of ' || s.replicates, ' ', chr(160)) ELSE '–' END AS in_replicates,
  100 * max(e.value) FILTER (e.measure = 'reward') AS reward_percent,
  100 * max(e.value) FILTER (e.measure = 'outer_timeout') AS outer_timeouts_percent,
  max(e.value) FILTER (e.measure = 'time_to_first_control_p99_seconds') AS first_control_p99_seconds,
  max(e.value) FILTER (e.measure = 'longest_control_gap_seconds') AS longest_without_control_seconds,
  max(e.value) FILTER (e.measure = 'finite_commands_killed') AS finite_commands_killed,
  max(e.value) FILTER (e.measure = 'cost_usd') AS cost_usd,
  coalesce(s.dominated_by, '–') AS dominated_by
FROM standings AS s JOIN estimates AS e USING (position)
GROUP BY s.position, s.arm, s.on_front, s.dominated_by, s.fronts, s.replicates ORDER BY s.position;
