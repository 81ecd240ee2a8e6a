-- The host of the URL: each has a share of the requests that run at the same time. Rows from before share one.
ALTER TABLE messages_outbox ADD COLUMN host TEXT NOT NULL DEFAULT '';
CREATE INDEX messages_outbox_host ON messages_outbox (host, message_id);
