//! A proxy in front of a PostgreSQL server that makes every write of a plugin run twice: `cargo xtask conflicts` starts it.
//!
//! `conflict-proxy SERVER_URL` prints its own address, and when its standard input ends how many conflicts there were. Each SERIALIZABLE transaction that comes to its COMMIT
//! for the first time fails there, as it does when another one is in its way; the attempt that follows succeeds. The ids that the first attempt
//! used up stay used up, as on a real server.

use anyhow::{Context as _, Result};
use gateway_tests::postgres_proxy::PostgresProxy;
use std::io::{Read as _, Write as _};

#[tokio::main]
async fn main() -> Result<()> {
    let server = std::env::args().nth(1).context("usage: conflict-proxy SERVER_URL")?;
    let proxy = PostgresProxy::start(&server).await?;
    proxy.fail_every_second_commit();
    println!("{}", proxy.url());
    std::io::stdout().flush()?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    println!("{}", proxy.failed_commits());
    Ok(())
}
