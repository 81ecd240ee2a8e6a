-- Times are unix seconds, addresses checksummed, amounts decimal texts in wei.
CREATE TABLE arena_challenges (
    id {{id}},
    creator TEXT NOT NULL,
    title TEXT NOT NULL,
    brief TEXT NOT NULL,
    rules TEXT NOT NULL,
    prize TEXT NOT NULL,
    -- JSON array, as it is answered; arena_tags holds the same for the filter.
    tags TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    -- Equals ends_at from the first read after it; NULL before.
    closed_at BIGINT,
    winner_id BIGINT,
    submissions BIGINT NOT NULL,
    votes BIGINT NOT NULL,
    -- What the creator signed, if anything.
    award_agent BIGINT,
    award_job BIGINT,
    awarded_at BIGINT,
    -- The job whose award by citation was published.
    announced_job BIGINT
);

-- Open ones by deadline, also those whose time is over; then those of the leaderboard and of the work feed.
CREATE INDEX arena_challenges_deadline ON arena_challenges (closed_at, ends_at, id DESC);
CREATE INDEX arena_challenges_winner ON arena_challenges (winner_id);
CREATE INDEX arena_challenges_new ON arena_challenges (created_at DESC, id DESC);

CREATE TABLE arena_tags (
    tag TEXT NOT NULL,
    challenge_id BIGINT NOT NULL REFERENCES arena_challenges (id),
    PRIMARY KEY (tag, challenge_id)
);

CREATE TABLE arena_submissions (
    id {{id}},
    challenge_id BIGINT NOT NULL REFERENCES arena_challenges (id),
    submitter TEXT NOT NULL,
    agent_id BIGINT,
    payload_hash TEXT,
    url TEXT,
    note TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Sums over arena_votes: how many, their weights, score times weight.
    votes BIGINT NOT NULL,
    weight_sum BIGINT NOT NULL,
    points BIGINT NOT NULL
);

CREATE UNIQUE INDEX arena_submissions_once ON arena_submissions (challenge_id, submitter);
-- The ranking. Of equal points, fewer weights are the higher mean.
CREATE INDEX arena_submissions_rank
    ON arena_submissions (challenge_id, points DESC, weight_sum, votes DESC, created_at, id);

CREATE TABLE arena_votes (
    submission_id BIGINT NOT NULL REFERENCES arena_submissions (id),
    voter TEXT NOT NULL,
    challenge_id BIGINT NOT NULL,
    -- 1 to 10.
    score BIGINT NOT NULL,
    -- 2 when the voter owned an active agent at the time of the vote, else 1.
    weight BIGINT NOT NULL,
    voted_at BIGINT NOT NULL,
    PRIMARY KEY (submission_id, voter)
);

CREATE INDEX arena_votes_voter ON arena_votes (challenge_id, voter);

-- Derived from chain events, and written by them only: escrow jobs whose input cites a challenge.
CREATE TABLE arena_links (
    job_id BIGINT NOT NULL PRIMARY KEY,
    challenge_id BIGINT NOT NULL,
    client TEXT NOT NULL,
    agent_id BIGINT NOT NULL,
    requested_at BIGINT NOT NULL
);

CREATE INDEX arena_links_challenge ON arena_links (challenge_id, client, job_id);
