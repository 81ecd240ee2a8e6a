-- Bounties, as their posters wrote them. What became of the escrow job is not stored: it follows from the chain (store/state.rs).
CREATE TABLE bounties_bounties (
    id {{id}},
    -- Checksummed address.
    poster TEXT NOT NULL,
    title TEXT NOT NULL,
    -- Markdown, as it was sent.
    brief TEXT NOT NULL,
    -- JSON array; bounties_tags holds the same for the filter.
    tags TEXT NOT NULL,
    -- The beginning of the brief, for lists of work.
    summary TEXT NOT NULL,
    -- 78 digits, so that it sorts like the number of wei.
    reward TEXT NOT NULL,
    -- Unix seconds, as all times here.
    deadline BIGINT,
    -- The deadline, or the largest number when there is none.
    deadline_order BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The last time that somebody wrote.
    updated_at BIGINT NOT NULL,
    -- The poster's own award, with the job that the poster named.
    awarded_agent BIGINT,
    awarded_job BIGINT,
    awarded_at BIGINT,
    -- What answers show of it and never changes, as the JSON object that they are made of.
    kept TEXT NOT NULL
);

-- One index per sort that stored rows answer.
CREATE INDEX bounties_bounties_new ON bounties_bounties (created_at DESC, id DESC);
CREATE INDEX bounties_bounties_reward ON bounties_bounties (reward DESC, id DESC);
CREATE INDEX bounties_bounties_deadline ON bounties_bounties (deadline_order, id DESC);
CREATE INDEX bounties_bounties_poster ON bounties_bounties (poster, created_at DESC, id DESC);
CREATE INDEX bounties_bounties_awarded_job ON bounties_bounties (awarded_job);

CREATE TABLE bounties_tags (
    tag TEXT NOT NULL,
    bounty_id BIGINT NOT NULL REFERENCES bounties_bounties (id),
    PRIMARY KEY (tag, bounty_id)
);

CREATE TABLE bounties_claims (
    id {{id}},
    bounty_id BIGINT NOT NULL REFERENCES bounties_bounties (id),
    agent_id BIGINT NOT NULL,
    -- Who owned the agent when it was claimed last.
    claimer TEXT NOT NULL,
    pitch TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (bounty_id, agent_id)
);

-- Derived from chain events, and written by them only: which bounty the input of a job cites, if any. Every job has a row, so
-- that it is known how far this index is.
CREATE TABLE bounties_jobs (
    job_id BIGINT NOT NULL PRIMARY KEY,
    bounty_id BIGINT
);

CREATE INDEX bounties_jobs_bounty ON bounties_jobs (bounty_id, job_id);

-- The last event about a job whose effect on bounties was published: one row.
CREATE TABLE bounties_progress (
    id BIGINT NOT NULL PRIMARY KEY,
    event_id BIGINT NOT NULL
);

INSERT INTO bounties_progress (id, event_id) VALUES (1, 0);
