-- Copies for agents wait in a queue of the gateway: the key is the URL, the group its host.
{{queue messages_queue}}
-- The names of a queue have at most 512 bytes.
INSERT INTO messages_queue (key, group_key, payload, pushed_ms, due_ms)
    SELECT substr(url, 1, 128), substr(host, 1, 128), '{"id":' || message_id || ',"url":' || to_json(url)::text || '}', created_at * 1000, 0
    FROM messages_outbox ORDER BY message_id;
INSERT INTO messages_queue_pushed (key, group_key, due_ms)
    SELECT DISTINCT substr(url, 1, 128), substr(host, 1, 128), 0 FROM messages_outbox;
-- The empty table stays: the gateway keeps numbers of its rows.
DELETE FROM messages_outbox;
