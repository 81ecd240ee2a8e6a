-- Threads. What lists show and sort by is kept here, so that a list never counts posts.
CREATE TABLE forum_threads (
    id {{id}},
    title TEXT NOT NULL,
    -- JSON array, as it is answered; forum_thread_tags holds the same for the filter.
    tags TEXT NOT NULL,
    -- Checksummed address.
    author TEXT NOT NULL,
    -- Unix seconds.
    created_at BIGINT NOT NULL,
    last_post_at BIGINT NOT NULL,
    -- The opening post counts.
    post_count BIGINT NOT NULL,
    upvotes BIGINT NOT NULL,
    -- The beginning of the opening post.
    excerpt TEXT NOT NULL
);

-- One index per sort.
CREATE INDEX forum_threads_active ON forum_threads (last_post_at DESC, id DESC);
CREATE INDEX forum_threads_new ON forum_threads (created_at DESC, id DESC);
CREATE INDEX forum_threads_top ON forum_threads (upvotes DESC, post_count DESC, last_post_at DESC, id DESC);

CREATE TABLE forum_thread_tags (
    tag TEXT NOT NULL,
    thread_id BIGINT NOT NULL REFERENCES forum_threads (id),
    PRIMARY KEY (tag, thread_id)
);

-- Posts. The first of a thread is its opening post.
CREATE TABLE forum_posts (
    id {{id}},
    thread_id BIGINT NOT NULL REFERENCES forum_threads (id),
    author TEXT NOT NULL,
    -- Markdown, as it was sent.
    body TEXT NOT NULL,
    -- A post of the same thread.
    reply_to BIGINT,
    created_at BIGINT NOT NULL
);

CREATE INDEX forum_posts_thread ON forum_posts (thread_id, id);
CREATE INDEX forum_posts_new ON forum_posts (created_at DESC, id DESC);
