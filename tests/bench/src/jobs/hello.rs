//! What the border between gateway and plugin costs: the same greeting on either side of it.

use super::{BESIDE, Comparison, GATEWAY, Goal, HYPER, same_answers};
use crate::{
    bench::{self, Bench},
    copies, load,
    peers::{inside, plain},
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
};
use anyhow::{Context as _, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const PATH: &str = "/api/hello/world";
const FEW: &str = "plugin, 2 loaded";
const MANY: &str = "plugin, 20 loaded";
const LINKED: &str = "plugin, linked instead of loaded";
const INSIDE: &str = "the same handler inside the gateway";

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let own = [plugin_file(bench, "hello")?, plugin_file(bench, "activity")?];
    let copies = if bench.scale.plugin_copies > 0 { copies::make(bench.scale.plugin_copies)? } else { Vec::new() };
    let all: Vec<PathBuf> = own.iter().chain(&copies).cloned().collect();
    let mut servers = vec![
        (GATEWAY, shipped(bench)?),
        (FEW, gateway(bench::peer("gateway")?, &own)?),
        (MANY, gateway(bench::peer("gateway")?, &all)?),
        (LINKED, gateway(bench::peer(inside::LINKED)?, &[])?),
        (INSIDE, gateway(bench::peer(inside::INSIDE)?, &[])?),
    ];
    if let Some(other) = bench.beside() {
        servers.push((BESIDE, shipped(other)?));
    }
    if bench.with_peers {
        let (_, _, body) = load::ask(servers[0].1.address(), &load::get(servers[0].1.address(), PATH))?;
        servers.push(("axum, bytes from memory", plain::start(plain::AXUM, &body)?));
        servers.push((HYPER, plain::start(plain::HYPER, &body)?));
    }
    same_answers(&servers, PATH)?;
    let contestants = servers.iter().map(|(name, server)| {
        let request = load::get(server.address(), PATH);
        let measure = move || {
            let request = |_| Some(request.clone());
            Sample::of(&bench.reads(server, &request)?, server)
        };
        Contestant::new(*name, measure)
    });
    Ok(vec![Comparison {
        title: "A plugin's route beside the same handler inside the gateway",
        how: format!(
            "`GET {PATH}`, 28 bytes. *gateway* is the program as it is shipped, with all its plugins. The gateways below it are \
             linked into the benchmark. *Inside* serves the greeting by a function of its own after middleware, router, metrics, \
             limits and time limit; nothing crosses the border between gateway and plugin. With 20 plugins, 18 are copies of \
             `hello` with names, routes and tables of their own."
        ),
        operation: "request",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![
            Goal::PartOf { row: GATEWAY, other: HYPER, max: 1.3 },
            Goal::PartOf { row: FEW, other: INSIDE, max: 1.05 },
            Goal::PartOf { row: MANY, other: INSIDE, max: 1.05 },
        ],
    }])
}

fn plugin_file(bench: &Bench, name: &str) -> Result<PathBuf> {
    Ok(bench.plugin_dir()?.join(format!("lib{name}{}", env::consts::DLL_SUFFIX)))
}

/// The program with all plugins that were built with it.
fn shipped(bench: &Bench) -> Result<Server> {
    bench.gateway(&[])
}

/// A gateway with copies of these libraries.
fn gateway(mut command: Command, libraries: &[PathBuf]) -> Result<Server> {
    let site = Site::new()?;
    let folder = site.folder.path().join("plugins");
    fs::create_dir(&folder)?;
    for library in libraries {
        let file = library.file_name().map(Path::new).context("a library is a file")?;
        fs::copy(library, folder.join(file)).with_context(|| library.display().to_string())?;
    }
    Bench::configure(&mut command, &site, &[bench::WITH_HELLO, ("plugins.dir", &folder.display().to_string())]);
    Server::start(site, command, PATH)
}
