//! One file per route, named after its operation.

pub mod get_network;
pub mod get_network_graph;
pub mod list_similar_agents;

use plugin_api::{AgentId, HostError, HostHandle};

/// Where records of agents are, if a plugin serves them.
async fn records(host: &HostHandle) -> Result<impl Fn(AgentId) -> Option<String>, HostError> {
    let [is_served] = host.serves(["/api/cv/{agent}"]).await?;
    let base_url = host.environment().base_url.clone();
    Ok(move |id: AgentId| is_served.then(|| format!("{base_url}/api/cv/{id}")))
}
