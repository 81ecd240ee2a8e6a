-- The public numbers are sums of these counts.
ALTER TABLE validators_entries ADD COLUMN is_signed BIGINT NOT NULL DEFAULT 0;
UPDATE validators_entries SET is_signed = 1 WHERE signed_at IS NOT NULL;
{{row_counts validators_entries (platform, seats, is_signed)}}
