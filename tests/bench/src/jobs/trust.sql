-- For every `i` of the temporary table `a` an agent with a capability, and for every `i` of `n` a log about the first agent and an edge of
-- the graph. One edge of four is of x402, and one client of ten has an agent. Digits alone are their own checksum.
INSERT INTO host_chain_turn (plugin, chain, block) VALUES ('agents', 'main', -1), ('audit', 'main', -1), ('network', 'main', -1);

INSERT INTO agents_agents (id, owner, name, slug, endpoint, metadata_uri, price_per_job, bond, status, active, registered_at,
        jobs_completed, jobs_failed, rating_count, rating_sum, paid_jobs, payers, earned, rating_rank, kept)
    SELECT i, '0x' || printf('%040d', i), 'Agent ' || i, 'agent-' || i, 'https://agent' || i || '.example', '', '1', '0', 'Active', 1, i,
        1, 0, 1, 5, 1, 1, printf('%078d', i), 1, '{}'
    FROM a;
INSERT INTO agents_counts (status, agents) SELECT 'Active', count(*) FROM agents_agents;
-- The last probe is in the future, so that no probe runs during the measurement; and what cards declare is copied from here.
INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, price_per_call, last_seen_ms, kept)
    SELECT i, 'https://agent' || i || '.example', unixepoch() + 86400, 1, '{}', '', json_array('c' || (i % 50)), '0', 1, '{"card":{}}' FROM a;
INSERT INTO network_agents (id, owner, price) SELECT i, '0x' || printf('%040d', i), printf('%078d', 1) FROM a;
INSERT INTO network_capabilities (capability, agent_id) SELECT 'c' || (i % 50), i FROM a;

INSERT INTO network_pairs (id, kind, client, agent_id, payee, jobs, volume, rated_jobs, rating_sum, first_at, last_at, job_ids,
        client_owner, payee_owner, edge, edge_jobs, edge_volume, counted_by)
    SELECT i, kind, client, iif(kind = 'hire', agent, 0), iif(kind = 'hire', '', payee), jobs, volume, jobs, jobs * 4, i, i,
        iif(kind = 'hire', '[' || i || ']', '[]'), client, iif(kind = 'hire', '', payee), i, jobs, volume, iif(kind = 'hire', 'hire', payee)
    FROM (SELECT i, iif(i % 4, 'hire', 'x402') AS kind, 1 + i % agents AS agent, 1 + i % 3 AS jobs,
        printf('%078d', (i * 7919) % 1000003) AS volume, '0x' || printf('%040d', 1 + i % agents) AS payee,
        '0x' || printf('%040d', iif(i % 10, 1000000000 + i, 1 + (i + i / agents * 7) % agents)) AS client
        FROM n, (SELECT count(*) AS agents FROM a));

INSERT INTO audit_logs (block, log_index, block_hash, time_s, tx, contract, address, event, signature, topic0, agent_id, args_bytes, args)
    SELECT i, 0, hash, 1700000000 + i, hash, 'registry', '0x' || printf('%040d', 5), 'AgentUpdated',
        'AgentUpdated(uint256,string,string,uint256)', hash, 1, length(args), args
    FROM (SELECT i, '0x' || printf('%064d', i) AS hash, json_object('id', '1', 'endpoint', 'https://agent.example/' || i,
        'metadataURI', 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/' || i, 'pricePerJob', '5000000000000000000') AS args
        FROM n);
