-- What a trial costs, and what of it pays for prefixes that the cache no longer had.
WITH those AS (
  SELECT o.position, o.arm, sum(t.cost_usd)::DOUBLE / count(*) AS cost, sum(t.pause_tax_usd)::DOUBLE / count(*) AS tax
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR WHERE t.cost_usd IS NOT NULL GROUP BY ALL
)
SELECT 'The mean trial costs '
  || CASE
    WHEN count(*) <= 5 THEN string_agg(format('{:,.3f} USD under {}', cost, arm), ', ' ORDER BY position)
      || '; pauses that outlived the cache make ' || string_agg(format('{:,.4f} USD', tax), ', ' ORDER BY position) || ' of that.'
    ELSE format('{:,.3f} USD at best ({}) and {:,.3f} USD at worst ({}); pauses that outlived the cache make up to {:,.4f} USD of that ({}).',
      min(cost), min_by(arm, (cost, position)), max(cost), max_by(arm, (cost, -position)), max(tax), max_by(arm, (tax, -position)))
  END AS answer
FROM those HAVING count(*) > 0;
