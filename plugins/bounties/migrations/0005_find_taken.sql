-- Whether somebody awarded the bounty, or a job up to `cited_up_to` cites it (jobs/settle.rs). Only these bounties, and those that
-- later jobs cite, are awarded or completed, or were active after `active_order`.
ALTER TABLE bounties_bounties ADD COLUMN is_taken BIGINT NOT NULL DEFAULT 0;
-- The last activity of all others, as far as it was written or settled.
ALTER TABLE bounties_bounties ADD COLUMN active_order BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bounties_progress ADD COLUMN cited_up_to BIGINT NOT NULL DEFAULT 0;
-- The job settles them again, with their last activity.
UPDATE bounties_bounties SET active_order = updated_at, is_settled = 0, is_taken = CASE WHEN awarded_agent IS NULL THEN 0 ELSE 1 END;
CREATE INDEX bounties_bounties_taken ON bounties_bounties (id) WHERE is_settled = 0 AND is_taken = 1;
CREATE INDEX bounties_bounties_active ON bounties_bounties (active_order DESC, id DESC);
