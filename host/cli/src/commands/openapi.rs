//! `gateway openapi`: the document that `GET /api/openapi.json` would answer, without starting anything.

use super::exit::{failure, printed};
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway_config::Config;
use gateway_meta::{DocumentContext, openapi};
use gateway_storage::Dialect;
use plugin_api::{manifest::Manifest, point::Counters};

pub(crate) fn print(config: &Config) -> ExitCode {
    let loaded = match gateway_plugins::load_folder(config) {
        Ok(loaded) => loaded,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let enabled = loaded.iter().flatten().filter(|plugin| plugin.is_enabled(&config.plugins));
    let manifests: Vec<&Manifest> = enabled.map(|plugin| &*plugin.manifest).collect();
    let environment = gateway::environment::environment(config, config.http.listen, Dialect::Sqlite, None);
    let routes = gateway_meta::meta_routes(&environment);
    let document = openapi::document(&DocumentContext {
        environment: &environment,
        gateway_manifest: &routes.manifest,
        plugins: &manifests,
        chain: &gateway::environment::chain_info(config),
        discovery: &[],
        counters: &Counters::default(),
        web: config.web.root(),
        signer: None,
        limits: &gateway::environment::own_limits(config),
        now_s: gateway_clock::Clock::System.now_s(),
    });
    printed(Output::Json.print(&document, |_| String::new()), ExitCode::Ok)
}
