-- The picture of the graph, and the hash of what it shows: a job draws it again when that changes. One row.
CREATE TABLE network_pictures (
    id BIGINT NOT NULL PRIMARY KEY,
    shown TEXT NOT NULL,
    svg TEXT NOT NULL
);
