//! `GET /api/validators/waitlist/count`

use super::{WAITLIST, count, fields, finish, gateways, join, with};
use plugin_testing::{Wallet, json};

#[tokio::test]
async fn numbers_are_public_and_nothing_else() {
    for gateway in gateways().await {
        let empty = count(&gateway).await;
        assert_eq!((&empty["total"], &empty["seats"]), (&json!(0), &json!(0)));
        for (number, platform, seats) in [(1, "linux", 2), (2, "Both", 10), (3, "LINUX", 1)] {
            let wallet = Wallet::new(number);
            let members =
                json!({ "platform": platform, "seats": seats, "contact": "ann@secret.example", "consent": true });
            assert_eq!(join(&gateway, &wallet, with(fields(&wallet), members)).await.0, 201);
        }
        let counted = count(&gateway).await;
        assert_eq!((&counted["total"], &counted["seats"], &counted["verified"]), (&json!(3), &json!(13), &json!(3)));
        assert_eq!(counted["byPlatform"], json!({ "windows": 0, "linux": 2, "both": 1 }));
        assert!(counted["programme"].is_string() && counted["page"].is_null(), "nobody serves pages");
        let response = gateway.get(&format!("{WAITLIST}/count")).await;
        assert_eq!(response.header("cache-control"), "public, max-age=30");
        assert!(!response.text().contains("0x") && !response.text().contains("secret"), "{}", response.text());
        assert!(gateway.events().await.is_empty(), "a sign-up is no public event");
        let gateway = gateway.restart().await;
        assert_eq!(count(&gateway).await, counted);
        finish(gateway).await;
    }
}
