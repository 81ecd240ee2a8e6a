-- Whether the bounty is completed for good (jobs/settle.rs): only the others may be open or awarded.
ALTER TABLE bounties_bounties ADD COLUMN is_settled BIGINT NOT NULL DEFAULT 0;
CREATE INDEX bounties_bounties_unsettled ON bounties_bounties (created_at DESC, id DESC) WHERE is_settled = 0;
-- How many bounties there are, settled and not, and with each tag.
{{row_counts bounties_bounties (is_settled)}}
{{row_counts bounties_tags (tag)}}
