//! The views for other plugins.

use super::{finish, gateways, post};

#[tokio::test]
async fn the_views_have_the_documented_columns() {
    for gateway in gateways().await {
        let hash = post(&gateway, "text/html", "<p>").await.json()["hash"].clone();
        let rows = gateway.rows("SELECT hash, size, content_type, created_at FROM payloads_v1").await;
        let expected = format!("Text({hash}) Int(3) Text(\"text/html\") Int({})", gateway.now_s());
        assert_eq!(rows, [expected]);
        let rows = gateway.rows("SELECT hash, size, content_type, created_at, bytes FROM payloads_v2").await;
        let expected = format!("Text({hash}) Int(3) Text(\"text/html\") Int({}) Blob(", gateway.now_s());
        assert!(rows.len() == 1 && rows[0].starts_with(&expected), "{rows:?}");
        finish(gateway).await;
    }
}
