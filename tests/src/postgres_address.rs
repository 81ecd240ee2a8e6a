//! A `postgres://` address in parts, for what stands between a gateway and its server.

use anyhow::{Context as _, Result};
use reqwest::Url;
use std::{net::SocketAddr, path::Path};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
};

/// A connection, by TCP or by a Unix socket.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Clone, Debug)]
pub struct PostgresAddress {
    url: Url,
    /// The folder of a Unix socket, if it begins with a slash.
    pub host: String,
    pub port: u16,
}

impl PostgresAddress {
    pub fn parse(address: &str) -> Result<Self> {
        let url = Url::parse(address).context("not an address of a database")?;
        // As libpq has it, a parameter overrides the host.
        let parameter = url.query_pairs().find(|(name, _)| name == "host").map(|(_, value)| value.into_owned());
        let host = parameter.or_else(|| url.host_str().map(str::to_owned)).context("the address names no host")?;
        let port = url.port().unwrap_or(5432);
        Ok(Self { url, host, port })
    }

    pub fn user(&self) -> &str {
        self.url.username()
    }

    pub fn password(&self) -> Option<&str> {
        self.url.password()
    }

    /// The same database and user, reached through something that listens elsewhere.
    pub fn through(&self, listener: SocketAddr) -> Result<String> {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_host(Some(&listener.ip().to_string()))?;
        url.set_port(Some(listener.port())).ok().context("an address with a host has a port")?;
        Ok(url.into())
    }

    pub async fn connect(&self) -> Result<Box<dyn Stream>> {
        if self.host.starts_with('/') {
            let socket = Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port));
            return Ok(Box::new(UnixStream::connect(socket).await?));
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_names_the_folder_of_a_socket() {
        let address = PostgresAddress::parse("postgres://postgres@localhost/test_1?host=/tmp/server").unwrap();
        assert_eq!((address.host.as_str(), address.port, address.user()), ("/tmp/server", 5432, "postgres"));
        let through = address.through(SocketAddr::from(([127, 0, 0, 1], 7000))).unwrap();
        assert_eq!(through, "postgres://postgres@127.0.0.1:7000/test_1");
    }

    #[test]
    fn without_it_the_host_is_that_of_the_address() {
        let address = PostgresAddress::parse("postgres://me:secret@db.example:6000/test_1").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("db.example", 6000));
        assert_eq!((address.user(), address.password()), ("me", Some("secret")));
        assert!(PostgresAddress::parse("postgres:").is_err());
    }
}
