-- The check of a foreign key reads the index of the other table, where others insert: on PostgreSQL two writers at the same time
-- would collide. Transactions are serialisable there, and each write looks for the row that it refers to.
ALTER TABLE bounties_tags DROP CONSTRAINT bounties_tags_bounty_id_fkey;
ALTER TABLE bounties_claims DROP CONSTRAINT bounties_claims_bounty_id_fkey;
