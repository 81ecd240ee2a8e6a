//! The coin's history: none is kept.

use crate::fixture::{config, each, get};
use plugin_testing::json;

#[tokio::test]
async fn every_list_is_empty() {
    each(config(), async |_, gateway| {
        let path = "/api/market/coingecko/coins/service/market_chart";
        for path in [path.to_owned(), format!("{path}/"), format!("{path}?vs_currency=usd&days=7")] {
            let chart = get(&gateway, &path).await;
            assert_eq!((chart.status, chart.header("cache-control")), (200, "public, max-age=300"));
            assert_eq!(chart.json(), json!({ "prices": [], "market_caps": [], "total_volumes": [] }));
        }
        let unknown = get(&gateway, "/api/market/coingecko/coins/nobody/market_chart").await;
        assert_eq!((unknown.status, &unknown.json()["error"]), (404, &json!("coin not found")));
        gateway
    })
    .await;
}
