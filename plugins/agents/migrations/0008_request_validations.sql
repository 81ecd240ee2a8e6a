-- The oracle: which deliveries it has looked at, and the validations that it has requested. Not derived from the chain.

-- One row: the last event of the activity log that it has looked at.
CREATE TABLE agents_oracle_progress (
    id BIGINT NOT NULL PRIMARY KEY,
    event_id BIGINT NOT NULL
);

CREATE TABLE agents_oracle_requests (
    job_id BIGINT NOT NULL,
    output_hash TEXT NOT NULL,
    agent_id BIGINT NOT NULL,
    -- Of the gateway's journal of transactions.
    intent BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    PRIMARY KEY (job_id, output_hash)
);

-- A validation is shown with the job that the oracle requested it for.
CREATE INDEX agents_oracle_requests_output ON agents_oracle_requests (output_hash, agent_id, job_id);

CREATE TABLE agents_counters (
    name   TEXT   NOT NULL,
    key    TEXT   NOT NULL,
    period BIGINT NOT NULL,
    used   BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);
