//! Which report of which plugin a command names.

use clap::Args;

/// Which table of which plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PluginReportArguments {
    /// The name of the plugin
    #[arg(value_parser = plugin_name)]
    pub plugin: Option<String>,
    /// The name of the report
    #[arg(value_parser = report_name)]
    pub report: Option<String>,
    /// An option of the report; --NAME is the same, such as --funded
    #[arg(long = "option", value_name = "NAME", value_parser = report_name)]
    pub options: Vec<String>,
    /// The operator's listener of the running gateway [default: admin.listen of the configuration]
    #[arg(long, value_name = "URL")]
    pub admin: Option<String>,
}

/// It becomes a part of a path.
pub(crate) fn plugin_name(name: &str) -> Result<String, &'static str> {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.is_empty() && name.bytes().all(is_name) {
        Ok(name.to_owned())
    } else {
        Err("names are lower-case letters, digits and underscores")
    }
}

/// It becomes a part of a path, or of a query.
fn report_name(name: &str) -> Result<String, &'static str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.starts_with('-') && !name.is_empty() && name.bytes().all(is_name) {
        Ok(name.to_owned())
    } else {
        Err("names are letters, digits, - and _")
    }
}
