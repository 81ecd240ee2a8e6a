//! `[admin]`: the operator's listener. Rule: it is a listener of its own, so that no proxy rule can expose it by mistake.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use http::{HeaderName, uri::Authority};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{admin_tls::AdminTlsConfig, http::HttpConfig, problem::Problem, sources::Sources, validator::Validator};

const OFF: &str = "off";
const TOKEN: &str = "GATEWAY_ADMIN__TOKEN";
const TOKEN_FILE: &str = "admin.token_file";
/// 16 random bytes, in hexadecimal digits or base64, are at least as long.
const TOKEN_CHARS_MIN: usize = 20;

/// The operator's listener: a page, metrics, reports, and switching plugins.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// Address and port, or "off". Without a token whoever reaches it is the operator: keep it on a private address.
    #[serde(deserialize_with = "read_listen", serialize_with = "write_listen")]
    #[schemars(with = "String", example = "127.0.0.1:8081")]
    pub listen: Option<SocketAddr>,
    /// File that holds the token which every request must carry: as `Authorization: Bearer TOKEN`, or as the password of HTTP
    /// Basic, for which browsers ask. Instead of a file, `GATEWAY_ADMIN__TOKEN` may hold it. Default: none is asked for.
    #[schemars(example = "/run/secrets/admin_token")]
    pub token_file: Option<PathBuf>,
    /// Host names by which a proxy calls the listener. IP addresses and localhost always pass; any other name could be one that
    /// a web page points to this machine.
    #[schemars(example = ["ops.example.com"])]
    pub allowed_hosts: Vec<String>,
    /// Request header in which a login proxy names the operator, for the audit. It needs a token, which only the proxy knows.
    #[schemars(example = "X-Forwarded-User")]
    pub user_header: Option<String>,
    pub tls: AdminTlsConfig,
    /// From `GATEWAY_ADMIN__TOKEN` or the file.
    #[serde(skip)]
    pub token: Option<SecretString>,
}

/// Whether the variable holds the token.
pub(super) fn is_token(variable: &str) -> bool {
    variable.eq_ignore_ascii_case(TOKEN)
}

/// Removes the token from the variables, before other code reads these.
pub(super) fn take_token(variables: &mut Vec<(String, String)>) -> Option<SecretString> {
    variables.extract_if(.., |(name, _)| is_token(name)).last().map(|(_, token)| SecretString::from(token))
}

impl Default for AdminConfig {
    fn default() -> Self {
        Self {
            listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 8081))),
            token_file: None,
            allowed_hosts: Vec::new(),
            user_header: None,
            tls: AdminTlsConfig::default(),
            token: None,
        }
    }
}

impl AdminConfig {
    /// Takes the token of the environment, or reads the file.
    pub(super) fn assign_token(&mut self, token: Option<SecretString>, sources: &Sources) -> Result<(), Problem> {
        self.token = token;
        let Some(path) = &self.token_file else { return Ok(()) };
        let refuse = |message: String, hint: &str| Err(Problem::new(TOKEN_FILE, sources.of(TOKEN_FILE), message, hint));
        if self.token.is_some() {
            return refuse(format!("{TOKEN} is set as well"), "keep one of the two");
        }
        match std::fs::read_to_string(path) {
            Err(error) => {
                refuse(format!("{} cannot be read: {error}", path.display()), "the file holds the token alone")
            }
            Ok(text) => {
                self.token = Some(SecretString::from(text.trim()));
                Ok(())
            }
        }
    }

    pub(super) fn validate(&self, http: &HttpConfig, validator: &mut Validator<'_>) {
        let is_good = |token: &SecretString| {
            let token = token.expose_secret();
            token.len() >= TOKEN_CHARS_MIN && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !self.token.as_ref().is_none_or(is_good) {
            let message = format!("the token is not at least {TOKEN_CHARS_MIN} visible ASCII characters");
            validator.refuse("admin.token", message, "make one with: openssl rand -hex 32");
        }
        let is_name = |host: &&String| host.parse::<Authority>().is_ok_and(|parsed| parsed.host() == host.as_str());
        if let Some(host) = self.allowed_hosts.iter().find(|host| !is_name(host)) {
            let hint = "write the name alone, without scheme and port: ops.example.com";
            validator.refuse("admin.allowed_hosts", format!("{host:?} is no host name"), hint);
        }
        if let Some(header) = &self.user_header {
            if HeaderName::try_from(header).is_err() {
                let hint = "write it as in X-Forwarded-User";
                validator.refuse("admin.user_header", format!("{header:?} is no name of a header"), hint);
            }
            if self.token.is_none() {
                let hint = "set a token that only the login proxy sends: anybody else could name himself as he likes";
                validator.refuse("admin.user_header", "there is no token".to_owned(), hint);
            }
        }
        self.tls.validate(validator);
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
