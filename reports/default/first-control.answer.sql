-- What the gravest kind of command that occurs does to control.
WITH calls AS (
  SELECT o.position, o.arm, s.kind::VARCHAR AS kind, s.time_to_first_control_seconds::DOUBLE AS seconds
  FROM shell_invocations AS s
  JOIN trials AS t USING (trial_id)
  JOIN arm_order AS o ON o.name = t.arm::VARCHAR
  WHERE NOT s.background AND s.status <> 'refused' AND s.kind IS NOT NULL
),
gravest AS (
  SELECT kind FROM calls ORDER BY list_position(['quick', 'long_finite', 'hanging'], kind) DESC LIMIT 1
),
those AS (
  SELECT position, arm, quantile_cont(seconds, 0.5) AS middle, count(*) FILTER (seconds IS NULL) AS cut, count(*) AS calls
  FROM calls WHERE kind = (SELECT kind FROM gravest) GROUP BY ALL
)
SELECT
  CASE (SELECT kind FROM gravest) WHEN 'hanging' THEN 'A command that hangs' WHEN 'long_finite' THEN 'A long command' ELSE 'A command' END
  || ' gave first control back after a median of '
  || CASE
    WHEN count(*) <= 5 THEN string_agg(format('{:,.1f} s under {}', middle, arm), ', ' ORDER BY position)
    ELSE format('{:,.1f} s at best ({}) and {:,.1f} s at worst ({})', min(middle), min_by(arm, (middle, position)), max(middle), max_by(arm, (middle, -position)))
  END
  || format(' ({:,} calls in all', sum(calls)::BIGINT)
  || CASE WHEN sum(cut) = 0 THEN '; none was cut off first).' ELSE format('; {:,} cut off before it came).', sum(cut)::BIGINT) END AS answer
FROM those WHERE middle IS NOT NULL
HAVING count(*) > 0;
