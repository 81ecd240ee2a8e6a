-- Sponsored calls: a row for each that was recorded. Times are Unix seconds, hashes 0x….
CREATE TABLE relay_calls (
    id {{id}},
    -- What the signature signs (EIP-712).
    digest TEXT NOT NULL,
    -- The same without the account's nonce, which no request has.
    tuple TEXT NOT NULL,
    account TEXT NOT NULL,
    nonce TEXT NOT NULL,
    signature_hash TEXT NOT NULL,
    -- Whose key signed; none when a contract accepts the signature.
    signer TEXT,
    gas_estimate BIGINT NOT NULL,
    -- Calls that the account had left for the day, which repeated requests are told, too.
    remaining BIGINT NOT NULL,
    -- Keyed hashes of the client's networks, as in relay_counters; removed when they are no longer needed.
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

CREATE INDEX relay_calls_digest ON relay_calls (digest, id);
CREATE INDEX relay_calls_tuple ON relay_calls (tuple, created_at);
CREATE INDEX relay_calls_account ON relay_calls (account, nonce);
CREATE INDEX relay_calls_state ON relay_calls (state, id);
CREATE INDEX relay_calls_created_at ON relay_calls (created_at);

-- Accounts whose creation was recorded; the other columns are those of relay_calls.
CREATE TABLE relay_accounts (
    id {{id}},
    account TEXT NOT NULL,
    -- Key of the owner's share in relay_counters.
    share TEXT NOT NULL,
    client TEXT,
    site TEXT,
    intent BIGINT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    mined_at BIGINT
);

CREATE INDEX relay_accounts_account ON relay_accounts (account, id);
CREATE INDEX relay_accounts_state ON relay_accounts (state, id);
CREATE INDEX relay_accounts_created_at ON relay_accounts (created_at);

CREATE TABLE relay_counters (
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    period BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);
