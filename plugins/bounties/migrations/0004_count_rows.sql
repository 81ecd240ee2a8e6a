-- How many bounties there are, and with each tag.
{{row_counts bounties_bounties ()}}
{{row_counts bounties_tags (tag)}}
-- Only these, and those that a job cites, may be awarded or completed.
CREATE INDEX bounties_bounties_awarded ON bounties_bounties (id) WHERE awarded_agent IS NOT NULL;
