//! The routes of one number: exactly one number as text, with its unit as JSON. What each number is: `get_supply.rs`.

use crate::fixture::{config, each, get, taken};
use plugin_testing::json;

#[tokio::test]
async fn the_body_is_exactly_one_number() {
    each(config(), async |chain, gateway| {
        chain.mine_empty(40);
        chain.mine_fees(1_000_000_000, 12_345_678_901);
        chain.mine_empty(64);
        let supply = taken(&gateway, chain).await;
        // 1,000 + 39 × 2 + 2 - 12.345678901, and as no excluded addresses are configured, all of it circulates.
        for (path, text, member) in [
            ("/api/supply/total", "1067.65432109", "totalSupply"),
            ("/api/supply/circulating", "1067.65432109", "circulatingSupply"),
            ("/api/supply/max", "1157.99999999", "maxSupply"),
        ] {
            for path in [path.to_owned(), format!("{path}/"), format!("{path}?format=text"), format!("{path}?format=")]
            {
                let response = get(&gateway, &path).await;
                assert_eq!((response.status, response.text().as_str()), (200, text), "{path}");
                assert_eq!(response.header("content-type"), "text/plain; charset=utf-8");
                assert_eq!(response.header("cache-control"), "public, max-age=60");
            }
            let view = get(&gateway, &format!("{path}?format=json")).await.json();
            assert_eq!(view[member], supply[member], "{view}");
            assert_eq!(
                (&view["symbol"], &view["decimals"], &view["asOfBlock"]),
                (&json!("FMX"), &json!(18), &json!(41))
            );
            assert_eq!((&view["breakdown"], &view["stale"]), (&json!("/api/supply"), &json!(null)));
            let others =
                ["totalSupply", "circulatingSupply", "maxSupply"].iter().filter(|name| !view[**name].is_null());
            assert_eq!(others.count(), 1, "{view}");
            let refused = get(&gateway, &format!("{path}?format=xml")).await;
            assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("bad_format")));
        }
        gateway
    })
    .await;
}
