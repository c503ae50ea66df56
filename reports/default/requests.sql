-- By arm and purpose: how requests were served, and whether the cache still had what went before.
SELECT o.arm, r.purpose::VARCHAR AS purpose, count(*)::INTEGER AS requests,
  round(100 * count(*) FILTER (r.cache_hit) / nullif(count(r.cache_hit), 0), 1) AS still_cached_percent,
  quantile_cont((r.answered_seconds - r.asked_seconds)::DOUBLE, 0.5) AS median_seconds,
  quantile_cont((r.answered_seconds - r.asked_seconds)::DOUBLE, 0.99) AS p99_seconds,
  sum(r.queued_seconds)::DOUBLE / nullif(count(r.queued_seconds), 0) AS mean_queue_seconds,
  sum(r.retries)::INTEGER AS retries, sum(r.rate_limited)::INTEGER AS rate_limited,
  count(*) FILTER (r.failed)::INTEGER AS failed, count(*) FILTER (r.answered_seconds IS NULL)::INTEGER AS cut_off
FROM provider_requests AS r JOIN trials AS t USING (trial_id) JOIN arm_order AS o ON o.name = t.arm::VARCHAR
GROUP BY o.position, o.arm, r.purpose
ORDER BY list_position(['work', 'poll', 'compaction'], r.purpose::VARCHAR), o.position;
