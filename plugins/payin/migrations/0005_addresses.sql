-- Deposit addresses of single quotes: children of an extended public key. An index is used once, for ever.
CREATE TABLE payin_accounts (
    xpub TEXT NOT NULL PRIMARY KEY,
    -- The only chain on which its addresses are handed out.
    chain TEXT NOT NULL,
    next_index BIGINT NOT NULL,
    -- When the database was put back to an earlier state, as far as this row knows; 0 for never.
    restored_s BIGINT NOT NULL
);

-- They outlive their quotes, of which those without a deposit are deleted.
CREATE TABLE payin_addresses (
    chain TEXT NOT NULL,
    address TEXT NOT NULL,
    xpub TEXT NOT NULL,
    address_index BIGINT NOT NULL,
    quote TEXT NOT NULL,
    -- Of the quote.
    expires_at BIGINT NOT NULL,
    -- The first block that was not searched for late deposits, and when the next search is due.
    late_from BIGINT NOT NULL,
    late_at BIGINT NOT NULL,
    PRIMARY KEY (chain, address),
    UNIQUE (xpub, address_index)
);

CREATE INDEX payin_addresses_late ON payin_addresses (chain, late_at, late_from);

-- Index of the quote's own address; null while deposits are told apart by their amount.
ALTER TABLE payin_quotes ADD COLUMN address_index BIGINT;
CREATE INDEX payin_quotes_own ON payin_quotes (chain, address_index, ended_at);
CREATE INDEX payin_deposits_address ON payin_deposits (chain, address);
