SELECT o.arm, o.series, o.tag, g.value AS control_given_up_seconds, g.low AS given_up_low, g.high AS given_up_high,
  w.value AS low_information_waits, w.low AS waits_low, w.high AS waits_high,
  -- Without an interval, a line of no length.
  coalesce(g.low, g.value) AS _given_from, coalesce(g.high, g.value) AS _given_to, coalesce(w.low, w.value) AS _waits_from, coalesce(w.high, w.value) AS _waits_to,
  o.position
FROM arm_order AS o
JOIN estimates AS g ON g.position = o.position AND g.measure = 'control_given_up_seconds'
JOIN estimates AS w ON w.position = o.position AND w.measure = 'low_information_waits'
ORDER BY o.position;
