-- What is weighed: each arm's value of each objective, shares in percent, and whether any other arm dominates it.
SELECT o.arm, o.series,
  CASE e.measure WHEN 'longest_control_gap_seconds' THEN 'longest without control' ELSE m.title END
    || CASE m.unit WHEN 'share' THEN ' (%)' WHEN 's' THEN ' (s)' WHEN 'USD' THEN ' (USD)' ELSE '' END
    || CASE m.better WHEN 'higher' THEN ' ↑' ELSE ' ↓' END AS objective,
  round(e.value * k.scale, 4) AS value, round(e.low * k.scale, 4) AS low, round(e.high * k.scale, 4) AS high,
  CASE WHEN s.on_front THEN 'on the front' ELSE 'dominated' END AS standing, w.position AS _objective,
  round(coalesce(e.low, e.value) * k.scale, 4) AS _from,
  round(coalesce(e.high, e.value) * k.scale, 4) AS _to
FROM objectives AS w JOIN measures AS m USING (measure) JOIN estimates AS e USING (measure)
  JOIN arm_order AS o ON o.position = e.position JOIN standings AS s ON s.position = e.position,
  LATERAL (SELECT CASE m.unit WHEN 'share' THEN 100 ELSE 1 END AS scale) AS k
ORDER BY w.position, o.position;
