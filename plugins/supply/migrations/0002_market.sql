-- What pools said at the block of the last snapshot at which they could be read, in the row with the id 1, as JSON.
CREATE TABLE supply_market (
    id BIGINT NOT NULL PRIMARY KEY,
    read_at_ms BIGINT NOT NULL,
    reading TEXT NOT NULL
);
