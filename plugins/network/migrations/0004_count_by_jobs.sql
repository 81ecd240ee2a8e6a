-- How many edges have at least so many jobs.
CREATE INDEX network_pairs_jobs ON network_pairs (counted_by, edge_jobs, id) WHERE edge_jobs > 0;
