//! Exports that follow one another have every line once, also where many lines have one time.

use super::{Site, probe, script, sites_with, time_of, unnumbered};
use plugin_testing::{Value, json};

/// A block with few logs, one with more than an export of seven has, and lines of another plugin at the same times.
async fn filled() -> Vec<Site> {
    let sites = sites_with(|builder| builder.plugin(probe::module())).await;
    for site in &sites {
        for count in [2_u64, 20, 1, 7, 8] {
            site.chain.mine((0..count).map(|log| script::bond(1, &log.to_string())).collect());
        }
        site.gateway.indexed(&site.chain).await;
        let of_second = |ts: i64, ids: std::ops::Range<i64>| {
            ids.map(move |id| probe::line("commons", ts, &format!("{id:019}"), json!({ "activityId": id })))
        };
        let lines =
            of_second(time_of(3), 1..10).chain(of_second(time_of(3) + 1, 10..12)).chain(of_second(time_of(6), 12..15));
        probe::contribute(&site.gateway, lines.collect()).await;
    }
    sites
}

/// All lines by exports that follow the footers of each other, without their numbers; and how many exports these were.
async fn followed(site: &Site, query: &str, to: &str) -> (Vec<Value>, usize) {
    let (mut lines, mut query, mut count) = (Vec::new(), query.to_owned(), 0);
    loop {
        let export = site.export(1, &query).await;
        count += 1;
        assert!(count < 100, "it does not end: {query}");
        lines.extend(export.lines.iter().map(unnumbered));
        let next = &export.footer["next"];
        assert_eq!(export.footer["truncated"], json!(next.is_object()));
        let Some(from) = next["from"].as_i64() else { return (lines, count) };
        let after = next["after"].as_str().map(|after| format!("&after={after}")).unwrap_or_default();
        query = format!("limit=7&from={from}{after}{to}");
    }
}

#[tokio::test]
async fn small_exports_have_the_lines_of_a_large_one() {
    for site in filled().await {
        let all: Vec<Value> = site.export(1, "").await.lines.iter().map(unnumbered).collect();
        assert_eq!(all.len(), 3 + 38 + 14);
        let (paged, count) = followed(&site, "limit=7", "").await;
        assert_eq!(paged, all);
        assert!(count > 8, "{count}");
        site.finish().await;
    }
}

#[tokio::test]
async fn bounds_by_block_are_followed_by_block() {
    for site in filled().await {
        let whole = site.export(1, "from=2&to=5").await;
        assert_eq!(whole.footer["filter"], json!({ "fromBlock": 2, "toBlock": 5 }));
        let all: Vec<Value> = whole.lines.iter().map(unnumbered).collect();
        assert_eq!(all.len(), 2 + 20 + 1 + 7);
        let (paged, _) = followed(&site, "limit=7&from=2&to=5", "&to=5").await;
        assert_eq!(paged, all);
        site.finish().await;
    }
}

#[tokio::test]
async fn bounds_include_both_ends() {
    for site in filled().await {
        let count = async |query: String| site.export(1, &query).await.lines.len();
        assert_eq!(count(format!("from={0}&to={0}", time_of(2))).await, 2);
        assert_eq!(count(format!("from={}", time_of(6))).await, 8 + 3);
        assert_eq!(count(format!("to={}", time_of(1) - 1)).await, 0);
        assert_eq!(count("from=5&to=5".to_owned()).await, 7);
        assert_eq!(count("from=7".to_owned()).await, 0, "there is no such block yet");
        assert_eq!(count("from=3&to=2".to_owned()).await, 0);
        assert_eq!(count(format!("from={}&to=4", time_of(3))).await, 21, "a time and a block");
        site.finish().await;
    }
}
