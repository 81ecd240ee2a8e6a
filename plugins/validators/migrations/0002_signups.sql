-- New entries of the last hour by client: the limit holds over all gateways and restarts.
CREATE TABLE validators_signups (
    id {{id}},
    -- IP address.
    client TEXT NOT NULL,
    -- Unix seconds.
    at_s BIGINT NOT NULL
);

CREATE INDEX validators_signups_client ON validators_signups (client, at_s);
CREATE INDEX validators_signups_time ON validators_signups (at_s);
