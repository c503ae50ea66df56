-- On which kind of command a saved wait is cheapest, and on which dearest.
WITH held AS (
  SELECT s.trial_id, s.kind::VARCHAR AS kind, coalesce(s.returned_seconds, t.duration_seconds) - s.called_seconds AS seconds, false AS low
  FROM shell_invocations AS s JOIN trials AS t USING (trial_id) WHERE NOT s.background AND s.status <> 'refused' AND s.kind IS NOT NULL
  UNION ALL
  SELECT w.trial_id, s.kind::VARCHAR, coalesce(w.returned_seconds, t.duration_seconds) - w.called_seconds, w.low_information
  FROM process_waits AS w JOIN trials AS t USING (trial_id) JOIN shell_invocations AS s USING (trial_id, process_id)
  WHERE w.action IN ('wait', 'wait_for_condition') AND s.kind IS NOT NULL
),
sums AS (
  SELECT o.position, o.arm, held.kind, sum(seconds)::DOUBLE / c.trials AS given_up, count(*) FILTER (low)::DOUBLE / c.trials AS waits
  FROM held JOIN trials AS t USING (trial_id) JOIN arm_order AS o ON o.name = t.arm::VARCHAR
  JOIN (SELECT arm, count(*) AS trials FROM trials GROUP BY arm) AS c ON c.arm = t.arm GROUP BY o.position, o.arm, held.kind, c.trials
),
traded AS (
  SELECT m.position, m.arm, kind, f.arm AS against, m.given_up - f.given_up AS given, f.waits - m.waits AS saved
  FROM sums AS m JOIN sums AS f USING (kind) WHERE f.position = (SELECT min(position) FROM arm_order) AND m.position > f.position
),
priced AS (
  SELECT *, greatest(given, 0) / saved AS price, CASE kind WHEN 'quick' THEN 'quick commands' WHEN 'long_finite' THEN 'long commands that end'
    WHEN 'server' THEN 'servers' ELSE 'commands that hang' END AS those
  FROM traded WHERE saved > 0.005
)
SELECT CASE count(*)
  WHEN 1 THEN format('Against {}, low-information waits are saved on {} only: {:,.0f} s of control for each under {}.', any_value(against), any_value(those), any_value(price), any_value(arm))
  ELSE format('Against {}, a low-information wait saved is cheapest on {} ({:,.0f} s of control under {}) and dearest on {} ({:,.0f} s under {}).', any_value(against),
    min_by(those, (price, position, kind)), min(price), min_by(arm, (price, position, kind)),
    max_by(those, (price, -position, kind)), max(price), max_by(arm, (price, -position, kind)))
  END AS answer
FROM priced HAVING count(*) > 0;
