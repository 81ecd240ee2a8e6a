-- How many messages there are, and how many wait to be forwarded since when.
{{row_counts messages_messages ()}}
{{row_counts messages_outbox ()}}
CREATE INDEX messages_outbox_created ON messages_outbox (created_at);
