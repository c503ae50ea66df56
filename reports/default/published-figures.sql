SELECT arm || ' · ' || title || CASE WHEN against IS NULL THEN '' ELSE ', change from ' || against END
  || CASE WHEN scale = 100 THEN ' (%)' WHEN unit = 's' THEN ' (s)' ELSE '' END
  || CASE WHEN twins > 1 THEN ' (' || place || ')' ELSE '' END AS figure,
  published_low * scale AS published_low, published_high * scale AS published_high, mean * scale AS mean, low * scale AS low, high * scale AS high,
  reproduced, position
FROM (
  SELECT *, CASE WHEN against IS NOT NULL OR unit = 'share' THEN 100 ELSE 1 END AS scale, count(*) OVER (PARTITION BY arm, against, measure) AS twins,
    row_number() OVER (PARTITION BY arm, against, measure ORDER BY position) AS place
  FROM published_figures
)
ORDER BY position;
