-- As payloads_v1, with the bytes: for plugins that show what a payload holds.
CREATE VIEW payloads_v2 AS
    SELECT hash, size, content_type, created_at, bytes FROM payloads_payloads WHERE given_up_at IS NULL;
