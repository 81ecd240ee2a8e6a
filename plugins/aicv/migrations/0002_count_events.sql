-- Events of the activity log up to the cursor, by actor and type, also those that were retracted since.
CREATE TABLE aicv_event_counts (
    actor TEXT NOT NULL,
    type TEXT NOT NULL,
    event_count BIGINT NOT NULL,
    PRIMARY KEY (actor, type)
);

-- The last event that is counted. One row.
CREATE TABLE aicv_event_cursor (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    event_id BIGINT NOT NULL
);
INSERT INTO aicv_event_cursor (id, event_id) VALUES (1, 0);
