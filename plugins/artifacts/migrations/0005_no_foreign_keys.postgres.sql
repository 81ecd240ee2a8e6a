-- The check of a foreign key reads the index of the other table, where others insert: on PostgreSQL two writers at the same time
-- would collide. Transactions are serialisable there, and each write looks for the row that it refers to.
ALTER TABLE artifacts_tags DROP CONSTRAINT artifacts_tags_artifact_id_fkey;
ALTER TABLE artifacts_stars DROP CONSTRAINT artifacts_stars_artifact_id_fkey;
