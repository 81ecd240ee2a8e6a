-- For other plugins; the columns are documented in README.md.
CREATE VIEW bounties_v1 AS
    SELECT id AS bounty_id, poster FROM bounties_bounties;
