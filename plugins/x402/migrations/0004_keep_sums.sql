-- Sums for the record of an agent, which reads one row of them and not every settlement. Derived from the vault's events, which are indexed
-- again: that fills them.
ALTER TABLE x402_payees ADD COLUMN fees TEXT NOT NULL DEFAULT '0';

-- What payers paid, the fee included.
CREATE TABLE x402_paid (
    payer TEXT NOT NULL PRIMARY KEY,
    volume TEXT NOT NULL,
    settled_count BIGINT NOT NULL
);

-- Vouchers of a payee that are not settled: few of many.
CREATE INDEX x402_vouchers_unsettled ON x402_vouchers (payee) WHERE state IN ('queued', 'submitted');
