-- One exhibit: what holds the model, and until when, in each arm. $scenario is the exhibit, $limit its outer limit or null.
WITH told AS (
  SELECT o.position, o.arm, o.told, o.reserve_seconds, e.event_index, e.at_seconds::DOUBLE AS at_seconds, e.event::VARCHAR AS event, e.call_index
  FROM events AS e JOIN arm_order AS o ON o.name = e.arm::VARCHAR
  WHERE e.exhibit::VARCHAR = $scenario
),
-- The moments at which what happens changes: a call, the policy's grant, control, the end.
moments AS (
  SELECT *, max(CASE WHEN event IN ('exec_called', 'process_called') THEN event_index END) OVER so_far AS opened,
    max(CASE WHEN event IN ('control_returned', 'call_refused', 'cut_off') THEN event_index END) OVER so_far AS closed,
    lead(at_seconds) OVER (PARTITION BY position ORDER BY event_index) AS next_seconds
  FROM told
  WINDOW so_far AS (PARTITION BY position ORDER BY event_index)
),
stretches AS (
  SELECT position, arm, at_seconds, next_seconds,
    CASE
      WHEN opened IS NULL OR closed > opened THEN 'model at work'
      WHEN event = 'auto_await_granted' THEN 'auto-await'
      WHEN event = 'exec_called' THEN 'initial hold'
      WHEN event = 'wait_granted' THEN 'process wait'
      ELSE 'other tool time'
    END AS part
  FROM moments WHERE next_seconds > at_seconds AND event NOT IN ('cut_off', 'submitted', 'gave_up', 'left_behind')
),
ends AS (
  SELECT position, arm, any_value(told) AS told, any_value(reserve_seconds) AS reserve_seconds, max(at_seconds) AS end_seconds,
    CASE WHEN bool_or(event = 'cut_off') THEN 'cut off' WHEN bool_or(event = 'submitted') THEN 'submitted' ELSE 'gave up' END AS ending
  FROM told WHERE event IN ('cut_off', 'submitted', 'gave_up') GROUP BY position, arm
)
SELECT s.arm, s.part, s.at_seconds AS from_seconds, s.next_seconds AS to_seconds, e.end_seconds, e.ending,
  CASE WHEN e.told THEN $limit::DOUBLE - e.reserve_seconds END AS reserve_begins_seconds, $limit::DOUBLE AS outer_limit_seconds,
  coalesce($limit::DOUBLE, e.end_seconds) AS _limit, $limit IS NOT NULL AS _limit_known,
  coalesce(reserve_begins_seconds, e.end_seconds) AS _reserve, reserve_begins_seconds IS NOT NULL AS _reserve_known
FROM stretches AS s JOIN ends AS e USING (position, arm)
ORDER BY s.position, s.at_seconds;
