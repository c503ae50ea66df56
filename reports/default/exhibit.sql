-- One trial under each arm: what holds the model, and until when. $scenario is an exhibit, or $pair a pair of the panel; the other is
-- null. $limit is the outer limit, or null.
WITH told AS (
  SELECT o.position, o.arm, o.told, o.reserve_seconds, e.event_index, e.at_seconds::DOUBLE AS at_seconds, e.event::VARCHAR AS event, e.call_index
  FROM events AS e JOIN arm_order AS o ON o.name = e.arm::VARCHAR
  WHERE e.exhibit::VARCHAR = $scenario OR e.trial_id IN (SELECT trial_id FROM trials WHERE pair_key = $pair)
),
-- The moments at which what happens changes: a call, the policy's grant, control, the end. Calls may stand side by side.
moments AS (
  SELECT *, count(*) FILTER (event IN ('exec_called', 'process_called')) OVER so_far
      - count(*) FILTER (event IN ('control_returned', 'call_refused')) OVER so_far AS open,
    arg_max(event, event_index) FILTER (event IN ('exec_called', 'auto_await_granted', 'process_called', 'wait_granted')) OVER so_far AS held_by,
    lead(at_seconds) OVER (PARTITION BY position ORDER BY event_index) AS next_seconds,
    lead(event) OVER (PARTITION BY position ORDER BY event_index) AS next_event
  FROM told
  WINDOW so_far AS (PARTITION BY position ORDER BY event_index)
),
parts AS (
  SELECT position, arm, at_seconds, next_seconds,
    CASE
      WHEN next_event = 'swept' THEN 'other tool time'
      WHEN open = 0 THEN 'model at work'
      WHEN held_by = 'auto_await_granted' THEN 'auto-await'
      WHEN held_by = 'exec_called' THEN 'initial hold'
      WHEN held_by = 'wait_granted' THEN 'process wait'
      ELSE 'other tool time'
    END AS part
  FROM moments
  WHERE next_seconds > at_seconds AND event NOT IN ('cut_off', 'submitted', 'gave_up', 'limit_reached', 'provider_failed', 'left_behind')
),
-- A model at work stays one stretch, however many requests it makes.
stretches AS (
  SELECT position, arm, part, min(at_seconds) AS at_seconds, max(next_seconds) AS next_seconds
  FROM (
    SELECT *, count(*) FILTER (part <> 'model at work' OR before IS DISTINCT FROM part) OVER (PARTITION BY position ORDER BY at_seconds) AS stretch
    FROM (SELECT *, lag(part) OVER (PARTITION BY position ORDER BY at_seconds) AS before FROM parts)
  )
  GROUP BY position, arm, part, stretch
),
ends AS (
  SELECT position, arm, any_value(told) AS told, any_value(reserve_seconds) AS reserve_seconds, max(at_seconds) AS end_seconds,
    CASE arg_max(event, event_index)
      WHEN 'cut_off' THEN 'cut off' WHEN 'submitted' THEN 'submitted' WHEN 'limit_reached' THEN 'limit reached' WHEN 'provider_failed' THEN 'provider failed'
      ELSE 'gave up'
    END AS ending
  FROM told WHERE event IN ('cut_off', 'submitted', 'gave_up', 'limit_reached', 'provider_failed') GROUP BY position, arm
)
SELECT s.arm, s.part, s.at_seconds AS from_seconds, s.next_seconds AS to_seconds, e.end_seconds, e.ending,
  CASE WHEN e.told THEN $limit::DOUBLE - e.reserve_seconds END AS reserve_begins_seconds, $limit::DOUBLE AS outer_limit_seconds,
  coalesce($limit::DOUBLE, e.end_seconds) AS _limit, $limit IS NOT NULL AS _limit_known,
  coalesce(reserve_begins_seconds, e.end_seconds) AS _reserve, reserve_begins_seconds IS NOT NULL AS _reserve_known
FROM stretches AS s JOIN ends AS e USING (position, arm)
ORDER BY s.position, s.at_seconds;
