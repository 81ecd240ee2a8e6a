-- The leaderboard counts the jobs that were completed since a second.
CREATE INDEX agents_jobs_completed ON agents_jobs (status, coalesce(delivered_at, created_at));
