-- One row of each kind for every `i` of the temporary table `n`, which are well-formed, so that every answer can be made of them.
-- Most of what can be finished is: one bounty, job and challenge of a hundred is open.
INSERT INTO host_chain_turn (plugin, chain, block) VALUES
    ('agents', 'main', -1), ('arena', 'main', -1), ('bounties', 'main', -1), ('economy', 'main', -1);

INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt, kept)
    SELECT 'Thread ' || i, '["t' || (i % 50) || '"]', wallet, i, i, 2, i % 7, 'text ' || i,
        json_object('title', 'Thread ' || i, 'tags', json_array('t' || (i % 50)), 'createdAt', i, 'excerpt', 'text ' || i)
    FROM n;
INSERT INTO forum_thread_tags (tag, thread_id) SELECT 't' || id % 50, id FROM forum_threads;
INSERT INTO forum_posts (thread_id, author, body, created_at) SELECT i, wallet, 'opening of ' || i, i FROM n;
INSERT INTO forum_posts (thread_id, author, body, created_at) SELECT i, wallet, 'reply to ' || i, i FROM n;

INSERT INTO artifacts_artifacts (owner, name, description, kind, url, created_at, stars, kept)
    SELECT wallet, 'Artifact ' || i, 'data ' || i, 'dataset', 'https://a.example/' || i, i, i % 9,
        json_object('name', 'Artifact ' || i, 'description', '', 'license', '', 'kind', 'dataset', 'tags', json_array(), 'createdAt', i)
    FROM n;
INSERT INTO artifacts_tags (tag, artifact_id) SELECT 't' || id % 50, id FROM artifacts_artifacts;
INSERT INTO artifacts_stars (artifact_id, address, starred_at) SELECT i, wallet, i FROM n;

INSERT INTO tools_tools (owner, name, kind, url, description, gpu, vram_gb, price_key, region, created_at, updated_at, online,
        probed_at, seen_at, kept, kept_compute, last_probe_at)
    SELECT wallet, 'Tool ' || i, iif(i % 10, 'mcp', 'compute'), 'https://t.example/' || i, 'does ' || i, 'H100', 80.0,
        printf('%078d', i), 'eu', i, i, i % 2, now, now, spec,
        iif(i % 10, NULL, json_patch(spec, '{"gpu":"H100","vramGb":80,"pricePerSecond":"5","region":"eu","endpoint":"https://t.example"}')), now
    FROM (SELECT i, wallet, unixepoch() AS now, json_object('name', 'Tool ' || i, 'kind', iif(i % 10, 'mcp', 'compute'),
        'url', 'https://t.example/' || i, 'description', 'does ' || i, 'createdAt', i, 'updatedAt', i,
        'compute', json('{"gpu":"H100","vramGb":80,"pricePerSecond":"5","region":"eu","endpoint":"https://t.example"}')) AS spec
        FROM n);

INSERT INTO messages_messages (sender, recipient, subject, body, created_at) SELECT wallet, wallet, '', 'text', i FROM n;

INSERT INTO agents_agents (id, owner, name, slug, endpoint, metadata_uri, price_per_job, bond, status, active, registered_at,
        jobs_completed, jobs_failed, rating_count, rating_sum, paid_jobs, payers, earned, rating_rank, kept)
    SELECT i, wallet, 'Agent ' || i, 'agent-' || i, 'https://agent' || i || '.example', '', '1', '0', 'Active', 1, i, 1, 0, 1, i % 5,
        i % 100, i % 90, printf('%078d', i), i % 1000,
        json_object('id', i, 'owner', wallet, 'name', 'Agent ' || i, 'endpoint', 'https://agent.example', 'metadataURI', '',
            'pricePerJob', '1', 'bond', '0', 'status', 'Active', 'registeredAt', i, 'jobsCompleted', 1, 'jobsFailed', 0,
            'ratingCount', 1, 'ratingSum', i % 5, 'ratingAvg', i % 5)
    FROM n;
INSERT INTO agents_counts (status, agents) SELECT 'Active', count(*) FROM agents_agents;
INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, price_per_call, last_seen_ms, kept)
    SELECT i, 'https://agent' || i || '.example', unixepoch(), 1, '{}', 'text', '[]', iif(i % 100, '0', '5'), 1, '{"card":{}}' FROM n;
INSERT INTO agents_jobs (id, agent_id, client, amount, input_hash, input_uri, status, created_at, delivered_at, closed_at,
        rating, tx_requested)
    SELECT i, i, wallet, '1', hash, 'fmx://bounty/' || i, iif(i % 100, 'Completed', 'Open'), i, i, iif(i % 100, i, NULL), 5, hash FROM n;
INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations)
    SELECT 1, count(*), count(*), '1', '1', 0 FROM agents_jobs;

INSERT INTO bounties_bounties (poster, title, brief, tags, summary, reward, deadline_order, created_at, updated_at, awarded_agent,
        awarded_job, awarded_at, is_settled, is_taken, active_order, kept)
    SELECT wallet, 'Bounty ' || i, 'brief of ' || i, '[]', 'brief', printf('%078d', i), 9223372036854775807, i, i,
        iif(i % 100, i, NULL), iif(i % 100, i, NULL), iif(i % 100, i, NULL), iif(i % 100, 1, 0), iif(i % 100, 1, 0), i,
        json_object('title', 'Bounty ' || i, 'brief', 'brief of ' || i, 'rewardWei', '1', 'tags', json_array(), 'createdAt', i)
    FROM n;
INSERT INTO bounties_tags (tag, bounty_id) SELECT 't' || id % 50, id FROM bounties_bounties;
INSERT INTO bounties_claims (bounty_id, agent_id, claimer, pitch, created_at, updated_at) SELECT i, i, wallet, 'I do', i, i FROM n;
INSERT INTO bounties_jobs (job_id, bounty_id) SELECT i, iif(i % 100, i, NULL) FROM n;
UPDATE bounties_progress SET cited_up_to = (SELECT max(job_id) - 100 FROM bounties_jobs);

INSERT INTO arena_challenges (creator, title, brief, rules, prize, tags, created_at, ends_at, closed_at, submissions, votes)
    SELECT wallet, 'Challenge ' || i, 'brief of ' || i, '', '1', '[]', i, iif(i % 100, i, unixepoch() + 1000000 + i),
        iif(i % 100, i, NULL), 1, 0
    FROM n;
INSERT INTO arena_tags (tag, challenge_id) SELECT 't' || id % 50, id FROM arena_challenges;
INSERT INTO arena_submissions (challenge_id, submitter, note, created_at, votes, weight_sum, points, url)
    SELECT i, wallet, '', i, 0, 0, 0, 'https://s.example' FROM n;

INSERT INTO validators_entries (address, platform, seats, consent, created_at) SELECT wallet, 'linux', 1 + i % 10, 0, i FROM n;

INSERT INTO kb_pages (slug, title, rev, created_by, updated_by, created_at, updated_at, words, kept)
    SELECT 'page-' || i, 'Page ' || i, 1, wallet, wallet, i, i, 4,
        json_object('slug', 'page-' || i, 'title', 'Page ' || i, 'summary', '', 'rev', 1, 'createdAt', i, 'updatedAt', i, 'bytes', 9)
    FROM n;
INSERT INTO kb_revisions (page_id, rev, author, created_at, body, kept)
    SELECT id, 1, created_by, created_at, 'body ' || id, kept FROM kb_pages;
INSERT INTO kb_search (rowid, title, summary, body) SELECT id, 'page ' || id, '', 'body ' || id FROM kb_pages;
UPDATE kb_totals SET pages = (SELECT count(*) FROM kb_pages), words = 4 * (SELECT count(*) FROM kb_pages);

INSERT INTO economy_streams (id, payer, payee, rate_per_sec, deposit, claimed, start_s, stop_s, cancelled, tx_opened, updated_at_block)
    SELECT i, wallet, wallet, '1', '1', '0', i, i, iif(i % 100, 1, 0), hash, i FROM n;
INSERT INTO economy_plans (id, payee, price_per_period, period_s, active, metadata_uri, created_at, updated_at_block)
    SELECT i, wallet, '1', 60, i % 2, '', i, i FROM n;
INSERT INTO economy_subs (id, plan_id, payer, paid_through_s, cancelled, created_at, updated_at_block)
    SELECT i, i, wallet, unixepoch() + i, iif(i % 100, 1, 0), i, i FROM n;
INSERT INTO economy_disputes (id, job_id, opener, evidence_uri, opened_at, votes, closed, result, closed_at, tx_opened, updated_at_block)
    SELECT i, i, wallet, '', i, 0, iif(i % 100, 1, 0), 0, i, hash, i FROM n;
INSERT INTO economy_evidence (id, case_id, submitter, uri, submitted_at, tx_hash) SELECT i, i, wallet, '', i, hash FROM n;
INSERT INTO economy_tokens (token, nth, agent_id, symbol, launched_at, buys, sells, fmx_in, fmx_out, distributed, tx_launched)
    SELECT wallet, i, i, 'T' || i, i, 0, 0, '0', '0', '0', hash FROM n;
INSERT INTO economy_accounts (account, nth, owner, created_at, tx_hash) SELECT wallet, i, wallet, i, hash FROM n;
INSERT INTO economy_agents (id, owner, name) SELECT i, wallet, 'Agent ' || i FROM n;
INSERT INTO economy_jobs (id, agent_id, client) SELECT i, i, wallet FROM n;

INSERT INTO payloads_payloads (hash, size, content_type, created_at, named_at, bytes) SELECT hash, 1, 'text/plain', i, unixepoch(), x'61' FROM n;
UPDATE payloads_totals SET payloads = (SELECT count(*) FROM payloads_payloads), bytes = 1;

INSERT INTO activity_presence (address, status, last_ping, since) SELECT wallet, '', i, i FROM n;
INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data)
    SELECT 'thread.create', i, wallet, 'thread', i, json_object('threadId', i, 'title', 'Thread ' || i, 'tags', json_array()) FROM n;

DELETE FROM host_chain_turn;
