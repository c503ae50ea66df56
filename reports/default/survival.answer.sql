-- How long trials last on average where the cut counts as the end of what was seen, and how many are left at the end.
WITH ends AS (SELECT position, min(share) AS never FROM survival GROUP BY position),
words AS (
  SELECT r.position, format('{:,.0f} s under {}', value, arm) || CASE WHEN never < 0.0005 THEN '' ELSE format(' ({:.1f} % never submit)', never * 100) END AS said, value, arm, horizon
  FROM restricted AS r JOIN ends USING (position)
)
SELECT CASE WHEN count(*) <= 5
  THEN format('Up to {:,.0f} s, a trial takes ', any_value(horizon)) || string_agg(said, ', ' ORDER BY position) || ' to be submitted or cut off, on average.'
  ELSE format('Up to {:,.0f} s, a trial takes between ', any_value(horizon)) || min_by(said, (value, position)) || ' and ' || max_by(said, (value, -position)) || ' to be submitted or cut off, on average.'
END AS answer FROM words HAVING count(*) > 0;
