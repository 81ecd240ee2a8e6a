-- The registry numbers its agents one after the other, so the newest one has the highest id.
DROP INDEX agents_agents_newest;
DROP INDEX agents_agents_status_newest;
CREATE INDEX agents_agents_status_id ON agents_agents (status, id DESC);
