//! Attempts: headers and signatures, order, retries, what endpoints answer.

use super::{
    Endpoint, SECRET, Site, client,
    endpoint::{body, header},
    fixture::requested,
    owner, sites, sites_of, sites_with,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use plugin_testing::{TestGateway, Value, Wallet, json};
use standardwebhooks::Webhook;
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

const WHSEC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEWER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// By the public library's own signature: its check compares the time with the system's clock, and the tests have another one.
fn verifies(secret: &str, call: &Request) -> bool {
    let webhook = if secret.starts_with("whsec_") {
        Webhook::new(secret).unwrap()
    } else {
        Webhook::from_bytes(secret.as_bytes().to_vec()).unwrap()
    };
    let sent_at: i64 = header(call, "webhook-timestamp").parse().unwrap();
    let expected = webhook.sign(&header(call, "webhook-id"), sent_at, &call.body).unwrap();
    header(call, "webhook-signature").split(' ').any(|signature| signature == expected)
}

fn own_signature(secret: &str, call: &Request) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&call.body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn a_delivery_has_both_families_of_headers_over_its_exact_bytes() {
    for site in sites().await {
        for secret in [SECRET, WHSEC] {
            let endpoint = Endpoint::start().await;
            let id = site.webhook_with(&owner(), &endpoint, secret, &["dm.received"]).await["id"].clone();
            site.message("a \"body\" with ü and \u{1f980}").await;
            let call = &endpoint.calls(1).await[0];
            let body = body(call);
            let members: Vec<&String> = body.as_object().unwrap().keys().collect();
            assert_eq!(members, ["id", "event", "ts", "webhookId", "data"]);
            let now = site.gateway.now_s();
            assert_eq!((&body["ts"], &body["webhookId"], &body["event"]), (&json!(now), &id, &json!("dm.received")));
            assert_eq!(call.method.as_str(), "POST");
            for (name, value) in [
                ("content-type", "application/json".to_owned()),
                ("user-agent", "service-gateway/webhooks".to_owned()),
                ("x-service-event", "dm.received".to_owned()),
                ("x-service-signature", own_signature(secret, call)),
                ("x-service-signature-old", String::new()),
                ("webhook-timestamp", now.to_string()),
                ("webhook-id", format!("whd_{}", header(call, "x-service-delivery"))),
            ] {
                assert_eq!(header(call, name), value, "{name}");
            }
            assert!(verifies(secret, call), "{}", header(call, "webhook-signature"));
            assert!(!verifies("another secret of this length", call));
            assert_eq!(site.delete(&owner(), &id).await.status, 200);
        }
        site.close().await;
    }
}

#[tokio::test]
async fn the_headers_have_the_prefix_of_the_deployment() {
    let branded = |builder: plugin_testing::Builder| {
        builder.configure(|config| {
            config.brand.header_prefix = "X-Acme".to_owned();
            config.brand.marker = "acme".to_owned();
        })
    };
    for site in sites_of(branded).await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        let call = &endpoint.calls(1).await[0];
        assert_eq!(header(call, "x-acme-event"), "ping");
        assert_eq!(header(call, "x-acme-signature"), own_signature(SECRET, call));
        assert_eq!(header(call, "user-agent"), "acme-gateway/webhooks");
        assert_eq!(header(call, "x-service-event"), "");
        site.gateway.stop().await;
    }
}

/// The newest delivery of the owner, as soon as it has had so many attempts.
async fn attempted(site: &Site, attempts: u64) -> Value {
    let what = format!("{attempts} attempts are noted");
    TestGateway::eventually(super::LIMIT, &what, async || site.newest().await["attempts"] == attempts).await;
    site.newest().await
}

/// The seconds until the next attempt after so many. Never less than the pause, and at most a tenth and a second more.
/// The clock may have moved since that attempt: the pause began between its call and now.
async fn paused(site: &Site, endpoint: &Endpoint, attempts: usize, pause: i64) -> i64 {
    let delivery = attempted(site, attempts as u64).await;
    let called: i64 = header(&endpoint.calls(attempts).await[attempts - 1], "webhook-timestamp").parse().unwrap();
    let next = delivery["nextAt"].as_i64().unwrap();
    let wait = next - site.gateway.now_s();
    assert!(next - called >= pause, "called at {called}, next at {next}: shorter than {pause} s");
    assert!(wait <= pause + pause / 10 + 1, "{wait} s after attempt {attempts}");
    wait
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_with_the_same_id_and_data() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.fail(4);
        site.message("m").await;
        let started = site.gateway.now_s();
        for (attempt, pause) in [(1, 10), (2, 60), (3, 600)] {
            let wait = paused(&site, &endpoint, attempt, pause).await;
            let delivery = site.newest().await;
            assert_eq!((&delivery["status"], &delivery["lastStatus"]), (&json!("pending"), &json!(500)));
            assert_eq!(delivery["lastError"], "the status is 500");
            site.wait(u64::try_from(wait).unwrap() + 1).await;
        }
        let delivery = attempted(&site, 4).await;
        assert_eq!((&delivery["status"], &delivery["deliveredAt"]), (&json!("failed"), &Value::Null));
        site.wait(86_400).await;
        let calls = endpoint.calls(4).await;
        let bodies: Vec<Value> = calls.iter().map(body).collect();
        for (call, body) in calls.iter().zip(&bodies) {
            assert_eq!((&body["id"], &body["data"]), (&bodies[0]["id"], &bodies[0]["data"]));
            assert_eq!(header(call, "webhook-id"), header(&calls[0], "webhook-id"));
            assert_eq!(header(call, "webhook-timestamp"), body["ts"].to_string());
            assert!(verifies(SECRET, call));
        }
        assert!(bodies.is_sorted_by(|one, next| one["ts"].as_i64() < next["ts"].as_i64()));
        assert_eq!(bodies[0]["ts"], started);
        let counts = site.mine_of(&owner()).await["items"][0]["deliveries"].clone();
        assert_eq!(counts, json!({ "pending": 0, "ok": 0, "failed": 1 }));
        site.close().await;
    }
}

#[tokio::test]
async fn a_schedule_of_the_configuration_takes_its_place() {
    for site in sites_with(json!({ "retry_s": [1, 1, 1, 1, 1, 1] })).await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.fail(6);
        site.message("m").await;
        for attempt in 1..=6 {
            attempted(&site, attempt).await;
            site.wait(2).await;
        }
        assert_eq!(attempted(&site, 7).await["status"], "ok");
        assert_eq!(site.mine_of(&owner()).await["retrySeconds"], json!([1, 1, 1, 1, 1, 1]));
        site.close().await;
    }
}

#[tokio::test]
async fn deliveries_start_in_order_and_one_that_waits_holds_up_none() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received", "job.requested"]).await;
        endpoint.fail(1);
        site.message("fails first").await;
        attempted(&site, 1).await;
        for number in 0..5 {
            site.message(&number.to_string()).await;
        }
        site.mine((10..15).map(|job| requested(job, 1, &client())).collect()).await;
        let texts: Vec<String> = endpoint.bodies(11).await[1..].iter().map(told).collect();
        assert_eq!(texts, ["0", "1", "2", "3", "4", "10", "11", "12", "13", "14"]);
        site.wait(12).await;
        assert_eq!(told(&endpoint.bodies(12).await[11]), "fails first");
        site.close().await;
    }
}

fn told(body: &Value) -> String {
    let data = &body["data"];
    data["body"].as_str().map_or_else(|| data["jobId"].to_string(), str::to_owned)
}

#[tokio::test]
async fn a_redirect_is_a_failed_attempt() {
    for site in sites_with(json!({ "retry_s": [] })).await {
        let (endpoint, target) = (Endpoint::start().await, Endpoint::start().await);
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        for (count, status) in (1..).zip([301, 302, 303, 307, 308]) {
            endpoint.answer([ResponseTemplate::new(status).insert_header("location", target.url())]);
            site.message("m").await;
            site.until_status(&owner(), "failed", count).await;
            let delivery = site.newest().await;
            assert_eq!(delivery["lastStatus"], status);
            let expected = format!("the status is {status}: redirects are not followed");
            assert_eq!(delivery["lastError"], expected);
        }
        assert_eq!(target.count().await, 0);
        site.close().await;
    }
}

#[tokio::test]
async fn retry_after_lengthens_a_pause() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.answer([
            ResponseTemplate::new(503).insert_header("retry-after", "300"),
            ResponseTemplate::new(429).insert_header("retry-after", "1"),
        ]);
        site.message("m").await;
        paused(&site, &endpoint, 1, 300).await;
        site.wait(299).await;
        assert_eq!(endpoint.count().await, 1);
        site.wait(33).await;
        // Never shorter than the schedule.
        paused(&site, &endpoint, 2, 60).await;
        site.close().await;
    }
}

#[tokio::test]
async fn a_long_answer_is_read_up_to_64_kib_and_thrown_away() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.answer([ResponseTemplate::new(201).set_body_bytes(vec![b'x'; 8 * 1024 * 1024])]);
        site.message("m").await;
        assert_eq!(attempted(&site, 1).await["status"], "ok");
        site.close().await;
    }
}

#[tokio::test]
async fn an_endpoint_has_ten_seconds() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.answer([ResponseTemplate::new(200).set_delay(Duration::from_secs(60))]);
        let started = std::time::Instant::now();
        site.message("m").await;
        let delivery = attempted(&site, 1).await;
        assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
        assert_eq!((&delivery["status"], &delivery["lastStatus"]), (&json!("pending"), &Value::Null));
        assert!(delivery["lastError"].is_string(), "{delivery}");
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn a_new_secret_signs_beside_the_old_one_for_a_day() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        let id = site.webhook_with(&owner(), &endpoint, WHSEC, &["dm.received"]).await["id"].clone();
        site.webhook_with(&owner(), &endpoint, NEWER, &["dm.received"]).await;
        let signed = async |count: usize| {
            assert_eq!(site.test(&owner(), &id).await.status, 202);
            let call = endpoint.calls(count).await.remove(count - 1);
            let own = header(&call, "x-service-signature") == own_signature(NEWER, &call);
            let own_old = header(&call, "x-service-signature-old") == own_signature(WHSEC, &call);
            (verifies(NEWER, &call), verifies(WHSEC, &call), own, own_old)
        };
        assert_eq!(signed(1).await, (true, true, true, true));
        site.wait(86_000).await;
        assert_eq!(signed(2).await, (true, true, true, true));
        site.wait(400).await;
        assert_eq!(signed(3).await, (true, false, true, false));
        site.close().await;
    }
}

#[tokio::test]
async fn what_waits_is_sent_after_a_restart() {
    for site in sites().await {
        let endpoint = Endpoint::start().await;
        site.webhook(&owner(), &endpoint, &["dm.received"]).await;
        endpoint.fail(1);
        site.message("waits").await;
        attempted(&site, 1).await;
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart().await, chain };
        site.message("new").await;
        assert_eq!(told(&endpoint.bodies(2).await[1]), "new");
        site.wait(12).await;
        assert_eq!(told(&endpoint.bodies(3).await[2]), "waits");
        site.until_status(&owner(), "ok", 2).await;
        site.close().await;
    }
}

/// The clock stands still: a delivery that finds no place is not counted as an attempt.
#[tokio::test]
async fn a_host_that_never_answered_well_gets_one_call_a_minute() {
    let limited = |builder: plugin_testing::Builder| {
        builder.configure(|config| config.egress.allow_hosts = vec!["localhost".to_owned()])
    };
    for site in sites_of(limited).await {
        let endpoint = Endpoint::start().await;
        let url = endpoint.url().replace("127.0.0.1", "localhost");
        let payload = json!({ "url": url, "secret": SECRET, "events": ["dm.received"] });
        assert_eq!(site.set(&owner(), payload).await.status, 201);
        endpoint.fail(1);
        site.message("m").await;
        attempted(&site, 1).await;
        site.wait(12).await;
        TestGateway::eventually(super::LIMIT, "it is put off", async || {
            let delivery = site.newest().await;
            delivery["lastError"].as_str().is_some_and(|error| error.contains("no further request"))
        })
        .await;
        let delivery = attempted(&site, 1).await;
        assert_eq!(delivery["status"], "pending");
        assert_eq!(endpoint.count().await, 1);
        site.close().await;
    }
}

#[tokio::test]
async fn wallets_without_a_webhook_cost_nothing() {
    for site in sites().await {
        site.message("to nobody who listens").await;
        let endpoint = Endpoint::start().await;
        site.webhook(&Wallet::new(9), &endpoint, &["dm.received"]).await;
        site.message("again").await;
        site.log_is_followed().await;
        assert_eq!(site.gateway.rows("SELECT id FROM webhooks_deliveries").await, Vec::<String>::new());
        assert_eq!(site.gateway.rows("SELECT id FROM webhooks_queue").await, Vec::<String>::new());
        site.close().await;
    }
}
