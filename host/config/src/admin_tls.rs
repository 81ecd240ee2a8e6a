//! `[admin.tls]`: TLS of the operator's listener, and certificates of operators. Rule: what is asked of clients can be shown by the
//! commands of `gateway`, too, or a token stands in for it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{http::TlsFiles, validator::Validator};

/// TLS of the operator's listener. Without it the listener speaks HTTP.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdminTlsConfig {
    /// PEM file with the certificate of the listener, then those that lead to its authority.
    #[schemars(example = "/etc/gateway/tls/admin.pem")]
    pub certificate: Option<PathBuf>,
    /// PEM file with its private key; nobody but its owner may read it.
    #[schemars(example = "/etc/gateway/tls/admin.key")]
    pub key: Option<PathBuf>,
    /// PEM file with the authorities of operators: who shows a certificate of one of them is admitted, and the audit has its name.
    /// Without such a certificate, every request but those of probes needs the token.
    #[schemars(example = "/etc/gateway/tls/operators-ca.pem")]
    pub client_ca: Option<PathBuf>,
    /// PEM files of the certificate and key that the commands of `gateway` show.
    #[schemars(example = "/etc/gateway/tls/operator.pem")]
    pub command_certificate: Option<PathBuf>,
    /// The key of `command_certificate`; nobody but its owner may read it.
    #[schemars(example = "/etc/gateway/tls/operator.key")]
    pub command_key: Option<PathBuf>,
}

impl AdminTlsConfig {
    /// `None`: TLS is off.
    pub fn files(&self) -> Option<TlsFiles<'_>> {
        Some(TlsFiles { certificate: self.certificate.as_deref()?, key: self.key.as_deref()? })
    }

    /// What the commands show, if anything.
    pub fn command_files(&self) -> Option<TlsFiles<'_>> {
        Some(TlsFiles { certificate: self.command_certificate.as_deref()?, key: self.command_key.as_deref()? })
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        let files = [
            ("certificate", &self.certificate, "key", self.key.is_some()),
            ("key", &self.key, "certificate", self.certificate.is_some()),
            ("command_certificate", &self.command_certificate, "command_key", self.command_key.is_some()),
            ("command_key", &self.command_key, "command_certificate", self.command_certificate.is_some()),
            ("client_ca", &self.client_ca, "", false),
        ];
        for (name, path, other, is_other_set) in files {
            let key = format!("admin.tls.{name}");
            // The text of a key must not come into a message about its file.
            if path.as_ref().is_some_and(|path| path.to_string_lossy().contains("-----BEGIN")) {
                let hint = "write the text into a file, and name the file here";
                validator.refuse(&key, "it is PEM text".to_owned(), hint);
            } else if path.is_none() && is_other_set {
                validator.refuse(&key, format!("admin.tls.{other} is set, and this is not"), "set both, or none");
            }
        }
        let needs = [("client_ca", self.client_ca.is_some()), ("command_certificate", self.command_files().is_some())];
        for (name, _) in needs.iter().filter(|(_, is_set)| *is_set && self.files().is_none()) {
            let message = "the operator's listener speaks no TLS".to_owned();
            validator.refuse(&format!("admin.tls.{name}"), message, "set admin.tls.certificate and admin.tls.key");
        }
    }
}
