//! Calls of agents: what a payment adds, and what the gateway costs as a proxy.

use super::{
    expect,
    market::{ANSWERS, Market},
    measure, per_round, voucher,
};
use crate::{
    bench::Bench,
    jobs::{Comparison, GATEWAY, Goal},
    load::{self, Load},
    peers::nginx,
    rounds::{Contestant, Sample, in_turn},
    server::{Server, Site},
};
use anyhow::{Context as _, Result};
use std::{net::SocketAddr, time::Duration};

const PAID: &str = "a paid call";
const FREE: &str = "the same call, free";
const NGINX: &str = "nginx, proxy_pass";
/// For calls that are counted by their number.
const CALLS_LIMIT: Duration = Duration::from_secs(600);
const BODY: &[u8] = br#"{"text":"What did the market do this week?"}"#;

pub fn paid(bench: &Bench, market: &Market) -> Result<Comparison> {
    let (paid, free) = (market.gateway(bench)?, market.gateway(bench)?);
    let requests = |count: u64| -> Result<Vec<Vec<u8>>> {
        let payments = voucher::payments(&market.payers, count)?;
        Ok(payments.iter().map(|payment| paid_call(paid.address(), &payment.to_string())).collect())
    };
    expect(&paid, &requests(1)?.concat(), "x")?;
    expect(&free, &call(free.address(), 2), "x")?;
    let contestants = vec![
        Contestant::new(PAID, || measure(bench, &paid, &requests(per_round(bench))?)),
        Contestant::new(FREE, || calls(bench, &free, 2)),
    ];
    Ok(Comparison {
        title: "A paid call of an agent beside a free one",
        how: format!(
            "`POST /a/{{slug}}/invoke`, forwarded to a server that answers {} bytes out of memory. The paid one has a new voucher in \
             `X-PAYMENT`: it is checked, reserved on the disk before the call and kept on the disk before the answer \
             (`synchronous=FULL`). Batches are made and signed meanwhile.",
            ANSWERS[0]
        ),
        operation: "call",
        rows: in_turn(bench.scale.rounds, contestants)?,
        goals: vec![Goal::AtMostUsMore { row: PAID, other: FREE, max: 90.0 }],
    })
}

/// The answer of the third agent has 1 KiB, that of the fourth 256.
pub fn forwarded(bench: &Bench, market: &Market) -> Result<Vec<Comparison>> {
    [(3, "A call with an answer of 1 KiB beside nginx as a proxy", 1.6), (4, "A call with an answer of 256 KiB beside nginx as a proxy", 1.2)]
        .into_iter()
        .map(|(agent, title, max)| {
            let server = market.agents.get(agent - 1).context("there are four agents")?;
            let mut servers = vec![(GATEWAY, market.gateway(bench)?)];
            if bench.with_peers && nginx::is_installed() {
                servers.push((NGINX, proxy(server.address())?));
            } else if bench.with_peers {
                bench.lacks("nginx: apt-get install nginx");
            }
            for (_, server) in &servers {
                expect(server, &call(server.address(), agent), "x")?;
            }
            let contestants =
                servers.iter().map(|(name, server)| Contestant::new(*name, move || calls(bench, server, agent)));
            let rows = in_turn(bench.scale.rounds, contestants.collect())?;
            let mut goals = vec![Goal::PartOf { row: GATEWAY, other: NGINX, max }];
            if agent == 3 {
                goals.push(memory(bench, &market.gateway(bench)?, agent)?);
            }
            Ok(Comparison {
                title,
                how: format!(
                    "`POST /a/{{slug}}/invoke` of a free agent: {} bytes go to a server that answers {} out of memory. nginx passes the \
                     same on by kept connections and looks at nothing.",
                    BODY.len(),
                    ANSWERS.get(agent - 1).copied().unwrap_or_default()
                ),
                operation: "call",
                rows,
                goals,
            })
        })
        .collect()
}

/// What the gateway keeps of calls that are over.
fn memory(bench: &Bench, server: &Server, agent: usize) -> Result<Goal> {
    let [few, many] = bench.scale.proxied_calls;
    let rss_kib_after = |count: u64| {
        let request = call(server.address(), agent);
        let load = Load {
            addresses: &[server.address()],
            connections: bench.scale.readers,
            pace: None,
            warm_up: Duration::ZERO,
            duration: CALLS_LIMIT,
            requests: &|number| (number < count).then(|| request.clone()),
            status: 200,
            body_bytes_min: 1,
        };
        load.run(&|| server.cpu_time())?;
        server.rss_kib()
    };
    let before = rss_kib_after(few)?;
    let after = rss_kib_after(many - few)?;
    let what = format!("{GATEWAY}, memory after {many} calls above that after {few}");
    Ok(Goal::AtMostKib { what, found: after.saturating_sub(before) as f64, max: 16.0 * 1024.0 })
}

fn calls(bench: &Bench, server: &Server, agent: usize) -> Result<Sample> {
    let request = call(server.address(), agent);
    let request = |_| Some(request.clone());
    Sample::of(&bench.reads(server, &request)?, server)
}

fn call(address: SocketAddr, agent: usize) -> Vec<u8> {
    load::post(address, &format!("/a/{agent}/invoke"), BODY)
}

fn paid_call(address: SocketAddr, payment: &str) -> Vec<u8> {
    let head = format!(
        "POST /a/1/invoke HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nx-payment: {payment}\r\n\
         content-length: {}\r\n\r\n",
        BODY.len()
    );
    [head.as_bytes(), BODY].concat()
}

fn proxy(agent: SocketAddr) -> Result<Server> {
    let agents = format!("  upstream agent {{ server {agent}; keepalive 64; }}");
    let locations = "    location /a/ { proxy_pass http://agent/invoke; proxy_http_version 1.1; proxy_set_header Connection \"\"; }";
    nginx::start_with(Site::new()?, "", &agents, locations)
}
