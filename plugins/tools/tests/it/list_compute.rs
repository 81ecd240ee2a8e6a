//! `GET /api/compute`

use super::{COMPUTE, compute, exactly, finish, houses, names, publish, read, tool, with};
use plugin_testing::{TestGateway, Wallet, json};

const PRICE_MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// Three listings, the last one first, and a tool that is none.
async fn fill(house: &TestGateway) {
    let listings = [
        ("small", json!({ "gpu": "RTX 4090", "vramGb": 24, "pricePerSecond": "9", "region": "" })),
        ("large", json!({ "vramGb": 80.5, "pricePerSecond": "1000", "description": "Cheap at night" })),
        ("dear", json!({ "gpu": "nvidia b200", "vramGb": 192, "pricePerSecond": PRICE_MAX, "region": "us-east" })),
    ];
    for (number, (name, members)) in (1..).zip(listings) {
        publish(house, &Wallet::new(number), with(compute(name), members)).await;
    }
    publish(house, &Wallet::new(9), tool("other")).await;
}

#[tokio::test]
async fn compute_is_filtered_by_what_it_offers() {
    for house in houses().await {
        fill(&house).await;
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
            assert_eq!(names(&house, &format!("{COMPUTE}{query}")).await, exactly(found), "{query}");
        }
        assert_eq!(names(&house, &format!("{COMPUTE}?limit=1&offset=1")).await, (vec!["large".to_owned()], 3));
        let list = read(&house, COMPUTE).await;
        assert!(list["pricing"].as_str().is_some_and(|text| text.contains("wei")), "{list}");
        let dear = &list["items"][0];
        assert_eq!(
            (&dear["pricePerSecond"], &dear["compute"]["pricePerSecond"]),
            (&json!(PRICE_MAX), &json!(PRICE_MAX))
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn a_bound_that_is_no_number_is_refused() {
    for house in houses().await {
        for query in [
            "?minVramGb=much",
            "?minVramGb=NaN",
            "?maxPricePerSecond=-1",
            "?maxPricePerSecond=1.5",
            "?maxPricePerSecond=0x1",
        ] {
            let answer = house.get(&format!("{COMPUTE}{query}")).await;
            assert_eq!((answer.status, answer.code()), (400, "bad_request".to_owned()), "{query}");
        }
        finish(house).await;
    }
}
