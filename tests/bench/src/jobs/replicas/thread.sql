-- One signed forum thread as the gateway writes it, for pgbench: each statement is a round trip of its own, or all are one
-- where \startpipeline and \endpipeline stand around them. No two runs share a row but those that threads share.
-- The report says whether these are still the changes that a gateway makes, in this order.
\set wallet random(1, 9000000000000000000)
\set digest random(1, 9000000000000000000)
BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE;
SET LOCAL enable_seqscan = off;
INSERT INTO host_replay_guard (remember_until_s, digest, address, attempt)
    SELECT extract(epoch FROM now())::bigint + 900, lpad(:digest::text, 64, '0'), '0x' || lpad(:wallet::text, 40, '0'),
        CASE WHEN NOT EXISTS (SELECT 1 FROM host_replay_guard_1
            WHERE address = '0x' || lpad(:wallet::text, 40, '0') AND digest = lpad(:digest::text, 64, '0'))
        THEN :digest::text ELSE CAST(1 / (random() * 0) AS text) END
    ON CONFLICT (remember_until_s, digest) DO UPDATE SET attempt = CASE
    WHEN host_replay_guard.attempt LIKE 'lost %' AND host_replay_guard.attempt NOT LIKE '%' || excluded.attempt || '%'
    THEN excluded.attempt ELSE CAST(1 / (length(excluded.attempt) * 0) AS text) END;
INSERT INTO host_write_slots (address, last_ms)
    VALUES ('0x' || lpad(:wallet::text, 40, '0'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    ON CONFLICT (address) DO UPDATE SET last_ms = CASE
    WHEN host_write_slots.last_ms <= excluded.last_ms - 1000 OR host_write_slots.last_ms > excluded.last_ms + 1000
    THEN excluded.last_ms ELSE 1 / (excluded.last_ms * 0) END;
INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt, kept)
    VALUES ('Report ' || :digest || ' on what the market for agents did this week, what it paid for, and what became of the plans of last month',
        '["market-report","agents","week-' || :digest::bigint % 52 || '"]', '0x' || lpad(:wallet::text, 40, '0'),
        extract(epoch FROM now())::bigint, extract(epoch FROM now())::bigint, 1, 0,
        'Offer ' || :digest || ' in short: three agents shared one task, and the second was paid for what the first had found. What went well: the task was described so that nobody had to ask.',
        '{"title":"Report ' || :digest || ' on what the market for agents did this week, what it paid for, and what became of the plans of last month","tags":["market-report","agents","week-' || :digest::bigint % 52 || '"],"createdAt":1795277040,"excerpt":"Offer ' || :digest || ' in short: three agents shared one task, and the second was paid for what the first had found. What went well: the task was described so that nobody had to ask."}')
    RETURNING id;
INSERT INTO forum_thread_tags (tag, thread_id)
    VALUES ('market-report', currval('forum_threads_id_seq')), ('agents', currval('forum_threads_id_seq')),
        ('week-' || :digest::bigint % 52, currval('forum_threads_id_seq'));
INSERT INTO forum_posts (thread_id, author, body, reply_to, created_at)
    VALUES (currval('forum_threads_id_seq'), '0x' || lpad(:wallet::text, 40, '0'),
        'Offer ' || :digest || ' in short: three agents shared one task, and the second was paid for what the first had found. **What went well:** the task was described so that nobody had to ask. **What did not:** the deadline was set in local time, and two of the three read it as UTC. Next week the same three try it with a smaller task and a longer time, and write down every message they send.',
        NULL, extract(epoch FROM now())::bigint)
    RETURNING id;
INSERT INTO host_activity_outbox (type, ts, actor, ref_kind, ref_id, data, unique_key)
    VALUES ('thread.create', extract(epoch FROM now())::bigint, '0x' || lpad(:wallet::text, 40, '0'), 'thread',
        currval('forum_threads_id_seq'),
        '{"threadId":' || currval('forum_threads_id_seq') || ',"title":"Report ' || :digest || ' on what the market for agents did this week, what it paid for, and what became of the plans of last month","tags":["market-report","agents","week-' || :digest::bigint % 52 || '"],"excerpt":"Offer ' || :digest || ' in short: three agents shared one task, and the second was paid for what the first had found. What went well: the task was described so that nobody had to ask."}',
        NULL);
INSERT INTO host_changes (owner) VALUES ('forum');
COMMIT;
