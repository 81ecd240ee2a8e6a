//! Claims that somebody contributes and nothing proves are left out, and counted.

use super::{Site, claims, history, modules, record, rogue, script, sites_with};
use gateway_telemetry::MetricsRecorder;
use plugin_api::{
    Hash256,
    point::{CvClaim, CvLog, members},
};
use plugin_testing::{ScriptedLog, Value, json};
use std::collections::BTreeMap;

pub fn endorsed(id: u64, to: u64, capability: &str) -> ScriptedLog {
    ScriptedLog::new(
        "endorsements",
        "Endorsed(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, bytes32 capabilityId, string capability, uint8 basis, uint32 weight, uint64 evidenceJobId, uint256 evidenceAmountWei, string uri)",
        &[
            json!(id),
            json!(2),
            json!(to),
            json!(script::hash(1)),
            json!(capability),
            json!(1),
            json!(10),
            json!(0),
            json!("5"),
            json!(""),
        ],
    )
}

/// Sites on which `rogue` states claims, and may state feedback and jobs.
async fn sites() -> Vec<Site> {
    let with_rogue = || [modules(), vec![rogue::module()]].concat();
    let blocks = [history(), vec![script::done(5, 2, 7, "9", 4)]].concat();
    let grant = |builder: plugin_testing::Builder| {
        builder.config("aicv", json!({ "kinds": { "rogue": ["EscrowJob", "Referral"] } }))
    };
    sites_with(blocks, with_rogue, grant).await
}

async fn state(site: &Site, stated: &[CvClaim]) {
    site.gateway.execute("DELETE FROM rogue_claims").await;
    for (id, claim) in stated.iter().enumerate() {
        let text = json!(claim).to_string().replace('\'', "''");
        site.gateway.execute(&format!("INSERT INTO rogue_claims (id, claim) VALUES ({id}, '{text}')")).await;
    }
}

/// The transaction of the log of this event, and of this place among them.
fn transaction(site: &Site, topic: &str, place: usize) -> Hash256 {
    let topic = Hash256::keccak(topic.as_bytes()).0;
    let logs = site.chain.logs();
    let found = logs.iter().filter(|(_, log)| log.topics[0].0 == topic).nth(place);
    Hash256(found.unwrap().1.tx.0)
}

const COMPLETED: &str = "JobCompleted(uint256,uint256,uint256,uint8)";
const REQUESTED: &str = "JobRequested(uint256,uint256,address,uint256,bytes32,string)";
const DELIVERED: &str = "JobDelivered(uint256,bytes32,string)";

/// Job 5, which is agent 2's, as if it were agent 1's.
fn job(site: &Site, number: i64, change: impl Fn(&mut CvClaim)) -> CvClaim {
    let place = if number == 1 { 0 } else { 1 };
    let requested_place = if number == 1 { 0 } else { 2 };
    let mut claim = CvClaim {
        kind: "EscrowJob".to_owned(),
        id: format!("job:9{number}"),
        stated_at: None,
        fields: members([
            ("jobId", json!(number)),
            ("outcome", json!("Completed")),
            ("rating", json!(if number == 1 { 5 } else { 4 })),
        ]),
        logs: vec![
            CvLog::new("escrow", "JobCompleted", transaction(site, COMPLETED, place)),
            CvLog::new("escrow", "JobRequested", transaction(site, REQUESTED, requested_place)),
            CvLog::new("escrow", "JobDelivered", transaction(site, DELIVERED, place)),
        ],
        source: None,
        note: None,
    };
    change(&mut claim);
    claim
}

#[tokio::test]
async fn a_forged_claim_is_left_out() {
    for site in sites().await {
        let honest = site.read("/api/cv/1").await;
        let forged: [(&str, CvClaim); 10] = [
            ("a log that is used", job(&site, 1, |_| ())),
            ("another agent's job", job(&site, 5, |_| ())),
            ("a higher rating", job(&site, 1, |claim| drop(claim.fields.insert("rating".to_owned(), json!(4))))),
            ("more money", job(&site, 1, |claim| drop(claim.fields.insert("payoutWei".to_owned(), json!("2"))))),
            (
                "another output",
                job(&site, 1, |claim| drop(claim.fields.insert("outputHash".to_owned(), json!(script::hash(9))))),
            ),
            ("no transaction", job(&site, 1, |claim| claim.logs[0].tx = Some(Hash256([7; 32])))),
            ("no request", job(&site, 1, |claim| drop(claim.logs.remove(1)))),
            (
                "another outcome",
                job(&site, 1, |claim| drop(claim.fields.insert("outcome".to_owned(), json!("Resolved")))),
            ),
            ("a member of its own", job(&site, 1, |claim| drop(claim.fields.insert("evidence".to_owned(), json!({}))))),
            ("a kind of others", job(&site, 1, |claim| claim.kind = "Validation".to_owned())),
        ];
        for (what, claim) in forged {
            state(&site, &[claim]).await;
            assert_eq!(site.read("/api/cv/1").await["claimsRoot"], honest["claimsRoot"], "{what}");
        }
        site.close().await;
    }
}

/// Of its labels, the values are `contributor`, `plugin` and `reason`.
const REFUSED: &str = "plugin_claims_refused";

/// What was counted since: by the values of the labels.
fn counted_since(before: &BTreeMap<String, u64>, metrics: &MetricsRecorder) -> BTreeMap<String, u64> {
    let now = metrics.counts(REFUSED).into_iter();
    let more = now.map(|(labels, count)| {
        let counted = count - before.get(&labels).copied().unwrap_or_default();
        (labels, counted)
    });
    more.filter(|(_, counted)| *counted > 0).collect()
}

#[tokio::test]
async fn what_the_operator_allows_is_stated_once_and_others_are_not() {
    let metrics = MetricsRecorder::install().expect("each test has a process of its own");
    for site in sites().await {
        let claim = |kind: &str, id: &str, fields: Value| CvClaim {
            kind: kind.to_owned(),
            id: id.to_owned(),
            stated_at: None,
            fields: fields.as_object().cloned().unwrap(),
            logs: Vec::new(),
            source: Some("https://rogue.example".to_owned()),
            note: None,
        };
        let referral = claim("Referral", "referrals", json!({ "referred": 3, "paidOut": 1 }));
        let stated = [
            referral.clone(),
            referral,
            claim("Referral", "a b<c>", json!({ "referred": 3, "paidOut": 1 })),
            claim("Referral", "large", json!({ "referred": 3, "paidOut": "9".repeat(9000) })),
            claim("Slash", "slash", json!({})),
            claim("AgentState", "state", json!({})),
            claim("Contribution", "commons:x", json!({ "kind": "x", "count": 99 })),
            claim("Capability", "capabilities", json!({ "capabilities": ["everything"] })),
            claim("EscrowJob", "job:77", json!({ "jobId": 77, "outcome": "Open" })),
        ];
        state(&site, &stated).await;
        let before = metrics.counts(REFUSED);
        let document = site.read("/api/cv/1").await;
        // One build, of one claim that is stated and eight that are not. Nobody else is counted, and nothing else.
        let refused: BTreeMap<String, u64> = [
            ("rogue aicv id", 1),
            ("rogue aicv members", 1),
            ("rogue aicv not_granted", 3),
            ("rogue aicv repeated", 1),
            ("rogue aicv too_large", 1),
            ("rogue aicv unknown_kind", 1),
        ]
        .map(|(labels, count)| (labels.to_owned(), count))
        .into();
        assert_eq!(counted_since(&before, &metrics), refused);
        let referrals = claims(&document, "Referral");
        assert_eq!(referrals.len(), 1, "{referrals:?}");
        assert_eq!(referrals[0]["evidence"]["trust"], "gateway");
        assert_eq!(claims(&document, "Capability").len(), 0);
        assert_eq!(claims(&document, "Contribution").len(), 0);
        assert!(!record(&document).iter().any(|claim| claim["id"] == "fmx:1:job:77"));
        let subject = &document["credentialSubject"];
        // Sums and kinds of others are not its own either; what was too large is named.
        assert_eq!(subject["summary"]["jobsSettled"], 1);
        assert!(subject["summary"]["memory"].is_object());
        assert_eq!(subject["recordMeta"]["omitted"], json!([{ "type": "Referral", "count": 1, "reason": "size" }]));
        assert!(!subject["recordMeta"]["scope"]["covers"].as_array().unwrap().contains(&json!("Dispute")));
        site.close().await;
    }
}

#[tokio::test]
async fn endorsements_are_indexed_and_proven() {
    for site in super::sites().await {
        site.mine(script::registered(2, 2, "Sorter", "https://sorter.example")).await;
        site.mine(vec![endorsed(1, 1, "digging"), endorsed(2, 1, "sorting"), endorsed(3, 9, "other")]).await;
        let document = site.read("/api/cv/1").await;
        let endorsements = claims(&document, "Endorsement");
        assert_eq!(endorsements.len(), 2);
        assert_eq!((&endorsements[0]["capability"], &endorsements[0]["uri"]), (&json!("digging"), &json!("")));
        assert_eq!(
            (&endorsements[0]["evidenceJobId"], &endorsements[0]["paymentBacked"]),
            (&Value::Null, &json!(true))
        );
        let revoked = ScriptedLog::new(
            "endorsements",
            "EndorsementRevoked(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, uint32 weight)",
            &[json!(1), json!(2), json!(1), json!(10)],
        );
        site.mine(vec![revoked]).await;
        let document = site.read("/api/cv/1").await;
        assert_eq!(claims(&document, "Endorsement").len(), 1);
        let summary = &document["credentialSubject"]["summary"]["endorsements"];
        assert_eq!(*summary, json!({ "total": 2, "live": 1, "revoked": 1, "paymentBacked": 1 }));
        let given = site.read("/api/cv/2").await;
        let given = claims(&given, "Contribution");
        assert_eq!((&given[0]["kind"], &given[0]["count"]), (&json!("endorsement.given"), &json!(3)));
        let events = site.gateway.events().await;
        let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
        assert_eq!((count("endorsement.given"), count("endorsement.revoked")), (3, 1));
        assert_eq!(site.read("/api/stats").await["endorsements"], 2);
        // Whoever gets the agent later has endorsed nobody.
        site.mine(vec![script::transferred(2, 2, 7)]).await;
        let document = site.read("/api/cv/1").await;
        let endorser = claims(&document, "Endorsement")[0]["endorser"].as_str().unwrap().to_lowercase();
        assert_eq!(endorser, script::account(2).to_lowercase());
        site.close().await;
    }
}

#[tokio::test]
async fn evidence_beyond_a_bound_is_not_read_and_takes_no_room_of_others() {
    for site in sites().await {
        let honest = site.read("/api/cv/1").await;
        let named = |claim: u16, log: u8| {
            Hash256([[1; 29].as_slice(), &claim.to_be_bytes(), &[log]].concat().try_into().unwrap())
        };
        let logs = |claim: u16, count: u8| {
            (0..count).map(|log| CvLog::new("escrow", "JobCompleted", named(claim, log))).collect()
        };
        // Of 3,200 transactions 2,000 are read, one of which is that of the honest claim.
        let mut stated: Vec<CvClaim> = (0..400)
            .map(|number| CvClaim {
                kind: "EscrowJob".to_owned(),
                id: format!("job:1{number:03}"),
                stated_at: None,
                fields: members([("jobId", json!(number)), ("outcome", json!("Completed"))]),
                logs: logs(number, 8),
                source: None,
                note: None,
            })
            .collect();
        // More events than a claim needs, of which the first ones prove it.
        stated.push(job(&site, 5, |claim| claim.logs.extend(logs(400, 6))));
        state(&site, &stated).await;
        let document = site.read("/api/cv/1").await;
        assert_eq!(document["claimsRoot"], honest["claimsRoot"]);
        let omitted = &document["credentialSubject"]["recordMeta"]["omitted"];
        assert_eq!(*omitted, json!([{ "type": "EscrowJob", "count": 151, "reason": "size" }]));
        site.close().await;
    }
}
