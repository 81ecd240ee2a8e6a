//! A signature is good for one write: in any encoding, from any client, however often it is sent, before and after a
//! restart.

use super::{
    setup, setup_on,
    site::{Site, THREADS, answer, posts_of, signed},
};
use crate::{crash::sequenced, storage::Engine};
use alloy_primitives::{U256, uint};
use futures_util::future::join_all;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use reqwest::Method;
use rstest::rstest;
use sha2::{Digest as _, Sha256};

const CURVE_ORDER: U256 = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);

fn new_thread(wallet: &Wallet, title: &str) -> Value {
    signed(wallet, "thread.create", &json!({ "title": title, "body": "B" }))
}

fn with_sig(body: &Value, sig: String) -> Value {
    let mut other = body.clone();
    other["sig"] = sig.into();
    other
}

/// `r` and `s` as hex digits, and `v` as 27 or 28.
fn parts(body: &Value) -> (String, u8) {
    let sig = body["sig"].as_str().unwrap();
    (sig[2..130].to_owned(), u8::from_str_radix(&sig[130..], 16).unwrap())
}

/// Other encodings of the same signature, or of the same request.
fn other_forms(body: &Value) -> Vec<(&'static str, Value)> {
    let (scalars, v) = parts(body);
    let upper = scalars.to_uppercase();
    let mut with_text_ts = body.clone();
    with_text_ts["ts"] = body["ts"].to_string().into();
    let mut lower_address = body.clone();
    lower_address["address"] = body["address"].as_str().unwrap().to_lowercase().into();
    vec![
        ("the same", body.clone()),
        ("v of 0 or 1", with_sig(body, format!("0x{scalars}{:02x}", v - 27))),
        ("upper case", with_sig(body, format!("0x{upper}{v:02X}"))),
        ("upper case, v of 0 or 1", with_sig(body, format!("0x{upper}{:02X}", v - 27))),
        ("ts as text", with_text_ts),
        ("lower-case address", lower_address),
    ]
}

#[rstest]
#[tokio::test]
async fn no_form_of_a_signature_passes_twice(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = setup_on(engine).await.start().await.unwrap();
    let site = Site::of(&gateway);
    let forms = other_forms(&new_thread(&Wallet::new(0), "T")).len();
    // Each form is sent first once, and passes; then all of them are refused.
    for first in 0..forms {
        let body = new_thread(&Wallet::new(first as u64), &format!("thread {first}"));
        let (name, form) = &other_forms(&body)[first];
        let answer = site.post(THREADS, form).await;
        assert_eq!(answer.status, 201, "{name} first: {}", answer.text());
        for (again, form) in other_forms(&body) {
            let answer = site.post(THREADS, &form).await;
            assert_eq!((answer.status, answer.code().as_str()), (409, "replay"), "{name}, then {again}");
        }
    }
    assert_eq!(site.get(THREADS).await.json()["total"], forms);
}

#[tokio::test]
async fn the_twin_of_a_signature_is_refused() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let body = new_thread(&Wallet::new(1), "T");
    let (scalars, v) = parts(&body);
    let high = CURVE_ORDER - U256::from_str_radix(&scalars[64..], 16).unwrap();
    let twin = format!("0x{}{high:064x}{:02x}", &scalars[..64], 27 + 28 - v);
    let answer = site.post(THREADS, &with_sig(&body, twin)).await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "bad_sig"), "{}", answer.text());
    assert_eq!(site.get(THREADS).await.json()["total"], 0);
    // It used up neither the signature nor the write interval.
    assert_eq!(site.post(THREADS, &body).await.status, 201);
}

#[rstest]
#[tokio::test]
async fn of_fifty_identical_requests_at_once_one_is_taken(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let body = new_thread(&Wallet::new(1), "Once");
    let answers = join_all((0..50).map(|_| site.post(THREADS, &body))).await;
    let mut outcomes: Vec<(u16, String)> = answers.iter().map(|answer| (answer.status, answer.code())).collect();
    outcomes.sort();
    assert_eq!(outcomes[0], (201, String::new()));
    assert!(outcomes[1..].iter().all(|outcome| *outcome == (409, "replay".to_owned())), "{outcomes:?}");
    assert_eq!(site.get(THREADS).await.json()["total"], 1);
    sequenced(&setup).await;
    let events = site.get("/api/activity").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "{events}");
}

#[rstest]
#[tokio::test]
async fn a_wallet_writes_once_per_interval(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    const INTERVAL_S: u64 = 4;
    let gateway = setup_on(engine).await.set("limits.write_interval_ms", INTERVAL_S * 1000).start().await.unwrap();
    let site = Site::of(&gateway);
    let wallet = Wallet::new(1);
    let (one, other) = (new_thread(&wallet, "one"), new_thread(&wallet, "other"));
    let (first, second) = tokio::join!(site.post(THREADS, &one), site.post(THREADS, &other));
    let (refused, body) = if first.status == 201 { (second, &other) } else { (first, &one) };
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"), "{}", refused.text());
    let retry_after_s: u64 = refused.header("retry-after").parse().unwrap();
    assert_eq!(retry_after_s, INTERVAL_S);
    assert_eq!(site.get(THREADS).await.json()["total"], 1);
    // Another wallet is not concerned, and the refused write has used up neither slot nor signature.
    assert_eq!(site.post(THREADS, &new_thread(&Wallet::new(2), "somebody else")).await.status, 201);
    TestGateway::eventually(LIMIT, "its turn comes", async || site.post(THREADS, body).await.status == 201).await;
    assert_eq!(site.get(THREADS).await.json()["total"], 3);
}

/// Otherwise anyone could keep an address from writing.
#[tokio::test]
async fn forged_writes_take_no_turn_of_an_address() {
    let gateway = setup().set("limits.write_interval_ms", 60_000).start().await.unwrap();
    let site = Site::of(&gateway);
    let (alice, mallory) = (Wallet::new(1), Wallet::new(2));
    for number in 0..5 {
        let mut forged = new_thread(&mallory, &format!("by alice {number}"));
        forged["address"] = alice.address().into();
        let answer = site.post(THREADS, &forged).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "sig_mismatch"), "{}", answer.text());
    }
    assert_eq!(site.post(THREADS, &new_thread(&alice, "by alice")).await.status, 201);
}

#[rstest]
#[tokio::test]
async fn a_restart_forgets_no_signature(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    let body = new_thread(&Wallet::new(1), "Once");
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).post(THREADS, &body).await.status, 201);
    assert!(gateway.terminate(LIMIT).await.unwrap().success());

    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    let answer = site.post(THREADS, &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "replay"), "{}", answer.text());
    assert_eq!(site.get(THREADS).await.json()["total"], 1);
}

/// Who sees a reply being sent could send it to another thread first, if the signature did not name the thread.
#[rstest]
#[tokio::test]
async fn a_signature_that_names_its_target_is_good_there_only(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[values("id", "threadId")] member: &str,
) {
    let gateway = setup_on(engine).await.start().await.unwrap();
    let site = Site::of(&gateway);
    let (one, other) =
        (site.open_thread(&Wallet::new(1), "one").await, site.open_thread(&Wallet::new(2), "other").await);
    let reply = signed(&Wallet::new(3), "post.create", &json!({ "body": "Yes", member: one }));
    let answer = site.post(&posts_of(other), &reply).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "bad_sig"), "{}", answer.text());
    assert!(
        answer.text().contains(&format!("the body's `{member}` differs from the one in the URL")),
        "{}",
        answer.text()
    );
    // It used up neither the signature nor the write interval.
    let answer = site.post(&posts_of(one), &reply).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    // The names are optional.
    let reply = signed(&Wallet::new(4), "post.create", &json!({ "body": "Yes" }));
    assert_eq!(site.post(&posts_of(other), &reply).await.status, 201);
}

async fn put(site: &Site, path: &str, body: &Value) -> TestResponse {
    let request = site.request(Method::PUT, path).header("content-type", "application/json");
    answer(request.body(body.to_string())).await
}

#[tokio::test]
async fn a_page_that_is_signed_for_one_name_is_written_under_no_other() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let page = signed(&Wallet::new(1), "kb.write", &json!({ "title": "T", "body": "B", "slug": "mine" }));
    let answer = put(&site, "/api/kb/yours", &page).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "bad_sig"), "{}", answer.text());
    assert_eq!(put(&site, "/api/kb/mine", &page).await.status, 201);
}

/// What is signed for one deployment is then good at no other.
#[tokio::test]
async fn a_deployment_with_a_first_line_of_its_own_takes_no_other() {
    let gateway = setup().set("brand.message_line", "Harbour Commons").start().await.unwrap();
    let site = Site::of(&gateway);
    let (wallet, payload) = (Wallet::new(1), json!({ "title": "T", "body": "B" }));
    let with_default_line = signed(&wallet, "thread.create", &payload);
    let answer = site.post(THREADS, &with_default_line).await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "sig_mismatch"), "{}", answer.text());

    let hash = hex::encode(Sha256::digest(serde_json_canonicalizer::to_string(&payload).unwrap()));
    let (address, ts) = (wallet.address(), &with_default_line["ts"]);
    let message = format!("Harbour Commons\naction: thread.create\naddress: {address}\nts: {ts}\nbody: {hash}");
    let answer = site.post(THREADS, &with_sig(&with_default_line, wallet.sign_text(&message))).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
}
