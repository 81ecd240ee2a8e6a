-- Amounts are decimal texts in wei, times Unix seconds, addresses checksummed.
-- The wallets that are derived from the extended public key; 0 is the float.
CREATE TABLE loadtest_wallets (
    idx BIGINT NOT NULL PRIMARY KEY,
    address TEXT NOT NULL,
    -- 1 once a block was followed in which it sent or received something.
    is_seen BIGINT NOT NULL
);

CREATE UNIQUE INDEX loadtest_wallets_address ON loadtest_wallets (address);
CREATE INDEX loadtest_wallets_seen ON loadtest_wallets (is_seen, idx);

{{row_counts loadtest_wallets (is_seen)}}

-- One row: what the wallets were derived from, and what is wrong with them, if anything is.
CREATE TABLE loadtest_branch (
    id BIGINT NOT NULL PRIMARY KEY,
    xpub TEXT NOT NULL,
    problem TEXT
);

-- The newest blocks. The highest is the one up to which the chain is followed; a final one is counted once and deleted when a later
-- one is counted.
CREATE TABLE loadtest_blocks (
    number BIGINT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL,
    mined_at BIGINT NOT NULL,
    transactions BIGINT NOT NULL,
    -- How many of them a wallet sent.
    labelled BIGINT NOT NULL,
    -- JSON: kind → [transactions, volume].
    kinds TEXT NOT NULL,
    is_counted BIGINT NOT NULL
);

-- The load test's transactions in final blocks, by kind: fund, transfer, sweep, final, sink.
CREATE TABLE loadtest_kinds (
    kind TEXT NOT NULL PRIMARY KEY,
    transactions BIGINT NOT NULL,
    volume TEXT NOT NULL
);

-- Transactions in final blocks by hour (hours since 1970), of the last days.
CREATE TABLE loadtest_hours (
    hour BIGINT NOT NULL PRIMARY KEY,
    transactions BIGINT NOT NULL,
    labelled BIGINT NOT NULL
);

-- The load test's transactions in final blocks by day of UTC (days since 1970).
CREATE TABLE loadtest_days (
    day BIGINT NOT NULL PRIMARY KEY,
    transactions BIGINT NOT NULL
);

-- One row: all transactions in final blocks since the beginning.
CREATE TABLE loadtest_totals (
    id BIGINT NOT NULL PRIMARY KEY,
    through_block BIGINT NOT NULL,
    transactions BIGINT NOT NULL,
    labelled BIGINT NOT NULL,
    counted_at BIGINT NOT NULL,
    -- The newest final block at that time: all of them are counted when it is through_block.
    final_block BIGINT NOT NULL,
    first_block BIGINT,
    first_at BIGINT,
    last_block BIGINT,
    last_at BIGINT
);

-- The read contract for other plugins: see README.md.
CREATE VIEW loadtest_labelled_v1 AS SELECT address, 'loadtest' AS label FROM loadtest_wallets;
