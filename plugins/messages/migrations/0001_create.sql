-- Messages. Addresses are checksummed, times unix seconds.
CREATE TABLE messages_messages (
    id {{id}},
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    -- Empty when none was given.
    subject TEXT NOT NULL,
    -- As it was sent.
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- An inbox is what somebody sent and what somebody got: one index for each.
CREATE INDEX messages_messages_sender ON messages_messages (sender, id DESC);
CREATE INDEX messages_messages_recipient ON messages_messages (recipient, id DESC);

-- Messages that are still to be forwarded. Whoever removes a row forwards it, so that nothing is forwarded twice.
CREATE TABLE messages_outbox (
    message_id BIGINT NOT NULL PRIMARY KEY REFERENCES messages_messages (id),
    -- Where the recipient's agent listens.
    url TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
