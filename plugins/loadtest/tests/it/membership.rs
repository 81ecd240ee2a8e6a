//! How the table of wallets is filled.

use super::{XPUB, derived, each, eventually, read, stats};
use plugin_testing::json;

#[tokio::test]
async fn the_table_is_continued_where_a_run_ended_and_compared_with_the_key() {
    each(json!({ "xpub": XPUB, "wallets": 450 }), async |_, gateway| {
        derived(&gateway, 450).await;
        // As if a run had ended after its first batch.
        gateway.execute("DELETE FROM loadtest_wallets WHERE idx > 199").await;
        let gateway = gateway.restart_after(|config| {
            let section = config.plugins.sections.get_mut("loadtest").unwrap();
            section.config.insert("wallets".into(), json!(460));
        });
        let gateway = gateway.await;
        derived(&gateway, 460).await;
        gateway
            .execute(
                "UPDATE loadtest_wallets SET address = '0x00000000000000000000000000000000000000bb' WHERE idx = 460",
            )
            .await;
        eventually(&gateway, "the difference is told", async || {
            stats(&gateway).await["membership"]["problem"].as_str().is_some_and(|problem| problem.contains("460"))
        })
        .await;
        let status = read(&gateway, "/api/status").await;
        assert_eq!(status["services"]["loadtest"]["ok"], json!(false), "{status}");
        gateway
    })
    .await;
}
