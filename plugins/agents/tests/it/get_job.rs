//! `GET /api/jobs/{id}`

use super::{
    script::{
        account, agent, completed, delivered, disputed, hash, outcome, refunded, requested, resolved, validated,
        validation_requested,
    },
    sites,
};
use plugin_testing::{Value, json};

#[tokio::test]
async fn an_open_job_is_as_it_was_requested() {
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "12").in_transaction("request")]]).await {
        let job = site.read("/api/jobs/1").await;
        let tx = job["tx"]["requested"].clone();
        assert!(tx.as_str().is_some_and(|tx| tx.len() == 66), "{tx}");
        assert_eq!(
            job,
            json!({
                "id": 1, "agentId": 1, "agentName": "agent 1", "client": account(50), "amount": "12",
                "inputHash": hash(1), "inputURI": "fmx://payload/in", "outputHash": null, "outputURI": null,
                "createdAt": 1_767_225_614, "deliveredAt": null, "status": "Open", "rating": null,
                "reviewDeadline": null, "claimableAt": null,
                "tx": { "requested": tx, "delivered": null, "closed": null }, "validation": null,
            })
        );
        let mut listed = site.read("/api/jobs").await["items"][0].clone();
        listed["validation"] = Value::Null;
        assert_eq!(listed, job);
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_job_is_not_found() {
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "1")]]).await {
        for unknown in ["2", "0", "-1", "x", "99999999999999999999"] {
            let response = site.gateway.get(&format!("/api/jobs/{unknown}")).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (404, Some("not_found")), "{unknown}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_goes_its_way_to_completion() {
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "12")]]).await {
        site.mine(vec![delivered(1, 7, "fmx://payload/out")]).await;
        let job = site.read("/api/jobs/1").await;
        let delivered_at = 1_767_225_621;
        assert_eq!((&job["status"], &job["deliveredAt"]), (&json!("Delivered"), &json!(delivered_at)));
        assert_eq!((&job["outputHash"], &job["outputURI"]), (&json!(hash(7)), &json!("fmx://payload/out")));
        assert_eq!(
            (&job["reviewDeadline"], &job["claimableAt"]),
            (&json!(delivered_at + 86_400), &json!(delivered_at + 86_400))
        );
        assert!(job["tx"]["delivered"].is_string() && job["tx"]["closed"].is_null());

        site.mine(vec![completed(1, "11", 4), outcome(1, true, 4)]).await;
        let job = site.read("/api/jobs/1").await;
        assert_eq!((&job["status"], &job["rating"]), (&json!("Completed"), &json!(4)));
        assert_eq!((&job["reviewDeadline"], &job["claimableAt"]), (&Value::Null, &Value::Null));
        assert!(job["tx"]["closed"].is_string());
        site.close().await;
    }
}

#[tokio::test]
async fn an_unreviewed_job_has_the_rating_0_and_an_open_one_none() {
    for site in sites(vec![agent(1), vec![requested(1, 1, 50, "1"), delivered(1, 0, ""), completed(1, "1", 0)]]).await {
        let job = site.read("/api/jobs/1").await;
        assert_eq!(job["rating"], 0);
        // An all-zero hash and an empty URI are absent.
        assert_eq!((&job["outputHash"], &job["outputURI"]), (&Value::Null, &Value::Null));
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_may_end_in_a_refund_or_before_the_arbiter() {
    let blocks = vec![
        agent(1),
        vec![requested(1, 1, 50, "9"), requested(2, 1, 50, "9")],
        vec![refunded(1, "9", false), delivered(2, 2, ""), disputed(2)],
    ];
    for site in sites(blocks).await {
        let job = site.read("/api/jobs/1").await;
        assert_eq!((&job["status"], &job["rating"]), (&json!("Refunded"), &Value::Null));
        assert!(job["tx"]["closed"].is_string());
        let job = site.read("/api/jobs/2").await;
        assert_eq!((&job["status"], &job["reviewDeadline"]), (&json!("Disputed"), &Value::Null));
        assert!(job["tx"]["closed"].is_null());
        site.mine(vec![resolved(2, "4", "4"), outcome(1, true, 0)]).await;
        let job = site.read("/api/jobs/2").await;
        assert_eq!(job["status"], "Resolved");
        assert!(job["tx"]["closed"].is_string());
        site.close().await;
    }
}

#[tokio::test]
async fn events_of_jobs_that_were_never_requested_change_nothing() {
    for site in sites(vec![agent(1)]).await {
        site.mine(vec![
            delivered(9, 9, ""),
            completed(9, "1", 5),
            refunded(9, "1", true),
            disputed(9),
            resolved(9, "1", "1"),
        ])
        .await;
        assert_eq!(site.gateway.get("/api/jobs/9").await.status, 404);
        assert_eq!(site.ids("/api/agents?sort=jobs").await, [1]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_validation_belongs_to_the_job_that_it_names_or_whose_output_it_is_about() {
    let blocks = vec![
        [agent(1), agent(2)].concat(),
        vec![requested(1, 1, 50, "9"), requested(2, 1, 50, "9"), requested(3, 2, 50, "9")],
        vec![delivered(1, 71, "ipfs://o"), delivered(2, 72, ""), delivered(3, 73, "")],
        // Agent 1 requests validation of its output, by the output's hash.
        vec![validation_requested(8, 1, "ipfs://o", 71)],
        // By the job's URI; agent 1 also names a job of agent 2, which is ignored.
        vec![validation_requested(8, 1, "fmx://job/2", 4), validation_requested(8, 1, "fmx://job/3", 5)],
        // Agent 1 requests validation of agent 2's output.
        vec![validation_requested(8, 1, "", 73)],
        vec![validated(8, 1, 71, 90)],
    ];
    for site in sites(blocks).await {
        let validation = async |job: u64| site.read(&format!("/api/jobs/{job}")).await["validation"].clone();
        let first = validation(1).await;
        assert_eq!(
            (&first["requestHash"], &first["response"], &first["jobId"]),
            (&json!(hash(71)), &json!(90), &Value::Null)
        );
        let second = validation(2).await;
        assert_eq!((&second["requestHash"], &second["jobId"]), (&json!(hash(4)), &json!(2)));
        assert_eq!(validation(3).await, Value::Null);
        site.close().await;
    }
}
