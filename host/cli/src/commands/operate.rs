//! `gateway plugins enable | disable | resume | reindex`: sends the command to the running gateway and prints the result.

use super::exit::{config_problems, failure, printed};
use super::runtime::with_runtime;
use crate::arguments::Switch;
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway::lifecycle::Action;
use gateway_admin::client::{self, ClientError};
use gateway_config::{Config, Overrides};
use serde_json::Value;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Debug, thiserror::Error)]
enum AdminAddressError {
    #[error("the operator's listener is off (admin.listen): a gateway without it takes no commands")]
    Off,
    #[error("admin.listen has port 0: say where the gateway listens with --admin http://IP:PORT")]
    NoPort,
    #[error("--admin {0:?} is no address: write http://IP:PORT")]
    NotAnAddress(String),
}

pub fn run(output: Output, action: Action, switch: &Switch, overrides: &Overrides) -> ExitCode {
    let address = match &switch.admin {
        Some(url) => from_flag(url),
        None => match Config::load(overrides) {
            Ok(config) => from_config(&config),
            Err(problems) => return config_problems(&problems),
        },
    };
    let address = match address {
        Ok(address) => address,
        Err(error @ AdminAddressError::NotAnAddress(_)) => return failure(ExitCode::Usage, &error),
        Err(error) => return failure(ExitCode::Config, &error),
    };
    let path = format!("/plugins/{}/{}", switch.name, action.name());
    match with_runtime(client::post(address, &path)) {
        Ok(Ok(answer)) => tell(output, &switch.name, answer.status.as_u16(), &answer.body),
        Ok(Err(ClientError::NotThere { address, source })) => failure(
            ExitCode::Failure,
            &format!(
                "no gateway answers at http://{address} ({source}): start it, or say where it listens (admin.listen in \
                 its configuration, or --admin http://IP:PORT)"
            ),
        ),
        Ok(Err(error)) => failure(ExitCode::Failure, &error),
        Err(code) => code,
    }
}

fn tell(output: Output, name: &str, status: u16, body: &Value) -> ExitCode {
    let text = |member: &str| body[member].as_str().unwrap_or_default();
    let code = match status {
        200 => ExitCode::Ok,
        404 | 409 => ExitCode::Plugin,
        _ => ExitCode::Failure,
    };
    if body["state"].is_null() {
        let hint = if text("hint").is_empty() { String::new() } else { format!(" ({})", text("hint")) };
        let error =
            if text("error").is_empty() { format!("the answer was {status}") } else { text("error").to_owned() };
        return failure(code, &format!("{error}{hint}"));
    }
    let line = |_| match (text("state"), text("reason")) {
        (state, "") => format!("{name}: {state}"),
        (state, reason) => format!("{name}: {state} ({reason})"),
    };
    printed(output.print(body, line), code)
}

fn from_flag(url: &str) -> Result<SocketAddr, AdminAddressError> {
    let bare = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/').replace("localhost:", "127.0.0.1:");
    bare.parse().map_err(|_| AdminAddressError::NotAnAddress(url.to_owned()))
}

fn from_config(config: &Config) -> Result<SocketAddr, AdminAddressError> {
    let mut listen = config.admin.listen.ok_or(AdminAddressError::Off)?;
    if listen.port() == 0 {
        return Err(AdminAddressError::NoPort);
    }
    // An unspecified address cannot be connected to.
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    Ok(listen)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn at(listen: Option<&str>) -> Result<String, String> {
        let mut config = Config::default();
        config.admin.listen = listen.map(|listen| listen.parse().unwrap());
        from_config(&config).map(|address| address.to_string()).map_err(|error| error.to_string())
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
            assert_eq!(from_flag(url).unwrap().to_string(), "127.0.0.1:9", "{url}");
        }
        for url in ["https://127.0.0.1:9", "http://gateway.example:9", "http://127.0.0.1", ""] {
            assert!(from_flag(url).is_err(), "{url}");
        }
    }
}
