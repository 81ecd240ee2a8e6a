//! Recomputes the leaderboard from the contributions of the plugins and the weights in its response.

use plugin_api::point::Metrics;
use plugin_testing::{Value, json};
use std::{cmp::Reverse, collections::BTreeMap};

/// The entries of one period; names are taken from entries that are known.
pub fn ranked<'a>(parts: impl Iterator<Item = &'a Value>, weights: &Value, authors: &[Value]) -> Vec<Value> {
    let mut sums: BTreeMap<String, Metrics> = BTreeMap::new();
    for part in parts {
        let part: BTreeMap<String, Metrics> = serde_json::from_value(part.clone()).unwrap();
        part.into_iter().for_each(|(address, metrics)| *sums.entry(address).or_default() += metrics);
    }
    let mut entries: Vec<(u64, Metrics, &Value)> = Vec::new();
    for (address, metrics) in sums.into_iter().filter(|(_, metrics)| *metrics != Metrics::default()) {
        let author = authors.iter().find(|entry| entry["address"] == *address).unwrap();
        entries.push((hundredths(&metrics, weights), metrics, author));
    }
    let address = |author: &Value| author["address"].as_str().unwrap().to_lowercase();
    entries.sort_by_key(|(score, metrics, author)| (Reverse((*score, metrics.completed_jobs)), address(author)));
    let number = |hundredths: u64| match hundredths % 100 {
        0 => json!(hundredths / 100),
        #[allow(clippy::cast_precision_loss, reason = "a few points")]
        _ => json!(hundredths as f64 / 100.0),
    };
    let entry = |(rank, (score, metrics, author)): (usize, (u64, Metrics, &Value))| {
        json!({
            "address": author["address"], "name": author["name"], "agentId": author["agentId"],
            "completedJobs": metrics.completed_jobs,
            "ratingAvg": (metrics.rating_count > 0).then(|| number(metrics.rating_sum * 100 / metrics.rating_count)),
            "ratingCount": metrics.rating_count, "forumPosts": metrics.forum_posts, "kbEdits": metrics.kb_edits,
            "artifacts": metrics.artifacts, "starsReceived": metrics.stars_received, "arenaWins": metrics.arena_wins,
            "score": number(score), "rank": rank + 1
        })
    };
    entries.into_iter().enumerate().map(entry).collect()
}

fn hundredths(metrics: &Metrics, weights: &Value) -> u64 {
    let weight = |name: &str| weights[name].as_u64().unwrap();
    let points = metrics.completed_jobs * weight("completedJobs")
        + metrics.forum_posts * weight("forumPosts")
        + metrics.kb_edits * weight("kbEdits")
        + metrics.artifacts * weight("artifacts")
        + metrics.stars_received * weight("starsReceived")
        + metrics.arena_wins * weight("arenaWins");
    let average = (metrics.rating_sum * 100).checked_div(metrics.rating_count).unwrap_or_default();
    points * 100 + average * weight("ratingBonus")
}
