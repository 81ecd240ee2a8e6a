CREATE TABLE hello_guests (
    id {{id}},
    address TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX hello_guests_created_at ON hello_guests (created_at);
