-- Quotes, deposits and payouts. Amounts are decimal texts (token units, wei, USD with 18 decimals), times unix seconds, addresses
-- checksummed.
CREATE TABLE payin_quotes (
    id TEXT NOT NULL PRIMARY KEY,
    chain TEXT NOT NULL,
    asset TEXT NOT NULL,
    token TEXT NOT NULL,
    decimals BIGINT NOT NULL,
    deposit_address TEXT NOT NULL,
    recipient TEXT NOT NULL,
    payer TEXT,
    -- A keyed hash of the client's network.
    network TEXT NOT NULL,
    requested TEXT NOT NULL,
    send TEXT NOT NULL,
    -- The amount to send with 78 digits, so that it compares like a number.
    send_key TEXT NOT NULL,
    usd TEXT NOT NULL,
    -- The same in millionths, rounded up: for sums.
    usd_micro BIGINT NOT NULL,
    price TEXT NOT NULL,
    spread_bps BIGINT NOT NULL,
    -- The coins of the quote, and those of its deposit while it has one.
    quoted_out TEXT NOT NULL,
    fmx_out TEXT NOT NULL,
    -- The newest block of the chain when the quote was made: a deposit in it, or before it, is not for this quote.
    position BIGINT NOT NULL,
    required BIGINT NOT NULL,
    -- quoted, superseded, seen, confirmed, paid, expired or failed
    status TEXT NOT NULL,
    -- Chain, asset and amount, while a deposit could belong to it: the next quote gets another amount.
    open_key TEXT UNIQUE,
    deposit BIGINT,
    confirmations BIGINT NOT NULL,
    error TEXT,
    retry_at BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    -- Of the gateway's journal of transactions.
    intent BIGINT,
    tx_out TEXT,
    nonce BIGINT,
    -- 1 when the payout is in a block.
    is_mined BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    seen_at BIGINT,
    paid_at BIGINT,
    -- When it was paid, expired or failed.
    ended_at BIGINT
);

CREATE INDEX payin_quotes_status ON payin_quotes (status, chain, retry_at);
CREATE INDEX payin_quotes_amount ON payin_quotes (chain, asset, send_key);
CREATE INDEX payin_quotes_recipient ON payin_quotes (recipient, status);
CREATE INDEX payin_quotes_network ON payin_quotes (network, status);
CREATE INDEX payin_quotes_ended ON payin_quotes (chain, ended_at);

-- Every change of a quote's status, for disputes.
CREATE TABLE payin_history (
    id {{id}},
    quote TEXT NOT NULL,
    status TEXT NOT NULL,
    detail TEXT NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX payin_history_quote ON payin_history (quote, id);

-- A transfer of a token to a deposit address: one row for its life, whatever block its transaction moves to.
CREATE TABLE payin_deposits (
    id {{id}},
    chain TEXT NOT NULL,
    asset TEXT NOT NULL,
    token TEXT NOT NULL,
    -- The deposit address that it came to.
    address TEXT NOT NULL,
    tx TEXT NOT NULL,
    -- Its place among the transfers of this token to this address in its transaction.
    ordinal BIGINT NOT NULL,
    log_index BIGINT NOT NULL,
    block BIGINT NOT NULL,
    block_hash TEXT NOT NULL,
    block_time BIGINT NOT NULL,
    sender TEXT NOT NULL,
    units TEXT NOT NULL,
    units_key TEXT NOT NULL,
    -- new (to be matched), matched, unmatched (the operator decides), gone (in no block), dismissed (by the operator)
    state TEXT NOT NULL,
    reason TEXT,
    -- The quote that it is matched with.
    quote TEXT,
    -- Failed attempts to read the balances around its block, and when the next one is due.
    checks BIGINT NOT NULL,
    check_at BIGINT NOT NULL,
    -- When its presence was looked up last.
    seen_at BIGINT NOT NULL,
    -- When it was found to have left its chain after its payout.
    lost_at BIGINT,
    -- The block in which its transaction was then; -1 for none.
    lost_in BIGINT,
    found_at BIGINT NOT NULL,
    UNIQUE (chain, token, address, tx, ordinal)
);

CREATE INDEX payin_deposits_state ON payin_deposits (state, chain, block);
CREATE INDEX payin_deposits_found ON payin_deposits (found_at, id);

-- How far each chain is scanned.
CREATE TABLE payin_scans (
    chain TEXT NOT NULL PRIMARY KEY,
    scanned_to BIGINT NOT NULL,
    -- Of that block; null after a rewind.
    hash TEXT,
    -- Time of the block that has all confirmations, when the scan was complete.
    safe_time BIGINT NOT NULL,
    last_ok_at BIGINT,
    last_error_at BIGINT,
    last_error TEXT,
    -- In a row.
    failures BIGINT NOT NULL
);

-- What is paused: a chain, or everything under the empty name.
CREATE TABLE payin_pauses (
    scope TEXT NOT NULL PRIMARY KEY,
    reason TEXT NOT NULL,
    -- Null for the gateway itself.
    operator TEXT,
    at BIGINT NOT NULL
);

CREATE TABLE payin_counters (
    name   TEXT   NOT NULL,
    key    TEXT   NOT NULL,
    period BIGINT NOT NULL,
    used   BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);
