-- One row: what the runner does.
CREATE TABLE loadtest_runner (
    id BIGINT NOT NULL PRIMARY KEY,
    -- running, paused (by the operator), draining or drained.
    mode TEXT NOT NULL,
    -- Why nothing is sent at the moment, and since when; what the guards saw, as JSON.
    reason TEXT,
    paused_since BIGINT,
    last_reason TEXT,
    last_paused_at BIGINT,
    guards TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    -- The wallet with which the next wave begins, and how often all were used.
    next_index BIGINT NOT NULL,
    pass BIGINT NOT NULL,
    -- While it drains: the wallets up to this one were looked at.
    swept_index BIGINT NOT NULL,
    -- The highest index that was ever used.
    used_index BIGINT NOT NULL,
    drained_at BIGINT,
    float_balance TEXT,
    -- What the transactions in final blocks cost.
    fees TEXT NOT NULL
);

-- Groups of wallets that are funded, transfer and are swept together.
CREATE TABLE loadtest_waves (
    id BIGINT NOT NULL PRIMARY KEY,
    first BIGINT NOT NULL,
    size BIGINT NOT NULL,
    -- fund, transfer, sweep or done; the round counts the transfers of each wallet.
    phase TEXT NOT NULL,
    round BIGINT NOT NULL,
    gas BIGINT NOT NULL,
    gas_price TEXT NOT NULL,
    -- What each wallet is given.
    funding TEXT NOT NULL
);

-- The float, and the wallets of waves: the next nonce, and what is left when all that is signed is in a block (of the float: nothing).
CREATE TABLE loadtest_accounts (
    idx BIGINT NOT NULL PRIMARY KEY,
    nonce BIGINT NOT NULL,
    balance TEXT NOT NULL
);

-- What is signed, until its block is final. Nothing that is here is ever signed in another form, and nothing that is sent is not here.
CREATE TABLE loadtest_transactions (
    id {{id}},
    hash TEXT NOT NULL,
    sender BIGINT NOT NULL,
    nonce BIGINT NOT NULL,
    -- Null: the sink.
    recipient BIGINT,
    kind TEXT NOT NULL,
    -- 0 while it drains.
    wave BIGINT NOT NULL,
    value_wei TEXT NOT NULL,
    fee TEXT NOT NULL,
    raw TEXT NOT NULL,
    -- When a server took it last, in Unix milliseconds; null: it is to be sent.
    sent_ms BIGINT,
    block BIGINT,
    -- What servers say of it.
    refusal TEXT
);

CREATE UNIQUE INDEX loadtest_transactions_hash ON loadtest_transactions (hash);
CREATE UNIQUE INDEX loadtest_transactions_nonce ON loadtest_transactions (sender, nonce);
CREATE INDEX loadtest_transactions_block ON loadtest_transactions (block, id);
CREATE INDEX loadtest_transactions_wave ON loadtest_transactions (wave, block);

-- What went to the sink.
CREATE TABLE loadtest_sinks (
    hash TEXT NOT NULL PRIMARY KEY,
    value_wei TEXT NOT NULL,
    mined_at BIGINT NOT NULL,
    block BIGINT NOT NULL
);
