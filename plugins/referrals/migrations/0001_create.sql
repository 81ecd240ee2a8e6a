-- Claims of new agents' owners, and their payouts. Amounts are decimal texts in wei, times unix seconds, addresses checksummed.
CREATE TABLE referrals_claims (
    new_agent BIGINT NOT NULL PRIMARY KEY,
    ref_agent BIGINT NOT NULL,
    -- Who is paid: the owners at the time of the claim.
    new_owner TEXT NOT NULL,
    ref_owner TEXT NOT NULL,
    -- For each of the two.
    reward TEXT NOT NULL,
    claimed_at BIGINT NOT NULL,
    -- open, sent (both transfers are recorded) or paid (both are final). Whether an open one is eligible is computed.
    state TEXT NOT NULL,
    -- Why it was not paid when it could have been, and when that is tried again.
    reason TEXT,
    retry_at BIGINT NOT NULL,
    -- When the operator released it from the daily limit.
    released_at BIGINT,
    -- The job that it is paid for, since it is sent: a reorganisation changes them no more.
    job_id BIGINT,
    eligible_at BIGINT,
    sent_at BIGINT,
    paid_at BIGINT
);

CREATE INDEX referrals_claims_referrer ON referrals_claims (ref_agent, claimed_at, new_agent);
CREATE INDEX referrals_claims_newest ON referrals_claims (claimed_at, new_agent);
CREATE INDEX referrals_claims_state ON referrals_claims (state, retry_at);

-- The two transfers of a payout.
CREATE TABLE referrals_transfers (
    new_agent BIGINT NOT NULL,
    -- new or ref
    side TEXT NOT NULL,
    -- Counts the attempts of the operator, from 1.
    attempt BIGINT NOT NULL,
    -- Of the gateway's journal of transactions.
    intent BIGINT NOT NULL,
    -- sent, done or failed
    state TEXT NOT NULL,
    tx TEXT,
    -- 1 while its transaction is in a block.
    is_mined BIGINT NOT NULL,
    reason TEXT,
    PRIMARY KEY (new_agent, side)
);

CREATE INDEX referrals_transfers_state ON referrals_transfers (state, new_agent);

-- One row: what all payouts together are, in wei.
CREATE TABLE referrals_budget (
    id BIGINT NOT NULL PRIMARY KEY,
    spent TEXT NOT NULL
);

CREATE TABLE referrals_counters (
    name   TEXT   NOT NULL,
    key    TEXT   NOT NULL,
    period BIGINT NOT NULL,
    used   BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);

-- All that follows is derived from chain events (src/chain.rs).
CREATE TABLE referrals_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    registered_at BIGINT NOT NULL
);

CREATE TABLE referrals_jobs (
    id BIGINT NOT NULL PRIMARY KEY,
    agent_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    -- 78 digits, so that it compares like a number.
    amount TEXT NOT NULL,
    completed_block BIGINT,
    completed_at BIGINT,
    tx_completed TEXT
);

CREATE INDEX referrals_jobs_completed ON referrals_jobs (agent_id, completed_block, id);

-- Accounts that are contracts, with the owner that they were created for.
CREATE TABLE referrals_accounts (
    account TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL
);
