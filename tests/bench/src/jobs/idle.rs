//! What a connection holds that waits: each has had a response, and the next request has not come.

use super::{GATEWAY, HYPER, list};
use crate::{
    bench::Bench,
    load::{self, connection::Connection},
    peers, report,
    server::Server,
};
use anyhow::{Result, ensure};
use std::time::Duration;

const MAX_KIB: f64 = 12.0;
/// Buffers are given back meanwhile.
const SETTLES: Duration = Duration::from_secs(3);

pub fn run(bench: &Bench) -> Result<Vec<String>> {
    let [few, many] = bench.scale.streams;
    let mut rows = Vec::new();
    let gateway = bench.gateway_with_forum(&[])?;
    let (_, _, body) = load::ask(gateway.address(), &load::get(gateway.address(), list::PATH))?;
    let bare = bench.with_peers.then(|| peers::plain::start(peers::plain::HYPER, &body)).transpose()?;
    for (name, server) in [(GATEWAY, &gateway)].into_iter().chain(bare.iter().map(|server| (HYPER, server))) {
        let kib = of_each(server, few, many)?;
        println!("  {name}: {kib:.2} KiB for each waiting connection");
        rows.push((name, kib));
    }
    let table: String = rows.iter().map(|(name, kib)| format!("| {name} | {kib:.2} |\n")).collect();
    let found = rows.first().map_or(f64::NAN, |(_, kib)| *kib);
    let judged =
        report::judged(&format!("{GATEWAY}: at most {MAX_KIB} KiB"), &format!("{found:.2} KiB"), found / MAX_KIB);
    Ok(vec![format!(
        "## A connection that waits\n\n`GET {}` on each connection, {} bytes, and nothing after it: memory of the process with {many} such \
         connections, less that with {few}, {} s after the last response. Both ends of kernel buffers are not in it.\n\n\
         | | KiB per connection |\n|---|---:|\n{table}\n{judged}",
        list::PATH,
        body.len(),
        SETTLES.as_secs(),
    )])
}

/// KiB that each more of the connections takes.
#[allow(clippy::cast_precision_loss, reason = "counts and KiB")]
fn of_each(server: &Server, few: usize, many: usize) -> Result<f64> {
    load::block_on(async {
        let mut connections = Vec::with_capacity(many);
        let mut rss_kib = async |count: usize| -> Result<f64> {
            while connections.len() < count {
                connections.push(answered(server).await?);
            }
            tokio::time::sleep(SETTLES).await;
            Ok(server.rss_kib()? as f64)
        };
        let before = rss_kib(few).await?;
        Ok((rss_kib(many).await? - before) / (many - few) as f64)
    })?
}

/// A connection that has had its response.
async fn answered(server: &Server) -> Result<Connection> {
    let mut connection = Connection::open(server.address()).await?;
    let status = connection.ask(&load::get(server.address(), list::PATH)).await?.status;
    ensure!(status == 200, "{status}: {}", server.log());
    Ok(connection)
}
