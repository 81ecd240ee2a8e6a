-- The leaderboard counts the artifacts of each owner, and adds up their stars.
DROP INDEX artifacts_artifacts_owner;
CREATE INDEX artifacts_artifacts_owner ON artifacts_artifacts (owner, created_at DESC, id DESC, stars);
