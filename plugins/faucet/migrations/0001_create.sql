-- Drips: a row for each that was recorded. Times are Unix seconds.
CREATE TABLE faucet_drips (
    id {{id}},
    address TEXT NOT NULL,
    -- Keyed hashes of the client's networks, as in faucet_counters; removed when they are no longer needed.
    client TEXT,
    site TEXT,
    -- Of the gateway's journal of transactions.
    intent BIGINT NOT NULL,
    -- open: on its way; done; reverted: it failed in a block; returned: it never was in one, and its share was given back.
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- When it was first seen in a block, unless a reorganisation removed it from there.
    mined_at BIGINT
);

CREATE INDEX faucet_drips_address ON faucet_drips (address, id);
CREATE INDEX faucet_drips_state ON faucet_drips (state, id);
CREATE INDEX faucet_drips_created_at ON faucet_drips (created_at);

CREATE TABLE faucet_counters (
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    period BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);
