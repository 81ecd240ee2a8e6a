//! `GET /api/log/tile/{level}/{tile}`.

use super::{audit, close, gateways, publish, signed};

#[tokio::test]
async fn tiles_of_a_log_of_two_levels_are_those_of_other_verifiers() {
    for gateway in gateways().await {
        publish(&gateway, 250).await;
        signed(&gateway, 250).await;
        let first = audit(&gateway).await;
        publish(&gateway, 20).await;
        signed(&gateway, 270).await;
        let second = audit(&gateway).await;
        second.continues(&first.checkpoint);
        // What a client read of the earlier tree is there still.
        let partial = gateway.get("/api/log/tile/0/000.p/250").await;
        let full = gateway.get("/api/log/tile/0/000").await;
        assert_eq!((partial.status, full.status), (200, 200));
        assert_eq!(partial.body, full.body[..250 * 32]);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_path_that_names_no_tile_is_not_found() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        signed(&gateway, 2).await;
        for tile in [
            "0/000",
            "0/000.p/3",
            "0/001.p/1",
            "1/000.p/1",
            "0/x000",
            "0/000.p/0",
            "0/00.p/1",
            "00/000.p/1",
            "64/000.p/1",
            "a/000.p/1",
            "entries/000",
            "entries/000.p/3",
            "entries/x000/000.p/1",
            "entries/001.p/1",
            "0/",
        ] {
            let response = gateway.get(&format!("/api/log/tile/{tile}")).await;
            assert_eq!((response.status, &response.json()["code"]), (404, &"not_found".into()), "{tile}");
            let cache = response.headers.get("cache-control").map(|value| value.to_str().unwrap().to_owned());
            assert!(!cache.is_some_and(|cache| cache.contains("immutable")), "{tile}");
        }
        assert_eq!(gateway.get("/api/log/tile/0/000.p/2").await.status, 200);
        close(gateway).await;
    }
}
