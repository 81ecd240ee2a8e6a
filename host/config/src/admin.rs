//! `[admin]`: the operator's listener. Rule: it is a listener of its own, so that no proxy rule can expose it by mistake.

use std::net::{Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{http::HttpConfig, validator::Validator};

const OFF: &str = "off";

/// The operator's listener: a page, metrics, reports, and switching plugins. It knows no login.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// Address and port, or "off". Whoever reaches it is the operator: keep it on a private address.
    #[serde(deserialize_with = "read_listen", serialize_with = "write_listen")]
    #[schemars(with = "String", example = "127.0.0.1:8081")]
    pub listen: Option<SocketAddr>,
}

impl Default for AdminConfig {
    fn default() -> Self {
        Self { listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 8081))) }
    }
}

impl AdminConfig {
    pub(super) fn validate(&self, http: &HttpConfig, validator: &mut Validator<'_>) {
        if let Some(listen) = self.listen
            && overlap(listen, http.listen)
        {
            validator.refuse(
                "admin.listen",
                format!("{listen} takes the port of http.listen ({})", http.listen),
                "give each listener its own port, or switch this one off with \"off\"",
            );
        }
    }
}

/// Whether the second bind would fail. An unspecified IPv6 address also takes the port on IPv4.
fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    let covers = |wide: SocketAddr, narrow: SocketAddr| {
        wide.ip() == narrow.ip() || (wide.ip().is_unspecified() && (wide.is_ipv6() || narrow.is_ipv4()))
    };
    a.port() != 0 && a.port() == b.port() && (covers(a, b) || covers(b, a))
}

fn read_listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == OFF { Ok(None) } else { text.parse().map(Some).map_err(D::Error::custom) }
}

#[expect(clippy::ref_option, reason = "serde hands the field by reference")]
fn write_listen<S: Serializer>(listen: &Option<SocketAddr>, serializer: S) -> Result<S::Ok, S::Error> {
    match listen {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_str(OFF),
    }
}
