SELECT trim(sentence || ' ' || detail) AS answer FROM cell_answers WHERE hypothesis = $hypothesis;
