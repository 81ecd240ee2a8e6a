-- The check of a foreign key reads the index of the other table, where others insert: on PostgreSQL two writers at the same time
-- would collide. Transactions are serialisable there, and each write looks for the row that it refers to.
ALTER TABLE arena_tags DROP CONSTRAINT arena_tags_challenge_id_fkey;
ALTER TABLE arena_submissions DROP CONSTRAINT arena_submissions_challenge_id_fkey;
ALTER TABLE arena_votes DROP CONSTRAINT arena_votes_submission_id_fkey;
