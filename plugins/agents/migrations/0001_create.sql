-- Derived from chain events, and written by them only: agents_agents, agents_jobs, agents_payers, agents_validations,
-- agents_feedback, agents_counts, agents_totals. Amounts in wei are decimal texts, times unix seconds, addresses checksummed.
CREATE TABLE agents_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    -- Never changes, and so does the slug that is made of it.
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    metadata_uri TEXT NOT NULL,
    price_per_job TEXT NOT NULL,
    bond TEXT NOT NULL,
    -- None, Active, Paused or Retired; `active` says whether it is the second.
    status TEXT NOT NULL,
    active BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    -- The registry's own counters.
    jobs_completed BIGINT NOT NULL,
    jobs_failed BIGINT NOT NULL,
    rating_count BIGINT NOT NULL,
    rating_sum BIGINT NOT NULL,
    -- Jobs in Completed or Resolved whose amount is above zero, how many clients paid them, and the sum of their amounts
    -- in 78 digits, so that it sorts like a number.
    paid_jobs BIGINT NOT NULL,
    payers BIGINT NOT NULL,
    earned TEXT NOT NULL,
    -- The average rating times 10^18, rounded down; 0 without a paid job or a rating.
    rating_rank BIGINT NOT NULL
);

-- Two indexes per sort: for all agents, and for those in a status.
CREATE INDEX agents_agents_newest ON agents_agents (registered_at DESC, id DESC);
CREATE INDEX agents_agents_rating ON agents_agents (rating_rank DESC, payers DESC, earned DESC, id DESC);
CREATE INDEX agents_agents_jobs ON agents_agents (paid_jobs DESC, payers DESC, earned DESC, id DESC);
CREATE INDEX agents_agents_earned ON agents_agents (earned DESC, payers DESC, id DESC);
CREATE INDEX agents_agents_status_newest ON agents_agents (status, registered_at DESC, id DESC);
CREATE INDEX agents_agents_status_rating ON agents_agents (status, rating_rank DESC, payers DESC, earned DESC, id DESC);
CREATE INDEX agents_agents_status_jobs ON agents_agents (status, paid_jobs DESC, payers DESC, earned DESC, id DESC);
CREATE INDEX agents_agents_status_earned ON agents_agents (status, earned DESC, payers DESC, id DESC);
-- Who stands for an address: an active agent first, then the lowest id.
CREATE INDEX agents_agents_owner ON agents_agents (owner, active DESC, id);
CREATE INDEX agents_agents_slug ON agents_agents (slug, id);

CREATE TABLE agents_jobs (
    id BIGINT NOT NULL PRIMARY KEY,
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    amount TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    input_uri TEXT NOT NULL,
    output_hash TEXT,
    output_uri TEXT,
    -- Open, Delivered, Completed, Refunded, Disputed or Resolved.
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    delivered_at BIGINT,
    closed_at BIGINT,
    -- Of a completed job: 1 to 5, or 0 when nobody reviewed it.
    rating BIGINT,
    -- Of a refunded job: whether the agent cancelled it.
    by_agent BIGINT,
    -- What the settlement gave to whom.
    agent_payout TEXT,
    client_amount TEXT,
    fee TEXT,
    tx_requested TEXT NOT NULL,
    tx_delivered TEXT,
    tx_closed TEXT
);

-- Ids grow with time, so the newest job has the highest.
CREATE INDEX agents_jobs_agent ON agents_jobs (agent_id, id DESC);
CREATE INDEX agents_jobs_agent_status ON agents_jobs (agent_id, status, id DESC);
CREATE INDEX agents_jobs_client ON agents_jobs (client, id DESC);
CREATE INDEX agents_jobs_status ON agents_jobs (status, id DESC);

-- Who paid an agent, and how often.
CREATE TABLE agents_payers (
    agent_id BIGINT NOT NULL,
    payer TEXT NOT NULL,
    jobs BIGINT NOT NULL,
    PRIMARY KEY (agent_id, payer)
);

CREATE TABLE agents_validations (
    request_hash TEXT NOT NULL PRIMARY KEY,
    validator TEXT NOT NULL,
    agent_id BIGINT NOT NULL,
    -- The job of this agent that the request is about, when its URI is fmx://job/<id>.
    job_id BIGINT,
    request_uri TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    tx_request TEXT NOT NULL,
    -- The place of the request in the chain, for the order.
    block BIGINT NOT NULL,
    log_index BIGINT NOT NULL,
    response BIGINT,
    response_uri TEXT,
    tag TEXT,
    responded_at BIGINT,
    tx_response TEXT
);

CREATE INDEX agents_validations_agent ON agents_validations (agent_id, block DESC, log_index DESC);
CREATE INDEX agents_validations_job ON agents_validations (job_id, block DESC, log_index DESC);

CREATE TABLE agents_feedback (
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    -- Counts the feedback of this client for this agent, from 1.
    feedback_index BIGINT NOT NULL,
    value TEXT NOT NULL,
    value_decimals BIGINT NOT NULL,
    tag1 TEXT NOT NULL,
    tag2 TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    feedback_uri TEXT NOT NULL,
    feedback_hash TEXT NOT NULL,
    given_at BIGINT NOT NULL,
    tx TEXT NOT NULL,
    revoked BIGINT NOT NULL,
    PRIMARY KEY (agent_id, client, feedback_index)
);

-- How many agents there are in each status: a list counts nothing.
CREATE TABLE agents_counts (
    status TEXT NOT NULL PRIMARY KEY,
    agents BIGINT NOT NULL
);

-- One row: all jobs, those in Completed, what Completed and Resolved ones moved, what they cost in fees, and how many
-- validations were answered.
CREATE TABLE agents_totals (
    id BIGINT NOT NULL PRIMARY KEY,
    jobs BIGINT NOT NULL,
    jobs_completed BIGINT NOT NULL,
    volume TEXT NOT NULL,
    fees TEXT NOT NULL,
    validations BIGINT NOT NULL
);

-- What agents say of themselves: the last good answer of <endpoint>/.well-known/<marker>-agent.json, and how it goes since.
-- Not derived from the chain, so no reorganisation touches it.
CREATE TABLE agents_cards (
    agent_id BIGINT NOT NULL PRIMARY KEY,
    -- Where it was asked for last: an agent that moved shows no card of its old place.
    endpoint TEXT NOT NULL,
    checked_at BIGINT NOT NULL,
    online BIGINT NOT NULL,
    -- JSON as it came; the columns below are parts of it.
    card TEXT,
    description TEXT,
    -- JSON array of texts.
    capabilities TEXT,
    model TEXT,
    image TEXT,
    price_per_call TEXT,
    last_seen_ms BIGINT
);

-- Probes by agent and day (days since 1970), for how reliable an agent is.
CREATE TABLE agents_probe_days (
    agent_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    ok BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    last_ms BIGINT NOT NULL,
    PRIMARY KEY (agent_id, day)
);

-- What contracts answered that no event tells.
CREATE TABLE agents_settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
