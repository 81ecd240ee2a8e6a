-- Unpaid calls for open jobs that nobody signed: how many there were, and until when one is taken to wait for its answer.
CREATE TABLE a2a_job_calls (
    job_id BIGINT NOT NULL PRIMARY KEY,
    calls BIGINT NOT NULL,
    -- Unix seconds; 0 when none waits.
    in_flight_until BIGINT NOT NULL,
    -- Of the last call that the job's client signed: it is older than the next one.
    signed_ts BIGINT NOT NULL
);
