-- Who wants a seat: one entry per address.
CREATE TABLE validators_entries (
    id {{id}},
    -- Checksummed.
    address TEXT NOT NULL UNIQUE,
    -- windows, linux or both.
    platform TEXT NOT NULL,
    seats BIGINT NOT NULL,
    -- Kept with consent only, and told to operators only.
    contact TEXT,
    -- email or telegram.
    contact_kind TEXT,
    consent BIGINT NOT NULL,
    -- Unix seconds.
    created_at BIGINT NOT NULL,
    -- When the entry was signed; NULL when it is not.
    signed_at BIGINT
);

-- Signatures that did their work.
CREATE TABLE validators_signatures (
    signature TEXT NOT NULL PRIMARY KEY,
    used_at BIGINT NOT NULL
);

CREATE INDEX validators_signatures_used ON validators_signatures (used_at);
