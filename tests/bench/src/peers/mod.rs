//! Servers in Rust that the gateway is measured beside, minimal and as one would write them. Each runs as
//! `bench --serve NAME`, listens where `BENCH_LISTEN` says, and gets the rest from other variables of that kind.

pub mod agents;
pub mod arena;
mod arena_vote;
pub mod forum;
mod forum_rows;
mod forum_write;
pub mod indexers;
pub mod inside;
pub mod nchan;
pub mod nginx;
pub mod plain;
mod signed;
pub mod stream;

use anyhow::{Context as _, Result, bail};
use std::{env, net::SocketAddr};
use tokio::net::TcpListener;

pub const LISTEN: &str = "BENCH_LISTEN";
/// A file that a gateway made and filled.
pub const DATABASE: &str = "BENCH_DATABASE";
/// `full` or `normal`.
pub const SYNCHRONOUS: &str = "BENCH_SYNCHRONOUS";

pub fn serve(name: &str) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        match name {
            agents::NAME => agents::serve().await,
            arena::NAME => arena::serve().await,
            forum::NAME => forum::serve().await,
            plain::HYPER => plain::serve_hyper().await,
            plain::AXUM => plain::serve_axum().await,
            stream::NAME => stream::serve().await,
            inside::LINKED => inside::serve(inside::Handler::Plugin).await,
            inside::INSIDE => inside::serve(inside::Handler::Own).await,
            _ => bail!("there is no server {name:?}"),
        }
    })
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("{name} is not set"))
}

async fn listener() -> Result<TcpListener> {
    let address: SocketAddr = variable(LISTEN)?.parse()?;
    Ok(TcpListener::bind(address).await?)
}
