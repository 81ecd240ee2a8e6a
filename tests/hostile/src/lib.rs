//! Every fault that a plugin can cause in safe Rust, one route or configuration key each. The tests in `tests/it/hostile`
//! prove that the gateway contains them.
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "this plugin panics on purpose")]

mod config;
mod data;
mod deaths;
mod drops;
mod egress;
mod excess;
mod panics;
mod responses;
mod spins;

pub use config::{Behaviour, Config};
pub use data::WRITES;

use plugin_api::{
    ConfigError, Definition, Grants, HostError, HostHandle, Job, Migration, Plugin, PluginContext, export_plugin,
    manifest::TopicRow,
    point::{self, NoInput, Point},
    stream::Frame,
};
use serde_json::{Value, json};
use std::time::Duration;

/// More than a contribution or a page of frames may have.
const FLOOD_BYTES: usize = 5 * 1024 * 1024;

pub struct Hostile {
    config: Config,
}

impl Plugin for Hostile {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes(panics::routes())
            .routes(drops::routes())
            .routes(responses::routes())
            .routes(data::routes())
            .routes(egress::routes())
            .routes(excess::routes())
            .routes(spins::routes())
            .routes(deaths::routes())
            .grants(Grants { egress: true, ..Grants::default() })
            .migrations([Migration::new(1, "create", "CREATE TABLE hostile_rows (id {{id}}, note TEXT NOT NULL)")])
            .jobs([Job::every("misbehave", Duration::from_millis(200), job).timeout(Duration::from_millis(200))])
            .publishes(&[data::EVENT])
            .own_transactions()
            .contributes(misshapen(point::STATS), contribute)
            .contributes(misshapen(point::STATUS), contribute)
            .contributes(misshapen(point::DISCOVERY), contribute)
            .topic("hostile", frames)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.act_blocking(config.constructor, "in the constructor");
        Ok(Self { config })
    }

    fn stop(&self) {
        self.config.act_blocking(self.config.stop, "in stop");
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.config.act_blocking(self.config.drop, "in the plugin's drop");
    }
}

async fn job(cx: PluginContext<Hostile>) -> Result<(), HostError> {
    config::act(cx.plugin().config.job, "in the job").await;
    Ok(())
}

/// The point for values that are not what it is for.
const fn misshapen<O>(point: Point<NoInput, O>) -> Point<NoInput, Value> {
    Point::new(point.name())
}

async fn contribute(cx: PluginContext<Hostile>, _: NoInput) -> Result<Value, HostError> {
    let act = cx.plugin().config.contribution;
    config::act(act, "in a contribution").await;
    if act == Behaviour::Circle {
        for point in [misshapen(point::STATS), misshapen(point::STATUS), misshapen(point::DISCOVERY)] {
            cx.collect(point, &NoInput {}).await?;
        }
    }
    Ok(match act {
        Behaviour::Misshape => json!("neither counters nor services"),
        Behaviour::Flood => json!({ "text": "x".repeat(FLOOD_BYTES) }),
        _ => json!({}),
    })
}

async fn frames(cx: PluginContext<Hostile>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
    let act = cx.plugin().config.contribution;
    config::act(act, "in the stream's frames").await;
    let shift = i64::from(act == Behaviour::Misshape);
    let flood = if act == Behaviour::Flood { "x".repeat(FLOOD_BYTES) } else { String::new() };
    rows.into_iter()
        .map(|row| Ok(Frame::new(row.id + shift, row.ts, row.kind, &row.data)?.label("flood", flood.as_str())))
        .collect()
}

export_plugin!(Hostile);
