-- An origin is a name under which a tree is signed, with a key of its own; the one with the highest epoch is the present one.
-- The token is that of the job that signs: it grows with each one that begins, and only the newest one may write.
CREATE TABLE transparency_origins (
    epoch BIGINT NOT NULL PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,
    public_key {{blob}} NOT NULL,
    sealed_key {{blob}} NOT NULL,
    token BIGINT NOT NULL,
    previous TEXT,
    began_at BIGINT NOT NULL
);

-- One for each size that was ever signed and committed; the root is in base64, as the note has it.
CREATE TABLE transparency_checkpoints (
    epoch BIGINT NOT NULL,
    size BIGINT NOT NULL,
    root TEXT NOT NULL,
    note TEXT NOT NULL,
    signed_at BIGINT NOT NULL,
    PRIMARY KEY (epoch, size)
);

-- Leaves are numbered from 0 without gaps, which ids of events have.
CREATE TABLE transparency_leaves (
    epoch BIGINT NOT NULL,
    leaf BIGINT NOT NULL,
    event_id BIGINT NOT NULL,
    entry {{blob}} NOT NULL,
    PRIMARY KEY (epoch, leaf)
);
CREATE UNIQUE INDEX transparency_leaves_event ON transparency_leaves (epoch, event_id);

-- Hashes of 32 bytes each, up to 256: as many as there are so far.
CREATE TABLE transparency_tiles (
    epoch BIGINT NOT NULL,
    level BIGINT NOT NULL,
    tile BIGINT NOT NULL,
    hashes {{blob}} NOT NULL,
    PRIMARY KEY (epoch, level, tile)
);

-- Origins whose log a gateway stopped, for all gateways on the database.
CREATE TABLE transparency_stops (
    origin TEXT NOT NULL PRIMARY KEY,
    reason TEXT NOT NULL,
    since_at BIGINT NOT NULL
);

-- Checkpoints whose root was published on the chain.
CREATE TABLE transparency_publications (
    epoch BIGINT NOT NULL,
    size BIGINT NOT NULL,
    intent_id BIGINT NOT NULL,
    published_at BIGINT NOT NULL,
    PRIMARY KEY (epoch, size)
);
