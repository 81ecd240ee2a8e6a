//! `gateway plugins report`, or `gateway PLUGIN REPORT`: a table of a plugin, by the operator's listener of the running gateway.

use super::admin_client::admin_client;
use super::exit::{failure, printed};
use super::operate::refusal;
use super::runtime::with_runtime;
use crate::exit_code::ExitCode;
use crate::output::{Output, aligned, printable};
use crate::report_arguments::PluginReportArguments;
use gateway_admin::client::{AdminClient, ClientError, ClientResponse};
use gateway_config::Overrides;
use serde_json::{Map, Value};

pub(crate) fn run(output: Output, arguments: &PluginReportArguments, overrides: &Overrides) -> ExitCode {
    let client = match admin_client(arguments.admin.as_deref(), overrides) {
        Ok(client) => client,
        Err(code) => return code,
    };
    match (&arguments.plugin, &arguments.report) {
        (Some(plugin), Some(report)) => match with_runtime(read(&client, plugin, report, &arguments.options)) {
            Ok(Ok(table)) => table.print(output),
            Ok(Err(unread)) => unread.tell(),
            Err(code) => code,
        },
        (plugin, _) => match with_runtime(client.get("/reports")) {
            Ok(Ok(answer)) => list(output, plugin.as_deref(), &answer),
            Ok(Err(error)) => failure(ExitCode::Failure, &error),
            Err(code) => code,
        },
    }
}

/// A report with all its rows.
#[derive(Default)]
struct FullReport {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

enum ReadError {
    Client(ClientError),
    Refused { status: u16, reason: String },
}

impl ReadError {
    fn tell(self) -> ExitCode {
        match self {
            Self::Client(error) => failure(ExitCode::Failure, &error),
            Self::Refused { status: 400 | 404, reason } => failure(
                ExitCode::Usage,
                &format!("{reason}; `gateway plugins report` lists them, `gateway --help` the commands"),
            ),
            Self::Refused { reason, .. } => failure(ExitCode::Failure, &reason),
        }
    }
}

/// Page by page: a page is as much as the gateway reads at a time.
async fn read(client: &AdminClient, plugin: &str, report: &str, options: &[String]) -> Result<FullReport, ReadError> {
    let options: String = options.iter().map(|option| format!("&option={option}")).collect();
    let mut table = FullReport::default();
    loop {
        let path = format!("/plugins/{plugin}/reports/{report}?offset={}{options}", table.rows.len());
        let answer = client.get(&path).await.map_err(ReadError::Client)?;
        if !answer.status.is_success() {
            let status = answer.status.as_u16();
            return Err(ReadError::Refused { status, reason: refusal(status, &answer.body) });
        }
        let rows = answer.body["rows"].as_array().cloned().unwrap_or_default();
        let is_last = rows.is_empty() || answer.body["more"] != true;
        table.columns = words(&answer.body["columns"]);
        table.rows.extend(rows.iter().map(|row| row.as_array().cloned().unwrap_or_default()));
        if is_last {
            return Ok(table);
        }
    }
}

impl FullReport {
    fn print(&self, output: Output) -> ExitCode {
        printed(output.print(&self.objects(), |_| self.text()), ExitCode::Ok)
    }

    /// For programs: an object for each row, whose members are the columns.
    fn objects(&self) -> Vec<Map<String, Value>> {
        let object = |row: &Vec<Value>| self.columns.iter().cloned().zip(row.iter().cloned()).collect();
        self.rows.iter().map(object).collect()
    }

    fn text(&self) -> String {
        if self.rows.is_empty() {
            return "no rows".to_owned();
        }
        let headings: Vec<String> = self.columns.iter().map(|column| printable(&column.to_uppercase())).collect();
        let cells = self.rows.iter().map(|row| row.iter().map(cell).collect());
        aligned(headings, cells).trim_end().to_owned()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => printable(text),
        other => printable(&other.to_string()),
    }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Which reports there are; of one plugin, or of all.
fn list(output: Output, plugin: Option<&str>, answer: &ClientResponse) -> ExitCode {
    let Some(of_all) = answer.body.as_array().filter(|_| answer.status.is_success()) else {
        return failure(ExitCode::Failure, &refusal(answer.status.as_u16(), &answer.body));
    };
    let listed: Vec<&Value> = of_all.iter().filter(|of| plugin.is_none_or(|plugin| of["plugin"] == plugin)).collect();
    printed(output.print(&listed, |_| list_text(&listed)), ExitCode::Ok)
}

fn list_text(listed: &[&Value]) -> String {
    let word = |value: &Value| printable(value.as_str().unwrap_or_default());
    let mut rows = Vec::new();
    for of in listed {
        for report in of["reports"].as_array().into_iter().flatten() {
            let (plugin, name) = (word(&of["plugin"]), word(&report["name"]));
            rows.push([format!("gateway {plugin} {name}"), word(&report["title"])]);
            for (option, what) in report["options"].as_object().into_iter().flatten() {
                rows.push([format!("    --{}", printable(option)), word(what)]);
            }
        }
    }
    if rows.is_empty() {
        return "no plugin that serves has a report".to_owned();
    }
    aligned(["COMMAND", "PRINTS"].map(str::to_owned), rows.into_iter()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_a_line_for_people_and_an_object_for_programs() {
        let rows =
            vec![vec![json!(7), json!("usdx\u{1b}[2J"), json!(null)], vec![json!(12), json!("dai"), json!(true)]];
        let table = FullReport { columns: ["index", "token", "swept"].map(str::to_owned).to_vec(), rows };
        assert_eq!(table.text(), "INDEX  TOKEN          SWEPT\n7      usdx\\u{1b}[2J  -\n12     dai            true");
        assert_eq!(json!(table.objects())[1], json!({ "index": 12, "token": "dai", "swept": true }));
        assert_eq!(FullReport::default().text(), "no rows");
    }

    #[test]
    fn reports_are_listed_as_the_commands_that_print_them() {
        let report =
            json!({ "name": "addresses", "title": "where something came", "options": { "funded": "only these" } });
        let listed = json!({ "plugin": "payin", "reports": [report] });
        let text = list_text(&[&listed]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].split("  ").next(), Some("gateway payin addresses"), "{text}");
        assert!(lines[2].starts_with("    --funded ") && lines[2].ends_with("only these"), "{text}");
        assert_eq!(list_text(&[]), "no plugin that serves has a report");
    }
}
