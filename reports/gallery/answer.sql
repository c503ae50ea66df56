-- How the cases end where they are told both ways: as they were reported, and as they should have gone.
WITH ends AS (
  SELECT a.of_case, t.scenario, split_part(t.arm::VARCHAR, '/', -1) AS way, t.outer_timeout AS lost, coalesce(t.reward, 0) < 1 AS failed
  FROM trials AS t JOIN arms AS a USING (arm) WHERE t.replicate = 1
),
told AS (
  SELECT f.lost AS lost_faulty, r.lost AS lost_right, f.failed AS failed_faulty, r.failed AS failed_right
  FROM ends AS f JOIN ends AS r USING (of_case, scenario) WHERE f.way = 'faulty' AND r.way = 'right'
)
SELECT (SELECT count(DISTINCT of_case) FROM cases) || ' cases in ' || (SELECT count(*) FROM cases) || ' scenarios'
  || CASE WHEN count(*) = 0 THEN '.' ELSE
    format('. Of {} that are told both ways, {} fall short of their full reward as they were reported and {} as they should have gone; the outer limit ends {} and {}.',
      count(*), count(*) FILTER (failed_faulty), count(*) FILTER (failed_right), count(*) FILTER (lost_faulty), count(*) FILTER (lost_right)) END AS answer
FROM told;
