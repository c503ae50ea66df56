-- Mean seconds per trial in each part of the time ledger. Sums of whole milliseconds, so that the parts add up.
WITH sums AS (
  SELECT o.position, o.arm, count(*) AS trials, sum(t.duration_seconds)::DOUBLE / count(*) AS duration,
    list_value(
      sum(t.model_seconds), sum(t.provider_queue_seconds), sum(t.provider_retry_seconds), sum(t.initial_hold_seconds), sum(t.auto_await_seconds), sum(t.hard_hold_seconds), sum(t.process_wait_seconds), sum(t.other_tool_seconds), sum(t.idle_seconds)
    ) AS parts
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR GROUP BY ALL
),
long AS (
  SELECT position, arm, trials, duration,
    unnest([
      'model at work', 'provider queue', 'provider retries', 'initial hold', 'auto-await', 'hard timeout', 'process wait', 'other tool time', 'idle'
    ]) AS part,
    unnest(range(1, 10)) AS part_index, unnest(parts)::DOUBLE / trials AS seconds
  FROM sums
)
SELECT arm, part, seconds, seconds / duration AS share, duration AS duration_seconds, part_index::INTEGER AS _part_index
FROM long AS l
-- A part that no arm has time in is left out.
WHERE (SELECT sum(seconds) FROM long AS w WHERE w.part = l.part) > 0
ORDER BY position, part_index;
