//! Reads of the gateway on PostgreSQL, for orientation; `replicas` has the writes.

use super::{Comparison, list, new_view, record};
use crate::{
    bench::Bench,
    forum, load,
    rounds::{Contestant, Sample, in_turn},
};
use anyhow::Result;
use gateway_tests::postgres::PrivatePostgres;

pub fn run(bench: &Bench) -> Result<Vec<Comparison>> {
    let database = match PrivatePostgres::start() {
        Ok(database) => database,
        Err(error) => {
            bench.lacks(&format!("PostgreSQL: apt-get install postgresql ({error:#})"));
            return Ok(Vec::new());
        }
    };
    let url = load::block_on(database.create_database())??;
    let server = bench.gateway(&[("database.url", &url), ("database.listen_url", &url)])?;
    forum::fill(bench, &server)?;
    let (server, address, threads) = (&server, server.address(), bench.scale.threads);
    let page = move |_| Some(load::get(address, &format!("{}&view={}", list::PATH, new_view())));
    let one = move |_| Some(load::get(address, &record::path(threads)));
    let contestants = vec![
        Contestant::new("list of 50 rows", || Sample::of(&bench.reads(server, &page)?, server)),
        Contestant::new("one record", || Sample::of(&bench.reads(server, &one)?, server)),
    ];
    Ok(vec![Comparison {
        title: "The gateway on PostgreSQL",
        how: format!(
            "List and record as above on a PostgreSQL of this machine with {threads} threads, for orientation: CPU time is \
             the gateway's alone, and the database shares both processors."
        ),
        operation: "operation",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: Vec::new(),
    }])
}
