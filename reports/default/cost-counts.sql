-- Per trial, where tokens are counted: what there is of requests, and what drives their price.
SELECT o.arm, sum(t.provider_calls)::DOUBLE / count(*) AS requests, sum(t.polls)::DOUBLE / count(*) AS polls,
  sum(t.poll_tokens)::DOUBLE / count(*) AS polls_take_tokens, sum(t.compactions)::DOUBLE / count(*) AS compactions,
  sum(t.provider_retries)::DOUBLE / count(*) AS retries, sum(t.provider_queue_seconds)::DOUBLE / count(*) AS queue_seconds,
  sum(t.peak_context_tokens)::DOUBLE / count(*) AS peak_context_tokens, max(t.peak_context_tokens) AS highest_peak_tokens
FROM trials AS t JOIN arm_order AS o ON o.name = t.arm::VARCHAR WHERE t.cost_usd IS NOT NULL
GROUP BY o.position, o.arm ORDER BY o.position;
