//! A `tsvector` with a GIN index. PostgreSQL finds the pages; the rank is BM25 in SQL, because PostgreSQL has no BM25.

use super::Hit;
use crate::{model, store};
use plugin_api::{HostError, Query, Sql, sql};

pub fn replace(page: model::PageId, text: &model::IndexText) -> [Sql; 2] {
    // Words consist of letters, digits and underscores only, so quotes are sufficient escaping.
    let words: Vec<String> = text.counts.iter().map(|(word, count)| format!("'{word}':{count}")).collect();
    let insert = sql("INSERT INTO kb_search (page_id, words, length) VALUES ($1, cast($2 AS tsvector), $3)");
    [sql("DELETE FROM kb_search WHERE page_id = $1").bind(page), insert.bind((page, words.join(" "), text.length))]
}

/// Constants of FTS5.
const K1: f64 = 1.2;
const B: f64 = 0.75;
const IDF_MIN: f64 = 0.000_001;

pub async fn find(db: &impl Query, query: &model::SearchQuery, limit: u32, offset: u32) -> Result<Vec<Hit>, HostError> {
    let totals = store::pages::totals(db).await?;
    let mut weights = Vec::new();
    for beginning in query.beginnings() {
        weights.push(weight(totals.pages, count(db, beginning).await?));
    }
    db.rows(ranked(query, &weights, totals, limit, offset)).await
}

/// Number of pages with a word of that prefix.
async fn count(db: &impl Query, beginning: &str) -> Result<i64, HostError> {
    let count = sql("SELECT count(*) FROM kb_search WHERE words @@ cast($1 AS tsquery)");
    db.one(count.bind(any(beginning))).await
}

fn any(beginning: &str) -> String {
    format!("'{beginning}':*")
}

/// The inverse document frequency.
fn weight(pages: i64, with_word: i64) -> f64 {
    let (pages, with_word) = (pages as f64, with_word as f64);
    let weight = ((pages - with_word + 0.5) / (with_word + 0.5)).ln();
    if weight > 0.0 { weight } else { IDF_MIN }
}

fn ranked(query: &model::SearchQuery, weights: &[f64], totals: store::pages::Totals, limit: u32, offset: u32) -> Sql {
    let length_avg = (totals.words as f64 / totals.pages.max(1) as f64).max(1.0);
    let all: Vec<String> = query.beginnings().iter().map(|beginning| any(beginning)).collect();
    let mut find = sql("").bind((all.join(" & "), length_avg));
    let (mut counts, mut scores) = (Vec::new(), Vec::new());
    for (number, (beginning, weight)) in query.beginnings().iter().zip(weights).enumerate() {
        find = find.bind((beginning, weight));
        let (beginning, weight) = (find.param_count() - 1, find.param_count());
        counts.push(format!(
            "cast(coalesce(sum(w.positions[1]) FILTER (WHERE starts_with(w.lexeme, ${beginning})), 0) \
             AS double precision) AS f{number}"
        ));
        scores.push(format!("${weight} * c.f{number} * ({K1} + 1) / (c.f{number} + {K1} * h.norm)"));
    }
    let (counts, score) = (counts.join(", "), scores.join(" + "));
    find.push(&format!(
        "WITH h AS (SELECT page_id, words, 1 - {B} + {B} * length / $2 AS norm FROM kb_search \
         WHERE words @@ cast($1 AS tsquery)) \
         SELECT h.page_id AS id, cast(round(cast(-({score}) AS numeric), 9) AS double precision) AS score \
         FROM h CROSS JOIN LATERAL (SELECT {counts} FROM unnest(h.words) AS w) c \
         ORDER BY score, id DESC"
    ))
    .push_bind(" LIMIT {}", limit)
    .push_bind(" OFFSET {}", offset)
}
