//! Where the operator's listener of the running gateway is, and its token.

use super::exit::{config_problems, failure};
use crate::exit_code::ExitCode;
use gateway_admin::client::AdminClient;
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
}

/// By the flag `--admin`, else by the configuration.
pub(crate) fn admin_client(flag: Option<&str>, overrides: &Overrides) -> Result<AdminClient, ExitCode> {
    let client = match flag {
        Some(url) => from_flag(url, overrides),
        None => from_config(&Config::load(overrides).map_err(|problems| config_problems(&problems))?),
    };
    client.map_err(|error| match error {
        AdminAddressError::NotAnAddress(_) => failure(ExitCode::Usage, &error),
        AdminAddressError::Off | AdminAddressError::NoPort => failure(ExitCode::Config, &error),
    })
}

/// The token is that of the configuration, whatever else may be wrong with that.
pub(crate) fn from_flag(url: &str, overrides: &Overrides) -> Result<AdminClient, AdminAddressError> {
    let address = address_of_flag(url)?;
    let (config, _problems) = Config::load_with_problems(overrides);
    Ok(AdminClient { address, token: config.admin.token })
}

fn address_of_flag(url: &str) -> Result<SocketAddr, AdminAddressError> {
    let bare = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/').replace("localhost:", "127.0.0.1:");
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
    Ok(AdminClient { address: listen, token: config.admin.token.clone() })
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
        for url in ["http://127.0.0.1:9/", "http://127.0.0.1:9", "127.0.0.1:9", "http://localhost:9"] {
            assert_eq!(address_of_flag(url).unwrap().to_string(), "127.0.0.1:9", "{url}");
        }
        for url in ["https://127.0.0.1:9", "http://gateway.example:9", "http://127.0.0.1", ""] {
            assert!(address_of_flag(url).is_err(), "{url}");
        }
    }
}
