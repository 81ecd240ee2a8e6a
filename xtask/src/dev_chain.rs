//! The chain of `cargo xtask dev`. Rules: it ends with the gateway, and a gateway that cannot have one starts all the same and
//! says why.

use crate::{Failure, devnet, process, repository};
use std::{
    io::{BufRead as _, BufReader},
    net::{Ipv4Addr, TcpListener},
    os::unix::process::CommandExt as _,
    path::Path,
    process::Stdio,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub const USAGE: &str = "usage: cargo xtask dev [OPTIONS] [-- ARGS of `gateway run`…]
  --block-time S   seconds between two blocks of the chain (7)
  --agents N       agents of the small economy that is played on it first (10)
  --loadtest       with a labelled load test: http://127.0.0.1:8080/api/loadtest/stats
  --payin          with two more chains, on which USDC buys coins (docs/buy-the-coin.md); the data is new at each start, in data/payin
  --no-chain       without a chain, for example because the configuration names one";

const PORT: u16 = 8545;
const FOLDER: &str = "data/devnet";
/// Agents that answer calls; the second one is priced.
const ENDPOINTS: &str = "3";
/// 2026-01-01.
const EPOCH_S: u64 = 1_767_225_600;

/// The chain that is wanted.
#[derive(Debug, PartialEq, Eq)]
pub struct DevChainOptions {
    block_time_s: String,
    agents: String,
    has_load_test: bool,
    pub has_payin: bool,
}

impl DevChainOptions {
    /// Reads the options before `--`; nothing when no chain is wanted.
    pub fn read(options: &[String]) -> Result<Option<Self>, Failure> {
        let mut wanted =
            Self { block_time_s: "7".to_owned(), agents: "10".to_owned(), has_load_test: false, has_payin: false };
        let mut words = options.iter().map(String::as_str);
        let mut is_wanted = true;
        while let Some(word) = words.next() {
            let place = match word {
                "--no-chain" => {
                    is_wanted = false;
                    continue;
                }
                "--loadtest" => {
                    wanted.has_load_test = true;
                    continue;
                }
                "--payin" => {
                    wanted.has_payin = true;
                    continue;
                }
                "--block-time" => &mut wanted.block_time_s,
                "--agents" => &mut wanted.agents,
                _ => return Err(format!("there is no option {word:?}; what is for the gateway follows --\n\n{USAGE}")),
            };
            let value = words.next().filter(|value| value.parse::<u32>().is_ok());
            *place = value.ok_or_else(|| format!("{word} takes a whole number"))?.to_owned();
        }
        Ok(is_wanted.then_some(wanted))
    }

    /// Starts it and waits until it is ready; answers the gateway's variables for it.
    pub fn start(&self, root: &Path) -> Vec<(String, String)> {
        let outcome = self.try_start(root);
        outcome.unwrap_or_else(|failure| {
            eprintln!("without a chain: {failure}");
            Vec::new()
        })
    }

    fn try_start(&self, root: &Path) -> Result<Vec<(String, String)>, Failure> {
        process::need("node", "nodejs")?;
        devnet::install(root)?;
        println!("a chain is started, and a small economy played on it (--no-chain leaves it out)");
        let out = root.join(FOLDER);
        let port = if is_free(PORT) { PORT } else { 0 };
        let mut node = devnet::node(root)?;
        node.arg(devnet::folder(root).join("devnet.mjs")).arg("--with-parent").arg("--out").arg(&out);
        node.args(["--port", &port.to_string(), "--first-block", &first_block().to_string()]);
        node.args(["--block-time", &self.block_time_s, "--agents", &self.agents, "--endpoints", ENDPOINTS]);
        if self.has_load_test {
            node.arg("--load-test");
        }
        if self.has_payin {
            node.arg("--payin");
        }
        // In a group of its own, so that Ctrl-C is the gateway's, which needs the chain until it has stopped.
        let mut chain = node.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let chain = chain.as_mut().map_err(|error| format!("node could not be started: {error}"))?;
        // What can be called there; the last line says that all of it is ready.
        let lines = BufReader::new(chain.stdout.take().ok_or("it has no output")?).lines();
        let mut said = lines.map_while(Result::ok).inspect(|line| println!("{line}"));
        said.find(|line| line.starts_with("chain ")).ok_or("the dev network ended before it was ready")?;
        let text = repository::read(&out.join("gateway.env"))?;
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(text.lines().filter_map(pair).collect())
    }
}

/// A different number at each start, so that the gateway notices that the chain is another one and derives all rows
/// again.
#[allow(clippy::disallowed_methods, reason = "a chore has no gateway's clock")]
fn first_block() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_secs(EPOCH_S)).as_secs()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<DevChainOptions>, Failure> {
        DevChainOptions::read(&line.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_chain_is_wanted_unless_said() {
        let wanted = |block_time_s: &str, agents: &str, (has_load_test, has_payin)| {
            let (block_time_s, agents) = (block_time_s.to_owned(), agents.to_owned());
            Ok(Some(DevChainOptions { block_time_s, agents, has_load_test, has_payin }))
        };
        assert_eq!(read(""), wanted("7", "10", (false, false)));
        assert_eq!(read("--agents 3 --block-time 1"), wanted("1", "3", (false, false)));
        assert_eq!(read("--loadtest --block-time 1"), wanted("1", "10", (true, false)));
        assert_eq!(read("--payin"), wanted("7", "10", (false, true)));
        assert_eq!(read("--no-chain"), Ok(None));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert!(read("--block-time soon").is_err_and(|failure| failure.contains("--block-time")));
        assert!(
            read("--listen 1").is_err_and(|failure| failure.contains("--listen") && failure.contains("follows --"))
        );
    }
}
