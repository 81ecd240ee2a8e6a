-- Base fees burned from genesis up to and with a block: one row for each step of the count, the newest ones only.
CREATE TABLE supply_burns (
    -- Where the count began, as the configuration says: block and wei.
    origin TEXT NOT NULL,
    block BIGINT NOT NULL,
    hash TEXT NOT NULL,
    burned_wei TEXT NOT NULL,
    PRIMARY KEY (origin, block)
);

-- The last complete snapshot, in the row with the id 1: the record of GET /api/supply as JSON. A later migration that changes
-- the record deletes the row; the job writes it again.
CREATE TABLE supply_snapshots (
    id BIGINT NOT NULL PRIMARY KEY,
    computed_at_ms BIGINT NOT NULL,
    snapshot TEXT NOT NULL
);
