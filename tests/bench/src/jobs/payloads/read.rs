//! Payloads that are known, each by its hash.

use super::{PATH, Size, contents, fastify, files_of_nginx, post, settings};
use crate::{
    bench::{Bench, Synchronous, keep},
    jobs::{BESIDE, Comparison, FASTIFY, FORGETFUL, GATEWAY, Goal},
    load,
    peers::nginx,
    rounds::{Contestant, Sample, in_turn},
    server::Server,
};
use alloy_primitives::keccak256;
use anyhow::{Result, ensure};
use std::{fs, path::Path};

const NGINX: &str = "nginx, sendfile";

pub fn outcome(bench: &Bench, size: &Size, count: u64) -> Result<Comparison> {
    let payloads: Vec<(String, Vec<u8>)> = (0..count)
        .map(|number| contents(size.bytes, number))
        .map(|contents| (keccak256(&contents).to_string(), contents))
        .collect();
    let servers = servers(bench, &payloads)?;
    for (name, server) in &servers {
        let (hash, contents) = &payloads[0];
        let (status, _, body) = load::ask(server.address(), &load::get(server.address(), &path(hash)))?;
        ensure!(status == 200 && body == *contents, "{name} answers {status} with {} other bytes", body.len());
    }
    let contestants = servers.iter().map(|(name, server)| {
        let (address, payloads) = (server.address(), &payloads);
        let request = move |number: u64| {
            let (hash, _) = &payloads[usize::try_from(number % count).ok()?];
            Some(load::get(address, &path(hash)))
        };
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    Ok(Comparison {
        title: size.read,
        how: format!(
            "`GET {PATH}/{{hash}}`: one of {count} payloads of {} bytes, one after the other, with nosniff and a sandbox policy. The \
             gateway keeps answers in 32 MiB of memory; the second row reads each from the database, as Fastify does. nginx has them \
             as files, which it keeps open.",
            size.bytes
        ),
        operation: "payload",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: GATEWAY, other: NGINX, max: 1.2 }],
    })
}

fn path(hash: &str) -> String {
    format!("{PATH}/{hash}")
}

fn servers(bench: &Bench, payloads: &[(String, Vec<u8>)]) -> Result<Vec<(&'static str, Server)>> {
    let filled = bench.folder().join(format!("payloads-of-{}.db", payloads[0].1.len()));
    fill(bench, payloads, &filled)?;
    let mut servers = vec![
        (GATEWAY, bench.gateway_on_copy(&filled, &[])?),
        (FORGETFUL, bench.gateway_on_copy(&filled, &[("http.cache_bytes_max", "0")])?),
    ];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, other.gateway_on_copy(&filled, &[])?));
    }
    if bench.with_peers && nginx::is_installed() {
        let files = |folder: &Path| {
            payloads.iter().try_for_each(|(hash, contents)| Ok(fs::write(folder.join(hash), contents)?))
        };
        servers.push((NGINX, files_of_nginx(files)?));
    }
    if bench.with_peers {
        servers.extend(fastify(bench, &filled)?.map(|server| (FASTIFY, server)));
    }
    Ok(servers)
}

/// A database that has the payloads, as a gateway stored them.
fn fill(bench: &Bench, payloads: &[(String, Vec<u8>)], file: &Path) -> Result<()> {
    let bodies: Vec<Vec<u8>> = payloads.iter().map(|(_, contents)| contents.clone()).collect();
    let gateway = bench.gateway(&settings(Synchronous::Normal))?;
    bench.write_all(&gateway, &bodies, 200, |address, _, body| post(address, body))?;
    keep(gateway, file).map(drop)
}
