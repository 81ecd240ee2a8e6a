//! Whether what a write and a list cost grows with the number of rows.

use super::{Comparison, Goal, list, new_view, write::Writer};
use crate::{
    bench::Bench,
    forum, load,
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
};
use anyhow::Result;

const MANY: &str = "gateway, 1,000,000 threads";
const FEW: &str = "gateway, 10,000 threads";
/// A ratio up to this is noise, and counts as equal.
const SAME: f64 = 1.1;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    println!("  the large forum is made");
    let site = Site::new()?;
    forum::enlarge(bench, &bench.copy_of_forum(site.folder.path())?)?;
    let many = bench.gateway_in(site, &[])?;
    let few = bench.gateway_with_forum(&[])?;
    let servers = [(MANY, many), (FEW, few)];
    Ok(vec![lists(bench, &servers)?, writes(bench, &servers)?])
}

fn lists(bench: &Bench, servers: &[(&'static str, Server)]) -> Result<Comparison> {
    let contestants = servers.iter().map(|(name, server)| {
        let address = server.address();
        let request = move |_| Some(load::get(address, &format!("{}&view={}", list::PATH, new_view())));
        Contestant::new(*name, move || Sample::of(&bench.reads(server, &request)?, server))
    });
    Ok(Comparison {
        title: "The first page of a long list",
        how: format!("`GET {}` as above; the longer list has its rows from the shorter one, copied.", list::PATH),
        operation: "request",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: MANY, other: FEW, max: SAME }],
    })
}

fn writes(bench: &Bench, servers: &[(&'static str, Server)]) -> Result<Comparison> {
    let writers: Vec<Writer> = servers.iter().map(|(_, server)| Writer::new(bench, server)).collect();
    let contestants =
        servers.iter().zip(&writers).map(|((name, _), writer)| Contestant::new(*name, || writer.measure()));
    Ok(Comparison {
        title: "A write into a large forum",
        how: "`POST /api/forum/threads` as above, on the disk when acknowledged; posts, tags and events are as many as threads, \
              or more, and the search indexes have grown by one row at a time."
            .to_owned(),
        operation: "write",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::PartOf { row: MANY, other: FEW, max: SAME }],
    })
}
