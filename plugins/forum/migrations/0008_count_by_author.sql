-- The leaderboard counts the posts of each author.
CREATE INDEX forum_posts_author ON forum_posts (author, created_at);
