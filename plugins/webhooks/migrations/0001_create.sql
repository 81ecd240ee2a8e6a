-- Times are unix seconds, addresses checksummed. Secrets open with the gateway's secrets key only, and for their own row only.
CREATE TABLE webhooks_endpoints (
    id {{id}},
    owner TEXT NOT NULL,
    url TEXT NOT NULL,
    -- JSON array of event names.
    events TEXT NOT NULL,
    active BIGINT NOT NULL,
    -- The first four characters of the secret.
    secret_hint TEXT NOT NULL,
    -- Tells which of the gateway's keys sealed the secrets.
    key_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The last time that its owner switched it on.
    active_since BIGINT NOT NULL,
    last_success_at BIGINT,
    -- Failed attempts since the last success, the number of days (UTC) on which there were some, and the last of these days.
    failures BIGINT NOT NULL,
    failure_days BIGINT NOT NULL,
    last_failure_day BIGINT NOT NULL,
    -- Set when the gateway switched it off.
    disabled_at BIGINT,
    disabled_reason TEXT,
    -- Until then the secret of before signs, too.
    old_secret_until BIGINT,
    sealed_secret {{blob}} NOT NULL,
    sealed_old_secret {{blob}}
);

CREATE UNIQUE INDEX webhooks_endpoints_url ON webhooks_endpoints (owner, url);
CREATE INDEX webhooks_endpoints_key_id ON webhooks_endpoints (key_id);
CREATE INDEX webhooks_endpoints_old_secret ON webhooks_endpoints (old_secret_until);
CREATE INDEX webhooks_endpoints_active ON webhooks_endpoints (active);

-- One row for each event and webhook. It stays for a while when it is finished.
CREATE TABLE webhooks_deliveries (
    id {{id}},
    webhook_id BIGINT NOT NULL,
    owner TEXT NOT NULL,
    event TEXT NOT NULL,
    -- `id` of the body, the same in every attempt.
    event_id TEXT NOT NULL,
    -- Position of the event in the activity log; none for a ping.
    activity_id BIGINT,
    -- Tells apart deliveries of one event to one webhook: 0 but for chain.retracted.
    part BIGINT NOT NULL,
    -- pending, ok or failed
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    last_status BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    -- Position of the event that retracts this one.
    retracted_by BIGINT,
    -- 1 while its owner has it sent again.
    replayed BIGINT NOT NULL,
    -- `data` of the body, as JSON.
    data TEXT NOT NULL
);

CREATE UNIQUE INDEX webhooks_deliveries_activity ON webhooks_deliveries (activity_id, webhook_id, part);
CREATE INDEX webhooks_deliveries_owner ON webhooks_deliveries (owner, id);
CREATE INDEX webhooks_deliveries_webhook ON webhooks_deliveries (webhook_id, status, id);
CREATE INDEX webhooks_deliveries_finished ON webhooks_deliveries (status, finished_at);

-- Tests of a minute and replays of a day: see plugin_api::counter.
CREATE TABLE webhooks_counters (
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    period BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (name, key, period)
);

{{queue webhooks_queue}}
