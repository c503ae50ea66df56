-- Which kind of trial the outer limit takes, under the arm it takes most from.
WITH worst AS (
  SELECT position, arm, successes FROM shares WHERE outcome = 'outer_timeout' AND kind = 'all' ORDER BY successes DESC, position LIMIT 1
),
gravest AS (
  SELECT s.* FROM shares AS s JOIN worst USING (position) WHERE s.outcome = 'outer_timeout' AND s.kind <> 'all'
  ORDER BY s.successes DESC, s.kind LIMIT 1
)
SELECT CASE WHEN w.successes = 0 THEN 'No trial was cut off under any arm.'
  ELSE format('Most are lost under {}: {:,.0f} of {:,} trials, {:,.0f} of them among the {:,} with {}.', w.arm, w.successes,
    (SELECT tries FROM shares AS s WHERE s.position = w.position AND s.kind = 'all' AND s.outcome = 'outer_timeout'), g.successes, g.tries,
    CASE g.kind WHEN 'hanging' THEN 'a hanging command' WHEN 'server' THEN 'a server' WHEN 'long_finite' THEN 'a long but finite command' ELSE 'quick commands only' END)
  END AS answer
FROM worst AS w, gravest AS g;
