//! What a connection holds that waits: each has had a response, and the next request has not come.

use super::{GATEWAY, list};
use crate::{bench::Bench, load, peers, report, server::Server};
use anyhow::{Context as _, Result, ensure};
use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Duration,
};

const HYPER: &str = "hyper, bytes from memory";
const MAX_KIB: f64 = 12.0;
/// Buffers are given back meanwhile.
const SETTLES: Duration = Duration::from_secs(3);
const LIMIT: Duration = Duration::from_secs(10);

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
    let mut connections = Vec::with_capacity(many);
    let mut rss_kib = |count: usize| -> Result<f64> {
        while connections.len() < count {
            connections.push(answered(server)?);
        }
        thread::sleep(SETTLES);
        Ok(server.rss_kib()? as f64)
    };
    let before = rss_kib(few)?;
    Ok((rss_kib(many)? - before) / (many - few) as f64)
}

/// A connection that has had its response.
fn answered(server: &Server) -> Result<TcpStream> {
    let mut connection = TcpStream::connect(server.address())?;
    connection.set_read_timeout(Some(LIMIT))?;
    connection.write_all(&load::get(server.address(), list::PATH))?;
    let (mut response, mut part) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = connection.read(&mut part)?;
        ensure!(count > 0, "the connection was closed: {}", server.log());
        response.extend_from_slice(&part[..count]);
        let Some(head) = response.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        if response.len() == head + 4 + content_length(&response[..head])? {
            return Ok(connection);
        }
    }
}

fn content_length(head: &[u8]) -> Result<usize> {
    let head = std::str::from_utf8(head)?;
    ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
    let lengths = head.lines().filter_map(|line| line.split_once(':'));
    let length = lengths.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value).next();
    Ok(length.with_context(|| format!("no length: {head}"))?.trim().parse()?)
}
