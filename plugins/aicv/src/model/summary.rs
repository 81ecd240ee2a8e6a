//! The summary of a credential: the registry's counters, and sums that plugins contribute.
//!
//! The rule: a plugin sets the members of its own facts only, in the shape of the value for "nothing"; a member that nobody sets, or in another
//! shape, has that value. Those of a plugin that did not answer are null: nobody knows them.

use super::agent::Agent;
use plugin_api::Wei;
use serde_json::{Map, Value, json};

/// Which members each plugin sets.
const MEMBERS: [(&str, &[&str]); 6] = [
    (
        "agents",
        &[
            "jobsSettled",
            "armsLength",
            "unratedCompletions",
            "escrowEarnedWei",
            "escrowFeesWei",
            "feedback",
            "validations",
            "uptime",
        ],
    ),
    (
        "x402",
        &[
            "x402EarnedWei",
            "x402GrossWei",
            "x402FeesWei",
            "x402SpentWei",
            "x402ReceiptCount",
            "x402PaymentCount",
            "x402VouchersPending",
        ],
    ),
    ("economy", &["streams", "subscriptionPlans", "disputes", "tokensLaunched"]),
    ("memory", &["memory"]),
    ("referrals", &["referralsMade"]),
    ("aicv", &["endorsements", "commonsContributions"]),
];

/// The members that the plugin sets.
pub fn members_of(plugin: &str) -> &'static [&'static str] {
    MEMBERS.iter().find(|(name, _)| *name == plugin).map(|(_, members)| *members).unwrap_or_default()
}

/// What a plugin contributes to the summary, without members that are not its own.
pub fn own_members(plugin: &str, contributed: Map<String, Value>) -> Map<String, Value> {
    let own = members_of(plugin);
    let is_own = |name: &String| own.contains(&name.as_str());
    contributed.into_iter().filter(|(name, _)| is_own(name)).collect()
}

/// The summary without what depends on the limit and the block.
pub fn summary(agent: &Agent, mut contributed: Map<String, Value>, registry: Option<&str>) -> Map<String, Value> {
    let mut take = |name: &str, nothing: Value| {
        contributed.remove(name).filter(|value| has_shape_of(&nothing, value)).unwrap_or(nothing)
    };
    let jobs_settled = take("jobsSettled", json!(0));
    let mut arms_length = take(
        "armsLength",
        json!({ "paidJobsCompleted": 0, "zeroValueJobs": 0, "distinctPayers": 0, "ratedPaidJobs": 0 }),
    );
    arms_length["note"] =
        "jobs in Completed or Resolved whose amount is above zero, and how many addresses paid them, without addresses that \
        this gateway labels as its own traffic; the escrow lets no owner hire his own agent"
            .into();
    arms_length["stillBuyable"] =
        "an owner may pay from other addresses of his own: the price of that is the fee, which is lost".into();
    let mut uptime = take(
        "uptime",
        json!({ "windowDays": 30, "days": 0, "probes": 0, "ok": 0, "fail": 0, "uptimePct": null, "lastMs": null,
            "enoughHistory": false }),
    );
    uptime["note"] = "probes of the agent's card by this gateway, which nothing on the chain proves".into();
    let summary = json!({
        "jobsCompleted": agent.jobs_completed,
        "jobsFailed": agent.jobs_failed,
        "ratingCount": agent.rating_count,
        "ratingSum": agent.rating_sum,
        "jobsSettled": jobs_settled,
        "ratingAvg": average(agent.rating_sum, agent.rating_count),
        "armsLength": arms_length,
        "unratedCompletions": take("unratedCompletions", json!(0)),
        "unratedNote": "completed jobs without a rating, which nobody reviewed in time or wanted to",
        "bondWei": agent.bond,
        "pricePerJobWei": agent.price_per_job,
        "escrowEarnedWei": take("escrowEarnedWei", json!("0")),
        "escrowFeesWei": take("escrowFeesWei", json!("0")),
        "x402EarnedWei": take("x402EarnedWei", json!("0")),
        "x402GrossWei": take("x402GrossWei", json!("0")),
        "x402FeesWei": take("x402FeesWei", json!("0")),
        "x402SpentWei": take("x402SpentWei", json!("0")),
        "earnedNote": "net of fees; x402 counts what the owner's address received, whichever of his agents earned it",
        "x402ReceiptCount": take("x402ReceiptCount", json!(0)),
        "x402PaymentCount": take("x402PaymentCount", json!(0)),
        "x402VouchersPending": take("x402VouchersPending", json!(0)),
        "streams": take("streams", json!(0)),
        "subscriptionPlans": take("subscriptionPlans", json!(0)),
        "feedback": take("feedback", json!({ "total": 0, "paymentBacked": 0, "unbacked": 0 })),
        "validations": take("validations", json!({ "total": 0, "scored": 0, "avgResponse": null, "selfAttested": 0 })),
        "endorsements": take("endorsements", json!({ "total": 0, "live": 0, "revoked": 0, "paymentBacked": 0 })),
        "disputes": take("disputes", json!({ "total": 0, "open": 0, "lostByAgent": 0 })),
        "memory": take("memory", nothing_remembered()),
        "tokensLaunched": take("tokensLaunched", json!(0)),
        "referralsMade": take("referralsMade", json!(0)),
        "commonsContributions": take("commonsContributions", json!(0)),
        "uptime": uptime,
        "verify": {
            "method": "eth_call",
            "address": registry,
            "call": "getAgent(uint256)",
            "args": [agent.agent_id],
            "note": "the counters of this summary must not exceed the registry's, and jobsFailed must not be below it",
        },
    });
    summary.as_object().cloned().unwrap_or_default()
}

/// Whether a value has the members of another one, and each of them its type. Where that is null, it is null, a text or a number.
fn has_shape_of(nothing: &Value, value: &Value) -> bool {
    match (nothing, value) {
        (Value::Null, value) => value.is_null() || value.is_string() || value.is_number(),
        (Value::Number(_), value) => value.is_number(),
        (Value::String(_), value) => value.as_str().is_some_and(|wei| wei.parse::<Wei>().is_ok()),
        (Value::Bool(_), value) => value.is_boolean(),
        (Value::Object(nothing), Value::Object(value)) => {
            let fits = |(name, nothing)| value.get(name).is_some_and(|value| has_shape_of(nothing, value));
            nothing.len() == value.len() && nothing.iter().all(fits)
        }
        _ => false,
    }
}

fn nothing_remembered() -> Value {
    json!({
        "keys": 0, "bytes": 0, "records": 0, "unanchored": 0, "anchors": 0, "anchoredThroughSeq": null, "latestRoot": null,
        "latestAnchorSeq": null, "latestAnchorTx": null, "latestAnchorBlock": null, "latestAnchoredAt": null,
    })
}

/// With two decimals.
#[allow(clippy::cast_precision_loss, reason = "there are few ratings")]
fn average(sum: i64, count: i64) -> Option<f64> {
    (count > 0).then(|| (sum as f64 * 100.0 / count as f64).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::point::members;

    #[test]
    fn a_plugin_sets_its_own_members_only() {
        let contributed = members([("jobsSettled", json!(7)), ("jobsCompleted", json!(99)), ("memory", json!({}))]);
        assert_eq!(own_members("agents", contributed.clone()), members([("jobsSettled", json!(7))]));
        assert_eq!(own_members("memory", contributed.clone()), members([("memory", json!({}))]));
        assert_eq!(own_members("stranger", contributed), Map::new());
    }

    #[test]
    fn a_member_of_another_shape_is_as_if_nobody_set_it() {
        let nothing = json!({ "total": 0, "latest": null });
        for (value, fits) in [
            (json!({ "total": 2, "latest": "0x1" }), true),
            (json!({ "total": 2, "latest": null }), true),
            (json!({ "total": "2", "latest": null }), false),
            (json!({ "total": 2 }), false),
            (json!({ "total": 2, "latest": null, "more": 1 }), false),
            (json!({ "total": 2, "latest": {} }), false),
            (json!("text"), false),
        ] {
            assert_eq!(has_shape_of(&nothing, &value), fits, "{value}");
        }
        assert!(!has_shape_of(&json!("0"), &json!("much")) && has_shape_of(&json!("0"), &json!("12")));
    }

    #[test]
    fn an_average_has_two_decimals() {
        assert_eq!((average(14, 3), average(0, 0)), (Some(4.67), None));
    }
}
