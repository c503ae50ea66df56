-- What the arm with the longest trials has more of than the one with the shortest.
WITH parts AS (
  SELECT o.position, o.arm, count(*) AS trials, sum(t.duration_seconds)::DOUBLE / count(*) AS duration,
    (sum(t.auto_await_seconds) + sum(t.process_wait_seconds))::DOUBLE / count(*) AS held
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR GROUP BY ALL
)
SELECT format('The mean trial lasts {:,.0f} s under {} and {:,.0f} s under {}; auto-await and waits make {:,.0f} s and {:,.0f} s of that.',
  max(duration), max_by(arm, (duration, -position)), min(duration), min_by(arm, (duration, position)),
  max_by(held, (duration, -position)), min_by(held, (duration, position))) AS answer
FROM parts HAVING count(*) > 1;
