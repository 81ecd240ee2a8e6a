//! The status of payouts, and the claim about referrals in an agent's credential.

use crate::{
    Referrals,
    model::{ROLE, ReferralClaimed, ReferralPaid, Totals},
    store::{budget, limits, referrers},
};
use plugin_api::{
    Address, Event as _, HostError, HostErrorCode, PluginContext, RequestContext, Wei,
    chain::MAIN,
    point::{CvClaim, CvClaimsInput, CvRecord, NoInput, ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Whether rewards are paid now.
pub async fn is_paying(cx: &RequestContext<Referrals>) -> Result<bool, HostError> {
    let has_key = cx.signer(ROLE).configured_address().await?.is_some();
    let config = &cx.plugin().config;
    let spent = budget::spent(&cx.db()).await?.saturating_add(config.reward_wei.saturating_mul(2));
    Ok(has_key && config.budget_wei.is_some_and(|budget| spent <= budget))
}

pub async fn status(cx: PluginContext<Referrals>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (config, db) = (&cx.plugin().config, cx.db());
    let (address, balance) = account(&cx).await?;
    let numbers = referrers::numbers(&db, config.min_job_wei).await?;
    let spent = budget::spent(&db).await?;
    let both = config.reward_wei.saturating_mul(2);
    let (is_enabled, is_low) =
        (address.is_some() && config.budget_wei.is_some(), balance.is_some_and(|wei| wei < both));
    let problem = match is_enabled {
        false => None,
        true if numbers.failed > 0 => Some("transfers failed for good: an operator has to repeat them"),
        true if numbers.pending > 0 && balance.is_none() => Some("the balance of the role growth cannot be read"),
        true if numbers.pending > 0 && is_low => Some("the role growth cannot pay the next referral"),
        true => None,
    };
    let detail = problem.or(match (config.budget_wei, address) {
        (None, _) => Some("no budget is configured: nobody is paid"),
        (_, None) => Some("the role growth has no key: nobody is paid"),
        (Some(budget), _) if spent.saturating_add(both) > budget => Some("the budget is used up: nobody is paid"),
        _ => None,
    });
    let numbers = members([
        ("address", json!(address)),
        ("balanceFmx", json!(balance.map(Wei::in_coins))),
        ("lowFunds", json!(is_low)),
        ("referred", json!(numbers.referred)),
        ("pending", json!(numbers.pending)),
        ("paid", json!(numbers.paid)),
        ("held", json!(numbers.held)),
        ("failed", json!(numbers.failed)),
        ("withdrawn", json!(numbers.withdrawn)),
        ("paidToday", json!(limits::today(&db, cx.now_s()).await?)),
        ("spentFmx", json!(spent.in_coins())),
        ("budgetFmx", json!(config.budget_wei.map(Wei::in_coins))),
    ]);
    let detail = detail.map(ToOwned::to_owned);
    let status = ServiceStatus { ok: problem.is_none(), enabled: Some(is_enabled), detail, numbers };
    Ok(status.named("referrals"))
}

/// The account that pays, and its balance; `None` without a key, or when it cannot be read.
async fn account(cx: &PluginContext<Referrals>) -> Result<(Option<Address>, Option<Wei>), HostError> {
    match cx.nonce_queue(ROLE, MAIN).await {
        Ok(queue) => Ok((Some(queue.address), queue.balance)),
        Err(error) if error.is(HostErrorCode::Disabled) => Ok((None, None)),
        Err(error) => Err(error),
    }
}

const CLAIM: &str = "Referral";

/// How many agents named this one as their referrer, and for how many both owners were paid. An agent that referred nobody has no claim.
pub async fn cv_claims(cx: PluginContext<Referrals>, input: CvClaimsInput) -> Result<CvRecord, HostError> {
    let tallies = referrers::of(&cx.db(), cx.plugin().config.min_job_wei, input.agent_id).await?;
    let totals = Totals::of(&tallies);
    let claim = || {
        let fields = [("referred", json!(totals.referred)), ("paidOut", json!(totals.paid))];
        let source = format!("{}/api/referrals/by/{}", cx.environment().base_url, input.agent_id);
        let note = "the owners of these agents signed that this one brought them";
        CvClaim::new(CLAIM, "referrals", fields).asserted(source, note)
    };
    Ok(CvRecord {
        covers: vec![CLAIM.to_owned()],
        claims: (totals.referred > 0).then(claim).into_iter().collect(),
        summary: members([("referralsMade", json!(totals.referred))]),
        activity_types: vec![ReferralClaimed::TYPE.to_owned(), ReferralPaid::TYPE.to_owned()],
        ..CvRecord::default()
    })
}
