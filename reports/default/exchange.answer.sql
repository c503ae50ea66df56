-- Seconds of control for each low-information wait that an arm saves against the first one.
WITH traded AS (
  SELECT g.position, g.arm, g.against, g.value AS given, -w.value AS saved
  FROM differences AS g JOIN differences AS w USING (position, arm, against)
  WHERE g.measure = 'control_given_up_seconds' AND w.measure = 'low_information_waits'
    AND g.against = (SELECT arm FROM arm_order WHERE position = 1)
),
words AS (
  SELECT *, CASE
    WHEN abs(saved) < 0.005 AND abs(given) < 0.5 THEN format('{} changes neither', arm)
    WHEN saved > 0 AND given > 0 THEN format('{} saves {:.1f} low-information waits a trial and gives up {:,.0f} s of control: {:,.0f} s for each wait', arm, saved, given, given / saved)
    WHEN saved > 0 THEN format('{} saves {:.1f} low-information waits a trial and gives up no control for them ({:,.0f} s less)', arm, saved, -given)
    WHEN given > 0 THEN format('{} gives up {:,.0f} s of control a trial and saves no wait', arm, given)
    ELSE format('{} gives up {:,.0f} s of control less and has {:.1f} more low-information waits', arm, -given, -saved)
  END AS said
  FROM traded
)
SELECT CASE
  WHEN count(*) <= 4 THEN 'Against ' || any_value(against) || ', ' || string_agg(said, '; ' ORDER BY position) || '.'
  WHEN count(*) FILTER (saved > 0.05) = 0 THEN 'Against ' || any_value(against) || ', no arm saves low-information waits.'
  WHEN count(*) FILTER (saved > 0.05) = 1 THEN 'Against ' || any_value(against) || ', waits are saved in one arm only: ' || any_value(said) FILTER (saved > 0.05) || '.'
  ELSE 'Against ' || any_value(against) || ', the cheapest saving is where ' || (SELECT said FROM words WHERE saved > 0.05 ORDER BY given / saved, position LIMIT 1)
    || '; the dearest where ' || (SELECT said FROM words WHERE saved > 0.05 ORDER BY given / saved DESC, position LIMIT 1) || '.'
END AS answer
FROM words HAVING count(*) > 0;
