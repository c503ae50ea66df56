-- What each arm loses against the oracle, reward first and then time, with 95 % intervals.
SELECT o.arm, o.series,
  CASE e.measure WHEN 'reward_regret' THEN 'reward lost to it (points)' ELSE 'time lost to it (s)' END AS regret,
  round(e.value * k.scale, 4) AS value, round(e.low * k.scale, 4) AS low, round(e.high * k.scale, 4) AS high,
  round(coalesce(e.low, e.value) * k.scale, 4) AS _from, round(coalesce(e.high, e.value) * k.scale, 4) AS _to
FROM estimates AS e JOIN arm_order AS o USING (position),
  LATERAL (SELECT CASE e.measure WHEN 'reward_regret' THEN 100 ELSE 1 END AS scale) AS k
WHERE e.measure IN ('reward_regret', 'regret_seconds')
ORDER BY e.measure = 'regret_seconds', o.position;
