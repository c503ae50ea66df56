-- Where control is given up and where waits tell nothing: by kind of command, by time since the trial's start, and by whether a risk
-- had shortened the command's hold. Means per trial; the last three columns hold each arm against the first. Many arms: by kind alone.
WITH held AS (
  SELECT s.trial_id, s.kind::VARCHAR AS kind, s.called_seconds AS called,
    coalesce(s.returned_seconds, t.duration_seconds) - s.called_seconds AS seconds, false AS low,
    coalesce(list_contains(s.auto_await_clamp_reasons::VARCHAR[], 'command_risk'), false) AS risky
  FROM shell_invocations AS s JOIN trials AS t USING (trial_id) WHERE NOT s.background AND s.status <> 'refused'
),
waits AS (
  SELECT w.trial_id, s.kind::VARCHAR AS kind, w.called_seconds AS called,
    coalesce(w.returned_seconds, t.duration_seconds) - w.called_seconds AS seconds, w.low_information AS low,
    coalesce(list_contains(s.auto_await_clamp_reasons::VARCHAR[], 'command_risk'), false) AS risky
  FROM process_waits AS w JOIN trials AS t USING (trial_id) LEFT JOIN shell_invocations AS s USING (trial_id, process_id)
  WHERE w.action IN ('wait', 'wait_for_condition')
),
all_held AS (SELECT trial_id, kind, called, seconds, low, risky FROM held UNION ALL SELECT trial_id, kind, called, seconds, low, risky FROM waits),
split AS (
  SELECT 1 AS split, 'kind of command' AS "by", list_position(['quick', 'long_finite', 'server', 'hanging'], kind) AS place,
    coalesce(replace(kind, '_', ' '), 'not known') AS level, trial_id, seconds, low FROM all_held
  UNION ALL
  SELECT 2, 'since the start', bin, ['under 15 min', '15 to 30 min', '30 to 60 min', 'over an hour'][bin], trial_id, seconds, low
  FROM (SELECT *, CASE WHEN called < 900 THEN 1 WHEN called < 1800 THEN 2 WHEN called < 3600 THEN 3 ELSE 4 END AS bin FROM all_held)
  UNION ALL
  SELECT 3, 'risk', risky::INTEGER, CASE WHEN risky THEN 'hold shortened' ELSE 'not shortened' END, trial_id, seconds, low
  FROM all_held WHERE (SELECT bool_or(risky) FROM all_held)
),
sums AS (
  SELECT t.arm::VARCHAR AS name, split, "by", place, level, sum(seconds)::DOUBLE AS seconds, count(*) FILTER (low)::DOUBLE AS waits
  FROM split JOIN trials AS t USING (trial_id) GROUP BY ALL
),
counted AS (SELECT arm::VARCHAR AS name, count(*) AS trials FROM trials GROUP BY ALL),
-- An arm that has nothing of a level has none of it.
means AS (
  SELECT o.position, o.arm, l.split, l."by", l.place, l.level,
    coalesce(s.seconds, 0) / c.trials AS given_up, coalesce(s.waits, 0) / c.trials AS waits
  FROM arm_order AS o JOIN counted AS c USING (name) CROSS JOIN (SELECT DISTINCT split, "by", place, level FROM sums) AS l
  LEFT JOIN sums AS s ON s.name = o.name AND s.split = l.split AND s.level = l.level
)
SELECT m."by", m.level, m.arm, m.given_up AS control_given_up_seconds, m.waits AS low_information_waits,
  CASE WHEN m.position > 1 THEN m.given_up - f.given_up END AS given_up_more_seconds, CASE WHEN m.position > 1 THEN f.waits - m.waits END AS waits_saved,
  CASE WHEN m.position > 1 AND f.waits - m.waits > 0.005 THEN (m.given_up - f.given_up) / (f.waits - m.waits) END AS seconds_for_each_wait,
  m.position, m.split AS _split, m.place AS _place
FROM means AS m JOIN means AS f ON f.split = m.split AND f.level = m.level AND f.position = (SELECT min(position) FROM arm_order)
WHERE m.split = 1 OR (SELECT count(*) FROM arm_order) <= 8
ORDER BY m.split, m.place NULLS LAST, m.position;
