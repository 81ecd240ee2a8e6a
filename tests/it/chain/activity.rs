//! When chain events become public.

use super::{builders, close, moved, opened, published, started};
use plugin_testing::ScriptedChain;

#[tokio::test]
async fn an_event_is_public_when_its_block_is_three_deep() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let block = chain.mine(vec![moved(1, "1")]);
        chain.mine_empty(2);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await, [], "two blocks on top are not enough");
        chain.mine_empty(1);
        gateway.indexed(&chain).await;
        let events = published(&gateway).await;
        assert_eq!(events.iter().map(|(block, _)| *block).collect::<Vec<_>>(), [block]);
        let event = gateway.events().await.remove(0);
        assert_eq!(event.ts, 1_767_225_600 + 7 * i64::try_from(block).unwrap(), "the block's time");
        chain.reorg(4);
        close(gateway).await;
    }
}

#[tokio::test]
async fn what_a_branch_held_back_is_never_public() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        chain.mine(vec![moved(1, "1")]);
        chain.mine_empty(2);
        gateway.indexed(&chain).await;
        let gateway = gateway.restart().await;
        chain.reorg(3);
        let block = chain.mine(vec![moved(1, "2")]);
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        let amounts: Vec<_> = gateway.events().await.into_iter().map(|event| event.data["amount"].clone()).collect();
        assert_eq!(amounts, ["2"]);
        assert_eq!(published(&gateway).await[0].0, block);
        chain.reorg(6);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_public_event_does_not_become_public_again() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1)]);
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let same = || vec![moved(1, "1").in_transaction("twice"), moved(1, "2").in_transaction("twice")];
        chain.mine(same());
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await.len(), 2);
        chain.reorg(6);
        chain.mine(vec![opened(3)]);
        chain.mine([vec![opened(2)], same()].concat());
        chain.mine_empty(5);
        gateway.indexed(&chain).await;
        assert_eq!(published(&gateway).await.len(), 2, "the same transaction, deeper than the confirmations");
        let gateway = reindexed(gateway, &chain).await;
        assert_eq!(published(&gateway).await.len(), 2, "nor by a new index");
        chain.reorg(7);
        close(gateway).await;
    }
}

async fn reindexed(gateway: plugin_testing::TestGateway, chain: &ScriptedChain) -> plugin_testing::TestGateway {
    gateway.gateway().plugins.operate(gateway::lifecycle::Action::Reindex, "ledger", "test").await.unwrap();
    let gateway = gateway.restart().await;
    gateway.indexed(chain).await;
    gateway
}

#[tokio::test]
async fn the_past_is_public_in_its_order() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![opened(1), opened(2)]);
    (0..150u64).for_each(|block| {
        chain.mine(vec![moved(1 + block % 2, "1")]);
    });
    for builder in builders(&chain).await {
        let gateway = started(builder, &chain).await;
        let blocks: Vec<u64> = published(&gateway).await.into_iter().map(|(block, _)| block).collect();
        assert_eq!(blocks, (2..=148).collect::<Vec<_>>());
        close(gateway).await;
    }
}
