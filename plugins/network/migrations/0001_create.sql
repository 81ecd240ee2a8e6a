-- Derived from chain events, and written by their handlers only (src/chain.rs): network_agents, network_accounts, network_jobs,
-- network_pairs. Amounts are 78 digits, so that they sort like numbers; times Unix seconds, addresses checksummed.
CREATE TABLE network_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    -- Whom the agent counts for: its owner in the registry or, when that is an account, the account's owner.
    owner TEXT NOT NULL,
    price TEXT NOT NULL
);

CREATE INDEX network_agents_owner ON network_agents (owner, id);
CREATE INDEX network_agents_price ON network_agents (price, id);

-- Accounts that are contracts (AgentAccount), with whom they count for: an owner that is no such account.
CREATE TABLE network_accounts (
    account TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL
);

CREATE INDEX network_accounts_owner ON network_accounts (owner);

-- Jobs that are not settled.
CREATE TABLE network_jobs (
    id BIGINT NOT NULL PRIMARY KEY,
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    amount TEXT NOT NULL
);

-- Sums of what one address paid: to an agent for jobs, or to another address by x402.
CREATE TABLE network_pairs (
    -- Counts pairs in the order of the chain.
    id BIGINT NOT NULL PRIMARY KEY,
    -- hire or x402
    kind TEXT NOT NULL,
    client TEXT NOT NULL,
    -- Of a hire; otherwise 0.
    agent_id BIGINT NOT NULL,
    -- Of x402; otherwise empty.
    payee TEXT NOT NULL,
    jobs BIGINT NOT NULL,
    volume TEXT NOT NULL,
    rated_jobs BIGINT NOT NULL,
    rating_sum BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    -- JSON: the 50 highest ids.
    job_ids TEXT NOT NULL,
    -- Whom client and payee count for. Pairs that agree in these, kind and agent are one edge of the graph.
    client_owner TEXT NOT NULL,
    payee_owner TEXT NOT NULL,
    -- The edge's first pair. That one has what edges are sorted and filtered by; in the others it is 0 and empty.
    edge BIGINT NOT NULL,
    edge_jobs BIGINT NOT NULL,
    edge_volume TEXT NOT NULL,
    -- What the edge is counted by: `hire`, or whom an x402 payee counts for. Empty in the edge's other pairs.
    counted_by TEXT NOT NULL
);

CREATE UNIQUE INDEX network_pairs_parties ON network_pairs (kind, client, agent_id, payee);
CREATE INDEX network_pairs_edge ON network_pairs (edge);
CREATE INDEX network_pairs_client_owner ON network_pairs (client_owner);
CREATE INDEX network_pairs_payee_owner ON network_pairs (payee_owner);
CREATE INDEX network_pairs_ends ON network_pairs (kind, client_owner, agent_id, payee_owner) WHERE edge_jobs > 0;
CREATE INDEX network_pairs_largest ON network_pairs (kind, edge_volume DESC, edge_jobs DESC, id) WHERE edge_jobs > 0;
CREATE INDEX network_pairs_of_client
    ON network_pairs (kind, client_owner, edge_volume DESC, edge_jobs DESC, id) WHERE edge_jobs > 0;
CREATE INDEX network_pairs_of_agent
    ON network_pairs (kind, agent_id, edge_volume DESC, edge_jobs DESC, id) WHERE edge_jobs > 0;
{{row_counts network_pairs (counted_by)}}

-- What agents declare in their cards, in lower case. Not derived from the chain: a job copies it from the view agents_v1.
CREATE TABLE network_capabilities (
    capability TEXT NOT NULL,
    agent_id BIGINT NOT NULL,
    PRIMARY KEY (capability, agent_id)
);

CREATE INDEX network_capabilities_agent ON network_capabilities (agent_id);
