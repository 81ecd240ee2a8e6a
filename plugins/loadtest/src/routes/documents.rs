//! The disclosure, which two routes serve.

use crate::{
    Config, Loadtest,
    model::{ADDRESS, Addresses, DAY_S, Derivation, Disclosure, Limits, MANIFEST, Marker, Operator, PATH, STATS, date},
    store::{counts, runner, wallets},
};
use plugin_api::{HostError, RequestContext};

/// Numbers of this service from which labelled addresses are left out.
const EXCLUDED_FROM: [&str; 5] =
    ["leaderboard", "stats", "network", "similar agents", "arm's-length figures of credentials"];
const COUNTING: &str = "Transactions are counted once their block is final. One whose sender is the float or a wallet belongs to the \
     load test; all others are organic, whatever their data are.";

/// An absolute URL.
pub fn url(cx: &RequestContext<Loadtest>, path: &str) -> String {
    format!("{}{path}", cx.environment().base_url)
}

/// The key of the wallets in the table, also when the configuration names it no more: what they sent is disclosed as long as they are
/// known. Before there are any it is the configured one.
pub async fn disclosed_xpub(cx: &RequestContext<Loadtest>) -> Result<Option<String>, HostError> {
    let stored = wallets::branch(&cx.db()).await?.map(|stored| stored.xpub);
    Ok(stored.or_else(|| cx.plugin().branch.as_ref().map(|branch| branch.text().to_owned())))
}

pub async fn disclosure(cx: &RequestContext<Loadtest>) -> Result<Disclosure, HostError> {
    let (db, config) = (cx.db(), &cx.plugin().config);
    let totals = counts::totals(&db).await?;
    let (_, activated_up_to) = wallets::seen(&db).await?;
    let known = wallets::last(&db).await?.unwrap_or(0);
    let xpub = disclosed_xpub(cx).await?;
    let runner = runner::find(&db).await?;
    let status = match (&xpub, &runner) {
        (None, _) => "not started",
        (Some(_), Some(runner)) => runner.mode.name(),
        (Some(_), None) => "off",
    };
    let sink = config.sink_address();
    let agent_page = config.operator_agent_id.zip(cx.environment().web_url.as_ref());
    Ok(Disclosure {
        name: format!("{} load test", cx.environment().brand.network_name),
        purpose: config.purpose.clone(),
        operator: Operator {
            name: config.operator_name.clone(),
            agent_id: config.operator_agent_id,
            sink,
            agent_page: agent_page.map(|(id, web_url)| format!("{web_url}/agents/{id}")),
        },
        chain_id: cx.environment().chain_id,
        status: status.to_owned(),
        start_date: totals.as_ref().and_then(|totals| Some(date(totals.first_at?.div_euclid(DAY_S)))),
        marker: Marker::with_rule(),
        addresses: Addresses {
            float: wallets::address(&db, 0).await?,
            sink,
            derivation: Derivation {
                standard: "BIP-32, BIP-44",
                path: PATH,
                xpub,
                float: 0,
                wallets: known,
                activated_up_to,
            },
        },
        verify: verify(cx),
        counters: url(cx, STATS),
        excluded_from: EXCLUDED_FROM.into(),
        counting: COUNTING,
        labelled: vec![
            "index 0: the float, which funds the wallets and gets back what they do not spend".to_owned(),
            format!("indexes 1 to {known}: the wallets"),
        ],
        limits: limits(config),
        manifest: url(cx, MANIFEST),
        updated_at: totals.map(|totals| totals.counted_at),
    })
}

fn limits(config: &Config) -> Limits {
    if !config.runner {
        return Limits { rate_tx_per_s: 0, pauses_when: Vec::new() };
    }
    let pauses_when = vec![
        format!("the newest block is older than {} s, or the chain cannot be followed", config.head_age_max_s),
        "transactions of the gateway wait for a block: they go first".to_owned(),
        format!("more than {} transactions wait in the pool", config.pool_max),
        format!("gas costs more than {} wei", config.gas_price_max_wei),
        format!("the float has less than {} wei", config.float_min_wei),
    ];
    Limits { rate_tx_per_s: config.rate_per_s, pauses_when }
}

fn verify(cx: &RequestContext<Loadtest>) -> Vec<String> {
    let address = url(cx, ADDRESS);
    vec![
        format!("Ask {address}: `loadtest` is true for every address of the test, and for no other."),
        format!(
            "Or derive the addresses yourself: the children `i` of `addresses.derivation.xpub`, which is {}; child 0 is the float.",
            PATH.trim_end_matches("/i")
        ),
        "Look at the transactions of such an address: each has `marker.data` as its data.".to_owned(),
        "Follow the coins: the float funds wallets, wallets pay each other and return what is left to the float."
            .to_owned(),
    ]
}
