-- How many tools there are of each kind, online and not: lists and status count nothing.
{{row_counts tools_tools (kind, online)}}
-- Tools that wait for a probe, by the time since when; the time of the latest probe; the newest compute.
CREATE INDEX tools_tools_waiting ON tools_tools (updated_at) WHERE probed_at = 0;
CREATE INDEX tools_tools_last_probe ON tools_tools (last_probe_at);
CREATE INDEX tools_tools_offers ON tools_tools (created_at DESC, id DESC) WHERE kept_compute IS NOT NULL;
