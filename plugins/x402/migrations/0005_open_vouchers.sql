-- What a payer owes is read for each payment. A voucher is open until it has a time of its end, so its way from state to state does not
-- change this index.
CREATE INDEX x402_vouchers_open ON x402_vouchers (payer, closed_at) WHERE closed_at IS NULL;
DROP INDEX x402_vouchers_pending;
-- Of one payer the newest are in the order of x402_vouchers_newest.
DROP INDEX x402_vouchers_payer_time;

-- The oldest batch that waits for a block is read for each payment, too.
CREATE INDEX x402_batches_unmined ON x402_batches (by_contract, created_at) WHERE state = 'sent' AND is_mined = 0;

-- 1 while a payer was refused because what he owes is not settled: a batch is made at once.
ALTER TABLE x402_payers ADD COLUMN wants_batch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX x402_payers_wanting ON x402_payers (payer) WHERE wants_batch = 1;
