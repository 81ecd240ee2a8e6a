-- SQLite has one writer, and keeps its foreign keys.
SELECT 1;
