//! The view `payloads_v1` for other plugins.

use super::{finish, gateways, post};

#[tokio::test]
async fn the_view_has_the_documented_columns() {
    for gateway in gateways().await {
        let hash = post(&gateway, "text/html", "<p>").await.json()["hash"].clone();
        let rows = gateway.rows("SELECT hash, size, content_type, created_at FROM payloads_v1").await;
        let expected = format!("Text({hash}) Int(3) Text(\"text/html\") Int({})", gateway.now_s());
        assert_eq!(rows, [expected]);
        finish(gateway).await;
    }
}
