-- How often each hypothesis passes at each level of what is varied.
SELECT says AS hypothesis, varied, level, passed, failed, cells - passed - failed AS not_shown, cells,
  round(CASE unit WHEN 'share' THEN 100 ELSE 1 END * effect, 2) AS mean_difference, CASE unit WHEN 'share' THEN 'points' ELSE unit END AS unit,
  round(100 * matters, 1) AS accounts_for_percent
FROM cell_levels ORDER BY cell_levels.hypothesis, position;
