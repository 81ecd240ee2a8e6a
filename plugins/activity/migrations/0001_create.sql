-- Who pinged, one row per address. Rows that are idle for a day are removed.
CREATE TABLE activity_presence (
    -- Checksummed.
    address TEXT NOT NULL PRIMARY KEY,
    status TEXT NOT NULL,
    -- Unix seconds.
    last_ping BIGINT NOT NULL,
    -- First ping of this stay, unix seconds.
    since BIGINT NOT NULL
);

CREATE INDEX activity_presence_recent ON activity_presence (last_ping DESC);
