//! Agents and jobs behind a gateway, on each database, with a chain that the test writes: one file per operation.

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
mod reorganisation;
mod script;
mod sort_agents;
mod views;

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, Value, manifest};

const CONTRACTS: [&str; 5] = ["registry", "escrow", "identity8004", "reputation8004", "validation8004"];

/// A gateway with a chain of its own.
struct Site {
    house: TestGateway,
    chain: ScriptedChain,
}

/// More events in one block, a busy machine does not apply within the time of a commit.
const BLOCK_EVENTS_MAX: usize = 12;

/// Each database with a chain of these blocks, which is indexed.
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
        let house = builder.start().await;
        house.indexed(&chain).await;
        sites.push(Site { house, chain });
    }
    sites
}

/// Items on a page of this list, unless said and at most.
fn limits(operation: &str) -> (i64, i64) {
    let routes = manifest(agents::plugin_module()).routes;
    let route = routes.iter().find(|route| route.operation == operation).unwrap();
    let limit = route.parameters.iter().find(|parameter| parameter.name == "limit").unwrap();
    (limit.schema["default"].as_i64().unwrap(), limit.schema["maximum"].as_i64().unwrap())
}

impl Site {
    /// What a GET answers with 200.
    async fn read(&self, path: &str) -> Value {
        let answer = self.house.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Adds a block and waits until it is indexed.
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.house.indexed(&self.chain).await;
    }

    /// The ids of a list.
    async fn ids(&self, path: &str) -> Vec<i64> {
        self.read(path).await["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
    }

    /// The end of a good test: nothing went wrong behind the answers.
    async fn close(self) {
        assert_eq!(self.house.faults().await, Vec::<String>::new());
        self.house.stop().await;
    }
}
