//! Where the operator's listener of the running gateway is, and with what it is called.

use super::exit::{config_problems, failure};
use crate::exit_code::ExitCode;
use gateway::TlsError;
use gateway_admin::{ClientTls, client::AdminClient};
use gateway_config::{Config, Overrides};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug, thiserror::Error)]
pub(crate) enum AdminAddressError {
    #[error("the operator's listener is off (admin.listen): a gateway without it takes no commands")]
    Off,
    #[error("admin.listen has port 0: say where the gateway listens with --admin http://IP:PORT")]
    NoPort,
    #[error("--admin {0:?} is no address: write http://IP:PORT")]
    NotAnAddress(String),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(
        "--admin has https://, and admin.tls.certificate is not set: it names the certificate that the listener shows"
    )]
    NoCertificate,
}

/// By the flag `--admin`, else by the configuration.
pub(crate) fn admin_client(flag: Option<&str>, overrides: &Overrides) -> Result<AdminClient, ExitCode> {
    let client = match flag {
        Some(url) => from_flag(url, overrides),
        None => from_config(&Config::load(overrides).map_err(|problems| config_problems(&problems))?),
    };
    client.map_err(|error| match error {
        AdminAddressError::NotAnAddress(_) => failure(ExitCode::Usage, &error),
        AdminAddressError::Off
        | AdminAddressError::NoPort
        | AdminAddressError::Tls(_)
        | AdminAddressError::NoCertificate => failure(ExitCode::Config, &error),
    })
}

/// Token and certificates are those of the configuration, whatever else may be wrong with that.
pub(crate) fn from_flag(url: &str, overrides: &Overrides) -> Result<AdminClient, AdminAddressError> {
    let address = address_of_flag(url)?;
    let (config, _problems) = Config::load_with_problems(overrides);
    // Who writes http:// means it: the listener of another gateway may speak no TLS.
    let tls = if url.starts_with("http://") { None } else { ClientTls::of(&config.admin.tls)? };
    if url.starts_with("https://") && tls.is_none() {
        return Err(AdminAddressError::NoCertificate);
    }
    Ok(AdminClient { address, token: config.admin.token, tls })
}

fn address_of_flag(url: &str) -> Result<SocketAddr, AdminAddressError> {
    let bare = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme)).unwrap_or(url);
    let bare = bare.trim_end_matches('/').replace("localhost:", "127.0.0.1:");
    bare.parse().map_err(|_| AdminAddressError::NotAnAddress(url.to_owned()))
}

pub(crate) fn from_config(config: &Config) -> Result<AdminClient, AdminAddressError> {
    let mut listen = config.admin.listen.ok_or(AdminAddressError::Off)?;
    if listen.port() == 0 {
        return Err(AdminAddressError::NoPort);
    }
    // An unspecified address cannot be connected to.
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    Ok(AdminClient { address: listen, token: config.admin.token.clone(), tls: ClientTls::of(&config.admin.tls)? })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn at(listen: Option<&str>) -> Result<String, String> {
        let mut config = Config::default();
        config.admin.listen = listen.map(|listen| listen.parse().unwrap());
        from_config(&config).map(|client| client.address.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_address_is_where_the_gateway_can_be_called() {
        assert_eq!(at(Some("10.0.0.1:8081")).unwrap(), "10.0.0.1:8081");
        assert_eq!(at(Some("0.0.0.0:8081")).unwrap(), "127.0.0.1:8081");
        assert_eq!(at(Some("[::]:8081")).unwrap(), "[::1]:8081");
        assert!(at(None).unwrap_err().contains("off"));
        assert!(at(Some("127.0.0.1:0")).unwrap_err().contains("--admin"));
    }

    #[test]
    fn the_flag_takes_what_the_banner_prints() {
        for url in
            ["https://127.0.0.1:9", "http://127.0.0.1:9/", "http://127.0.0.1:9", "127.0.0.1:9", "http://localhost:9"]
        {
            assert_eq!(address_of_flag(url).unwrap().to_string(), "127.0.0.1:9", "{url}");
        }
        for url in ["ftp://127.0.0.1:9", "http://gateway.example:9", "http://127.0.0.1", ""] {
            assert!(address_of_flag(url).is_err(), "{url}");
        }
    }
}
