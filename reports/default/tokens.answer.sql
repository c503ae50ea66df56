-- How many tokens a trial takes, and what of them only looked after a live process.
WITH those AS (
  SELECT o.position, o.arm, count(*) AS trials,
    sum(t.uncached_tokens + t.cache_write_tokens + t.cache_read_tokens + t.output_tokens)::DOUBLE / count(*) AS tokens,
    sum(t.poll_tokens)::DOUBLE / count(*) AS polls
  FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR WHERE t.cost_usd IS NOT NULL GROUP BY ALL
)
SELECT 'The mean trial takes '
  || CASE
    WHEN count(*) <= 5 THEN string_agg(format('{:,.0f} tokens under {}', tokens, arm), ', ' ORDER BY position)
      || '; polls, which only look after a process, take '
      || string_agg(format('{:.1f} %', 100 * polls / greatest(tokens, 1)), ', ' ORDER BY position) || ' of them.'
    ELSE format('{:,.0f} tokens at best ({}) and {:,.0f} at worst ({}); polls, which only look after a process, take up to {:.1f} % of them ({}).',
      min(tokens), min_by(arm, (tokens, position)), max(tokens), max_by(arm, (tokens, -position)),
      max(100 * polls / greatest(tokens, 1)), max_by(arm, (polls / greatest(tokens, 1), -position)))
  END AS answer
FROM those HAVING count(*) > 0;
