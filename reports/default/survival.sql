-- The share of each arm's trials that is not submitted yet, over the trial's time.
SELECT o.arm, o.series, o.tag, s.seconds, s.share, s.low, s.high, s.at_risk
FROM survival AS s JOIN arm_order AS o USING (position) ORDER BY s.position, s.seconds, s.share DESC;
