//! The plugin agents in a gateway, on each database, with a scripted chain: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod activity;
mod amounts;
mod contributions;
mod get_agent;
mod get_agent_registration;
mod get_job;
mod list_agent_jobs;
mod list_agents;
mod list_jobs;
mod probe;
mod probe_cards;
mod prune_probe_days;
mod read_review_window;
mod records;
mod reorganisation;
mod request_validations;
mod script;
mod sort_agents;
mod sums;
mod views;

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, Value, manifest};

const CONTRACTS: [&str; 5] = ["registry", "escrow", "identity8004", "reputation8004", "validation8004"];

/// A gateway with its own chain.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// A busy machine cannot apply more events of one block within the time limit of a commit.
const BLOCK_EVENTS_MAX: usize = 12;

/// One site per database, with these blocks mined and indexed.
async fn sites(blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    sites_with(blocks, |builder| builder).await
}

async fn sites_with(blocks: Vec<Vec<ScriptedLog>>, configure: impl Fn(Builder) -> Builder) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        for logs in blocks.iter().flat_map(|logs| logs.chunks(BLOCK_EVENTS_MAX)) {
            chain.mine(logs.to_vec());
        }
        let builder = configure(builder.plugin(agents::plugin_module()).chain(&chain, &CONTRACTS));
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

/// Default and maximum page size of this list.
fn limits(operation: &str) -> (i64, i64) {
    let routes = manifest(agents::plugin_module()).routes;
    let route = routes.iter().find(|route| route.operation == operation).unwrap();
    let limit = route.parameters.iter().find(|parameter| parameter.name == "limit").unwrap();
    (limit.schema["default"].as_i64().unwrap(), limit.schema["maximum"].as_i64().unwrap())
}

impl Site {
    /// GETs a path; expects 200 and returns the JSON.
    async fn read(&self, path: &str) -> Value {
        let response = self.gateway.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    /// Mines a block and waits until it is indexed.
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// Ids of a list.
    async fn ids(&self, path: &str) -> Vec<i64> {
        self.read(path).await["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}
