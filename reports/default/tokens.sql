-- Mean tokens per trial by what became of them, where tokens are counted.
WITH sums AS (
  SELECT o.position, o.arm, count(t.cost_usd) AS trials,
    list_value(sum(t.cache_read_tokens), sum(t.cache_write_tokens), sum(t.uncached_tokens), sum(t.output_tokens)) AS classes
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR WHERE t.cost_usd IS NOT NULL GROUP BY ALL
),
long AS (
  SELECT position, arm, trials, list_sum(classes)::DOUBLE / trials AS all_tokens,
    unnest(['cache read', 'cache write', 'uncached input', 'output']) AS class, unnest(range(1, 5)) AS class_index,
    unnest(classes)::DOUBLE / trials AS tokens
  FROM sums
)
SELECT arm, class, tokens, tokens / all_tokens AS share, all_tokens, dense_rank() OVER (ORDER BY class_index)::INTEGER AS _class_index
FROM long AS l
WHERE (SELECT sum(tokens) FROM long AS w WHERE w.class = l.class) > 0
ORDER BY position, class_index;
