//! What the database says about an agent, in the tables of this plugin and of others. All of it is read here, so that one pair of positions
//! covers it.

use super::{
    own_claims,
    plugins::{OWN, Plugins, is_own},
};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, CLAIM_LOGS_MAX, CONTRIBUTION, Checks, DISPUTE, Kind, Namesake, StoredLog},
    store::{
        agents, contributions,
        logs::{self, NamedLogs, TransactionsByEvent},
    },
};
use plugin_api::{
    AgentId, HandlerError, HostError, RequestContext,
    contracts::registry::AgentName,
    point::{CV_CLAIMS, CvClaimsInput, CvRecord},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Claims of one kind in a record.
pub const CLAIMS_MAX: u32 = 1_000;
/// Claims of one plugin that are looked at.
pub const CONTRIBUTED_MAX: usize = 20_000;
/// Transactions whose logs of one event are read: more than one that a record of this length needs.
const TRANSACTIONS_MAX: usize = 2_000;

pub struct Readings {
    pub agent: Agent,
    pub namesakes: Vec<Namesake>,
    pub namesake_count: u64,
    /// By plugin; the endorsements of this one are among them.
    pub records: Vec<(String, CvRecord)>,
    /// Types of activity that are counted.
    pub contribution_types: BTreeSet<String>,
    /// How many events of each the owner published.
    pub contributions: BTreeMap<String, i64>,
    pub serves_activity: bool,
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
    pub async fn read(
        cx: &RequestContext<Aicv>,
        id: AgentId,
        plugins: &mut Plugins,
    ) -> Result<Self, HandlerError<CvError>> {
        let db = cx.db();
        let unknown = || CvError::UnknownAgent(id.to_string());
        let agent = agents::find(&db, &AgentName::Id(id)).await?.ok_or_else(unknown)?;
        let input = CvClaimsInput { agent_id: id, owner: agent.owner, claims_max: CLAIMS_MAX };
        let mut records = cx.collect(CV_CLAIMS, &input).await?;
        plugins.note_silent(&records);
        records.push((OWN.to_owned(), own_claims::endorsements(cx, id).await?));
        let contribution_types = own_claims::contribution_types(&records, |plugin| may_count(cx, plugin));
        let contributions = contributions::count(&db, agent.owner, &contribution_types).await?;
        // No document names a route that nobody serves.
        let [serves_activity] = cx.serves(["/api/activity"]).await?;
        let (namesakes, namesake_count) = agents::namesakes(&db, &agent).await?;
        let evidence = Evidence::read(cx, id, &records).await?;
        Ok(Self {
            agent,
            namesakes,
            namesake_count,
            records,
            contribution_types,
            contributions,
            serves_activity,
            evidence,
        })
    }
}

/// Whether the types of activity that the plugin names are counted: those of a third party where the operator says so.
fn may_count(cx: &RequestContext<Aicv>, plugin: &str) -> bool {
    let granted = cx.plugin().config.kinds.get(plugin);
    is_own(plugin) || granted.is_some_and(|kinds| kinds.iter().any(|kind| kind == CONTRIBUTION))
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
        let mut named = logs::of_events(&db, &named).await?;
        named.unread.append(&mut unread);
        Ok(Self {
            named,
            registrations: logs::registrations(&db, agent).await?,
            jobs: agents::own_jobs(&db, agent, &disputed).await?,
        })
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
