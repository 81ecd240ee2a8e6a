//! `GET /.well-known/loadtest.json`

use super::{FLOAT, SINK, XPUB, derived, each, read};
use plugin_testing::json;

#[tokio::test]
async fn programs_find_the_manifest_where_they_look_for_it() {
    each(json!({ "xpub": XPUB, "wallets": 3, "sink": SINK }), async |_, gateway| {
        derived(&gateway, 3).await;
        let disclosure = read(&gateway, "/.well-known/loadtest.json").await;
        assert_eq!(disclosure["addresses"]["float"], json!(FLOAT), "{disclosure}");
        let mut manifest = read(&gateway, "/api/loadtest/manifest").await;
        // Blocks may be counted between the two.
        manifest["updatedAt"] = disclosure["updatedAt"].clone();
        assert_eq!(manifest, disclosure);
        let answer = gateway.get("/.well-known/loadtest.json").await;
        assert_eq!(answer.headers["cache-control"], "public, max-age=60");
        gateway
    })
    .await;
}
