//! Commands of a page, as a reader types them.

use super::clients;
use gateway_tests::process::clean;

/// In the commands: where a gateway of `cargo xtask dev` listens, which those of tests do not.
const BASE_URL: &str = "http://127.0.0.1:8080";

/// The commands of the first block of the shell behind `heading`, without the comments behind them.
pub fn commands<'p>(page: &'p str, heading: &str) -> Vec<&'p str> {
    let chapter = page.split(heading).nth(1).unwrap();
    let block = chapter.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    block.lines().map(|line| line.split("  #").next().unwrap_or(line).trim_end()).collect()
}

/// What a line prints in the folder of the clients. Scripts take another gateway as their argument.
pub fn types(line: &str, gateway: &str) -> String {
    let line = if line.starts_with("node ") { format!("{line} {gateway}") } else { line.replace(BASE_URL, gateway) };
    let output = clean("sh").args(["-euc", &line]).current_dir(clients()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{line}\n{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}
