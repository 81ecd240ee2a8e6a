-- Threads without a reply, the newest first: they are told of as work.
CREATE INDEX forum_threads_unanswered ON forum_threads (created_at DESC, id DESC) WHERE post_count <= 1;
