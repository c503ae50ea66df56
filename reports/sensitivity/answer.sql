-- What the first hypothesis comes to, and where it turns.
SELECT sentence AS answer FROM cell_answers WHERE hypothesis = 1;
