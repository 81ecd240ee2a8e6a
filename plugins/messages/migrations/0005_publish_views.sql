-- Private: with the bodies of messages. The columns are documented in README.md.
CREATE VIEW messages_v1 AS
    SELECT id AS message_id, sender, recipient, subject, body, created_at FROM messages_messages;
