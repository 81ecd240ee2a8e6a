-- The limit that the URI of an anchored document names; null of the default one, and where the URI names none. And the time of the block.
ALTER TABLE aicv_anchored ADD COLUMN claim_limit BIGINT;
ALTER TABLE aicv_anchored ADD COLUMN anchored_at BIGINT NOT NULL DEFAULT 0;

CREATE INDEX aicv_anchored_limited ON aicv_anchored (anchored_at) WHERE claim_limit IS NOT NULL;

-- Issues that were replaced, of which documents of any limit can be made again. Some of each agent are kept.
CREATE TABLE aicv_earlier_issues (
    agent_id BIGINT NOT NULL,
    written_ms BIGINT NOT NULL,
    fingerprint TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    as_of_block BIGINT NOT NULL,
    as_of_block_hash TEXT NOT NULL,
    -- Size of the content, which comes last so that it is read without it.
    content_chars BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (agent_id, written_ms, fingerprint)
);

-- Anchored documents of other limits that were looked for among the issues, found or not.
CREATE TABLE aicv_anchor_lookups (
    agent_id BIGINT NOT NULL,
    document_hash TEXT NOT NULL,
    claim_limit BIGINT NOT NULL,
    PRIMARY KEY (agent_id, document_hash, claim_limit)
);
