-- The store. Bytes last: a database that keeps long rows in pages of their own reads none of them for the other columns.
CREATE TABLE payloads_payloads (
    -- keccak-256 of the bytes: 0x and 64 lower-case hex digits.
    hash TEXT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL,
    -- As the first one who stored it named it.
    content_type TEXT NOT NULL,
    -- Unix seconds, as all times here.
    created_at BIGINT NOT NULL,
    -- When it was stored, stored again, or found to be mentioned somewhere, whatever was last.
    named_at BIGINT NOT NULL,
    -- Since when it is about to be deleted, because nobody mentions it; NULL for all others.
    given_up_at BIGINT,
    bytes {{blob}} NOT NULL
);

CREATE INDEX payloads_payloads_named_at ON payloads_payloads (named_at, hash);
CREATE INDEX payloads_payloads_given_up_at ON payloads_payloads (given_up_at, hash);

-- One row: what all payloads together are.
CREATE TABLE payloads_totals (
    id BIGINT NOT NULL PRIMARY KEY,
    payloads BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    -- Plugins, divided by commas, without whose answer nothing is deleted now.
    waits_for TEXT NOT NULL
);

INSERT INTO payloads_totals (id, payloads, bytes, waits_for) VALUES (1, 0, 0, '');

-- New bytes by day (of UTC, counted from 1970) and client.
CREATE TABLE payloads_uploads (
    day BIGINT NOT NULL,
    client TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (day, client)
);

-- Plugins that ever said which payloads they mention.
CREATE TABLE payloads_witnesses (
    plugin TEXT NOT NULL PRIMARY KEY
);

-- The read contract for other plugins (README.md). Never changed: a new shape is a new version beside this one.
CREATE VIEW payloads_v1 AS
    SELECT hash, size, content_type, created_at FROM payloads_payloads WHERE given_up_at IS NULL;
