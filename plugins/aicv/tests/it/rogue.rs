//! A plugin of a third party, which contributes whatever claims a test puts into its table.

use plugin_api::{
    ConfigError, Definition, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Query as _,
    abi::PluginModule_Ref,
    host::Identity,
    point::{CV_CLAIMS, CvClaim, CvClaimsInput, CvRecord},
    sql,
};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Rogue;

static ASKED: AtomicUsize = AtomicUsize::new(0);

/// How often it was asked for claims, by all gateways of the process.
pub fn asked() -> usize {
    ASKED.load(Relaxed)
}

impl Identity for Rogue {
    const NAME: &'static str = "rogue";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "States what a test wants";
}

impl Plugin for Rogue {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE rogue_claims (id BIGINT NOT NULL PRIMARY KEY, claim TEXT NOT NULL)",
            )])
            .contributes(CV_CLAIMS, contribute)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn contribute(cx: PluginContext<Rogue>, _: CvClaimsInput) -> Result<CvRecord, HostError> {
    ASKED.fetch_add(1, Relaxed);
    let texts: Vec<String> = cx.db().rows(sql("SELECT claim FROM rogue_claims ORDER BY id")).await?;
    let claims: Vec<CvClaim> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let covers = vec!["Endorsement".to_owned(), "Dispute".to_owned()];
    let summary = plugin_api::point::members([("jobsSettled", 99.into()), ("memory", 99.into())]);
    Ok(CvRecord { covers, claims, summary, ..CvRecord::default() })
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Rogue>()
}
