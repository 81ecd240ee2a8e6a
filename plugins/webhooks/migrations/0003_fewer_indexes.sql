-- Each delivery pays for every index. What an owner sees is in the order of webhooks_deliveries_owner_time, too; what waits is counted by
-- its tasks.
DROP INDEX webhooks_deliveries_owner;
DROP INDEX webhooks_deliveries_finished;
CREATE INDEX webhooks_deliveries_finished ON webhooks_deliveries (status, finished_at) WHERE finished_at IS NOT NULL;
