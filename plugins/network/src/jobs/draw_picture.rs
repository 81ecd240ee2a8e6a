//! The job that draws the picture of the graph, when what it shows has changed: a layout takes some tenths of a second, which no request
//! should wait for.

use crate::{
    Network,
    model::{EdgeFilter, Graph, render},
    store::{agents, edges, pictures},
};
use plugin_api::{AgentId, Hash256, HostError, Job, PluginContext, render_json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

const INTERVAL: Duration = Duration::from_secs(60);
/// The largest ones are drawn.
const EDGES_MAX: u32 = 1000;

pub fn job() -> Job<Network> {
    Job::every("draw_picture", INTERVAL, draw_picture)
}

async fn draw_picture(cx: PluginContext<Network>) -> Result<(), HostError> {
    let db = cx.db();
    let filter = EdgeFilter { min_jobs: 1, ..EdgeFilter::default() };
    let labelled = cx.labelled_addresses().await?;
    let (found, total) = edges::largest(&db, &filter, &labelled, EDGES_MAX).await?;
    let ids: BTreeSet<AgentId> =
        found.iter().flat_map(|edge| edge.ends.from_agent.into_iter().chain([edge.ends.to_agent])).collect();
    let rows = agents::of_ids(&db, &ids.into_iter().collect::<Vec<_>>()).await?;
    let named: BTreeMap<AgentId, (String, bool)> =
        rows.into_iter().map(|row| (row.agent_id, (row.name, row.status == "Active"))).collect();
    let graph = Graph::new(&found, &named, total);
    let network = cx.environment().brand.network_name.clone();
    // With the version, so that a newer gateway draws anew.
    let shown = render_json(&(env!("CARGO_PKG_VERSION"), &network, &graph))?;
    let shown = Hash256::keccak(shown.as_bytes());
    if pictures::shown(&db).await? == Some(shown) {
        return Ok(());
    }
    let svg = cx.blocking(move || render(&graph, &network)).await?;
    cx.write(async move |tx| pictures::store(tx, shown, &svg).await).await
}
