-- By arm and kind of command: the share of foreground calls that had returned after so many seconds. Calls that were cut off count
-- among the members and in no step. Thinned to where the share has gained another 1/steps, first and last step kept.
WITH calls AS (
  SELECT o.position, s.kind, greatest(s.time_to_first_control_seconds, 0.01)::DOUBLE AS seconds,
    s.time_to_first_control_seconds IS NULL AS cut_off
  FROM shell_invocations AS s
  JOIN trials AS t USING (trial_id)
  JOIN arm_order AS o ON o.name = t.arm::VARCHAR
  WHERE NOT s.background AND s.status <> 'refused' AND s.kind IS NOT NULL
),
members AS (
  SELECT position, kind, count(*) AS members FROM calls GROUP BY ALL
),
steps AS (
  SELECT position, kind, seconds, sum(count(*)) OVER (PARTITION BY position, kind ORDER BY seconds) AS reached
  FROM calls WHERE NOT cut_off GROUP BY position, kind, seconds
),
levels AS (
  SELECT *, reached * (SELECT greatest(10, least(60, 1500 // (3 * count(*)))) FROM arm_order) // members AS level
  FROM steps JOIN members USING (position, kind)
),
thinned AS (
  SELECT * EXCLUDE level FROM levels
  WINDOW line AS (PARTITION BY position, kind ORDER BY seconds)
  QUALIFY lag(level, 1, -1) OVER line < level OR lead(seconds) OVER line IS NULL
),
-- A line begins on the ground where the first of its kind begins, and goes on to the right-hand side at the height it has reached.
reach AS (
  SELECT kind, min(seconds) AS first_seconds, max(seconds) AS last_seconds FROM thinned GROUP BY ALL
),
begins AS (
  SELECT DISTINCT position, kind, first_seconds AS seconds, 0 AS reached, members FROM thinned JOIN reach USING (kind)
),
ends AS (
  SELECT position, kind, last_seconds AS seconds, max(reached) AS reached, members FROM thinned JOIN reach USING (kind) GROUP BY ALL
)
SELECT o.arm, o.series, o.tag, kind::VARCHAR AS kind, seconds, (reached / members)::DOUBLE AS share, members::INTEGER AS calls
FROM (SELECT * FROM thinned UNION SELECT * FROM begins UNION SELECT * FROM ends) JOIN arm_order AS o USING (position)
ORDER BY list_position(['quick', 'long_finite', 'hanging'], kind::VARCHAR), position, seconds, share;
