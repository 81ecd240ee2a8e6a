//! `GET /api/log/checkpoint`.

use super::{CHECKPOINT, ORIGIN, audit, close, gateways, kept, publish, run_job, signed};

#[tokio::test]
async fn a_checkpoint_is_signed_when_the_log_has_grown() {
    for gateway in gateways().await {
        let empty = signed(&gateway, 0).await;
        assert!(
            empty.starts_with(&format!("{ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— {ORIGIN} ")),
            "{empty}"
        );
        let empty = audit(&gateway).await;

        publish(&gateway, 3).await;
        let note = signed(&gateway, 3).await;
        let three = audit(&gateway).await;
        three.continues(&empty.checkpoint);
        let signed_at = gateway.rows("SELECT signed_at FROM transparency_checkpoints WHERE size = 3").await;
        assert_eq!(signed_at, [format!("Int({})", three.time_s)]);
        assert_eq!(kept(&gateway), note);
        let headers = gateway.get(CHECKPOINT).await.headers;
        assert_eq!(headers["cache-control"], "public, max-age=2");
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");

        publish(&gateway, 1).await;
        signed(&gateway, 4).await;
        let four = audit(&gateway).await;
        four.continues(&three.checkpoint);
        assert!(four.time_s >= three.time_s);
        close(gateway).await;
    }
}

#[tokio::test]
async fn nothing_is_signed_while_nothing_changes() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        let note = signed(&gateway, 2).await;
        run_job(&gateway).await;
        assert_eq!(super::checkpoint(&gateway).await, note);
        assert_eq!(
            gateway.rows("SELECT size FROM transparency_checkpoints ORDER BY size DESC LIMIT 1").await,
            ["Int(2)"]
        );
        let gateway = gateway.restart().await;
        assert_eq!(super::checkpoint(&gateway).await, note);
        close(gateway).await;
    }
}
