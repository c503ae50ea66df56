-- What the gravest kind of command that occurs does to control.
WITH gravest AS (
  SELECT kind FROM first_control ORDER BY list_position(['quick', 'long_finite', 'server', 'hanging'], kind) DESC LIMIT 1
),
those AS (
  SELECT o.position, o.arm, counted_quantile(f.seconds, f.reached, f.returned, 0.5) AS middle,
    any_value(f.members - f.returned) AS cut, any_value(f.members) AS calls
  FROM first_control AS f JOIN arm_order AS o USING (position) WHERE f.kind = (SELECT kind FROM gravest) GROUP BY o.position, o.arm
)
SELECT
  CASE (SELECT kind FROM gravest) WHEN 'hanging' THEN 'A command that hangs' WHEN 'server' THEN 'A server' WHEN 'long_finite' THEN 'A long command' ELSE 'A command' END
  || ' gave first control back after a median of '
  || CASE
    WHEN count(*) <= 5 THEN string_agg(format('{:,.1f} s under {}', middle, arm), ', ' ORDER BY position)
    ELSE format('{:,.1f} s at best ({}) and {:,.1f} s at worst ({})', min(middle), min_by(arm, (middle, position)), max(middle), max_by(arm, (middle, -position)))
  END
  || format(' ({:,} calls in all', sum(calls)::BIGINT)
  || CASE WHEN sum(cut) = 0 THEN '; none was cut off first).' ELSE format('; {:,} cut off before it came).', sum(cut)::BIGINT) END AS answer
FROM those WHERE middle IS NOT NULL
HAVING count(*) > 0;
