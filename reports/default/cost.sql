-- Mean cost per trial by class of tokens, at the prices of the arm's provider. The pause tax is part of what writing to the cache
-- costs, and stands apart. Costs are rounded request by request, so that the classes add up to within a millionth of a dollar for each.
WITH prices AS (
  SELECT arm, json_extract(provider::JSON, '$.economy.price.input')::DOUBLE AS input, json_extract(provider::JSON, '$.economy.price.output')::DOUBLE AS output,
    coalesce(json_extract(provider::JSON, '$.economy.cache.write')::DOUBLE, 0) AS write, coalesce(json_extract(provider::JSON, '$.economy.cache.read')::DOUBLE, 0) AS read
  FROM arms WHERE provider IS NOT NULL
),
sums AS (
  SELECT o.position, o.arm, count(*) AS trials, sum(t.cost_usd)::DOUBLE / count(*) AS all_usd,
    list_value(
      p.input * p.read * sum(t.cache_read_tokens) / 1e6, p.input * p.write * sum(t.cache_write_tokens) / 1e6 - sum(t.pause_tax_usd)::DOUBLE,
      sum(t.pause_tax_usd)::DOUBLE, p.input * sum(t.uncached_tokens) / 1e6, p.output * sum(t.output_tokens) / 1e6
    ) AS classes
  FROM trials AS t JOIN prices AS p USING (arm) JOIN arm_order AS o ON o.name = t.arm::VARCHAR WHERE t.cost_usd IS NOT NULL
  GROUP BY o.position, o.arm, p.input, p.output, p.write, p.read
),
long AS (
  SELECT position, arm, all_usd, unnest(['cache read', 'cache write', 'pause tax', 'uncached input', 'output']) AS class,
    unnest(range(1, 6)) AS class_index, unnest(classes) / trials AS cost_usd
  FROM sums
)
SELECT arm, class, cost_usd, cost_usd / nullif(all_usd, 0) AS share, all_usd, dense_rank() OVER (ORDER BY class_index)::INTEGER AS _class_index
FROM long AS l
WHERE (SELECT sum(cost_usd) FROM long AS w WHERE w.class = l.class) > 0
ORDER BY position, class_index;
