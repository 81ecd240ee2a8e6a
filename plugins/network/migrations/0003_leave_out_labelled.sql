-- How many edges of a kind are from or to labelled addresses. Counted from time to time, so that no request counts them.
CREATE TABLE network_labelled (
    kind TEXT NOT NULL PRIMARY KEY,
    edges BIGINT NOT NULL
);
