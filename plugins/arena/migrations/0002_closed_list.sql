-- The order of the list of closed challenges: one that a job closed early has another closed_at.
CREATE INDEX arena_challenges_ends ON arena_challenges (ends_at DESC, id DESC);
