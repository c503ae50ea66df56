SELECT o.arm, s.kind::VARCHAR AS kind, count(*)::INTEGER AS calls,
  count(*) FILTER (s.time_to_first_control_seconds IS NULL)::INTEGER AS cut_off,
  round(quantile_cont(s.time_to_first_control_seconds::DOUBLE, 0.5), 3) AS median_seconds,
  round(quantile_cont(s.time_to_first_control_seconds::DOUBLE, 0.9), 3) AS p90_seconds,
  round(quantile_cont(s.time_to_first_control_seconds::DOUBLE, 0.99), 3) AS p99_seconds,
  max(s.time_to_first_control_seconds)::DOUBLE AS longest_seconds
FROM shell_invocations AS s
JOIN trials AS t USING (trial_id)
JOIN arm_order AS o ON o.name = t.arm::VARCHAR
WHERE NOT s.background AND s.status <> 'refused' AND s.kind IS NOT NULL
GROUP BY o.position, o.arm, s.kind
ORDER BY list_position(['quick', 'long_finite', 'hanging'], s.kind::VARCHAR), o.position;
