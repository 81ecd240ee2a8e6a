-- Whether a job completed the bounty so long ago that nothing opens it again (jobs/settle.rs): the state of the others is computed.
ALTER TABLE bounties_bounties ADD COLUMN is_settled BIGINT NOT NULL DEFAULT 0;
CREATE INDEX bounties_bounties_unsettled ON bounties_bounties (created_at DESC, id DESC) WHERE is_settled = 0;
-- How many bounties there are, and with each tag.
{{row_counts bounties_bounties ()}}
{{row_counts bounties_tags (tag)}}
-- Only these, and those that a job cites, may be awarded or completed.
CREATE INDEX bounties_bounties_awarded ON bounties_bounties (id) WHERE awarded_agent IS NOT NULL;
