//! `payloads_v1`, what other plugins read.

use super::{finish, houses, post};

#[tokio::test]
async fn the_view_tells_what_readme_says() {
    for house in houses().await {
        let hash = post(&house, "text/html", "<p>").await.json()["hash"].clone();
        let rows = house.rows("SELECT hash, size, content_type, created_at FROM payloads_v1").await;
        let expected = format!("Text({hash}) Int(3) Text(\"text/html\") Int({})", house.now_s());
        assert_eq!(rows, [expected]);
        finish(house).await;
    }
}
