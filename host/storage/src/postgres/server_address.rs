//! Where the server is, and how to log in, from `database.url`.
//!
//! The rule: no error quotes the address, which holds the password. What an address asks for and is not supported is refused,
//! never weakened.

use super::tls::{self, CertificateVerification, TlsSettings};
use crate::error::StorageError;
use secrecy::{ExposeSecret, SecretString};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgSslMode},
};
use std::{path::PathBuf, str::FromStr};
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

const APPLICATION_NAME: &str = "gateway";

/// For the driver of requests. `tls` is `None` where the connection is not encrypted.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    pub config: Config,
    pub tls: Option<MakeRustlsConnect>,
}

/// For sqlx, which migrations and tools use. It also completes an address from libpq's environment variables and password file.
pub(crate) fn sqlx_options(url: &SecretString) -> Result<PgConnectOptions, StorageError> {
    let options =
        PgConnectOptions::from_str(url.expose_secret()).map_err(|_quotes_password: sqlx::Error| invalid_address())?;
    let has_roots = HiddenOptions::of(&options)?.root_certificates.is_some();
    let options = match options.get_ssl_mode() {
        // As libpq; sqlx itself would not look at them.
        PgSslMode::Require if has_roots => options.ssl_mode(PgSslMode::VerifyCa),
        _ => options,
    };
    // A pooler refuses the parameter, and migrations and tools read no floats.
    Ok(options.extra_float_digits(None).application_name(APPLICATION_NAME))
}

impl ServerAddress {
    pub(crate) fn parse(url: &SecretString) -> Result<Self, StorageError> {
        let options = sqlx_options(url)?;
        let hidden = HiddenOptions::of(&options)?;
        let mut config = Config::new();
        config.user(options.get_username()).application_name(APPLICATION_NAME).port(options.get_port());
        match options.get_socket() {
            Some(directory) => config.host_path(directory),
            None => config.host(options.get_host()),
        };
        if let Some(password) = &hidden.password {
            config.password(password);
        }
        if let Some(database) = options.get_database() {
            config.dbname(database);
        }
        if let Some(options) = options.get_options() {
            config.options(options);
        }
        let tls = hidden.tls(&options, &config)?;
        config.ssl_mode(match (&tls, options.get_ssl_mode()) {
            (None, _) => SslMode::Disable,
            (Some(_), PgSslMode::Prefer) => SslMode::Prefer,
            (Some(_), _) => SslMode::Require,
        });
        Ok(Self { config, tls })
    }

    /// Where it is, if it is a socket of this machine.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        match self.config.get_hosts() {
            [Host::Unix(directory)] => Some(directory.join(format!(".s.PGSQL.{}", self.port()))),
            _ => None,
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.config.get_ports().first().copied().unwrap_or(5432)
    }
}

/// What [`PgConnectOptions`] tells only in an address that it writes itself.
struct HiddenOptions {
    password: Option<String>,
    root_certificates: Option<String>,
    client_certificate: Option<String>,
    client_key: Option<String>,
}

impl HiddenOptions {
    fn of(options: &PgConnectOptions) -> Result<Self, StorageError> {
        // These two are written without escapes, and a special character in them would make an address that cannot be read.
        let url = options.clone().username("user").host("host").to_url_lossy();
        let password = url.password().map(|password| percent_encoding::percent_decode_str(password).decode_utf8());
        let password = password.transpose().map_err(|_quotes_password| invalid_address())?;
        let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        Ok(Self {
            password: password.map(std::borrow::Cow::into_owned),
            root_certificates: query("sslrootcert"),
            client_certificate: query("sslcert"),
            client_key: query("sslkey"),
        })
    }

    /// As libpq: none on a socket of this machine, and a file of root certificates is always used.
    fn tls(&self, options: &PgConnectOptions, config: &Config) -> Result<Option<MakeRustlsConnect>, StorageError> {
        let is_socket = matches!(config.get_hosts(), [Host::Unix(_)]);
        let verification = match options.get_ssl_mode() {
            _ if is_socket => return Ok(None),
            // `allow` prefers a connection without TLS.
            PgSslMode::Disable | PgSslMode::Allow => return Ok(None),
            PgSslMode::VerifyFull => CertificateVerification::Full,
            PgSslMode::VerifyCa => CertificateVerification::Authority,
            PgSslMode::Prefer | PgSslMode::Require if self.root_certificates.is_some() => {
                CertificateVerification::Authority
            }
            PgSslMode::Prefer | PgSslMode::Require => CertificateVerification::None,
        };
        let settings = TlsSettings {
            verification,
            root_certificates: self.root_certificates.as_deref(),
            client_certificate: self.client_certificate.as_deref(),
            client_key: self.client_key.as_deref(),
        };
        tls::client_config(&settings).map(|config| Some(MakeRustlsConnect::new(config)))
    }
}

fn invalid_address() -> StorageError {
    StorageError::Settings("the database's address is not valid".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn address(url: &str) -> Result<ServerAddress, String> {
        ServerAddress::parse(&SecretString::from(url)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_address_is_read_with_all_its_parts() {
        let read =
            address("postgres://m%40e:p%40%2Fs%3As@db.example:6543/main?sslmode=disable&options=-c%20a=b").unwrap();
        assert_eq!(read.config.get_user(), Some("m@e"));
        assert_eq!(read.config.get_password(), Some("p@/s:s".as_bytes()));
        assert_eq!(read.config.get_hosts(), [Host::Tcp("db.example".to_owned())]);
        assert_eq!((read.config.get_ports(), read.config.get_dbname()), (&[6543][..], Some("main")));
        assert_eq!(read.config.get_options(), Some("-c a=b"));
        assert!(read.tls.is_none() && read.config.get_ssl_mode() == SslMode::Disable);
    }

    #[test]
    fn a_socket_is_a_directory() {
        for url in [
            "postgres://me@localhost/main?host=/tmp/pg&sslmode=require",
            "postgres://me@%2Ftmp%2Fpg/main?sslmode=prefer",
        ] {
            let read = address(url).unwrap();
            assert_eq!(read.config.get_hosts(), [Host::Unix(PathBuf::from("/tmp/pg"))], "{url}");
            assert!(read.tls.is_none(), "{url}");
            assert_eq!(read.socket(), Some(PathBuf::from("/tmp/pg/.s.PGSQL.5432")), "{url}");
        }
    }

    #[test]
    fn tls_is_never_less_than_what_the_address_asks_for() {
        let mode = |mode: &str| address(&format!("postgres://me:secret@db.example/main?sslmode={mode}"));
        assert_eq!(mode("prefer").unwrap().config.get_ssl_mode(), SslMode::Prefer);
        for required in ["require", "verify-full"] {
            let read = mode(required).unwrap();
            assert!(read.tls.is_some() && read.config.get_ssl_mode() == SslMode::Require, "{required}");
        }
        for (refused, reason) in [
            ("verify-ca", "sslmode=verify-ca needs sslrootcert"),
            ("require&sslrootcert=/no/such/secret", "sslrootcert cannot be read"),
            ("require&sslcert=/no/such/secret", "sslcert and sslkey are given together"),
            ("whatever", "the database's address is not valid"),
        ] {
            let error = mode(refused).err().unwrap();
            assert!(error.contains(reason) && !error.contains("secret"), "{refused}: {error}");
        }
    }
}
