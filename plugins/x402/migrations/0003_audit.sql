-- Where a settlement is in its block, and indexes by party and time for audit exports. The vault's events are indexed again.
ALTER TABLE x402_settled ADD COLUMN log_index BIGINT NOT NULL DEFAULT 0;
CREATE INDEX x402_settled_payer_time ON x402_settled (payer, settled_at, block, log_index);
CREATE INDEX x402_settled_payee_time ON x402_settled (payee, settled_at, block, log_index);
-- lower(): the order of checksummed addresses depends on the locale.
CREATE INDEX x402_vouchers_payer_time ON x402_vouchers (payer, created_at, lower(payer), nonce);
CREATE INDEX x402_vouchers_payee_time ON x402_vouchers (payee, created_at, lower(payer), nonce);
