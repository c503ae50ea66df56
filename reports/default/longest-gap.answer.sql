WITH those AS (
  SELECT o.position, o.arm, quantile_cont(t.longest_control_gap_seconds::DOUBLE, 0.99) AS high, max(t.longest_control_gap_seconds)::DOUBLE AS longest
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR GROUP BY ALL
)
SELECT
  'The longest stretch of all was '
  || CASE
    WHEN count(*) <= 5 THEN string_agg(format('{:,.0f} s under {}', longest, arm), ', ' ORDER BY position)
      || '; one trial in a hundred had one of at least '
      || string_agg(format('{:,.0f} s', high), ', ' ORDER BY position)
    ELSE format('{:,.0f} s at best ({}) and {:,.0f} s at worst ({})', min(longest), min_by(arm, (longest, position)), max(longest), max_by(arm, (longest, -position)))
  END || format(' ({:,} trials each).', (SELECT count(*) FROM trials) // (SELECT count(*) FROM arm_order)) AS answer
FROM those;
