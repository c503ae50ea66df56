-- Which arms are on the front, and who dominates the others.
WITH front AS (
  SELECT count(*) AS arms, list(arm ORDER BY position) AS names FROM standings WHERE on_front
),
off AS (
  SELECT count(*) AS arms, string_agg(arm || ' by ' || dominated_by, '; ' ORDER BY position) AS words FROM standings WHERE NOT on_front
),
weighed AS (
  SELECT list(m.title ORDER BY w.position) AS titles FROM objectives AS w JOIN measures AS m USING (measure)
)
SELECT CASE
    WHEN f.arms = 1 THEN 'On the front is ' || f.names[1] || ' alone: at least as good as any other arm in ' || w.said || '.'
    ELSE 'On the front ' || CASE WHEN d.arms = 0 THEN 'is every arm' ELSE 'are ' || array_to_string(f.names[1 : f.arms - 1], ', ') || ' and ' || f.names[f.arms] END
      || ': no other arm is at least as good as one of these in all of ' || w.said || ', and better in any.'
  END || CASE WHEN d.arms = 0 THEN '' WHEN d.arms <= 6 THEN ' Dominated: ' || d.words || '.' ELSE format(' The other {} are dominated.', d.arms) END AS answer
FROM front AS f, off AS d, (SELECT array_to_string(titles[1 : len(titles) - 1], ', ') || ' and ' || titles[len(titles)] AS said FROM weighed WHERE len(titles) > 1) AS w;
