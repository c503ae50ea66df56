-- One hypothesis in every cell.
SELECT place, down, across, verdict, CASE verdict WHEN 'PASS' THEN '✓' WHEN 'FAIL' THEN '✗' ELSE '○' END AS _mark,
  effect, low, high, p, n, CASE WHEN own THEN 'yes' ELSE 'no' END AS nothing_changed, shown AS _shown, 0.35 + 0.65 * strength AS _strength
FROM cells WHERE hypothesis = $hypothesis ORDER BY cell;
