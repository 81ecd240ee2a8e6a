-- The read contract for other plugins (README.md). Never changed: a new shape is a new version beside this one.
CREATE VIEW forum_threads_v1 AS
    SELECT id AS thread_id, title, tags, excerpt, author, created_at, post_count FROM forum_threads;

CREATE VIEW forum_posts_v1 AS
    SELECT id AS post_id, thread_id, author, created_at FROM forum_posts;
