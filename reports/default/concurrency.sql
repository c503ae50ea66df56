-- Slots taken by each arm in the first replicate, at evenly spaced moments of the world's time.
WITH world AS (
  SELECT * FROM worlds ORDER BY replicate LIMIT 1
),
steps AS (
  SELECT o.position, o.arm, o.series, o.tag, unnest(from_json(j.value, '[["DOUBLE"]]')) AS step
  FROM world AS w, json_each(w.occupancy::JSON) AS j JOIN arm_order AS o ON o.name = j.key
),
taken AS (
  SELECT position, arm, series, tag, step[1] AS at_seconds, step[2] AS slots FROM steps
),
moments AS (
  SELECT position, arm, series, tag, w.ended_seconds::DOUBLE * i / (SELECT greatest(40, least(160, 1200 // count(*))) FROM arm_order) AS at_seconds
  FROM arm_order, world AS w, range(0, (SELECT greatest(40, least(160, 1200 // count(*))) + 1 FROM arm_order)) AS r(i)
)
SELECT m.arm, m.series, m.tag, round(m.at_seconds, 3) AS world_seconds, coalesce(t.slots, 0) AS slots
FROM moments AS m ASOF LEFT JOIN taken AS t ON t.position = m.position AND t.at_seconds <= m.at_seconds
ORDER BY m.position, m.at_seconds;
