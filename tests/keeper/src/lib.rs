//! A plugin with a route for each capability whose use from outside the tests want to see: secrets, errors with headers, jobs that
//! are woken, fetches, responses that are passed on while they arrive, routes for any method, bodies that are read while they arrive.
#![forbid(unsafe_code)]

mod errors;
mod fetches;
mod jobs;
mod proxy;
mod relays;
pub mod secrets;
mod uploads;

use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Migration, NoConfig, Plugin, RequestContext, Route, export_plugin,
};

pub struct Keeper;

impl Plugin for Keeper {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([Route::post("/api/keeper/secret", secrets::use_secret::<Self>).public().operation("use_secret")])
            .routes(errors::routes())
            .routes(jobs::routes())
            .routes(fetches::routes())
            .routes(proxy::routes())
            .routes(relays::routes())
            .routes(uploads::routes())
            .jobs([jobs::job()])
            .migrations([Migration::new(1, "create", "CREATE TABLE keeper_orders (id {{id}}, name TEXT NOT NULL)")])
            .grants(Grants { egress: true, secrets: true, ..Grants::default() })
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// A request of this plugin.
pub(crate) type Cx = RequestContext<Keeper>;

export_plugin!(Keeper);
