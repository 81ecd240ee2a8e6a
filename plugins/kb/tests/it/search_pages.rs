//! `GET /api/kb?q=`: both databases find the same pages of one corpus, with the same ranks and snippets.

use super::{PAGES, create, finish, gateways, next, read, slugs, write};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn search(gateway: &TestGateway, query: &str) -> Value {
    read(gateway, &format!("{PAGES}?q={}", encoded(query))).await
}

async fn found(gateway: &TestGateway, query: &str) -> Vec<String> {
    slugs(gateway, &format!("?q={}", encoded(query))).await
}

/// Slug, title, summary, body.
const CORPUS: [(&str, &str, &str, &str); 16] = [
    (
        "hire",
        "How to hire an agent",
        "From search to payment",
        "Call requestJob on the escrow contract. The escrow holds the payment.",
    ),
    (
        "escrow",
        "The escrow contract",
        "What holds the money",
        "Every job is paid into it. It pays the agent when the client releases.",
    ),
    (
        "disputes",
        "Disputes",
        "When client and agent disagree",
        "An arbiter looks at the evidence. The escrow pays by the arbiter's word.",
    ),
    ("signatures", "Signing", "", "A wallet signs five lines. An agent signs with the key of its owner."),
    (
        "compute",
        "Renting compute",
        "GPUs by the second",
        "A provider lists a GPU with its VRAM: max_price=10, region eu-west-1.",
    ),
    ("german", "Über Größe", "Straße", "Ein Agent prüft Maße; Äpfel, Öl und Übermut."),
    ("greek", "ΟΔΟΣ", "", "Η ὁδός είναι μακρά. Οι οδοί."),
    ("japanese", "知識ベース", "エージェント", "エージェントは 仕事 を 探す。 日本語 テスト"),
    ("cyrillic", "Ёлка", "", "Агент пишет страницу. ЁЛКА и елка"),
    ("hindi", "ज्ञान", "", "एजेंट काम ढूँढता है"),
    ("emoji", "😀 Faces", "", "agent😀agent 👩‍💻 done"),
    ("marks", "!!! ???", "", "--- *** …"),
    ("twins-one", "Twin", "", "alike alike alike"),
    ("twins-two", "Twin", "", "alike alike alike"),
    ("hash", "A hash", "", "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
    ("quotes", "It's \"quoted\"", "a\\b", "O'Neil said: \"escrow\" (NOT escrow) AND near/escrow* ^x : -y"),
];

/// Writes the pages of the corpus; two are long, and one is revised, so that its earlier text is no longer found.
async fn fill(gateway: &TestGateway) {
    for (number, (slug, title, summary, body)) in (1..).zip(CORPUS) {
        write(gateway, &Wallet::new(number), slug, json!({ "title": title, "summary": summary, "body": body })).await;
    }
    let long: Vec<String> = (0..4000).map(|number| format!("word{number} the")).collect();
    create(gateway, &Wallet::new(101), "long", &format!("{} escrow agent", long.join(" "))).await;
    create(gateway, &Wallet::new(102), "repeated", &"escrow ".repeat(5000)).await;
    create(gateway, &Wallet::new(103), "revised", "zebra before escrow").await;
    next(gateway).await;
    create(gateway, &Wallet::new(103), "revised", "giraffe after").await;
}

const QUERIES: [&str; 44] = [
    "escrow",
    "agent",
    "escrow agent",
    "agent escrow",
    "ESCROW Agent",
    "a",
    "the",
    "e",
    "esc",
    "escrows",
    "pay",
    "client rel",
    "zebra",
    "giraffe",
    "grosse",
    "größe",
    "GRÖSSE",
    "uber",
    "strasse",
    "straße",
    "οδος",
    "ΟΔΟΣ",
    "οδ",
    "елка",
    "ёлка",
    "агент",
    "日本",
    "日本語",
    "エージ",
    "ज्ञान",
    "काम",
    "alike",
    "twin",
    "0xc5d2460186f7233c",
    "max_price",
    "price",
    "eu-west-1",
    "o'neil",
    "\"escrow\"",
    "escrow NOT agent",
    "near(escrow)",
    "word3999",
    "the word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 nothing",
    "hire contract payment",
];

#[tokio::test]
async fn both_databases_answer_every_query_alike() {
    let mut responses: Vec<Vec<Value>> = Vec::new();
    for gateway in gateways().await {
        fill(&gateway).await;
        let mut of_house = Vec::new();
        for query in QUERIES {
            let response = search(&gateway, query).await;
            assert_eq!(
                (&response["q"], &response["fts"], &response["total"]),
                (&json!(query), &json!(true), &Value::Null)
            );
            of_house.push(response);
        }
        responses.push(of_house);
        finish(gateway).await;
    }
    for (query, response) in QUERIES.iter().zip(&responses[0]) {
        let is_empty = response["items"].as_array().unwrap().is_empty();
        assert_eq!(
            is_empty,
            ["escrows", "zebra", "GRÖSSE", "grosse", "strasse", "price", "escrow NOT agent"].contains(query),
            "{query}: {response}"
        );
    }
    if let [sqlite, postgres] = responses.as_slice() {
        for (query, (one, other)) in QUERIES.iter().zip(sqlite.iter().zip(postgres)) {
            assert_eq!(one, other, "{query}");
        }
    }
}

#[tokio::test]
async fn a_page_has_all_the_words_or_longer_ones() {
    for gateway in gateways().await {
        fill(&gateway).await;
        let mut pages = found(&gateway, "escrow contract").await;
        pages.sort_unstable();
        assert_eq!(pages, ["escrow", "hire"]);
        assert_eq!(found(&gateway, "contr escr requestj").await, ["hire"]);
        assert_eq!(found(&gateway, "escrow giraffe").await, Vec::<String>::new());
        assert_eq!(found(&gateway, "giraffe").await, ["revised"]);
        for nothing in ["!!!", "*", "\"\"", "_", "😀"] {
            let response = search(&gateway, nothing).await;
            assert_eq!(response, json!({ "items": [], "total": null, "q": nothing, "fts": true }), "{nothing}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_title_weighs_more_than_a_body_and_ties_are_the_newer_pages() {
    for gateway in gateways().await {
        fill(&gateway).await;
        let response = search(&gateway, "agent").await;
        let items = response["items"].as_array().unwrap();
        assert_eq!(items[0]["slug"], "hire", "{response}");
        let ranks: Vec<f64> = items.iter().map(|item| item["rank"].as_f64().unwrap()).collect();
        assert!(ranks.is_sorted() && ranks[0] < 0.0, "{ranks:?}");
        assert_eq!(found(&gateway, "alike").await, ["twins-two", "twins-one"]);
        let query = "?q=agent&limit=2&offset=1&sort=title";
        let page: Vec<&str> = items[1..3].iter().map(|item| item["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs(&gateway, query).await, page);
        assert_eq!(slugs(&gateway, "?q=agent&offset=100").await, Vec::<String>::new());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_snippet_shows_where_the_words_stand() {
    for gateway in gateways().await {
        fill(&gateway).await;
        let snippet = async |query: &str| search(&gateway, query).await["items"][0]["snippet"].clone();
        assert_eq!(
            snippet("requestjob").await,
            "Call [requestJob] on the escrow contract. The escrow holds the payment"
        );
        let (before, after) = ("word1997 the word1998 the word1999 the", "the word2001 the word2002 the word2003 the");
        assert_eq!(snippet("word2000").await, format!("…{before} [word2000] {after}…"));
        // Matches in the title only: the snippet is the beginning of the body.
        assert_eq!(snippet("renting").await, "A provider lists a GPU with its VRAM: max_price=10, region eu-west-1");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_written_page_is_found_at_once_and_after_a_restart() {
    for gateway in gateways().await {
        assert_eq!(found(&gateway, "needle").await, Vec::<String>::new());
        create(&gateway, &Wallet::new(1), "page", "a needle").await;
        assert_eq!(found(&gateway, "needle").await, ["page"]);
        let gateway = gateway.restart().await;
        assert_eq!(found(&gateway, "needle").await, ["page"]);
        create(&gateway, &Wallet::new(2), "other", "needles").await;
        assert_eq!(found(&gateway, "needle").await.len(), 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_unsearchable_text_is_a_bad_query() {
    for gateway in gateways().await {
        let response = gateway.get(&format!("{PAGES}?q=a%00b")).await;
        assert_eq!((response.status, response.code()), (400, "bad_query".to_owned()));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_underscore_is_part_of_a_word_also_in_pages_that_were_indexed_before() {
    for gateway in gateways().await {
        create(&gateway, &Wallet::new(1), "snake", "set max_price=10").await;
        create(&gateway, &Wallet::new(2), "words", "the max and the price").await;
        let find = async || {
            let found = ["max_price", "max_pr", "price", "max"].map(|query| found(&gateway, query));
            futures_util::future::join_all(found).await.into_iter().map(|slugs| slugs.join(" ")).collect::<Vec<_>>()
        };
        let expected = ["snake", "snake", "words", "words snake"];
        let sorted = |mut found: Vec<String>| {
            found[3] = if found[3] == "snake words" { "words snake".to_owned() } else { found[3].clone() };
            found
        };
        assert_eq!(sorted(find().await), expected);
        // As a migration leaves them.
        gateway.execute("DELETE FROM kb_search").await;
        gateway.execute("INSERT INTO kb_unindexed (page_id) SELECT id FROM kb_pages").await;
        assert_eq!(find().await, ["", "", "", ""]);
        TestGateway::eventually(Duration::from_secs(10), "the pages are indexed again", || async {
            gateway.clock().advance(Duration::from_secs(60)).await;
            sorted(find().await) == expected
        })
        .await;
        finish(gateway).await;
    }
}
