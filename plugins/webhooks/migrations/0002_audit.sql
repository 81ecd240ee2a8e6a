-- The deliveries of an owner in the order of audit exports.
CREATE INDEX webhooks_deliveries_owner_time ON webhooks_deliveries (owner, created_at, id);
