-- All of this is derived from events (src/index/). Amounts are decimal texts of up to 256 bits, addresses checksummed, times
-- unix seconds; a time beyond 2^63 - 1, which a contract may name, is 2^63 - 1.
CREATE TABLE economy_streams (
    id BIGINT NOT NULL PRIMARY KEY,
    payer TEXT NOT NULL,
    payee TEXT NOT NULL,
    rate_per_sec TEXT NOT NULL,
    deposit TEXT NOT NULL,
    -- What left the stream for the payee, the fee included.
    claimed TEXT NOT NULL,
    start_s BIGINT NOT NULL,
    stop_s BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    tx_opened TEXT NOT NULL,
    updated_at_block BIGINT NOT NULL
);

CREATE INDEX economy_streams_payer ON economy_streams (payer, id);
CREATE INDEX economy_streams_payee ON economy_streams (payee, id);
CREATE INDEX economy_streams_open ON economy_streams (cancelled, stop_s);

CREATE TABLE economy_plans (
    id BIGINT NOT NULL PRIMARY KEY,
    payee TEXT NOT NULL,
    price_per_period TEXT NOT NULL,
    period_s BIGINT NOT NULL,
    active BIGINT NOT NULL,
    metadata_uri TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at_block BIGINT NOT NULL
);

CREATE INDEX economy_plans_payee ON economy_plans (payee, id);

CREATE TABLE economy_subs (
    id BIGINT NOT NULL PRIMARY KEY,
    plan_id BIGINT NOT NULL,
    payer TEXT NOT NULL,
    paid_through_s BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at_block BIGINT NOT NULL
);

CREATE INDEX economy_subs_plan ON economy_subs (plan_id, id);
CREATE INDEX economy_subs_payer ON economy_subs (payer, id);
CREATE INDEX economy_subs_active ON economy_subs (cancelled, paid_through_s);

CREATE TABLE economy_disputes (
    id BIGINT NOT NULL PRIMARY KEY,
    job_id BIGINT NOT NULL,
    opener TEXT NOT NULL,
    evidence_uri TEXT NOT NULL,
    opened_at BIGINT NOT NULL,
    votes BIGINT NOT NULL,
    closed BIGINT NOT NULL,
    -- Share of the client in 1/10000; NULL while open.
    result BIGINT,
    closed_at BIGINT,
    tx_opened TEXT NOT NULL,
    updated_at_block BIGINT NOT NULL
);

CREATE INDEX economy_disputes_job ON economy_disputes (job_id, id);
CREATE INDEX economy_disputes_opener ON economy_disputes (opener, id);
CREATE INDEX economy_disputes_closed ON economy_disputes (closed, id);

CREATE TABLE economy_evidence (
    -- Counts all evidence in the order of the chain.
    id BIGINT NOT NULL PRIMARY KEY,
    case_id BIGINT NOT NULL,
    submitter TEXT NOT NULL,
    uri TEXT NOT NULL,
    submitted_at BIGINT NOT NULL,
    tx_hash TEXT NOT NULL
);

CREATE INDEX economy_evidence_case ON economy_evidence (case_id, id);

CREATE TABLE economy_tokens (
    token TEXT NOT NULL PRIMARY KEY,
    -- Counts launches in the order of the chain.
    nth BIGINT NOT NULL,
    agent_id BIGINT NOT NULL,
    symbol TEXT NOT NULL,
    launched_at BIGINT NOT NULL,
    buys BIGINT NOT NULL,
    sells BIGINT NOT NULL,
    fmx_in TEXT NOT NULL,
    fmx_out TEXT NOT NULL,
    distributed TEXT NOT NULL,
    tx_launched TEXT NOT NULL
);

CREATE INDEX economy_tokens_nth ON economy_tokens (nth);
CREATE INDEX economy_tokens_agent ON economy_tokens (agent_id);

CREATE TABLE economy_accounts (
    account TEXT NOT NULL PRIMARY KEY,
    -- Counts accounts in the order of the chain.
    nth BIGINT NOT NULL,
    -- At its creation: the factory tells of no change.
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    tx_hash TEXT NOT NULL
);

CREATE INDEX economy_accounts_nth ON economy_accounts (nth);
CREATE INDEX economy_accounts_owner ON economy_accounts (owner);

-- What disputes and tokens need to know of agents and jobs. Names never change, owners do.
CREATE TABLE economy_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL
);

CREATE TABLE economy_jobs (
    id BIGINT NOT NULL PRIMARY KEY,
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL
);
