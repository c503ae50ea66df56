-- Quantiles over trials of the longest single call without control, in seconds.
SELECT o.arm, o.series, count(*)::INTEGER AS trials,
  quantile_cont(t.longest_control_gap_seconds::DOUBLE, 0.5) AS median_seconds,
  quantile_cont(t.longest_control_gap_seconds::DOUBLE, 0.9) AS p90_seconds,
  quantile_cont(t.longest_control_gap_seconds::DOUBLE, 0.99) AS p99_seconds,
  max(t.longest_control_gap_seconds)::DOUBLE AS longest_seconds
FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR
GROUP BY o.position, o.arm, o.series
ORDER BY o.position;
