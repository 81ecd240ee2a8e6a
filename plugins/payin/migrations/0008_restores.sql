-- When the payout was counted against the caps, in Unix seconds.
ALTER TABLE payin_quotes ADD COLUMN counted_at BIGINT;
-- Restores of the database, in Unix seconds, after which everything was paused.
CREATE TABLE payin_restores (restored_s BIGINT PRIMARY KEY);
