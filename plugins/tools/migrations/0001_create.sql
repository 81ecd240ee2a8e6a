-- Tools, those of the kind compute with what they rent.
CREATE TABLE tools_tools (
    id {{id}},
    -- Checksummed address.
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    -- mcp, http, a2a or compute.
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    -- Of compute only. The price per second is 78 digits, which sort like the number.
    gpu TEXT,
    vram_gb DOUBLE PRECISION,
    price_key TEXT,
    region TEXT,
    -- Unix seconds.
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Outcome of the last probe.
    online BIGINT NOT NULL,
    -- Unix seconds of the last probe of this URL and of the last good one, 0 before.
    probed_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    -- What answers show and only a write changes, as the JSON object that they are made of; with the members of `compute` once
    -- more at the top for the list of compute.
    kept TEXT NOT NULL,
    kept_compute TEXT,
    UNIQUE (owner, name)
);

CREATE INDEX tools_tools_listed ON tools_tools (online DESC, updated_at DESC, id DESC);
CREATE INDEX tools_tools_kind ON tools_tools (kind, online DESC, updated_at DESC, id DESC);
CREATE INDEX tools_tools_probed ON tools_tools (probed_at, id);
