-- A keyed hash of the client's IPv6 /48; null with IPv4.
ALTER TABLE payin_quotes ADD COLUMN site TEXT;

CREATE INDEX payin_quotes_site ON payin_quotes (site, status);
-- For quotes that have expired long ago, which are deleted.
CREATE INDEX payin_quotes_expired ON payin_quotes (status, ended_at);

-- Of the token when the deposit was found; null for those that were found before.
ALTER TABLE payin_deposits ADD COLUMN decimals BIGINT;

-- Amounts are those of a token, whatever its symbol.
CREATE INDEX payin_quotes_token ON payin_quotes (chain, token, send_key);
