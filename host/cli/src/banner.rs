//! The banner that is printed when the gateway has started.

use gateway::Gateway;
use gateway_plugins::PluginReport;
use std::io::{IsTerminal as _, Write as _};

/// Prints addresses and plugins, and on a terminal one signed request to try: a log must not hold what anyone can send. A closed standard output does not stop a gateway.
pub(crate) async fn print(gateway: &Gateway, admin: Option<String>) {
    let reports = gateway.plugins.reports();
    let mut stdout = std::io::stdout().lock();
    let text = text(gateway, &reports, admin, stdout.is_terminal());
    let _ = stdout.write_all(text.as_bytes());
}

fn text(gateway: &Gateway, reports: &[PluginReport], admin: Option<String>, is_terminal: bool) -> String {
    let base_url = &gateway.environment.base_url;
    let admin = admin.unwrap_or_else(|| "off".to_owned());
    let database = gateway.database.dialect().name();
    let has_forum = reports.iter().any(|report| report.name == "forum");
    let try_it = if is_terminal && has_forum { signed_request(gateway) } else { String::new() };
    format!(
        "\ngateway {version} is serving\n\n  \
         API       {base_url}/api\n  \
         docs      {base_url}/docs\n  \
         stream    {base_url}/api/stream\n  \
         admin     {admin}\n  \
         database  {database}\n\n{plugins}\n{try_it}",
        version = env!("CARGO_PKG_VERSION"),
        plugins = crate::plugin_table::plugin_table(reports),
    )
}

/// A finished request, signed with a key that everybody knows (the first account of every development chain):
/// good for one call within five minutes.
fn signed_request(gateway: &Gateway) -> String {
    let base_url = &gateway.environment.base_url;
    match gateway_envelope::example::signed_thread(&gateway.brand, gateway.clock.now_s()) {
        Some(body) => format!(
            "a signed request to try (valid for five minutes):\n\n  \
             curl -sS {base_url}/api/forum/threads -H 'content-type: application/json' \\\n    -d '{body}'\n\n"
        ),
        None => String::new(),
    }
}
