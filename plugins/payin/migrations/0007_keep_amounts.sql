-- Amounts of quotes that ended before their grace: the scan frees them.
CREATE INDEX payin_quotes_to_free ON payin_quotes (chain, expires_at) WHERE open_key IS NOT NULL AND ended_at IS NOT NULL;
