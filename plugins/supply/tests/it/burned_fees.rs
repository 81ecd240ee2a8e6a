//! Counting burned base fees: in steps, through restarts, reorganisations and servers that give less than they are asked for.

use crate::fixture::{ROUND, config, counted, each, prepared, taken};
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value, json};
use std::time::Duration;

fn burned(supply: &Value) -> u128 {
    supply["components"]["burnedBaseFees"]["wei"].as_str().unwrap().parse().unwrap()
}

/// Every third of these blocks burned something; returns the sum.
fn mine_some(chain: &ScriptedChain, count: u64) -> u128 {
    let mut sum = 0;
    for place in 0..count {
        if place.is_multiple_of(3) {
            let number = chain.mine_fees(21_000 + place, 1_000_000_000 + u128::from(place));
            sum += u128::from(21_000 + place) * (1_000_000_000 + u128::from(place));
            assert_eq!(number, chain.head());
        } else {
            chain.mine_empty(1);
        }
    }
    sum
}

#[tokio::test]
async fn a_long_count_goes_on_where_a_restart_interrupted_it() {
    each(config(), async |chain, gateway| {
        // More than three steps by blocks, and more by headers: every step has at most 256 of these.
        let sum = mine_some(chain, 1_500);
        chain.mine_empty(64);
        // A step takes some 260 requests, beside those by which the gateway looks for new blocks.
        while counted(&gateway).await.is_empty() {
            chain.fail_after(450, Fault::Status(503));
            gateway.clock().advance(ROUND).await;
            for _ in 0..200 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                if !counted(&gateway).await.is_empty() {
                    break;
                }
            }
        }
        let before = counted(&gateway).await;
        assert!(!before.contains(&"Int(1500)".to_owned()), "it was interrupted: {before:?}");
        let gateway = gateway.restart().await;
        chain.fail_always(None);
        let asked = chain.calls().len();
        let supply = taken(&gateway, chain).await;
        assert_eq!((burned(&supply), &supply["asOfBlock"]), (sum, &json!(1_500)));
        let after = counted(&gateway).await;
        assert!(after.starts_with(&before), "{before:?} {after:?}");
        let headers = chain
            .calls()
            .split_off(asked)
            .iter()
            .filter(|call| call.method == "eth_getBlockByNumber" && call.params[0] == "0x4")
            .count();
        assert_eq!(headers, 0, "what was counted is not read again");
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_server_that_gives_few_blocks_is_asked_for_fewer() {
    each(config(), async |chain, gateway| {
        // More steps than one run takes.
        let sum = mine_some(chain, 130);
        chain.mine_empty(64);
        chain.fail_always(Some(Fault::HistoryMax(7)));
        assert_eq!(burned(&taken(&gateway, chain).await), sum);
        assert!(counted(&gateway).await.len() > 18, "in steps of 7 blocks at most");
        chain.fail_always(None);
        gateway
    })
    .await;
}

#[tokio::test]
async fn what_left_the_chain_is_counted_again() {
    each(config(), async |chain, gateway| {
        let first = mine_some(chain, 30);
        chain.mine_empty(64);
        assert_eq!(burned(&taken(&gateway, chain).await), first);
        let more = mine_some(chain, 30);
        chain.mine_empty(64);
        // Blocks 31 to 94 burned nothing.
        assert_eq!(burned(&taken(&gateway, chain).await), first + more);
        // Deeper than the 64 blocks: the last ten counted blocks go.
        let depth = chain.head() - 114;
        chain.reorg(depth);
        let kept: u128 = (0..20_u64)
            .filter(|place| place.is_multiple_of(3))
            .map(|place| u128::from(21_000 + place) * (1_000_000_000 + u128::from(place)))
            .sum();
        let other = chain.mine_fees(30_000_000, 3_000_000_000);
        assert_eq!(other, 115);
        chain.mine_empty(64 + 20);
        let supply = taken(&gateway, chain).await;
        assert_eq!(burned(&supply), first + kept + 30_000_000 * 3_000_000_000);
        gateway
    })
    .await;
}

#[tokio::test]
async fn another_beginning_is_another_count() {
    let chain = ScriptedChain::start().await;
    let sum = mine_some(&chain, 30);
    chain.mine_empty(64);
    let gateway = prepared(TestGateway::builder(), &chain, &config()).start().await;
    assert_eq!(burned(&taken(&gateway, &chain).await), sum);
    let gateway = gateway
        .restart_after(|config| {
            let issuance = config.plugins.sections.get_mut("supply").unwrap().config.get_mut("issuance").unwrap();
            issuance["burn_block"] = json!(30);
            issuance["burn_wei"] = json!("5");
        })
        .await;
    chain.mine_empty(1);
    assert_eq!(burned(&taken(&gateway, &chain).await), 5, "blocks up to 30 are what the configuration says");
    gateway.stop().await;
}

#[tokio::test]
async fn two_gateways_on_one_database_have_one_count() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let chain = ScriptedChain::start().await;
    let sum = mine_some(&chain, 1_200);
    chain.mine_empty(64);
    let first = prepared(builder, &chain, &config()).start().await;
    let url = first.gateway().config.database.url.clone();
    let second =
        prepared(TestGateway::builder().configure(|config| config.database.url = url), &chain, &config()).start().await;
    let (one, other) = tokio::join!(taken(&first, &chain), taken(&second, &chain));
    assert_eq!((burned(&one), burned(&other)), (sum, sum));
    chain.mine_fees(7, 7);
    chain.mine_empty(64);
    let (one, other) = tokio::join!(taken(&second, &chain), taken(&first, &chain));
    assert_eq!((burned(&one), burned(&other)), (sum + 49, sum + 49));
    for gateway in [second, first] {
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}
