//! `GET /api/loadtest/stats`: the counters.

use super::{
    documents::{disclosed_xpub, url},
    runner_view::{self, RunnerView},
};
use crate::{
    Loadtest,
    model::{
        ADDRESS, Counters, Explorer, FLOAT, Float, Gas, Kind, MANIFEST, Marker, Membership, NotStarted, Organic, PATH,
        Rates, SCHEMA, Seen, Started, Stats, StatsDerivation, TotalsByKind, Wallets, date,
    },
    store::{
        blocks,
        counts::{self, Totals},
        wallets,
    },
};
use plugin_api::{HandlerError, HostError, Json, RequestContext, Route, Wei, chain::MAIN};

/// Blocks that are always under way: what is counted with fewer missing is complete.
const BEHIND_MAX: i64 = 3;
const GAS_RULE: &str = "Every transaction names one price per gas as tip and as maximum, so that its fee is known before it is in a block.";

pub fn route() -> Route<Loadtest> {
    Route::get("/api/loadtest/stats", get_loadtest_stats)
        .public()
        .cache_control("public, max-age=5")
        .summary("Counters of the load test, and of everybody else's transactions")
        .description("`deployed` is false while there is no load test.")
}

async fn get_loadtest_stats(cx: RequestContext<Loadtest>) -> Result<Json<Stats>, HandlerError> {
    let Some(xpub) = disclosed_xpub(&cx).await? else {
        return Ok(Json(Stats::NotStarted(NotStarted {
            deployed: false,
            available: false,
            detail: "there is no load test on this network",
            manifest: url(&cx, MANIFEST),
            address: url(&cx, ADDRESS),
        })));
    };
    Ok(Json(Stats::Started(Box::new(started(&cx, xpub).await?))))
}

async fn started(cx: &RequestContext<Loadtest>, xpub: String) -> Result<Started, HostError> {
    let (db, config) = (cx.db(), &cx.plugin().config);
    let totals = counts::totals(&db).await?;
    let last_day = counts::last_day(&db, cx.now_s()).await?;
    let kinds = counts::kinds(&db).await?;
    let (activated, highest_index) = wallets::seen(&db).await?;
    let known = wallets::last(&db).await?;
    let view = runner_view::read(&db, config).await?;
    let float = float(cx, &view).await?;
    let membership = Membership {
        loaded: known.unwrap_or(0),
        problem: wallets::branch(&db).await?.and_then(|stored| stored.problem),
    };
    Ok(Started {
        deployed: true,
        available: true,
        schema: SCHEMA,
        updated_at: cx.now_s(),
        state: view.state,
        purpose: config.purpose.clone(),
        chain_id: cx.environment().chain_id,
        marker: Marker::new(),
        sink: config.sink_address(),
        float,
        derivation: StatsDerivation { path: PATH, xpub, float: 0, wallets: membership.loaded },
        wallets: Wallets {
            planned: config.wallets.into(),
            activated,
            highest_index,
            next_index: view.runner.as_ref().map_or(highest_index + 1, |runner| runner.next_index),
            pass: view.runner.as_ref().map_or(0, |runner| runner.pass),
            active_waves: i64::try_from(view.waves.len()).unwrap_or(i64::MAX),
        },
        counters: Counters {
            failed: view.refused,
            gas_wei: view.runner.as_ref().map(|runner| runner.fees),
            pending: view.pending,
            ..counters(totals.as_ref(), &kinds, known.map_or(0, |last| last + 1), activated)
        },
        organic: match &totals {
            Some(totals) => Some(organic(cx, totals, last_day).await?),
            None => None,
        },
        explorer: Explorer { index_snapshot: None, index_read: None },
        rates: Rates {
            rate: if config.runner { config.rate_per_s } else { 0 },
            gas: Gas {
                per_transfer: view.waves.last().map(|wave| wave.gas),
                rule: GAS_RULE,
                tip_wei: config.runner.then_some(config.tip_wei),
            },
            ..rates(totals.as_ref(), last_day.1, counts::days(&db).await?)
        },
        guards: view.guards,
        sink_transfers: view.sink_transfers,
        membership,
        manifest: url(cx, MANIFEST),
        address: url(cx, ADDRESS),
    })
}

async fn float(cx: &RequestContext<Loadtest>, view: &RunnerView) -> Result<Float, HostError> {
    let config = &cx.plugin().config;
    Ok(Float {
        address: wallets::address(&cx.db(), FLOAT).await?,
        balance_wei: view.runner.as_ref().and_then(|runner| runner.float_balance),
        in_flight_wei: view.in_flight,
        reserve_wei: view.reserve,
        min_wei: config.float_min_wei,
        max_in_flight_wei: config.in_flight_max_wei,
    })
}

fn counters(totals: Option<&Totals>, kinds: &TotalsByKind, addresses: i64, addresses_on_chain: i64) -> Counters {
    let of = |kind| kinds.0.get(&kind).map_or(0, |(transactions, _)| *transactions);
    Counters {
        transactions: totals.map_or(0, |totals| totals.labelled),
        by_kind: Kind::ALL.map(|kind| (kind.name(), of(kind))).into(),
        failed: 0,
        volume_wei: kinds.0.values().fold(Wei::ZERO, |sum, (_, volume)| sum.saturating_add(*volume)),
        gas_wei: None,
        addresses,
        addresses_on_chain,
        pending: 0,
    }
}

async fn organic(
    cx: &RequestContext<Loadtest>,
    totals: &Totals,
    (all, labelled): (i64, i64),
) -> Result<Organic, HostError> {
    let followed = blocks::last(&cx.db()).await?.map_or(0, |block| block.number);
    // The gateway knows the newest block without asking a server.
    let head = cx.chain(MAIN).head().await.ok().and_then(|head| i64::try_from(head.number).ok());
    let is_followed = head.is_some_and(|head| head - followed <= BEHIND_MAX);
    Ok(Organic {
        ready: is_followed && totals.final_block - totals.through_block <= BEHIND_MAX,
        through_block: totals.through_block,
        transactions: totals.transactions - totals.labelled,
        last24h: all - labelled,
        loadtest: totals.labelled,
        at: totals.counted_at,
        confirmations: followed - totals.through_block,
    })
}

fn rates(totals: Option<&Totals>, last24h: i64, days: Vec<(i64, i64)>) -> Rates {
    let seen = |block: Option<i64>, at: Option<i64>| block.zip(at).map(|(block, at)| Seen { at, block });
    Rates {
        daily: days.into_iter().map(|(day, transactions)| (date(day), transactions)).collect(),
        last24h,
        first_tx: totals.and_then(|totals| seen(totals.first_block, totals.first_at)),
        last_tx: totals.and_then(|totals| seen(totals.last_block, totals.last_at)),
        rate: 0,
        gas: Gas { per_transfer: None, rule: GAS_RULE, tip_wei: None },
    }
}
