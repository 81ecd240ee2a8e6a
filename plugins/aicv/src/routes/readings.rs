//! What claims say, and what they are checked against: the stored logs that they name. All of it is read here, so that one pair of positions
//! covers it.

use super::{
    plugins::is_own,
    sources::{Records, Sources},
};
use crate::{
    Aicv,
    model::{Agent, CLAIM_LOGS_MAX, Checks, DISPUTE, Kind, StoredLog},
    store::{
        agents,
        logs::{self, NamedLogs, TransactionsByEvent},
    },
};
use futures_util::future::try_join3;
use plugin_api::{AgentId, HostError, RequestContext, point::CvRecord};
use serde_json::Value;
use std::collections::BTreeSet;

/// Claims of one plugin that are looked at.
pub const CONTRIBUTED_MAX: usize = 20_000;
/// Transactions whose logs of one event are read: more than one that a record of this length needs.
const TRANSACTIONS_MAX: usize = 2_000;

pub struct Readings {
    /// By plugin; the endorsements of this one are among them.
    pub records: Records,
    pub evidence: Evidence,
}

/// What claims are checked against.
pub struct Evidence {
    /// The logs of the transactions that claims name.
    named: NamedLogs,
    registrations: Vec<StoredLog>,
    /// The agent's jobs, of those that disputes name.
    jobs: BTreeSet<i64>,
}

impl Readings {
    /// `records` are those of the sources, if they are decoded already.
    pub async fn read(
        cx: &RequestContext<Aicv>,
        sources: &Sources,
        records: Option<Records>,
    ) -> Result<Self, HostError> {
        let records = records.map_or_else(|| sources.records(), Ok)?;
        let evidence = Evidence::read(cx, sources.agent.agent_id, &records).await?;
        Ok(Self { records, evidence })
    }
}

impl Evidence {
    async fn read(
        cx: &RequestContext<Aicv>,
        agent: AgentId,
        records: &[(String, CvRecord)],
    ) -> Result<Self, HostError> {
        let claims = || {
            // Whose facts they are comes first: nobody takes the room of their claims.
            let (own, others): (Vec<_>, Vec<_>) = records.iter().partition(|(plugin, _)| is_own(plugin));
            let all = own.into_iter().chain(others);
            all.flat_map(|(plugin, record)| {
                let claims = record.claims.iter().take(CONTRIBUTED_MAX);
                claims
                    .filter_map(|claim| Some((Kind::find(&claim.kind)?, claim)))
                    .filter(move |(kind, _)| kind.is_granted_to(plugin, &cx.plugin().config.kinds))
            })
        };
        // By event: whoever sends the transaction of a claim may write other logs beside it, as many and as long as he pays for.
        let (mut named, mut unread) = (TransactionsByEvent::new(), BTreeSet::new());
        let with_few = claims().filter(|(_, claim)| claim.logs.len() <= CLAIM_LOGS_MAX);
        for (kind, log) in with_few.flat_map(|(kind, claim)| claim.logs.iter().map(move |log| (kind, log))) {
            let rule = kind.rule(&log.contract, &log.event);
            let (Some(rule), Some(tx)) = (rule, log.tx) else { continue };
            let transactions = named.entry(rule.name()).or_default();
            if transactions.len() < TRANSACTIONS_MAX {
                transactions.insert(tx);
            } else if !transactions.contains(&tx) {
                unread.insert((rule.name(), tx));
            }
        }
        let disputed = claims().filter(|(kind, _)| kind.name == DISPUTE);
        let disputed = disputed.filter_map(|(_, claim)| claim.fields.get("jobId"));
        let disputed: BTreeSet<i64> = disputed.filter_map(Value::as_i64).collect();
        let db = cx.db();
        let (registrations, jobs) = (logs::registrations(&db, agent), agents::own_jobs(&db, agent, &disputed));
        let (mut named, registrations, jobs) = try_join3(logs::of_events(&db, &named), registrations, jobs).await?;
        named.unread.append(&mut unread);
        Ok(Self { named, registrations, jobs })
    }

    pub fn checks<'c>(self, cx: &'c RequestContext<Aicv>, agent: &Agent) -> Checks<'c> {
        Checks {
            subject: agent.subject(),
            environment: cx.environment(),
            granted: &cx.plugin().config.kinds,
            by_tx: self.named.by_tx,
            unread: self.named.unread,
            of_agent: self.registrations,
            jobs: self.jobs,
            used: BTreeSet::new(),
            ids: BTreeSet::new(),
        }
    }
}
