//! Events that are published from chain events: types, members and actors of the activity log.

use super::{
    Site,
    script::{
        PAUSED, account, agent, completed, delivered, disputed, feedback, feedback_revoked, hash, outcome, refunded,
        requested, resolved, slashed, status, transferred, updated, validated, validation_requested,
    },
    sites,
};
use plugin_testing::{ScriptedLog, Value, json};

/// Mines the events, lets them become public and returns the new events of the log.
async fn published(site: &Site, logs: Vec<ScriptedLog>) -> Vec<Event> {
    let before = site.gateway.events().await.len();
    site.chain.mine(logs);
    site.chain.mine_empty(3);
    site.gateway.indexed(&site.chain).await;
    let events = site.gateway.events().await.into_iter().skip(before);
    let read = |event: plugin_api::manifest::ActivityRow| {
        let about = event.subject.map(|subject| format!("{} {}", subject.kind, subject.id)).unwrap_or_default();
        let mut data = event.data;
        let members = data.as_object_mut().unwrap();
        assert!(members.remove("tx").unwrap().as_str().unwrap().starts_with("0x"));
        assert!(members.remove("block").unwrap().is_u64());
        Event { kind: event.kind, actor: event.actor, about, data }
    };
    events.map(read).collect()
}

struct Event {
    kind: String,
    actor: Option<String>,
    about: String,
    data: Value,
}

impl Event {
    fn is(&self, kind: &str, actor: Option<u64>, about: &str, data: &Value) {
        assert_eq!((self.kind.as_str(), self.about.as_str()), (kind, about));
        assert_eq!(self.actor, actor.map(account), "the actor of {kind}");
        assert_eq!(self.data, *data, "{kind}");
    }
}

#[tokio::test]
async fn a_registration_is_three_events() {
    for site in sites(Vec::new()).await {
        let events = published(&site, agent(1)).await;
        let data = |event: &str| {
            json!({
                "agentId": 1, "name": "agent 1", "endpoint": "", "pricePerJob": "5", "status": "Active", "event": event,
            })
        };
        assert_eq!(events.len(), 3);
        events[0].is("agent.registered", Some(1), "agent 1", &data("AgentRegistered"));
        events[1].is("agent.updated", Some(1), "agent 1", &data("AgentStatusChanged"));
        events[2].is("agent.updated", Some(1), "agent 1", &data("BondChanged"));
        assert_eq!(site.gateway.events().await[0].ts, 1_767_225_607, "the block's time");
        site.close().await;
    }
}

#[tokio::test]
async fn every_later_event_of_the_registry_is_an_update_by_todays_owner() {
    for site in sites(vec![agent(1)]).await {
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        let logs = vec![
            updated(1, "https://n", "m", "6"),
            slashed(1, "1"),
            outcome(1, true, 5),
            transferred(1, 1, 9),
            status(1, PAUSED),
        ];
        let events = published(&site, logs).await;
        let data = |status: &str, event: &str| {
            json!({
                "agentId": 1, "name": "agent 1", "endpoint": "https://n", "pricePerJob": "6", "status": status,
                "event": event,
            })
        };
        let expected = [
            (1, "Active", "AgentUpdated"),
            (1, "Active", "AgentSlashed"),
            (1, "Active", "OutcomeRecorded"),
            (9, "Active", "OwnershipTransferred"),
            (9, "Paused", "AgentStatusChanged"),
        ];
        assert_eq!(events.len(), expected.len());
        for (event, (owner, status, name)) in events.iter().zip(expected) {
            event.is("agent.updated", Some(owner), "agent 1", &data(status, name));
        }
        site.close().await;
    }
}

#[tokio::test]
async fn every_event_of_the_escrow_is_published_with_its_actor() {
    for site in sites(vec![agent(1)]).await {
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        let logs = vec![
            requested(1, 1, 50, "9"),
            delivered(1, 1, ""),
            completed(1, "8", 5),
            requested(2, 1, 50, "9"),
            delivered(2, 1, ""),
            completed(2, "8", 0),
            requested(3, 1, 50, "9"),
            refunded(3, "9", false),
            requested(4, 1, 50, "9"),
            refunded(4, "9", true),
            requested(5, 1, 50, "9"),
            delivered(5, 1, ""),
            disputed(5),
            resolved(5, "1", "7"),
        ];
        let events = published(&site, logs).await;
        let data = |job: u64, status: &str, more: Value| {
            let mut data = json!({
                "jobId": job, "agentId": 1, "agentName": "agent 1", "owner": account(1), "client": account(50),
                "amount": "9", "status": status,
            });
            data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            data
        };
        let expected = [
            ("requested", Some(50), 1, "Open", json!({})),
            ("delivered", Some(1), 1, "Delivered", json!({})),
            ("completed", Some(50), 1, "Completed", json!({ "rating": 5 })),
            ("requested", Some(50), 2, "Open", json!({})),
            ("delivered", Some(1), 2, "Delivered", json!({})),
            ("completed", Some(50), 2, "Completed", json!({})),
            ("requested", Some(50), 3, "Open", json!({})),
            ("refunded", Some(50), 3, "Refunded", json!({ "byAgent": false })),
            ("requested", Some(50), 4, "Open", json!({})),
            ("refunded", Some(1), 4, "Refunded", json!({ "byAgent": true })),
            ("requested", Some(50), 5, "Open", json!({})),
            ("delivered", Some(1), 5, "Delivered", json!({})),
            ("disputed", Some(50), 5, "Disputed", json!({})),
            ("resolved", None, 5, "Resolved", json!({})),
        ];
        assert_eq!(events.len(), expected.len());
        for (event, (kind, actor, job, status, more)) in events.iter().zip(expected) {
            event.is(&format!("job.{kind}"), actor, &format!("job {job}"), &data(job, status, more));
        }
        site.close().await;
    }
}

#[tokio::test]
async fn feedback_and_validations_are_published_with_their_contract() {
    for site in sites(vec![agent(1)]).await {
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        let logs = vec![
            feedback(1, 50, 1, "-170141183460469231731687303715884105728"),
            feedback_revoked(1, 50, 1),
            validation_requested(8, 1, "ipfs://w", 4),
            validated(8, 1, 4, 100),
        ];
        let events = published(&site, logs).await;
        assert_eq!(events.len(), 3, "a withdrawn feedback is not told");
        let given = json!({
            "agentId": 1, "client": account(50), "value": "-170141183460469231731687303715884105728", "valueDecimals": 2,
            "tag1": "tag", "tag2": "", "event": "NewFeedback", "contract": "reputation8004",
        });
        events[0].is("feedback.given", Some(50), "agent 1", &given);
        let requested = json!({
            "agentId": 1, "validator": account(8), "requestHash": hash(4), "requestURI": "ipfs://w",
            "event": "ValidationRequest", "contract": "validation8004",
        });
        events[1].is("validation.requested", Some(8), "agent 1", &requested);
        let done = json!({
            "agentId": 1, "agentName": "agent 1", "requestHash": hash(4), "response": 100,
            "responseURI": "fmx://payload/judgement", "tag": "quality", "event": "ValidationResponse",
            "contract": "validation8004",
        });
        events[2].is("validation.done", Some(8), "agent 1", &done);
        site.close().await;
    }
}
