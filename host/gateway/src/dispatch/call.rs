//! One call of a plugin's route.

use crate::routes::Route;
use gateway_activity::Sink;
use gateway_plugins::{ActivePlugin, PluginOperation};
use std::{
    net::IpAddr,
    sync::{Arc, Weak},
};

pub(crate) struct Call<'a> {
    pub route: &'a Arc<Route>,
    pub plugin: &'a Arc<ActivePlugin>,
    pub operation: &'a PluginOperation,
    pub index: u32,
    pub ip: IpAddr,
    /// Whether its reads may be answered by a read replica.
    pub may_use_read_replica: bool,
    /// For streams: direct writes to the caller's connection.
    pub sink: Option<Weak<dyn Sink>>,
}
