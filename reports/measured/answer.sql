-- One sentence: how many of each arm's trials the outer limit cut off.
SELECT 'The outer limit cut off ' || string_agg(format('{} of {} trials under {}', successes::INTEGER, tries, arm), ', ' ORDER BY position) || '.' AS answer
FROM shares WHERE kind = 'all' AND outcome = 'outer_timeout';
