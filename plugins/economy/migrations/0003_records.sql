-- Which transactions closed a case and created a plan, for agents' records. The index reads the chain again.
ALTER TABLE economy_disputes ADD COLUMN tx_closed TEXT;
ALTER TABLE economy_plans ADD COLUMN tx_created TEXT NOT NULL DEFAULT '';
CREATE INDEX economy_jobs_agent ON economy_jobs (agent_id, id);
