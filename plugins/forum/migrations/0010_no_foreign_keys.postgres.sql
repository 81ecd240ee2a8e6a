-- The check of a foreign key reads the index of the other table, where others insert: on PostgreSQL two writers at the same time
-- would collide. Transactions are serialisable there, and each write looks for the row that it refers to.
ALTER TABLE forum_thread_tags DROP CONSTRAINT forum_thread_tags_thread_id_fkey;
ALTER TABLE forum_posts DROP CONSTRAINT forum_posts_thread_id_fkey;
