SELECT s.arm, o.series, s.kind, successes, tries, value AS share, low, high, coalesce(low, value) AS _from, coalesce(high, value) AS _to
FROM shares AS s JOIN arm_order AS o USING (position) WHERE outcome = 'outer_timeout'
ORDER BY list_position(['all', 'quick', 'long_finite', 'server', 'hanging'], s.kind), s.position;
