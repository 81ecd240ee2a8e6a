//! When nothing is quoted at all.

use crate::{Chains, assert_refused, buyer, selling};
use plugin_testing::{TestGateway, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_price_caps_or_key_there_is_no_quote() {
    for missing in ["price_usd", "day_max_wei", "chains"] {
        let mut config = selling();
        config.as_object_mut().unwrap().remove(missing);
        let chains = Chains::start().await;
        let gateway = chains.prepared(TestGateway::builder(), &config).start().await;
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        let headers = [("content-type", "application/json")];
        let refused = gateway.send("POST", "/api/payin/quote", &headers, body.to_string()).await;
        assert_refused(&refused, 503, "disabled");
        assert_eq!(refused.json()["disabled"], true);
        assert_eq!(gateway.get("/api/payin/assets").await.json()["enabled"], false);
        let unknown = gateway.get("/api/payin/q_0000000000000000").await;
        assert_refused(&unknown, 404, "not_found");
        gateway.stop().await;
    }
}
