-- Who comes closest to the oracle and who stays farthest from it: reward first, and time only between equals.
WITH lost AS (
  SELECT r.position, r.arm, r.value * 100 AS reward, r.low * 100 AS low, r.high * 100 AS high, t.value AS seconds
  FROM estimates AS r JOIN estimates AS t USING (position) WHERE r.measure = 'reward_regret' AND t.measure = 'regret_seconds'
),
words AS (
  SELECT *, arm || replace(format(' ({:.1f} points of reward', reward), '-', '−')
    || CASE WHEN low IS NULL THEN '' ELSE replace(format(', 95 % {:.1f} to {:.1f}', low, high), '-', '−') END
    || replace(format('; {:,.0f} s', seconds), '-', '−') || ')' AS said
  FROM lost
)
SELECT CASE WHEN count(*) = 1 THEN 'Lost to the oracle: ' || any_value(said) || '.'
  ELSE 'Least is lost to the oracle by ' || min_by(said, (round(reward, 6), seconds, position))
    || ', most by ' || max_by(said, (round(reward, 6), seconds, -position)) || '.' END AS answer
FROM words HAVING count(*) > 0;
