-- Sums over what an agent did, so that its record reads one row of them and not every job. Derived from chain events, and written by their
-- handlers only: agents_records, agents_clients, agents_validators. The chain is indexed again, which fills them.
CREATE TABLE agents_records (
    agent_id BIGINT NOT NULL PRIMARY KEY,
    -- Jobs, those that were delivered, those in Completed or Resolved, and completed ones that nobody rated.
    jobs BIGINT NOT NULL DEFAULT 0,
    delivered BIGINT NOT NULL DEFAULT 0,
    settled BIGINT NOT NULL DEFAULT 0,
    unrated BIGINT NOT NULL DEFAULT 0,
    -- What the settled ones gave to the agent, and what they cost in fees.
    payouts TEXT NOT NULL DEFAULT '0',
    fees TEXT NOT NULL DEFAULT '0',
    -- Sums of the columns of agents_clients.
    zero_value BIGINT NOT NULL DEFAULT 0,
    rated_paid BIGINT NOT NULL DEFAULT 0,
    feedback BIGINT NOT NULL DEFAULT 0,
    -- Feedback that stands of clients in agents_payers.
    paid_feedback BIGINT NOT NULL DEFAULT 0,
    -- Validations, those with a response, and the sum of the latest responses.
    validations BIGINT NOT NULL DEFAULT 0,
    scored BIGINT NOT NULL DEFAULT 0,
    response_sum BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE agents_clients (
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    -- Settled jobs without an amount, completed jobs with an amount and a rating, and feedback that stands.
    zero_value BIGINT NOT NULL,
    rated_paid BIGINT NOT NULL,
    feedback BIGINT NOT NULL,
    PRIMARY KEY (agent_id, client)
);

CREATE TABLE agents_validators (
    agent_id BIGINT NOT NULL,
    validator TEXT NOT NULL,
    validations BIGINT NOT NULL,
    PRIMARY KEY (agent_id, validator)
);

-- A record lists jobs in the order in which they ended, and the newest feedback that stands.
CREATE INDEX agents_jobs_ended ON agents_jobs (agent_id, coalesce(closed_at, created_at), id);
CREATE INDEX agents_feedback_newest ON agents_feedback (agent_id, given_at DESC, client, feedback_index DESC) WHERE revoked = 0;
