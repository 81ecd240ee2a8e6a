-- What answers show of an agent and only the registry's events change, as a JSON object: written with every change of the
-- row, and taken back with it.
ALTER TABLE agents_agents ADD COLUMN kept TEXT NOT NULL DEFAULT '{}';
