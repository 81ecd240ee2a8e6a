-- What clients paid with. Amounts and nonces are decimal texts of up to 256 bits, addresses checksummed, times Unix seconds.
CREATE TABLE x402_vouchers (
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    payee TEXT NOT NULL,
    amount TEXT NOT NULL,
    reference TEXT NOT NULL,
    expiry_s BIGINT NOT NULL,
    signature TEXT NOT NULL,
    -- 1 when the payer is a contract that has to accept the signature.
    by_contract BIGINT NOT NULL,
    vault TEXT NOT NULL,
    resource TEXT NOT NULL,
    -- What this gateway did with it; src/model/state.rs computes from it and from x402_settled what became of it.
    state TEXT NOT NULL,
    reason TEXT,
    -- The time until which a reservation holds.
    until_s BIGINT,
    queued_at BIGINT,
    batch BIGINT,
    -- Batches with it alone that failed.
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Of the log that decided, when no reorganisation can take it back any more.
    tx TEXT,
    closed_at BIGINT,
    PRIMARY KEY (payer, nonce)
);

CREATE INDEX x402_vouchers_state ON x402_vouchers (state, queued_at);
CREATE INDEX x402_vouchers_pending ON x402_vouchers (payer, state);
CREATE INDEX x402_vouchers_newest ON x402_vouchers (payer, created_at, nonce);
CREATE INDEX x402_vouchers_batch ON x402_vouchers (batch);

-- A row that every write of a payer's voucher changes, so that these come one after the other.
CREATE TABLE x402_payers (
    payer TEXT NOT NULL PRIMARY KEY,
    vouchers BIGINT NOT NULL,
    -- Until when he is refused, because the vault skipped a voucher by his own doing.
    refused_until_s BIGINT NOT NULL
);

CREATE TABLE x402_batches (
    id {{id}},
    -- Of the gateway's journal of transactions.
    intent BIGINT NOT NULL,
    -- sent, done or failed
    state TEXT NOT NULL,
    reason TEXT,
    -- 1 while its transaction is in a block.
    is_mined BIGINT NOT NULL,
    -- 1 when it calls the code of a payer.
    by_contract BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);

CREATE INDEX x402_batches_state ON x402_batches (state, id);

-- The transactions that were signed for a batch; one of them at most is ever in the chain.
CREATE TABLE x402_batch_transactions (
    tx TEXT NOT NULL PRIMARY KEY,
    batch BIGINT NOT NULL
);

CREATE INDEX x402_batch_transactions_batch ON x402_batch_transactions (batch);

-- All that follows is derived from the events of the vault (src/chain.rs).
CREATE TABLE x402_settled (
    vault TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    payee TEXT NOT NULL,
    amount TEXT NOT NULL,
    fee TEXT NOT NULL,
    reference TEXT NOT NULL,
    tx TEXT NOT NULL,
    block BIGINT NOT NULL,
    settled_at BIGINT NOT NULL,
    PRIMARY KEY (payer, nonce, vault)
);

CREATE TABLE x402_skipped (
    tx TEXT NOT NULL,
    log_index BIGINT NOT NULL,
    vault TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    reason TEXT NOT NULL,
    block BIGINT NOT NULL,
    skipped_at BIGINT NOT NULL,
    PRIMARY KEY (tx, log_index)
);

CREATE INDEX x402_skipped_voucher ON x402_skipped (payer, nonce);

-- What payers have in the vault.
CREATE TABLE x402_accounts (
    vault TEXT NOT NULL,
    payer TEXT NOT NULL,
    balance TEXT NOT NULL,
    -- 0 while it is locked.
    unlock_at BIGINT NOT NULL,
    settled_count BIGINT NOT NULL,
    PRIMARY KEY (payer, vault)
);

-- What payees got from it, the fee included.
CREATE TABLE x402_payees (
    payee TEXT NOT NULL PRIMARY KEY,
    volume TEXT NOT NULL,
    settled_count BIGINT NOT NULL,
    last_settled_at BIGINT NOT NULL
);

CREATE TABLE x402_totals (
    id BIGINT NOT NULL PRIMARY KEY,
    volume TEXT NOT NULL,
    settled_count BIGINT NOT NULL
);

-- The read contract for other plugins (README.md). Never changed: a new shape is a new version beside this one.
CREATE VIEW x402_payees_v1 AS SELECT payee, volume, settled_count, last_settled_at FROM x402_payees;
