-- Times are unix seconds, hashes 0x and 64 lower-case hex digits.

-- What the credential of an agent says now, and since when: all gateways make their documents of this row.
CREATE TABLE aicv_issues (
    agent_id BIGINT NOT NULL PRIMARY KEY,
    -- Of the content without what probes count.
    fingerprint TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    -- When it was last written, in milliseconds: a build that has read an earlier row does not replace it.
    written_ms BIGINT NOT NULL,
    as_of_block BIGINT NOT NULL,
    as_of_block_hash TEXT NOT NULL,
    -- JSON.
    content TEXT NOT NULL
);

-- Issued documents with the default limit. Some of each agent are kept, and those that are anchored.
CREATE TABLE aicv_documents (
    agent_id BIGINT NOT NULL,
    document_hash TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    -- The JSON as it was issued.
    document TEXT NOT NULL,
    PRIMARY KEY (agent_id, document_hash)
);

CREATE INDEX aicv_documents_age ON aicv_documents (agent_id, issued_at);

-- Derived from chain events, and written by them only: endorsements of agents by agents.
CREATE TABLE aicv_endorsements (
    id BIGINT NOT NULL PRIMARY KEY,
    from_agent_id BIGINT NOT NULL,
    -- The owner of that agent then.
    endorser TEXT,
    to_agent_id BIGINT NOT NULL,
    capability TEXT NOT NULL,
    -- 0 unbacked, 1 paid, 2 related.
    basis BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    evidence_job_id BIGINT NOT NULL,
    evidence_amount TEXT NOT NULL,
    uri TEXT NOT NULL,
    tx TEXT NOT NULL,
    endorsed_at BIGINT NOT NULL,
    revoked BIGINT NOT NULL
);

CREATE INDEX aicv_endorsements_to ON aicv_endorsements (to_agent_id, id);

-- Derived as well: agents and who owns them.
CREATE TABLE aicv_agents (
    id BIGINT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL
);

-- Derived as well: hashes of documents that owners put under the metadata key `cv`, the earlier ones too.
CREATE TABLE aicv_anchored (
    agent_id BIGINT NOT NULL,
    document_hash TEXT NOT NULL,
    PRIMARY KEY (agent_id, document_hash)
);
{{row_counts aicv_endorsements (revoked)}}
{{row_counts aicv_issues ()}}
{{row_counts aicv_documents ()}}
