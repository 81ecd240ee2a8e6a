-- The check of a foreign key reads the index of the other table, where others insert: on PostgreSQL two writers at the same time
-- would collide. Transactions are serialisable there, and each write looks for the row that it refers to.
ALTER TABLE messages_outbox DROP CONSTRAINT messages_outbox_message_id_fkey;
