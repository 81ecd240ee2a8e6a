//! A new origin after the log was stopped.

use super::{Value, audit, checkpoint, close, gateways, json, kept, publish, restarted, set_back, signed, stop_reason};

const NEW: &str = "log.example/second";

fn named(note: &str) -> Value {
    let lines: Vec<&str> = note.lines().collect();
    json!({ "origin": lines[0], "size": lines[1].parse::<u64>().unwrap(), "root": lines[2] })
}

#[tokio::test]
async fn a_new_origin_goes_on_when_it_names_the_checkpoint_that_was_published() {
    for gateway in gateways().await {
        publish(&gateway, 3).await;
        let older = signed(&gateway, 3).await;
        publish(&gateway, 2).await;
        let published = signed(&gateway, 5).await;
        set_back(&gateway, 3).await;
        stop_reason(&gateway).await;
        let mut gateway = gateway;
        for previous in [json!(null), named(&older)] {
            gateway = restarted(gateway, &json!({ "origin": NEW, "previous": previous })).await;
            let reason = stop_reason(&gateway).await;
            assert!(
                reason.contains("`previous` does not name the checkpoint of log.example/test of size 5"),
                "{reason}"
            );
            assert_eq!(kept(&gateway), published);
        }

        let settings = json!({ "origin": NEW, "previous": named(&published) });
        let gateway = restarted(gateway, &settings).await;
        publish(&gateway, 1).await;
        // Three events of before, that of the new origin, and one more: in either order.
        let note = signed(&gateway, 5).await;
        assert!(note.starts_with(NEW) && kept(&gateway) == note, "{note}");
        let entries = audit(&gateway).await.json();
        let begun: Vec<&Value> = entries.iter().filter(|entry| entry["type"] == "log.origin").collect();
        assert_eq!(begun.len(), 1);
        assert_eq!(begun[0]["data"], json!({ "origin": NEW, "previous": named(&published) }));
        let keys = gateway.rows("SELECT count(DISTINCT public_key) FROM transparency_origins").await;
        assert_eq!(keys, ["Int(2)"]);

        // Without the settings the log stays the one that it is.
        let gateway = restarted(gateway, &json!({})).await;
        assert_eq!(checkpoint(&gateway).await, note);
        // And it does not go back.
        let gateway = restarted(gateway, &json!({ "origin": super::ORIGIN })).await;
        stop_reason(&gateway).await;
        let back = json!({ "origin": super::ORIGIN, "previous": named(&note) });
        let gateway = restarted(gateway, &back).await;
        assert!(stop_reason(&gateway).await.contains("a new origin has a name of its own"));
        close(gateway).await;
    }
}
