//! What is read first: it is compared with what an earlier issue was made of. What is the same needs no check, because a record is a function
//! of it and of logs, which stay while their block does.

use super::{
    own_claims,
    plugins::{OWN, Plugins, is_own},
};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, CONTRIBUTION, Namesake},
    store::{agents, event_counts},
};
use futures_util::future::{try_join, try_join3};
use plugin_api::{
    AgentId, HandlerError, HostError, HostErrorCode, RequestContext,
    contracts::registry::AgentName,
    point::{CV_CLAIMS, CvClaimsInput, CvRecord},
};
use std::collections::{BTreeMap, BTreeSet};

/// Claims of one kind in a record.
pub const CLAIMS_MAX: u32 = 1_000;

/// What each plugin states.
pub type Records = Vec<(String, CvRecord)>;

#[derive(Debug, PartialEq, Eq)]
pub struct Sources {
    pub agent: Agent,
    pub namesakes: Vec<Namesake>,
    pub namesake_count: u64,
    /// By plugin; the endorsements of this one are among them.
    records: Vec<(String, Box<str>)>,
    /// Types of activity that are counted.
    pub contribution_types: BTreeSet<String>,
    /// How many events of each the owner published.
    pub contributions: BTreeMap<String, i64>,
    pub serves_activity: bool,
    /// Plugins that are switched off: a document names them.
    off: Vec<String>,
}

impl Sources {
    /// With the records, unless they are those that are `known` from an earlier issue.
    pub async fn read(
        cx: &RequestContext<Aicv>,
        id: AgentId,
        plugins: &mut Plugins,
        known: Option<&Self>,
    ) -> Result<(Self, Option<Records>), HandlerError<CvError>> {
        let db = cx.db();
        let unknown = || CvError::UnknownAgent(id.to_string());
        let agent = agents::find(&db, &AgentName::Id(id)).await?.ok_or_else(unknown)?;
        let input = CvClaimsInput { agent_id: id, owner: agent.owner, claims_max: CLAIMS_MAX };
        // While the other plugins answer.
        let own = try_join3(
            own_claims::endorsements(cx, id),
            agents::namesakes(&db, &agent),
            // No document names a route that nobody serves.
            cx.serves(["/api/activity"]),
        );
        let (contributed, (own, namesakes, [serves_activity])) =
            try_join(cx.collect_json(CV_CLAIMS, &input), own).await?;
        plugins.note_silent(contributed.iter().map(|(plugin, _)| plugin.as_str()));
        let mut texts: Vec<(String, Box<str>)> =
            contributed.into_iter().map(|(plugin, record)| (plugin, record.into())).collect();
        texts.push((OWN.to_owned(), serde_json::to_string(&own).map_err(broken)?.into()));
        let (contribution_types, records) = match known.filter(|known| known.records == texts) {
            Some(known) => (known.contribution_types.clone(), None),
            None => {
                let records = decoded(&texts)?;
                (contribution_types(cx, &records), Some(records))
            }
        };
        let contributions = event_counts::count(&db, agent.owner, &contribution_types).await?;
        let off = plugins.off().map(str::to_owned).collect();
        let (namesakes, namesake_count) = namesakes;
        let sources = Self {
            agent,
            namesakes,
            namesake_count,
            records: texts,
            contribution_types,
            contributions,
            serves_activity,
            off,
        };
        Ok((sources, records))
    }

    pub fn records(&self) -> Result<Records, HostError> {
        decoded(&self.records)
    }

    /// Of what is kept in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.records.iter().map(|(_, record)| record.len()).sum()
    }
}

/// The gateway has compared each contribution with its type.
fn broken(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Internal, error.to_string())
}

fn decoded(texts: &[(String, Box<str>)]) -> Result<Records, HostError> {
    let decode = |(plugin, record): &(String, Box<str>)| Ok((plugin.clone(), serde_json::from_str(record)?));
    texts.iter().map(decode).collect::<Result<_, serde_json::Error>>().map_err(broken)
}

fn contribution_types(cx: &RequestContext<Aicv>, records: &[(String, CvRecord)]) -> BTreeSet<String> {
    let counted = records.iter().filter(|(plugin, _)| may_count(cx, plugin));
    own_claims::contribution_types(counted.flat_map(|(_, record)| &record.activity_types))
}

/// Whether the types of activity that the plugin names are counted: those of a third party where the operator says so.
fn may_count(cx: &RequestContext<Aicv>, plugin: &str) -> bool {
    let granted = cx.plugin().config.kinds.get(plugin);
    is_own(plugin) || granted.is_some_and(|kinds| kinds.iter().any(|kind| kind == CONTRIBUTION))
}
