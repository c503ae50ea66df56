SELECT o.arm, f.kind, any_value(f.members)::INTEGER AS calls, any_value(f.members - f.returned)::INTEGER AS cut_off,
  round(counted_quantile(f.seconds, f.reached, f.returned, 0.5), 3) AS median_seconds,
  round(counted_quantile(f.seconds, f.reached, f.returned, 0.9), 3) AS p90_seconds,
  round(counted_quantile(f.seconds, f.reached, f.returned, 0.99), 3) AS p99_seconds,
  max(f.seconds) AS longest_seconds
FROM first_control AS f JOIN arm_order AS o USING (position)
GROUP BY o.position, o.arm, f.kind
ORDER BY list_position(['quick', 'long_finite', 'server', 'hanging'], f.kind), o.position;
