-- The read contract for other plugins (README.md). Never changed: a new shape is a new version beside this one.
CREATE VIEW agents_v1 AS
    SELECT a.id AS agent_id, a.owner, a.name, a.slug, a.endpoint, a.metadata_uri, a.price_per_job, a.bond, a.status,
        a.registered_at, a.jobs_completed, a.jobs_failed, a.rating_count, a.rating_sum, a.paid_jobs, a.payers,
        coalesce(nullif(ltrim(a.earned, '0'), ''), '0') AS earned, c.card, c.description, c.capabilities, c.model,
        c.image, c.price_per_call, coalesce(c.online, 0) * a.active AS online, c.last_seen_ms
    FROM agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint;

CREATE VIEW jobs_v1 AS
    SELECT j.id AS job_id, j.agent_id, a.name AS agent_name, a.owner AS agent_owner, j.client, j.amount, j.input_hash,
        j.input_uri, j.output_hash, j.output_uri, j.status, j.created_at, j.delivered_at, j.closed_at, j.rating,
        j.by_agent, j.agent_payout, j.client_amount, j.fee, j.tx_requested, j.tx_delivered, j.tx_closed
    FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id;

CREATE VIEW validations_v1 AS
    SELECT request_hash, validator, agent_id, job_id, request_uri, requested_at, tx_request, response, response_uri, tag,
        responded_at, tx_response
    FROM agents_validations;

CREATE VIEW feedback_v1 AS
    SELECT agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, feedback_uri, feedback_hash,
        given_at, tx, revoked
    FROM agents_feedback;
