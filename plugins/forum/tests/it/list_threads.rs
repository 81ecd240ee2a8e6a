//! `GET /api/forum/threads`: order, tags, pages. search_threads.rs has the search.

use super::{THREADS, finish, gateways, next, open, open_titled, read, reply, titles};
use plugin_testing::{Value, Wallet, json};

#[tokio::test]
async fn an_empty_forum_has_an_empty_list() {
    for gateway in gateways().await {
        for query in ["", "?sort=top", "?q=x", "?tag=x", "?q=x&tag=x", "?offset=10", "?q=x&offset=10"] {
            let list = read(&gateway, &format!("{THREADS}{query}")).await;
            assert_eq!(list, json!({ "items": [], "total": 0 }), "{query}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_list_shows_a_thread_without_its_posts() {
    for gateway in gateways().await {
        let mut thread = open(&gateway, &Wallet::new(1), json!({ "title": "T", "body": "B", "tags": ["x"] })).await;
        thread.as_object_mut().unwrap().remove("posts");
        assert_eq!(read(&gateway, THREADS).await, json!({ "items": [thread], "total": 1 }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn each_order_and_its_ties() {
    for gateway in gateways().await {
        // Two in one second, then a third.
        let first = open_titled(&gateway, &Wallet::new(1), "first").await;
        open_titled(&gateway, &Wallet::new(2), "second").await;
        next(&gateway).await;
        let third = open_titled(&gateway, &Wallet::new(3), "third").await;
        let order = async |sort: &str| titles(&gateway, &format!("?sort={sort}")).await.0;

        assert_eq!(order("new").await, ["third", "second", "first"]);
        assert_eq!(order("active").await, ["third", "second", "first"]);
        assert_eq!(order("top").await, ["third", "second", "first"]);

        next(&gateway).await;
        reply(&gateway, &Wallet::new(4), first, json!({ "body": "words" })).await;
        assert_eq!(order("active").await, ["first", "third", "second"]);
        assert_eq!(order("new").await, ["third", "second", "first"]);
        // No votes: the number of posts decides.
        assert_eq!(order("top").await, ["first", "third", "second"]);

        reply(&gateway, &Wallet::new(5), third, json!({ "body": "+1" })).await;
        assert_eq!(order("top").await, ["third", "first", "second"]);
        // The same second again: the newer thread is first.
        assert_eq!(order("active").await, ["third", "first", "second"]);

        reply(&gateway, &Wallet::new(6), first, json!({ "body": "+1" })).await;
        // Equal votes, more posts.
        assert_eq!(order("top").await, ["first", "third", "second"]);
        for unknown in ["", "hot", "TOP", "active;drop"] {
            assert_eq!(order(unknown).await, order("active").await, "{unknown}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn pages_are_parts_of_one_order() {
    for gateway in gateways().await {
        for number in 1..=5_u64 {
            open_titled(&gateway, &Wallet::new(number), &format!("{number}")).await;
        }
        let page = async |query: &str| titles(&gateway, query).await;
        let all = ["5", "4", "3", "2", "1"].map(str::to_owned);
        for (query, items) in [
            ("?limit=2", &all[..2]),
            ("?limit=2&offset=2", &all[2..4]),
            ("?limit=2&offset=4", &all[4..]),
            ("?limit=2&offset=5", &[]),
            ("?offset=10000", &[]),
            ("?limit=0", &all[..]),
            ("?limit=-3", &all[..1]),
            ("?limit=abc&offset=abc", &all[..]),
            ("?offset=-1", &all[..]),
        ] {
            assert_eq!(page(query).await, (items.to_vec(), 5), "{query}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_default_page_has_25_threads() {
    for gateway in gateways().await {
        for number in 1..=27_u64 {
            open_titled(&gateway, &Wallet::new(number), &format!("{number}")).await;
        }
        let (page, total) = titles(&gateway, "").await;
        assert_eq!((page.len(), total), (25, 27));
        assert_eq!(titles(&gateway, "?limit=1000").await.0.len(), 27);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_tag_is_normalised_and_matches_as_a_whole() {
    for gateway in gateways().await {
        let tagged = async |number: u64, title: &str, tags: Value| {
            open(&gateway, &Wallet::new(number), json!({ "title": title, "body": "b", "tags": tags })).await
        };
        tagged(1, "rust", json!(["Rust", "help"])).await;
        tagged(2, "rustacean", json!(["rustacean"])).await;
        tagged(3, "umlaut", json!(["ÄÖÜ"])).await;
        tagged(4, "none", json!([])).await;
        let find = async |query: &str| titles(&gateway, query).await;
        let one = |title: &str| (vec![title.to_owned()], 1);
        assert_eq!(find("?tag=rust").await, one("rust"));
        assert_eq!(find("?tag=%20RUST%20").await, one("rust"));
        assert_eq!(find("?tag=help&sort=top").await, one("rust"));
        assert_eq!(find("?tag=%C3%A4%C3%B6%C3%BC").await, one("umlaut"));
        for nothing in ["rus", "%25", "rust%25", "_ust", "%5B%22rust%22%5D", "x"] {
            assert_eq!(find(&format!("?tag={nothing}")).await, (Vec::new(), 0), "{nothing}");
        }
        // An empty filter counts as absent.
        assert_eq!(find("?tag=%20").await.1, 4);
        assert_eq!(find("?tag=rust&offset=1").await, (Vec::new(), 1));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn pages_by_cursor_stay_together_whatever_is_opened_meanwhile() {
    for gateway in gateways().await {
        for number in 1..=5 {
            open_titled(&gateway, &Wallet::new(number), &format!("{number}")).await;
        }
        let first = gateway.get(&format!("{THREADS}?sort=new&limit=2")).await;
        let link = first.header("link").to_owned();
        assert!(link.starts_with("<?sort=new&limit=2&cursor=") && link.ends_with(">; rel=\"next\""), "{link}");

        next(&gateway).await;
        open_titled(&gateway, &Wallet::new(6), "6").await;
        let (mut shown, mut after) = (Vec::new(), first.next_cursor());
        while let Some(cursor) = after {
            let page = format!("?sort=new&limit=2&cursor={cursor}");
            let (titles, total) = titles(&gateway, &page).await;
            assert_eq!(total, 6, "of the whole list");
            shown.extend(titles);
            after = gateway.get(&format!("{THREADS}{page}")).await.next_cursor();
        }
        assert_eq!(shown, ["3", "2", "1"], "an offset would show 4 again");
        assert_eq!(gateway.get(&format!("{THREADS}?limit=6&offset=1")).await.next_cursor(), None, "the last page");
        finish(gateway).await;
    }
}
