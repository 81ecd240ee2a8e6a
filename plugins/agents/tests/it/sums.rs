//! Sums of an agent's record are kept with each event: they equal a recount of the rows, also after a reorganisation.

use super::{
    script::{
        account, agent, completed, delivered, disputed, done, feedback, feedback_revoked, refunded, requested,
        resolved, validated, validation_requested,
    },
    sites,
};
use plugin_testing::{ScriptedLog, TestGateway, json};

const LARGE: &str = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
const TWICE_LARGE: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639934";

/// Every kind of event that a sum counts, and those that change what was counted before.
fn blocks() -> Vec<Vec<ScriptedLog>> {
    vec![
        // Feedback of a client that pays later, and of one that never does.
        [agent(1), agent(2), vec![feedback(1, 50, 1, "5"), feedback(1, 50, 2, "5"), feedback(1, 51, 1, "5")]].concat(),
        done(1, 1, 50, "10", 5),
        [done(2, 1, 50, "20", 0), done(3, 1, 52, "0", 4)].concat(),
        vec![requested(4, 1, 53, "30"), delivered(4, 4, ""), disputed(4), resolved(4, "10", "19")],
        vec![requested(5, 1, 53, "0"), delivered(5, 5, ""), disputed(5), resolved(5, "0", "0")],
        vec![requested(6, 1, 54, "40"), refunded(6, "40", true), requested(7, 2, 54, "50")],
        // The second revocation changes nothing.
        vec![feedback(1, 53, 1, "6"), feedback_revoked(1, 50, 1), feedback_revoked(1, 50, 1)],
        vec![feedback_revoked(1, 51, 1), feedback_revoked(1, 51, 9)],
        // By the owner, by another one; the first one answers twice.
        vec![
            validation_requested(1, 1, "", 1),
            validation_requested(8, 1, "", 2),
            validation_requested(8, 2, "", 3),
            validated(1, 1, 1, 90),
            validated(1, 1, 1, 40),
        ],
        vec![delivered(7, 7, ""), completed(7, "49", 3)],
    ]
}

async fn kept(gateway: &TestGateway) -> Vec<Vec<String>> {
    let records = "SELECT agent_id, jobs, delivered, settled, unrated, payouts, fees, zero_value, rated_paid, feedback, \
                   paid_feedback, validations, scored, response_sum FROM agents_records ORDER BY agent_id";
    // A client of whom nothing is left may keep a row.
    let clients = "SELECT agent_id, client, zero_value, rated_paid, feedback FROM agents_clients \
                   WHERE zero_value + rated_paid + feedback > 0 ORDER BY agent_id, client";
    let validators = "SELECT agent_id, validator, validations FROM agents_validators ORDER BY agent_id, validator";
    rows(gateway, [records, clients, validators]).await
}

/// The same, counted from the rows. The amounts are small.
async fn counted(gateway: &TestGateway) -> Vec<Vec<String>> {
    let count =
        |rows: &str, condition: &str| format!("(SELECT count(*) FROM {rows} WHERE agent_id = a.id AND {condition})");
    let sum = |rows: &str, value: &str, condition: &str| {
        let sum = format!("SELECT cast(coalesce(sum(cast({value} AS BIGINT)), 0) AS BIGINT) FROM {rows}");
        format!("({sum} WHERE agent_id = a.id AND {condition})")
    };
    let wei = |value: &str| format!("cast({} AS TEXT)", sum("agents_jobs", value, SETTLED));
    let has_paid =
        "EXISTS (SELECT 1 FROM agents_payers p WHERE p.agent_id = a.id AND p.payer = agents_feedback.client)";
    let columns = [
        count("agents_jobs", "1 = 1"),
        count("agents_jobs", "delivered_at IS NOT NULL"),
        count("agents_jobs", SETTLED),
        count("agents_jobs", "status = 'Completed' AND coalesce(rating, 0) = 0"),
        wei("agent_payout"),
        wei("fee"),
        count("agents_jobs", ZERO_VALUE),
        count("agents_jobs", RATED_PAID),
        count("agents_feedback", "revoked = 0"),
        count("agents_feedback", &format!("revoked = 0 AND {has_paid}")),
        count("agents_validations", "1 = 1"),
        count("agents_validations", "response IS NOT NULL"),
        sum("agents_validations", "response", "1 = 1"),
    ];
    let known = "SELECT agent_id AS id FROM agents_jobs UNION SELECT agent_id FROM agents_feedback UNION \
                 SELECT agent_id FROM agents_validations";
    let records = format!("SELECT a.id, {} FROM ({known}) a ORDER BY a.id", columns.join(", "));
    let of = |rows: &str, condition: &str, ones: [u8; 3]| {
        let [zero_value, rated_paid, feedback] = ones;
        format!(
            "SELECT agent_id, client, {zero_value} AS zero_value, {rated_paid} AS rated_paid, {feedback} AS feedback \
             FROM {rows} WHERE {condition}"
        )
    };
    let parts = [
        of("agents_jobs", ZERO_VALUE, [1, 0, 0]),
        of("agents_jobs", RATED_PAID, [0, 1, 0]),
        of("agents_feedback", "revoked = 0", [0, 0, 1]),
    ];
    let clients = format!(
        "SELECT agent_id, client, cast(sum(zero_value) AS BIGINT), cast(sum(rated_paid) AS BIGINT), \
         cast(sum(feedback) AS BIGINT) FROM ({}) parts GROUP BY agent_id, client ORDER BY agent_id, client",
        parts.join(" UNION ALL ")
    );
    let validators = "SELECT agent_id, validator, count(*) FROM agents_validations GROUP BY agent_id, validator \
                      ORDER BY agent_id, validator";
    rows(gateway, [&records, &clients, validators]).await
}

const SETTLED: &str = "status IN ('Completed', 'Resolved')";
const ZERO_VALUE: &str = "status IN ('Completed', 'Resolved') AND amount = '0'";
const RATED_PAID: &str = "status = 'Completed' AND rating > 0 AND amount <> '0'";

async fn rows(gateway: &TestGateway, statements: [&str; 3]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for statement in statements {
        all.push(gateway.rows(statement).await);
    }
    all
}

#[tokio::test]
async fn sums_equal_a_recount_of_the_rows() {
    for site in sites(vec![Vec::new()]).await {
        let mut after_blocks = Vec::new();
        for logs in blocks() {
            site.mine(logs.clone()).await;
            let sums = kept(&site.gateway).await;
            assert_eq!(sums, counted(&site.gateway).await, "{logs:?}");
            after_blocks.push(sums);
        }
        let [of_first, of_second] = [0, 1].map(|place| after_blocks.last().unwrap()[0][place].clone());
        assert_eq!(
            of_first,
            "Int(1) Int(6) Int(5) Int(5) Int(1) Text(\"49\") Text(\"5\") Int(2) Int(1) Int(2) Int(2) Int(2) Int(1) Int(40)"
        );
        assert_eq!(
            of_second,
            "Int(2) Int(1) Int(1) Int(1) Int(0) Text(\"49\") Text(\"1\") Int(0) Int(1) Int(0) Int(0) Int(1) Int(0) Int(0)"
        );
        // Another branch has three other blocks instead of the last three.
        let depth = 3;
        site.chain.reorg(depth);
        site.chain.mine([done(8, 1, 51, "5", 1), vec![feedback_revoked(1, 53, 1)]].concat());
        site.chain.mine(vec![requested(9, 1, 50, "1"), validation_requested(9, 2, "", 3), validated(9, 2, 3, 7)]);
        site.chain.mine_empty(2);
        site.gateway.indexed(&site.chain).await;
        let sums = kept(&site.gateway).await;
        assert_eq!(sums, counted(&site.gateway).await, "after a reorganisation");
        assert!(!after_blocks.contains(&sums), "{sums:?}");
        site.chain.reorg(4);
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        let before = after_blocks.len() - 1 - usize::try_from(depth).unwrap();
        assert_eq!(kept(&site.gateway).await, after_blocks[before], "what the other blocks added is gone");
        site.close().await;
    }
}

#[tokio::test]
async fn earnings_of_a_record_are_exact() {
    let jobs = [(1, LARGE), (2, LARGE)]
        .map(|(job, payout)| vec![requested(job, 1, 50, LARGE), delivered(job, job, ""), completed(job, payout, 0)]);
    for site in super::sites_with(vec![agent(1), jobs.concat()], |builder| builder.plugin(super::probe::module())).await
    {
        let input = json!({ "agentId": 1, "owner": account(1), "claimsMax": 100 });
        let record = site.gateway.send("POST", "/api/probe/record", &[], input.to_string()).await.json();
        assert_eq!((&record["escrowEarnedWei"], &record["escrowFeesWei"]), (&json!(TWICE_LARGE), &json!("2")));
        site.close().await;
    }
}
