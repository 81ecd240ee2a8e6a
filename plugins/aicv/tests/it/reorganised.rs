//! A reorganisation between a build and the next read changes the document as a fresh index would: it is that of a gateway with a new
//! database, which has never seen another branch.

use super::{Site, claims, forged::endorsed, modules, prepared, record, script, sites_with, verifier};
use plugin_testing::{ScriptedLog, TestGateway, Value, json};

/// The first block: two agents, and a job of agent 1. He has no endpoint, so that nobody probes him: what probes count is a claim that the
/// chain does not tell, and the two gateways may have probed different numbers of times.
fn first_block() -> Vec<ScriptedLog> {
    let agents = [script::registered(1, 1, "Digger", ""), script::registered(2, 2, "Sorter", "")];
    [agents.concat(), script::done(1, 1, 7, "1000000000000000000", 5)].concat()
}

fn settled(nonce: u64, amount: &str) -> ScriptedLog {
    ScriptedLog::new(
        "x402Vault",
        "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)",
        &[
            json!(script::account(7)),
            json!(script::account(1)),
            json!(amount),
            json!("25"),
            json!(nonce),
            json!(script::hash(1)),
        ],
    )
}

/// Of every plugin that states claims of the chain: a job that was done, feedback, a validation by the owner, which is a contribution, too, an
/// endorsement and a payment.
fn removed() -> Vec<ScriptedLog> {
    let others = vec![
        script::feedback(1, 7, 1, "85"),
        script::validation_requested(1, 1, "ipfs://own", 2),
        script::validated(1, 1, 2, 100),
        endorsed(1, 1, "digging"),
        settled(42, "1000"),
    ];
    [script::done(2, 1, 8, "3", 4), others].concat()
}

/// The same ids say something else, or nothing.
fn in_its_place() -> Vec<ScriptedLog> {
    vec![
        script::requested(2, 1, 9, "4"),
        script::feedback(1, 7, 1, "15"),
        script::feedback(1, 8, 1, "70"),
        script::validation_requested(5, 1, "ipfs://other", 2),
        endorsed(1, 2, "sorting"),
        settled(43, "2000"),
    ]
}

/// The document of a gateway with a new database on the chain as it is.
async fn of_a_fresh_index(site: &Site) -> Value {
    let builder = match site.gateway.dialect() {
        "sqlite" => TestGateway::builder(),
        _ => TestGateway::postgres_builder().await.expect("the other gateway has a database, too"),
    };
    let gateway = prepared(builder, &site.chain, modules()).start().await;
    gateway.indexed(&site.chain).await;
    let fresh = Site { gateway, chain: site.chain.clone() };
    let document = fresh.read("/api/cv/1").await;
    fresh.close().await;
    document
}

/// Without its times and the hash that covers them: two gateways issue a document at two times. Everything else is compared.
fn untimed(document: &Value) -> Value {
    let mut document = document.clone();
    for member in ["issuedAt", "expiresAt", "validFrom", "validUntil", "documentHash"] {
        assert!(document.as_object_mut().unwrap().remove(member).is_some(), "{member}");
    }
    document
}

fn block_hash(document: &Value) -> &Value {
    &document["evidence"][0]["asOfBlockHash"]
}

/// The document now, which must be that of a fresh index.
async fn checked(site: &Site) -> Value {
    site.gateway.indexed(&site.chain).await;
    let (document, fresh) = (site.read("/api/cv/1").await, of_a_fresh_index(site).await);
    verifier::assert_hashes(&document);
    assert_eq!(record(&document), record(&fresh));
    assert_eq!(document["claimsRoot"], fresh["claimsRoot"]);
    assert_eq!(block_hash(&document), block_hash(&fresh));
    assert_eq!(untimed(&document), untimed(&fresh));
    document
}

fn count(document: &Value, kinds: [&str; 6]) -> [usize; 6] {
    kinds.map(|kind| claims(document, kind).len())
}

const KINDS: [&str; 6] = ["EscrowJob", "Feedback", "Validation", "Contribution", "Endorsement", "X402Receipt"];

#[tokio::test]
async fn the_document_is_that_of_a_fresh_index_of_the_remaining_chain() {
    for site in sites_with(vec![first_block()], modules, |builder| builder).await {
        // Four blocks, so that their events are public before they are undone.
        site.mine(removed()).await;
        let built = site.read("/api/cv/1").await;
        assert_eq!(count(&built, KINDS), [2, 1, 1, 1, 1, 1], "{built}");

        let logs = site.chain.reorg(4);
        site.chain.mine(in_its_place());
        site.chain.mine_empty(5);
        let other = checked(&site).await;
        assert_ne!(other["claimsRoot"], built["claimsRoot"]);
        assert_eq!(count(&other, KINDS), [2, 2, 1, 0, 0, 1], "{other}");
        let open = claims(&other, "EscrowJob").into_iter().find(|job| job["jobId"] == 2).unwrap();
        assert_eq!(open["outcome"], "Open");

        // The events of the first branch come again, in another block: with them their claims, with other evidence.
        site.chain.reorg(6);
        site.chain.mine_empty(1);
        site.chain.mine(logs);
        site.chain.mine_empty(6);
        let again = checked(&site).await;
        assert_eq!(count(&again, KINDS), count(&built, KINDS), "{again}");
        let evidence = |document: &Value| claims(document, "Endorsement")[0]["evidence"].clone();
        assert_eq!(evidence(&again)["tx"], evidence(&built)["tx"]);
        assert_ne!(evidence(&again)["block"], evidence(&built)["block"]);

        // All of it goes: what is left is the first block.
        site.chain.reorg(8);
        site.chain.mine_empty(9);
        let without = checked(&site).await;
        assert_eq!(count(&without, KINDS), [1, 0, 0, 0, 0, 0], "{without}");
        assert_ne!(block_hash(&without), block_hash(&again));
        site.close().await;
    }
}
