//! Every change is undone with its block, and the same blocks in another order of arrival give the same graph.

use super::{Site, account_created, agent, each, job, priced, settled};
use crate::script::{account, requested_by, resolved, transferred};

async fn derived(site: &Site) -> String {
    let tables = [
        "network_agents ORDER BY id",
        "network_accounts ORDER BY account",
        "network_jobs ORDER BY id",
        "network_pairs ORDER BY id",
        "network_pairs_counts WHERE row_count > 0 ORDER BY counted_by",
    ];
    let mut all = String::new();
    for table in tables {
        all += &site.gateway.rows(&format!("SELECT * FROM {table}")).await.join("\n");
    }
    all
}

#[tokio::test]
async fn every_event_is_undone() {
    let before = [
        agent(1, 11),
        agent(2, 12),
        job(1, 1, 50, "5", 4),
        job(2, 1, 60, "6", 0),
        vec![settled(50, 61, "7", 1), settled(50, 12, "8", 2), requested_by(3, 2, &account(50), "9", "")],
    ];
    each(before.concat(), async |site| {
        let (rows, graph) = (derived(site).await, site.graph("").await);
        for logs in [
            agent(3, 12),
            vec![transferred(1, 11, 12)],
            vec![priced(1, "9")],
            vec![requested_by(4, 1, &account(50), "1", "")],
            job(4, 1, 50, "1", 5),
            job(4, 2, 51, "1", 5),
            vec![resolved(3, "1", "2")],
            vec![settled(50, 12, "1", 3)],
            vec![settled(52, 11, "1", 3)],
            // Merges two edges, and a third later on.
            vec![account_created(50, 60), account_created(12, 61)],
            [vec![account_created(50, 60)], job(4, 1, 60, "1", 5)].concat(),
        ] {
            site.mine(logs.clone()).await;
            assert_ne!(derived(site).await, rows, "{logs:?}");
            site.chain.reorg(1);
            site.chain.mine_empty(2);
            site.gateway.indexed(&site.chain).await;
            assert_eq!(derived(site).await, rows, "{logs:?}");
            assert_eq!(site.graph("").await, graph, "{logs:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn one_block_or_many_make_the_same_rows() {
    let blocks = [
        agent(1, 11),
        job(1, 1, 60, "5", 4),
        vec![settled(60, 61, "7", 1), settled(50, 11, "7", 2)],
        vec![account_created(50, 60)],
        job(2, 1, 50, "6", 5),
        vec![account_created(11, 61)],
        job(3, 1, 60, "1", 1),
    ];
    each(Vec::new(), async |site| {
        for logs in &blocks {
            site.mine(logs.clone()).await;
        }
        let (edges, shape) = (
            site.edges("").await,
            "SELECT id, edge, edge_jobs, edge_volume, counted_by FROM network_pairs ORDER BY id",
        );
        assert_eq!(edges, ["x402 50>1 2 14", "hire 50>1 3 12"]);
        let rows = site.gateway.rows(shape).await;
        let depth = u64::try_from(blocks.len()).unwrap();
        site.chain.reorg(depth);
        site.chain.mine(blocks.concat());
        site.chain.mine_empty(depth);
        site.gateway.indexed(&site.chain).await;
        assert_eq!((site.edges("").await, site.gateway.rows(shape).await), (edges, rows));
    })
    .await;
}
