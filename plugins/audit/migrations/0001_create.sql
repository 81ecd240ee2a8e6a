-- All of this is derived from events (src/chain.rs).

-- Every log of the contracts of the main chain, once. Names and texts come from contracts and are untrusted.
CREATE TABLE audit_logs (
    block BIGINT NOT NULL,
    -- Index of the log in its block, as the node counts.
    log_index BIGINT NOT NULL,
    block_hash TEXT NOT NULL,
    time_s BIGINT NOT NULL,
    tx TEXT NOT NULL,
    -- Key of the contract in the configuration, and its address.
    contract TEXT NOT NULL,
    address TEXT NOT NULL,
    event TEXT NOT NULL,
    -- Name and types, of which topic0 is the hash.
    signature TEXT NOT NULL,
    topic0 TEXT NOT NULL,
    -- The agent that the log is about: it names the agent, or a job of it. The other one is the agent that endorses it.
    agent_id BIGINT,
    by_agent_id BIGINT,
    -- Size of the arguments, which come last so that it is read without them.
    args_bytes BIGINT NOT NULL,
    args TEXT NOT NULL,
    PRIMARY KEY (block, log_index)
);

CREATE INDEX audit_logs_agent ON audit_logs (agent_id, time_s, block, log_index) WHERE agent_id IS NOT NULL;
-- Claims about agents name transactions.
CREATE INDEX audit_logs_tx ON audit_logs (tx, log_index);
CREATE INDEX audit_logs_by_agent ON audit_logs (by_agent_id, time_s, block, log_index) WHERE by_agent_id IS NOT NULL;

-- The addresses among the arguments of a log.
CREATE TABLE audit_log_addresses (
    -- Lower case.
    address TEXT NOT NULL,
    -- 1 for logs of registry and escrow, which an export has by the agent's id alone.
    of_registry_or_escrow BIGINT NOT NULL,
    time_s BIGINT NOT NULL,
    block BIGINT NOT NULL,
    log_index BIGINT NOT NULL,
    PRIMARY KEY (address, of_registry_or_escrow, time_s, block, log_index)
);

-- Whose job it is: most logs of the escrow name the job alone.
CREATE TABLE audit_jobs (
    id BIGINT NOT NULL PRIMARY KEY,
    agent_id BIGINT NOT NULL
);

-- The read contract for other plugins (README.md). Never changed: a new shape is a new version beside this one.
CREATE VIEW chain_logs_v1 AS
    SELECT block, block_hash, time_s, tx, log_index, contract, address, event, signature, topic0, args, agent_id
    FROM audit_logs;

CREATE VIEW chain_log_addresses_v1 AS SELECT block, log_index, address FROM audit_log_addresses;
