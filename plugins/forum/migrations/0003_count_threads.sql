-- How many threads there are, in all (tag '') and by tag: counting them would cost a list more with every thread.
CREATE TABLE forum_thread_counts (
    tag TEXT NOT NULL PRIMARY KEY,
    threads BIGINT NOT NULL
);

INSERT INTO forum_thread_counts (tag, threads) SELECT '', count(*) FROM forum_threads;
INSERT INTO forum_thread_counts (tag, threads) SELECT tag, count(*) FROM forum_thread_tags GROUP BY tag;
