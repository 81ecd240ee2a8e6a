-- One row: what agents and jobs of labelled addresses (the operator's own traffic) are part of the totals, which leave it out. Counted
-- from time to time, so that no request counts it.
CREATE TABLE agents_labelled (
    id BIGINT NOT NULL PRIMARY KEY,
    agents BIGINT NOT NULL,
    active BIGINT NOT NULL,
    jobs BIGINT NOT NULL,
    jobs_completed BIGINT NOT NULL,
    volume TEXT NOT NULL,
    fees TEXT NOT NULL,
    validations BIGINT NOT NULL
);
