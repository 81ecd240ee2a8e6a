//! `GET /api/compute`

use super::{COMPUTE, compute, exactly, finish, gateways, names, publish, read, tool, with};
use plugin_testing::{TestGateway, Wallet, json};

const PRICE_MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// Three listings, the newest first, and a tool that is not compute.
async fn fill(gateway: &TestGateway) {
    let listings = [
        ("small", json!({ "gpu": "RTX 4090", "vramGb": 24, "pricePerSecond": "9", "region": "" })),
        ("large", json!({ "vramGb": 80.5, "pricePerSecond": "1000", "description": "Cheap at night" })),
        ("dear", json!({ "gpu": "nvidia b200", "vramGb": 192, "pricePerSecond": PRICE_MAX, "region": "us-east" })),
    ];
    for (number, (name, members)) in (1..).zip(listings) {
        publish(gateway, &Wallet::new(number), with(compute(name), members)).await;
    }
    publish(gateway, &Wallet::new(9), tool("other")).await;
}

#[tokio::test]
async fn compute_is_filtered_by_what_it_offers() {
    for gateway in gateways().await {
        fill(&gateway).await;
        for (query, found) in [
            ("", ["dear", "large", "small"].as_slice()),
            ("?gpu=NVIDIA", &["dear", "large"]),
            ("?gpu=4090", &["small"]),
            ("?region=eu", &["large"]),
            ("?region=EAST&gpu=b2", &["dear"]),
            ("?minVramGb=80", &["dear", "large"]),
            ("?minVramGb=80.5", &["dear", "large"]),
            ("?minVramGb=80.6", &["dear"]),
            ("?minVramGb=1e3", &[]),
            ("?minVramGb=", &["dear", "large", "small"]),
            ("?maxPricePerSecond=9", &["small"]),
            ("?maxPricePerSecond=8", &[]),
            ("?maxPricePerSecond=999", &["small"]),
            ("?maxPricePerSecond=1000", &["large", "small"]),
            (&format!("?maxPricePerSecond={PRICE_MAX}"), &["dear", "large", "small"]),
            ("?q=NIGHT", &["large"]),
            ("?q=tool.invalid", &[]),
            ("?online=1", &[]),
            ("?minVramGb=24&maxPricePerSecond=1000&gpu=x&q=small", &["small"]),
        ] {
            assert_eq!(names(&gateway, &format!("{COMPUTE}{query}")).await, exactly(found), "{query}");
        }
        assert_eq!(names(&gateway, &format!("{COMPUTE}?limit=1&offset=1")).await, (vec!["large".to_owned()], 3));
        let list = read(&gateway, COMPUTE).await;
        assert!(list["pricing"].as_str().is_some_and(|text| text.contains("wei")), "{list}");
        let dear = &list["items"][0];
        assert_eq!(
            (&dear["pricePerSecond"], &dear["compute"]["pricePerSecond"]),
            (&json!(PRICE_MAX), &json!(PRICE_MAX))
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_bound_that_is_no_number_is_refused() {
    for gateway in gateways().await {
        for query in [
            "?minVramGb=much",
            "?minVramGb=NaN",
            "?minVramGb=inf",
            "?minVramGb=1,5",
            "?maxPricePerSecond=-1",
            "?maxPricePerSecond=1.5",
            "?maxPricePerSecond=0x1",
        ] {
            let response = gateway.get(&format!("{COMPUTE}{query}")).await;
            assert_eq!((response.status, response.code()), (400, "bad_request".to_owned()), "{query}");
        }
        finish(gateway).await;
    }
}
