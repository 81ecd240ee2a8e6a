-- When the URL was probed last, 0 before; probed_at is 0 as well when the next probe is due at once.
ALTER TABLE tools_tools ADD COLUMN last_probe_at BIGINT NOT NULL DEFAULT 0;
UPDATE tools_tools SET last_probe_at = probed_at;
