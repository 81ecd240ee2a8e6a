-- A search (`q`) finds rows by their texts.
{{search_index agents_agents (name, endpoint)}}
-- The agents that documents show; those that sell calls.
CREATE INDEX agents_agents_top
    ON agents_agents (active, paid_jobs DESC, rating_rank DESC, payers DESC, id);
CREATE INDEX agents_cards_priced ON agents_cards (agent_id) WHERE price_per_call IS NOT NULL AND price_per_call <> '0';

-- One row: what the job that probes cards found, for the status.
CREATE TABLE agents_probe_progress (
    id BIGINT NOT NULL PRIMARY KEY,
    -- Unix seconds: when it was counted.
    counted_at BIGINT NOT NULL,
    agents BIGINT NOT NULL,
    online BIGINT NOT NULL,
    probed BIGINT NOT NULL,
    oldest_s BIGINT,
    newest_s BIGINT
);
