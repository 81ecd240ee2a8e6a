//! `GET /api/loadtest/address/{addr}`

use super::{FLOAT, SINK, WALLET_1, XPUB, derived, each, read};
use plugin_testing::json;

#[tokio::test]
async fn an_address_belongs_to_it_exactly_if_it_is_a_child_of_the_key() {
    each(json!({ "xpub": XPUB, "wallets": 5, "sink": SINK }), async |_, gateway| {
        derived(&gateway, 5).await;
        let role = async |address: &str| {
            let view = read(&gateway, &format!("/api/loadtest/address/{address}")).await;
            assert_eq!(view["available"], json!(true));
            (view["loadtest"].clone(), view["index"].clone(), view["role"].clone())
        };
        assert_eq!(role(FLOAT).await, (json!(true), json!(0), json!("float")));
        assert_eq!(role(&WALLET_1.to_lowercase()).await, (json!(true), json!(1), json!("wallet")));
        assert_eq!(role(SINK).await, (json!(false), json!(null), json!("sink")));
        // The wallet 5000 of the same branch is not one of the five.
        let other = role("0xCE597d1353FE4643c00A6e174ABFB52F0505463B").await;
        assert_eq!(other, (json!(false), json!(null), json!(null)));
        let refused = gateway.get("/api/loadtest/address/0x12").await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "bad_address"), "{}", refused.text());
        let answer = gateway.get(&format!("/api/loadtest/address/{FLOAT}")).await;
        assert_eq!(answer.headers["cache-control"], "public, max-age=60");
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_a_key_no_address_belongs_to_it() {
    each(json!({}), async |_, gateway| {
        let view = read(&gateway, &format!("/api/loadtest/address/{FLOAT}")).await;
        assert_eq!((&view["loadtest"], &view["available"]), (&json!(false), &json!(false)), "{view}");
        gateway
    })
    .await;
}
