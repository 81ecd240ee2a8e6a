//! Two gateways on one database: one log.

use super::{LIMIT, STEP, audit, checkpoint, close, kept, publish, set_back, signed, stop_reason};
use plugin_testing::{Builder, TestGateway};

const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

/// `None` without PostgreSQL.
async fn pair() -> Option<(TestGateway, TestGateway)> {
    let with_key = |builder: Builder| builder.configure(|config| config.secrets.key = Some(SECRETS_KEY.into()));
    let [sqlite, postgres] = <[Builder; 2]>::try_from(super::builders().await).ok()?;
    let one = with_key(postgres).start().await;
    let url = one.gateway().config.database.url.clone();
    let other = with_key(sqlite).configure(|config| config.database.url = url).start().await;
    Some((one, other))
}

#[tokio::test]
async fn both_show_one_log_whoever_signs() {
    let Some((one, other)) = pair().await else { return };
    let mut earlier = None;
    for round in 1..=4 {
        publish(if round % 2 == 0 { &one } else { &other }, 3).await;
        let size = round * 3;
        for gateway in [&one, &other] {
            TestGateway::eventually(LIMIT, "the newest checkpoint", async || {
                // Both jobs are due at once.
                tokio::join!(one.clock().advance(STEP), other.clock().advance(STEP));
                super::size_of(gateway).await == Some(size)
            })
            .await;
            assert_eq!(kept(gateway), checkpoint(gateway).await);
            let audited = audit(gateway).await;
            if let Some(earlier) = &earlier {
                audited.continues(earlier);
            }
            earlier = Some(audited.checkpoint);
        }
        assert_eq!(checkpoint(&one).await, checkpoint(&other).await);
    }
    assert_eq!(other.faults().await, Vec::<String>::new());
    other.stop().await;
    close(one).await;
}

/// A standby that lost the last commits becomes the database. The one gateway has shown what is lost, the other has not.
#[tokio::test]
async fn what_one_gateway_published_stops_the_log_on_both() {
    let Some((one, other)) = pair().await else { return };
    publish(&one, 3).await;
    signed(&one, 3).await;
    assert_eq!(checkpoint(&other).await, kept(&other));
    publish(&one, 2).await;
    signed(&one, 5).await;
    set_back(&one, 3).await;
    assert!(checkpoint(&other).await.contains("\n3\n"), "it has shown no more");
    let reason = stop_reason(&one).await;
    assert_eq!(stop_reason(&other).await, reason);
    other.stop().await;
    close(one).await;
}
