-- The newest job that cited the bounty when its poster awarded it. Only a later one takes the place of that award.
ALTER TABLE bounties_bounties ADD COLUMN awarded_after_job BIGINT;
