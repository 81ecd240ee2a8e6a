-- Derived from the events of the vault: a deposit counts only when its block is deep enough.
CREATE TABLE x402_deposits (
    tx TEXT NOT NULL,
    log_index BIGINT NOT NULL,
    vault TEXT NOT NULL,
    payer TEXT NOT NULL,
    amount TEXT NOT NULL,
    block BIGINT NOT NULL,
    PRIMARY KEY (tx, log_index)
);

CREATE INDEX x402_deposits_payer ON x402_deposits (payer, block);
