-- Artifacts. What lists filter and sort by has columns; what answers show and no star changes is kept as JSON.
CREATE TABLE artifacts_artifacts (
    id {{id}},
    -- Checksummed address.
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    -- Unix seconds.
    created_at BIGINT NOT NULL,
    stars BIGINT NOT NULL,
    -- A JSON object: model/view.rs, `ArtifactText`.
    kept TEXT NOT NULL
);

-- One index per sort, then those of the filters.
CREATE INDEX artifacts_artifacts_new ON artifacts_artifacts (created_at DESC, id DESC);
CREATE INDEX artifacts_artifacts_stars ON artifacts_artifacts (stars DESC, id DESC);
CREATE INDEX artifacts_artifacts_kind ON artifacts_artifacts (kind, created_at DESC, id DESC);
CREATE INDEX artifacts_artifacts_owner ON artifacts_artifacts (owner, created_at DESC, id DESC);

CREATE TABLE artifacts_tags (
    tag TEXT NOT NULL,
    artifact_id BIGINT NOT NULL REFERENCES artifacts_artifacts (id),
    PRIMARY KEY (tag, artifact_id)
);

CREATE TABLE artifacts_stars (
    id {{id}},
    artifact_id BIGINT NOT NULL REFERENCES artifacts_artifacts (id),
    -- Checksummed address.
    address TEXT NOT NULL,
    -- Unix seconds.
    starred_at BIGINT NOT NULL
);

-- One star of an address for an artifact.
CREATE UNIQUE INDEX artifacts_stars_once ON artifacts_stars (artifact_id, address);
CREATE INDEX artifacts_stars_newest ON artifacts_stars (artifact_id, id DESC);
CREATE INDEX artifacts_stars_time ON artifacts_stars (starred_at, artifact_id);
