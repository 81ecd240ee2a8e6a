-- An address is given to one quote, on one chain: the keys of a wallet are the same on every chain.
CREATE UNIQUE INDEX payin_addresses_address ON payin_addresses (address);

-- What comes to an address is found on whatever chain it came.
DROP INDEX payin_deposits_address;
CREATE INDEX payin_deposits_address ON payin_deposits (address);
CREATE INDEX payin_quotes_open ON payin_quotes (ended_at);
