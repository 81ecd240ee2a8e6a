//! A reorganisation takes anchors away; the batches stay.

use super::{
    ZERO,
    fixture::{anchored, keccak, owner, sites},
    read,
};
use plugin_testing::{Value, json};

#[tokio::test]
async fn a_batch_is_built_again_and_a_foreign_root_is_gone() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        let batch = site.anchor(&owner(), json!({ "agentId": 1 })).await.json();
        let foreign = json!(keccak(b"foreign"));
        let before = read(&site.gateway, "/api/memory/anchors").await;
        site.chain
            .mine(vec![anchored(1, 1, &batch["root"], &json!(ZERO), 2), anchored(2, 1, &foreign, &json!(ZERO), 1)]);
        site.gateway.indexed(&site.chain).await;
        let anchored_now = read(&site.gateway, "/api/memory/anchors").await;
        assert_eq!(anchored_now["total"], 2);
        let proof = read(&site.gateway, "/api/memory/proof/1/1").await;
        assert_eq!((&proof["anchored"], &proof["onchain"]["anchorSeq"]), (&json!(true), &json!(1)));

        site.chain.reorg(1);
        site.chain.mine_empty(2);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(read(&site.gateway, "/api/memory/anchors").await, before);
        let proof = read(&site.gateway, "/api/memory/proof/1/1").await;
        assert_eq!((&proof["anchored"], &proof["onchain"]["head"]), (&json!(false), &Value::Null));
        assert_eq!(read(&site.gateway, "/api/stats").await["memoryAnchored"], 0);
        site.close().await;
    }
}
