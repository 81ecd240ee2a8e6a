//! A plugin whose job must never run twice at the same time: each run is a shift that writes its steps one after the other, in
//! transactions of their own.

use plugin_api::{
    ConfigError, Definition, HostError, HostHandle, Job, Migration, NoConfig, Plugin, PluginContext, Query, Tx, sql,
};
use std::time::Duration;

const TABLE: &str = "CREATE TABLE shifts_steps (
    position BIGINT NOT NULL PRIMARY KEY,
    shift BIGINT NOT NULL,
    step BIGINT NOT NULL
)";
const NEXT_SHIFT: &str = "SELECT coalesce(max(shift), 0) + 1 FROM shifts_steps";
const WRITE_STEP: &str = "INSERT INTO shifts_steps (position, shift, step) \
    SELECT coalesce(max(position), 0) + 1, $1, $2 FROM shifts_steps";
const INTERVAL: Duration = Duration::from_secs(2);
const STEPS: i64 = 8;
const STEP: Duration = Duration::from_millis(500);

pub struct Shifts;

impl plugin_api::host::Identity for Shifts {
    const NAME: &'static str = "shifts";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const SUMMARY: &'static str = "Steps that belong to one run after the other";
}

impl Plugin for Shifts {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().migrations([Migration::new(1, "create", TABLE)]).jobs([Job::every("work", INTERVAL, work)])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn work(cx: PluginContext<Shifts>) -> Result<(), HostError> {
    let shift: i64 = cx.db().one(sql(NEXT_SHIFT)).await?;
    for step in 1..=STEPS {
        cx.write(async move |tx| write_step(tx, shift, step).await).await?;
        tokio::time::sleep(STEP).await;
    }
    Ok(())
}

async fn write_step(tx: &Tx, shift: i64, step: i64) -> Result<(), HostError> {
    tx.execute(sql(WRITE_STEP).bind((shift, step))).await.map(drop)
}
