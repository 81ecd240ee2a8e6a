//! A search in the knowledge base, beside FTS5 asked for the same by hand.

use super::{Comparison, GATEWAY, Goal, chain::Watch, new_view};
use crate::{
    bench::{Bench, Synchronous, keep},
    load,
    pin::{self, PinnedRole},
    prose::{self, Prose},
    rounds::{Contestant, Sample, in_turn},
    server::Server,
};
use anyhow::{Result, ensure};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

const AGAIN: &str = "gateway, the same searches again";
const DIRECT: &str = "SQLite FTS5, called directly";
const QUERIES: u64 = 200;
/// Words of a page: some 3 KB.
const WORDS: u64 = 450;
/// As many as the gateway answers without being told a limit.
const PAGE: u32 = 50;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let pages = bench.scale.pages;
    let file = bench.folder().join("kb.db");
    make(bench, &file)?;
    let server = bench.gateway_on_copy(&file, &[])?;
    let queries: Vec<[String; 2]> = (0..QUERIES).map(query).collect();
    let index = Index::open(&file)?;
    same_answers(&server, &index, &queries)?;
    let (address, next) = (server.address(), &queries);
    let request = move |number: u64, view: u64| {
        let [word, beginning] = &next[usize::try_from(number % QUERIES).ok()?];
        Some(load::get(address, &format!("/api/kb?q={word}+{beginning}&view={view}")))
    };
    let new = move |number| request(number, new_view());
    let again = move |number| request(number, u64::MAX);
    let mut contestants = vec![
        Contestant::new(GATEWAY, || Sample::of(&bench.reads(&server, &new)?, &server)),
        Contestant::new(AGAIN, || Sample::of(&bench.reads(&server, &again)?, &server)),
    ];
    if bench.with_peers {
        contestants.push(Contestant::new(DIRECT, || {
            pin::on(PinnedRole::Server, || index.measure(&queries, bench.scale.duration))?
        }));
    }
    Ok(vec![Comparison {
        title: "A search in a knowledge base",
        how: format!(
            "`GET /api/kb?q=…`: {QUERIES} searches in turn, each for two beginnings of words, the best {PAGE} of {pages} pages of some 3 KB \
             with rank and snippet. The words are as frequent as those of a language. The gateway answers JSON by HTTP, in the \
             first row each search for the first time. Beside it one thread of the benchmark's own process asks the very same \
             tables: the same words, BM25 with the same weights, FTS5's own snippets; nothing is made of the rows, and nobody is \
             answered."
        ),
        operation: "search",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: vec![
            Goal::PartOf { row: GATEWAY, other: DIRECT, max: 1.0 },
            Goal::AtMostUs { row: GATEWAY, max: 700.0 },
        ],
    }])
}

/// A word that some pages have, and the beginning of others.
fn query(number: u64) -> [String; 2] {
    let mut prose = Prose::new(number);
    let mut rare = |from: u64, to: u64| prose::word(from + prose.number() % (to - from));
    let (word, mut beginning) = (rare(20, 2_000), rare(20, 2_000));
    beginning.truncate(3);
    [word, beginning]
}

/// A database with the pages, as a gateway stored them.
fn make(bench: &Bench, file: &Path) -> Result<()> {
    let pages = bench.scale.pages;
    println!("  {pages} pages are written");
    let gateway = bench.gateway(&[Synchronous::Normal.setting()])?;
    bench.write_signed(&gateway, "kb.write", (pages, 201), page, |address, number, body| {
        load::send(address, &format!("PUT /api/kb/page-{number}"), "application/json", body)
    })?;
    let database = keep(gateway, file)?;
    let count: i64 = database.query_row("SELECT count(*) FROM kb_pages", [], |row| row.get(0))?;
    ensure!(u64::try_from(count)? == pages, "the knowledge base has {count} pages");
    Ok(())
}

fn page(number: u64) -> Value {
    let mut prose = Prose::new(u64::MAX - number);
    json!({ "title": prose.words(6), "summary": prose.words(15), "body": prose.words(WORDS) })
}

/// The gateway finds what FTS5 finds. (Of pages with equal ranks another one may be the last.)
fn same_answers(server: &Server, index: &Index, queries: &[[String; 2]]) -> Result<()> {
    let mut found = 0;
    for query in queries.iter().take(20) {
        let [word, beginning] = query;
        let path = format!("/api/kb?q={word}+{beginning}");
        let (_, _, body) = load::ask(server.address(), &load::get(server.address(), &path))?;
        let answer: Value = serde_json::from_slice(&body)?;
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ranks: Vec<i64> = items.iter().filter_map(|item| item["rank"].as_f64()).map(places).collect();
        let direct: Vec<i64> = index.search(query)?.into_iter().map(|(rank, _)| places(rank)).collect();
        ensure!(ranks == direct, "{path} is ranked {ranks:?} instead of {direct:?}");
        found += ranks.len();
    }
    ensure!(found > 0, "the searches find nothing");
    Ok(())
}

/// Six places of a rank.
#[allow(clippy::cast_possible_truncation, reason = "ranks are small")]
fn places(rank: f64) -> i64 {
    (rank * 1e6).round() as i64
}

/// FTS5, asked as its documentation advises.
struct Index(Connection);

impl Index {
    fn open(file: &Path) -> Result<Self> {
        Ok(Self(Connection::open(file)?))
    }

    /// Ranks with what is shown of the pages.
    fn search(&self, [word, beginning]: &[String; 2]) -> Result<Vec<(f64, [String; 4])>> {
        let mut statement = self.0.prepare_cached(
            "SELECT s.rank, p.kept, p.created_by, p.updated_by, snippet(kb_search, 2, '[', ']', '…', 14) \
             FROM kb_search s JOIN kb_pages p ON p.id = s.rowid \
             WHERE kb_search MATCH ?1 AND s.rank MATCH 'bm25(4.0, 2.0, 1.0)' ORDER BY s.rank LIMIT ?2",
        )?;
        let beginnings = format!("\"{word}\" * \"{beginning}\" *");
        let rows = statement.query_map((beginnings, PAGE), |row| {
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn measure(&self, queries: &[[String; 2]], duration: Duration) -> Result<Sample> {
        // Its part of the file is in memory then.
        for query in queries {
            self.search(query)?;
        }
        let (watch, begun) = (Watch::start()?, Instant::now());
        let mut times_us = Vec::new();
        for query in queries.iter().cycle().take_while(|_| begun.elapsed() < duration) {
            let asked = Instant::now();
            self.search(query)?;
            times_us.push(asked.elapsed().as_secs_f64() * 1e6);
        }
        watch.sample(times_us.len(), times_us)
    }
}
