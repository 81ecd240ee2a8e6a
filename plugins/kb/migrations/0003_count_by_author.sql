-- The leaderboard counts the revisions of each author.
CREATE INDEX kb_revisions_author ON kb_revisions (author, created_at);
