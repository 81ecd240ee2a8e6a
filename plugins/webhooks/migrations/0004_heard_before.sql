-- 1 when an attempt before the last replay may have been heard: its number of attempts begins anew then.
ALTER TABLE webhooks_deliveries ADD COLUMN heard_before BIGINT NOT NULL DEFAULT 0;
