-- Grain: a name that is stored, and whose hash one of these has. First the hashes alone, then the texts of what was found:
-- the first look also takes names in that only look alike, and text is dear.
FROM names
WHERE rowid IN (SELECT n.rowid FROM names AS n SEMI JOIN {{ changed }} AS a ON n.hash = a.hash)
