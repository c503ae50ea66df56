-- One sentence that answers the panel's question: what the outer limit costs each arm, and what the arms cost in time.
WITH lost AS (
  SELECT e.position, e.arm, e.value, format('{:,.1f}', e.value) AS trials FROM estimates AS e WHERE e.measure = 'outer_timeouts'
),
longer AS (
  SELECT d.position, d.arm, d.against, d.relative FROM differences AS d
  WHERE d.measure = 'duration_seconds' AND d.relative IS NOT NULL AND d.against = (SELECT arm FROM arm_order WHERE position = 1)
),
words AS (
  SELECT *, format('{:.0f} % ', abs(relative * 100)) || CASE WHEN relative < 0 THEN 'shorter' ELSE 'longer' END AS change FROM longer
)
SELECT
  'Of ' || (SELECT tasks FROM experiments) || ' trials in a replicate, '
  || CASE
    WHEN (SELECT count(*) FROM lost) <= 5
      THEN (SELECT string_agg(arm || CASE position WHEN 1 THEN ' loses ' ELSE ' ' END || trials, ', ' ORDER BY position) FROM lost) || ' to the outer limit'
    ELSE 'the outer limit takes between ' || (SELECT min_by(trials || ' (' || arm || ')', (value, position)) FROM lost)
      || ' and ' || (SELECT max_by(trials || ' (' || arm || ')', (value, -position)) FROM lost)
  END
  || CASE
    WHEN (SELECT count(*) FROM words) = 0 THEN '.'
    WHEN (SELECT count(*) FROM words) <= 4
      THEN '; against ' || (SELECT any_value(against) FROM words) || ', trials last '
        || (SELECT string_agg(change || ' under ' || arm, ', ' ORDER BY position) FROM words) || '.'
    ELSE '; against ' || (SELECT any_value(against) FROM words) || ', trials last between '
      || (SELECT min_by(change || ' (' || arm || ')', (relative, position)) FROM words)
      || ' and ' || (SELECT max_by(change || ' (' || arm || ')', (relative, -position)) FROM words) || '.'
  END AS answer;
