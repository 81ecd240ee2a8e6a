//! `GET /api/messages/inbox`

use super::{MESSAGES, Site, sites};
use plugin_testing::{Value, Wallet, json};

const INBOX: &str = "/api/messages/inbox";

fn bodies(inbox: &Value) -> Vec<&str> {
    inbox["items"].as_array().unwrap().iter().map(|item| item["body"].as_str().unwrap()).collect()
}

async fn write(site: &Site, from: &Wallet, to: &Wallet, body: &str) {
    site.send(from, json!({ "to": to.address(), "body": body })).await;
    site.wait(2).await;
}

#[tokio::test]
async fn an_inbox_has_sent_and_received_messages_newest_first() {
    let [alice, bob, carol] = [1, 2, 3].map(Wallet::new);
    for site in sites(Vec::new()).await {
        write(&site, &alice, &bob, "1").await;
        write(&site, &bob, &alice, "2").await;
        write(&site, &carol, &bob, "3").await;
        write(&site, &alice, &alice, "4").await;
        let inbox = site.inbox(&alice, "").await;
        assert_eq!(inbox["address"], alice.address());
        assert_eq!(bodies(&inbox), ["4", "2", "1"]);
        assert_eq!(bodies(&site.inbox(&bob, "").await), ["3", "2", "1"]);
        assert_eq!(bodies(&site.inbox(&carol, "").await), ["3"]);
        assert_eq!(site.inbox(&Wallet::new(9), "").await["items"], json!([]));
        site.close().await;
    }
}

#[tokio::test]
async fn a_limit_takes_the_newest_and_never_fails() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        for number in 0..4 {
            write(&site, [&alice, &bob][number % 2], [&bob, &alice][number % 2], &number.to_string()).await;
        }
        for (more, expected) in [
            ("&limit=1", vec!["3"]),
            ("&limit=3", vec!["3", "2", "1"]),
            ("&limit=0", vec!["3", "2", "1", "0"]),
            ("&limit=abc", vec!["3", "2", "1", "0"]),
            ("&limit=1000", vec!["3", "2", "1", "0"]),
        ] {
            assert_eq!(bodies(&site.inbox(&alice, more).await), expected, "{more}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn at_most_two_hundred() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    let site = sites(Vec::new()).await.remove(0);
    for number in 0..203 {
        write(&site, &alice, &bob, &number.to_string()).await;
    }
    let inbox = site.inbox(&bob, "").await;
    assert_eq!((bodies(&inbox).len(), bodies(&inbox)[0], bodies(&inbox)[199]), (200, "202", "3"));
    site.close().await;
}

#[tokio::test]
async fn only_the_signer_reads_and_as_often_as_it_wants() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for site in sites(Vec::new()).await {
        write(&site, &alice, &bob, "secret").await;
        let now = site.gateway.now_s();
        let signed = bob.signed_query("inbox.read", now);
        for _ in 0..3 {
            let response = site.gateway.get(&format!("{INBOX}?{signed}")).await;
            assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        }
        let stolen = signed.replace(bob.address(), alice.address());
        for (query, code) in [
            (String::new(), "bad_sig"),
            (stolen, "sig_mismatch"),
            (alice.signed_query("message.send", now), "sig_mismatch"),
            (bob.signed_query("inbox.read", now - 301), "stale_ts"),
            (format!("address={}&ts={now}", bob.address()), "bad_sig"),
        ] {
            let response = site.gateway.get(&format!("{INBOX}?{query}")).await;
            assert_eq!((response.status, response.code().as_str()), (401, code), "{query}");
            assert!(!response.text().contains("secret"));
        }
        let headers = bob.signed_headers("inbox.read", now, "{}");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(site.gateway.send("GET", INBOX, &headers, "").await.status, 401, "query only");
        site.close().await;
    }
}

#[tokio::test]
async fn messages_outlive_the_gateway() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for Site { gateway, chain } in sites(Vec::new()).await {
        let site = Site { gateway, chain };
        let message = site.send(&alice, json!({ "to": bob.address(), "body": "b" })).await;
        let site = Site { gateway: site.gateway.restart().await, chain: site.chain };
        assert_eq!(site.inbox(&bob, "").await["items"], json!([message]));
        assert_eq!(site.gateway.get(MESSAGES).await.status, 405);
        site.close().await;
    }
}
