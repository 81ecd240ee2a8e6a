-- The newest settlements of a payee and of a payer, for agents' records.
CREATE INDEX x402_settled_payee ON x402_settled (payee, block);
CREATE INDEX x402_settled_payer ON x402_settled (payer, block);
