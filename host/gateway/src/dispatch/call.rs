//! One call of a plugin's route.

use super::body_parts::BodyParts;
use crate::routes::Route;
use gateway_activity::Sink;
use gateway_http::body::BodyError;
use gateway_plugins::{ActivePlugin, PluginOperation};
use std::{
    net::IpAddr,
    sync::{Arc, Weak},
};

pub struct Call<'a> {
    pub route: &'a Arc<Route>,
    pub plugin: &'a Arc<ActivePlugin>,
    pub operation: &'a PluginOperation,
    pub index: u32,
    pub ip: IpAddr,
    /// For streams: direct writes to the caller's connection.
    pub sink: Option<Weak<dyn Sink>>,
    /// The body of a route that reads it in parts.
    pub body_parts: Option<Arc<BodyParts>>,
}

impl Call<'_> {
    pub fn has_body_failed(&self) -> bool {
        self.body_parts.as_ref().is_some_and(|parts| parts.has_failed())
    }

    pub fn take_body_failure(&self) -> Option<BodyError> {
        self.body_parts.as_ref().and_then(|parts| parts.take_failure())
    }
}
