//! `GET /api/log/tile/entries/{bundle}`.

use super::{Value, audit, close, gateways, json, publish, signed};

#[tokio::test]
async fn an_entry_is_the_event_as_it_was_published() {
    for gateway in gateways().await {
        publish(&gateway, 3).await;
        signed(&gateway, 3).await;
        let events: Vec<Value> = gateway
            .events()
            .await
            .into_iter()
            .map(|event| {
                let about = event.subject.map(|subject| json!({ "kind": subject.kind, "id": subject.id }));
                json!({ "id": event.id, "type": event.kind, "ts": event.ts, "actor": event.actor, "ref": about, "data": event.data })
            })
            .collect();
        let audited = audit(&gateway).await;
        assert_eq!(audited.json(), events);
        for (entry, event) in audited.entries.iter().zip(&events) {
            assert_eq!(*entry, serde_json_canonicalizer::to_vec(event).unwrap());
        }
        close(gateway).await;
    }
}

/// A reorganisation retracts events that were public: before they were appended, or after.
#[tokio::test]
async fn a_retracted_event_stays_with_its_retraction() {
    for gateway in gateways().await {
        publish(&gateway, 3).await;
        let ids: Vec<i64> = gateway.events().await.iter().map(|event| event.id).collect();
        gateway.execute(&format!("INSERT INTO host_activity_retracted (id) VALUES ({})", ids[0])).await;
        signed(&gateway, 3).await;
        let before = audit(&gateway).await;
        assert_eq!(before.json()[0]["id"], ids[0]);
        gateway.execute(&format!("INSERT INTO host_activity_retracted (id) VALUES ({})", ids[1])).await;
        publish(&gateway, 1).await;
        signed(&gateway, 4).await;
        let after = audit(&gateway).await;
        after.continues(&before.checkpoint);
        let entries: Vec<i64> = after.json().iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
        assert_eq!(entries[..3], ids);
        assert_eq!(gateway.events().await.len(), 2);
        close(gateway).await;
    }
}

/// A log that was there before is appended in pages, each read and written in parts.
#[tokio::test]
async fn a_long_log_is_appended_in_pages() {
    const COUNT: usize = 2_600;
    for gateway in gateways().await {
        let rows: Vec<String> = (1..=COUNT).map(|id| format!("({id}, 'a.b', 7, '{{\"n\":{id}}}')")).collect();
        let insert = format!("INSERT INTO host_activity (id, type, ts, data) VALUES {}", rows.join(", "));
        gateway.execute(&insert).await;
        signed(&gateway, COUNT).await;
        let numbers: Vec<i64> =
            audit(&gateway).await.json().iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=i64::try_from(COUNT).unwrap()).collect::<Vec<_>>());
        let between = gateway.rows("SELECT count(*) FROM transparency_checkpoints WHERE size IN (2000, 2600)").await;
        assert_eq!(between, ["Int(2)"]);
        close(gateway).await;
    }
}
