-- By arm and kind of command: the share of foreground calls that had returned after so many seconds. Calls that were cut off count
-- among the members and in no step. Thinned to where the share has gained another 1/steps, first and last step kept.
WITH steps AS (
  SELECT position, kind, greatest(seconds, 0.01) AS seconds, any_value(members) AS members, max(reached) AS reached
  FROM first_control WHERE seconds IS NOT NULL GROUP BY ALL
),
levels AS (
  SELECT *, reached * (SELECT greatest(10, least(60, 1500 // (3 * count(*)))) FROM arm_order) // members AS level
  FROM steps
),
thinned AS (
  SELECT * FROM levels
  WINDOW line AS (PARTITION BY position, kind ORDER BY seconds)
  QUALIFY lag(level, 1, -1) OVER line < level OR lead(seconds) OVER line IS NULL
),
-- A line begins on the ground where the first of its kind begins, and goes on to the right-hand side at the height it has reached.
begins AS (
  SELECT position, kind, (SELECT min(seconds) FROM thinned AS w WHERE w.kind = e.kind) AS seconds, members, 0 AS reached
  FROM thinned AS e GROUP BY ALL
),
ends AS (
  SELECT position, kind, (SELECT max(seconds) FROM thinned AS w WHERE w.kind = e.kind) AS seconds, members, max(reached) AS reached
  FROM thinned AS e GROUP BY ALL
)
SELECT o.arm, o.series, o.tag, kind, seconds, reached / members AS share, members::INTEGER AS calls
FROM (SELECT * EXCLUDE level FROM thinned UNION SELECT * FROM begins UNION SELECT * FROM ends) JOIN arm_order AS o USING (position)
ORDER BY list_position(['quick', 'long_finite', 'server', 'hanging'], kind), position, seconds, share;
