//! What is read first: it is compared with what an earlier issue was made of. What is the same needs no check, because a record is a function
//! of it and of logs, which stay while their block does.

use super::{
    own_claims,
    plugins::{OWN, Plugins, is_own},
    readings::CLAIMS_MAX,
};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, CONTRIBUTION, Namesake},
    store::{agents, event_counts},
};
use plugin_api::{
    AgentId, HandlerError, HostError, HostErrorCode, RequestContext,
    contracts::registry::AgentName,
    point::{CV_CLAIMS, CvClaimsInput, CvRecord, Point},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// The contributions as their plugins wrote them.
const RECORDS: Point<CvClaimsInput, Box<RawValue>> = Point::new(CV_CLAIMS.name());

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
    /// `known` are those of an earlier issue.
    pub async fn read(
        cx: &RequestContext<Aicv>,
        id: AgentId,
        plugins: &mut Plugins,
        known: Option<&Self>,
    ) -> Result<Self, HandlerError<CvError>> {
        let db = cx.db();
        let unknown = || CvError::UnknownAgent(id.to_string());
        let agent = agents::find(&db, &AgentName::Id(id)).await?.ok_or_else(unknown)?;
        let input = CvClaimsInput { agent_id: id, owner: agent.owner, claims_max: CLAIMS_MAX };
        let contributed = cx.collect(RECORDS, &input).await?;
        plugins.note_silent(contributed.iter().map(|(plugin, _)| plugin.as_str()));
        let mut records: Vec<(String, Box<str>)> =
            contributed.into_iter().map(|(plugin, record)| (plugin, record.into())).collect();
        let own = serde_json::to_string(&own_claims::endorsements(cx, id).await?).map_err(broken)?;
        records.push((OWN.to_owned(), own.into()));
        let contribution_types = match known.filter(|known| known.records == records) {
            Some(known) => known.contribution_types.clone(),
            None => contribution_types(cx, &records)?,
        };
        let contributions = event_counts::count(&db, agent.owner, &contribution_types).await?;
        // No document names a route that nobody serves.
        let [serves_activity] = cx.serves(["/api/activity"]).await?;
        let (namesakes, namesake_count) = agents::namesakes(&db, &agent).await?;
        let off = plugins.off().map(str::to_owned).collect();
        Ok(Self { agent, namesakes, namesake_count, records, contribution_types, contributions, serves_activity, off })
    }

    pub fn records(&self) -> Result<Vec<(String, CvRecord)>, HostError> {
        let decode = |(plugin, record): &(String, Box<str>)| Ok((plugin.clone(), serde_json::from_str(record)?));
        self.records.iter().map(decode).collect::<Result<_, serde_json::Error>>().map_err(broken)
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

fn contribution_types(
    cx: &RequestContext<Aicv>,
    records: &[(String, Box<str>)],
) -> Result<BTreeSet<String>, HostError> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Types {
        activity_types: Vec<String>,
    }
    let counted = records.iter().filter(|(plugin, _)| may_count(cx, plugin));
    let types = counted.map(|(_, record)| serde_json::from_str(record));
    let types: Vec<Types> = types.collect::<Result<_, _>>().map_err(broken)?;
    Ok(own_claims::contribution_types(types.iter().flat_map(|types| &types.activity_types)))
}

/// Whether the types of activity that the plugin names are counted: those of a third party where the operator says so.
fn may_count(cx: &RequestContext<Aicv>, plugin: &str) -> bool {
    let granted = cx.plugin().config.kinds.get(plugin);
    is_own(plugin) || granted.is_some_and(|kinds| kinds.iter().any(|kind| kind == CONTRIBUTION))
}
