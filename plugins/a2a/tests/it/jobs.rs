//! `POST /a/{slug}/a2a` with `params.metadata.jobId`: messages about escrow jobs.

use super::{
    Site, agent_server, calls,
    script::{completed, delivered, disputed, refunded, registered, requested_by, resolved},
    serve, sites,
};
use plugin_testing::{ScriptedLog, TestGateway, Value, Wallet, json};
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

const LIMIT: Duration = Duration::from_secs(60);

fn client() -> Wallet {
    Wallet::new(1)
}

fn job(id: u64) -> ScriptedLog {
    requested_by(id, 1, client().address(), "5", "fmx://payload/in")
}

fn message() -> Value {
    json!({ "role": "user", "messageId": "m", "parts": [{ "kind": "text", "text": "How far?" }] })
}

fn about(job: impl Into<Value>) -> Value {
    with_metadata(json!({ "jobId": job.into() }))
}

fn with_metadata(metadata: Value) -> Value {
    let params = json!({ "message": message(), "metadata": metadata });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params })
}

async fn task(site: &Site, request: &Value) -> Value {
    let response = site.rpc("1", request).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["result"].clone()
}

async fn error(site: &Site, name: &str, request: &Value) -> i64 {
    let response = site.rpc(name, request).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["error"]["code"].as_i64().unwrap_or_default()
}

async fn read(site: &Site, method: &str, id: &str) -> Value {
    site.rpc("1", &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": id } })).await.json()
}

/// A site with a priced agent, which nobody can pay, so that only what is free gets through.
async fn priced_sites(server: &MockServer, mut logs: Vec<ScriptedLog>) -> Vec<Site> {
    let mut all = registered(1, 7, "Miner", &server.uri());
    all.append(&mut logs);
    let sites = sites(all).await;
    for site in &sites {
        site.store_card(1, &server.uri(), &json!({ "service": 1, "pricePerCall": "12" })).await;
    }
    sites
}

#[tokio::test]
async fn an_open_job_calls_the_agent_without_a_payment() {
    let server = agent_server(ResponseTemplate::new(200).set_body_json(json!({ "done": "half" }))).await;
    for site in priced_sites(&server, vec![job(7)]).await {
        let answered = task(&site, &about("7")).await;
        assert_eq!((&answered["id"], &answered["status"]["state"]), (&json!("job-7"), &json!("completed")));
        assert_eq!(answered["artifacts"][0]["parts"][0]["data"], json!({ "done": "half" }));
        assert_eq!(answered["metadata"], json!({ "agentId": 1, "jobId": 7, "jobStatus": 1, "prefunded": true }));
        let call = calls(&server).await.pop().unwrap();
        assert_eq!(call.headers["x-service-job-id"], "7");
        assert!(!call.headers.contains_key("x-service-payer"));
        let body: Value = serde_json::from_slice(&call.body).unwrap();
        assert_eq!((&body["taskId"], &body["text"]), (&json!("job-7"), &json!("How far?")));
        // A message that goes on with the task is about the job, too.
        let mut continued = about(Value::Null);
        continued["params"]["message"]["taskId"] = json!("job-7");
        assert_eq!(task(&site, &continued).await["metadata"]["jobId"], 7);
        site.close().await;
    }
}

#[tokio::test]
async fn unsigned_calls_of_an_open_job_are_three_in_all() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in priced_sites(&server, vec![job(7), job(8)]).await {
        serve(&server, ResponseTemplate::new(200)).await;
        for _ in 0..3 {
            assert_eq!(task(&site, &about(7)).await["status"]["state"], "completed");
        }
        for _ in 0..2 {
            let working = task(&site, &about(7)).await;
            assert_eq!((&working["status"]["state"], &working["artifacts"]), (&json!("working"), &json!([])));
        }
        assert_eq!(calls(&server).await.len(), 3);
        // Each job has its own, also after a restart; a call that fails counts.
        serve(&server, ResponseTemplate::new(500)).await;
        let failed = task(&site, &about(8)).await;
        assert_eq!(
            (&failed["status"]["state"], &failed["metadata"]["upstreamStatus"]),
            (&json!("failed"), &json!(500))
        );
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart().await, chain };
        assert_eq!(task(&site, &about(7)).await["status"]["state"], "working");
        let counted =
            site.gateway.rows("SELECT job_id, calls, in_flight_until FROM a2a_job_calls ORDER BY job_id").await;
        assert_eq!(counted, ["Int(7) Int(3) Int(0)", "Int(8) Int(1) Int(0)"]);
        site.close().await;
    }
}

#[tokio::test]
async fn one_unsigned_call_of_a_job_waits_at_a_time() {
    let server = agent_server(ResponseTemplate::new(200).set_delay(Duration::from_secs(2))).await;
    for site in priced_sites(&server, vec![job(7)]).await {
        let before = calls(&server).await.len();
        let second = async {
            TestGateway::eventually(LIMIT, "the first call waits", async || calls(&server).await.len() > before).await;
            task(&site, &about(7)).await
        };
        let request = about(7);
        let (first, second) = futures_util::future::join(task(&site, &request), second).await;
        assert_eq!((&first["status"]["state"], &second["status"]["state"]), (&json!("completed"), &json!("working")));
        assert_eq!(calls(&server).await.len() - before, 1);
        // A gateway that died in a call holds the job for a while only.
        let held = site.gateway.now_s() + 90;
        site.gateway.execute(&format!("UPDATE a2a_job_calls SET in_flight_until = {held}")).await;
        assert_eq!(task(&site, &about(7)).await["status"]["state"], "working");
        site.gateway.clock().advance(Duration::from_secs(91)).await;
        assert_eq!(task(&site, &about(7)).await["status"]["state"], "completed");
        site.close().await;
    }
}

#[tokio::test]
async fn the_jobs_client_may_call_as_often_as_it_signs() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in priced_sites(&server, vec![job(7)]).await {
        for _ in 0..3 {
            task(&site, &about(7)).await;
        }
        let signed = |wallet: &Wallet, job: u64, ts: i64| {
            let body = wallet.signed_body("a2a.send", ts, &json!({ "jobId": job, "message": message() }));
            let envelope = json!({ "address": body["address"], "ts": body["ts"], "sig": body["sig"] });
            with_metadata(json!({ "jobId": 7, "envelope": envelope }))
        };
        let now_s = site.gateway.now_s();
        for ts in now_s..now_s + 4 {
            assert_eq!(task(&site, &signed(&client(), 7, ts)).await["status"]["state"], "completed", "{ts}");
        }
        let before = calls(&server).await.len();
        for (what, request) in [
            ("sent again", signed(&client(), 7, now_s + 3)),
            ("older", signed(&client(), 7, now_s - 1)),
            ("by somebody else", signed(&Wallet::new(9), 7, now_s + 9)),
            ("of another job", signed(&client(), 8, now_s + 9)),
            ("long ago", signed(&client(), 7, now_s - 301)),
            ("in the future", signed(&client(), 7, now_s + 301)),
        ] {
            assert_eq!(error(&site, "1", &request).await, -32602, "{what}");
        }
        let mut other_message = signed(&client(), 7, now_s + 9);
        other_message["params"]["message"]["parts"][0]["text"] = json!("Something else");
        let mut broken = signed(&client(), 7, now_s + 9);
        broken["params"]["metadata"]["envelope"]["sig"] = json!("0x00");
        for request in [other_message, broken] {
            assert_eq!(error(&site, "1", &request).await, -32602);
        }
        assert_eq!(calls(&server).await.len(), before);
        site.close().await;
    }
}

#[tokio::test]
async fn a_delivered_job_answers_what_was_delivered() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    for site in priced_sites(&server, vec![job(1), job(2), job(3), job(4), job(5)]).await {
        let before = calls(&server).await.len();
        let store = async |content_type: &str, bytes: &[u8]| {
            let headers = [("content-type", content_type)];
            let stored = site.gateway.send("POST", "/api/payloads", &headers, bytes.to_vec()).await.json();
            stored["uri"].as_str().unwrap().to_owned()
        };
        let data = store("application/json", br#"{"answer":42}"#).await;
        let text = store("text/plain", "fünf".as_bytes()).await;
        let bytes = store("application/octet-stream", b"\xff\x00").await;
        let gone = format!("fmx://payload/0x{}", "ab".repeat(32));
        let elsewhere = "https://a.example/out".to_owned();
        let logs = (1..).zip([&data, &text, &bytes, &gone, &elsewhere]);
        site.mine(logs.map(|(job, uri)| delivered(job, job, uri)).collect()).await;
        site.mine(vec![completed(2, "5", 5)]).await;
        let part = async |job: u64| task(&site, &about(job)).await["artifacts"][0]["parts"][0].clone();
        assert_eq!(part(1).await, json!({ "kind": "data", "data": { "answer": 42 } }));
        assert_eq!(part(2).await, json!({ "kind": "text", "text": "fünf" }));
        for (job, uri) in [(3, bytes), (4, gone), (5, elsewhere)] {
            let hash = format!("0x{job:064}");
            let reference = json!({ "kind": "data", "data": { "outputURI": uri, "outputHash": hash } });
            assert_eq!(part(job).await, reference, "what is no text is named");
        }
        let states = [(1, "completed", 2), (2, "completed", 3)];
        for (job, state, number) in states {
            let task = task(&site, &about(job)).await;
            assert_eq!((&task["status"]["state"], &task["metadata"]["jobStatus"]), (&json!(state), &json!(number)));
        }
        assert_eq!(calls(&server).await.len(), before, "no call is made for what is delivered");
        site.close().await;
    }
}

#[tokio::test]
async fn every_other_job_is_refused() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let logs = [
        registered(2, 8, "Other", &server.uri()),
        vec![job(1), job(2), delivered(2, 2, ""), disputed(2), job(3), delivered(3, 3, ""), disputed(3)],
        vec![resolved(3, "2", "2"), refunded(1, "5", false)],
    ];
    for site in priced_sites(&server, logs.concat()).await {
        for (name, job) in [("1", 1), ("1", 2), ("1", 99), ("2", 3)] {
            assert_eq!(error(&site, name, &about(job)).await, -32602, "job {job} of {name}");
        }
        assert_eq!(task(&site, &about(3)).await["metadata"]["jobStatus"], 6);
        assert_eq!(site.rpc("nobody", &about(3)).await.status, 404);
        assert!(site.gateway.rows("SELECT 1 FROM a2a_job_calls").await.is_empty());
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_is_read_as_a_task() {
    let server = agent_server(ResponseTemplate::new(200)).await;
    let logs = vec![
        job(1),
        job(2),
        delivered(2, 2, "ipfs://out"),
        job(3),
        refunded(3, "5", false),
        job(4),
        refunded(4, "5", true),
    ];
    for site in priced_sites(&server, logs).await {
        for (job, state) in [(1, "working"), (2, "completed"), (3, "failed"), (4, "canceled")] {
            let id = format!("job-{job}");
            let task = read(&site, "tasks/get", &id).await["result"].clone();
            assert_eq!(
                (&task["kind"], &task["id"], &task["status"]["state"]),
                (&json!("task"), &json!(id), &json!(state))
            );
            let task = read(&site, "GetTask", &id).await["result"].clone();
            let name = format!("TASK_STATE_{}", state.to_uppercase());
            assert_eq!((&task["id"], &task["status"]["state"]), (&json!(id), &json!(name)));
            for method in ["tasks/cancel", "CancelTask"] {
                assert_eq!(read(&site, method, &id).await["error"]["code"], -32002, "{method} {id}");
            }
        }
        let output = read(&site, "tasks/get", "job-2").await["result"]["artifacts"][0]["parts"][0]["data"].clone();
        assert_eq!(output["outputURI"], "ipfs://out");
        for unknown in ["job-99", "job-01", "1", "task-1"] {
            assert_eq!(read(&site, "tasks/get", unknown).await["error"]["code"], -32001, "{unknown}");
        }
        site.close().await;
    }
}
