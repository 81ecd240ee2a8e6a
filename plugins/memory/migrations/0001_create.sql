-- Times are unix seconds, addresses checksummed, hashes 0x and 64 lower-case hex digits. What is sealed opens with the gateway's
-- secrets key only, and for its own row only; key_id tells which of these keys sealed it.

-- One row for each address that ever wrote. Every write of the address changes it: it is what orders them.
CREATE TABLE memory_heads (
    address TEXT NOT NULL PRIMARY KEY,
    -- Number and hash of the newest record.
    seq BIGINT NOT NULL,
    head_hash TEXT NOT NULL,
    -- Sums over memory_values.
    used_bytes BIGINT NOT NULL,
    key_count BIGINT NOT NULL,
    last_write_at BIGINT NOT NULL
);

CREATE TABLE memory_values (
    address TEXT NOT NULL,
    -- HMAC of address and name: finds a value without its name.
    name_tag TEXT NOT NULL,
    key_id TEXT NOT NULL,
    -- Bytes of the value.
    size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    sealed_name {{blob}} NOT NULL,
    sealed_value {{blob}} NOT NULL,
    PRIMARY KEY (address, name_tag)
);

CREATE INDEX memory_values_key_id ON memory_values (key_id);

-- The log: one record for each write, numbered from 1 per address, never changed and never deleted.
CREATE TABLE memory_records (
    address TEXT NOT NULL,
    seq BIGINT NOT NULL,
    record_hash TEXT NOT NULL,
    -- The header, as the canonical JSON that is hashed.
    record TEXT NOT NULL,
    key_id TEXT NOT NULL,
    -- Name and nonce, which the header commits to.
    sealed_key {{blob}} NOT NULL,
    PRIMARY KEY (address, seq)
);

CREATE INDEX memory_records_key_id ON memory_records (key_id);

-- Room that was paid for.
CREATE TABLE memory_credits (
    id {{id}},
    address TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL
);

CREATE INDEX memory_credits_address ON memory_credits (address, expires_at);
CREATE INDEX memory_credits_expires_at ON memory_credits (expires_at);

-- What all addresses store together, in 16 parts by the address, so that writers of different addresses seldom change one row.
CREATE TABLE memory_totals (
    shard BIGINT NOT NULL PRIMARY KEY,
    value_bytes BIGINT NOT NULL,
    record_count BIGINT NOT NULL
);

INSERT INTO memory_totals (shard, value_bytes, record_count) VALUES
    (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0),
    (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0);

-- New bytes by client and day (of UTC, counted from 1970), in the same parts.
CREATE TABLE memory_uploads (
    client TEXT NOT NULL,
    day BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (client, day, shard)
);

CREATE INDEX memory_uploads_day ON memory_uploads (day);

-- Records of an address that are anchored together, from_seq to to_seq.
CREATE TABLE memory_batches (
    id {{id}},
    agent_id BIGINT NOT NULL,
    -- The agent's owner when it was built.
    address TEXT NOT NULL,
    from_seq BIGINT NOT NULL,
    to_seq BIGINT NOT NULL,
    root TEXT NOT NULL,
    uri TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The transaction that the owner named, and when.
    tx TEXT,
    submitted_at BIGINT,
    -- The nodes of the tree, the leaves first.
    tree {{blob}} NOT NULL
);

CREATE UNIQUE INDEX memory_batches_root ON memory_batches (agent_id, root);
CREATE UNIQUE INDEX memory_batches_from ON memory_batches (agent_id, address, from_seq);
CREATE INDEX memory_batches_address ON memory_batches (address);

-- Derived from chain events, and written by them only: roots that were anchored, also those that were not built here.
CREATE TABLE memory_anchors (
    agent_id BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    -- Counts the anchors of all agents in the order of the chain.
    nth BIGINT NOT NULL,
    root TEXT NOT NULL,
    prev_root TEXT NOT NULL,
    record_count BIGINT NOT NULL,
    total_records BIGINT NOT NULL,
    anchored_by TEXT NOT NULL,
    uri TEXT NOT NULL,
    tx TEXT NOT NULL,
    block BIGINT NOT NULL,
    anchored_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);

CREATE INDEX memory_anchors_root ON memory_anchors (agent_id, root, seq);
CREATE INDEX memory_anchors_nth ON memory_anchors (nth);
{{row_counts memory_anchors ()}}

-- Derived as well: agents and who owns them.
CREATE TABLE memory_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL
);

CREATE INDEX memory_agents_owner ON memory_agents (owner, id);
