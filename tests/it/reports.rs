//! Reports of plugins: what a plugin has is asked of it, page by page, by the operator alone.

use gateway::operators::{REPORT_ROWS_MAX, ReportError};
use plugin_api::host::object_module as module;
use plugin_api::{
    Definition, HandlerError, HostError, Json, PluginContext, RequestContext, Route,
    point::{REPORTS, ReportRequest, ReportTable, ReportsInput},
};
use plugin_testing::{TestGateway, Value, json};
use std::collections::BTreeSet;

plugins! {
    Press "press": Definition::new().contributes(REPORTS, reports);
    Reader "reader": Definition::new().routes([Route::get("/api/reader/prints", read).public()]);
}

/// Prints of the press, of which each third one failed.
const PRINTS: u32 = 2 * REPORT_ROWS_MAX + 7;

async fn reports(_: PluginContext<Press>, input: ReportsInput) -> Result<Vec<ReportTable>, HostError> {
    let prints = ReportTable::new("prints", "what was printed", &["id", "failed"]).option("failed", "only what failed");
    let torn = ReportTable::new("torn", "rows without their cells", &["id", "failed"]);
    Ok(match input.read {
        None => vec![prints, torn],
        Some(ReportRequest { report, .. }) if report == "torn" => vec![torn.with_rows(vec![vec![json!(1)]], false)],
        Some(ReportRequest { options, offset, limit, .. }) => {
            let only_failed = options.contains("failed");
            let all = (0..PRINTS).filter(|id| !only_failed || id % 3 == 0);
            let mut rows: Vec<Vec<Value>> =
                all.skip(offset as usize).map(|id| vec![json!(id), json!(id % 3 == 0)]).collect();
            let more = rows.len() > limit as usize;
            rows.truncate(limit as usize);
            vec![prints.with_rows(rows, more)]
        }
    })
}

async fn read(cx: RequestContext<Reader>) -> Result<Json<Value>, HandlerError> {
    Ok(Json(json!(cx.collect(REPORTS, &ReportsInput::default()).await?)))
}

#[tokio::test]
async fn the_operator_reads_what_a_plugin_has_and_no_plugin_does() {
    let test = TestGateway::builder().plugin(module::<Press>()).plugin(module::<Reader>()).start().await;
    let gateway = test.gateway();
    let listed = gateway.reports.list().await;
    assert_eq!((listed.len(), listed[0].plugin.as_str(), listed[0].reports.len()), (1, "press", 2));
    let failed: BTreeSet<String> = BTreeSet::from(["failed".to_owned()]);
    let mut ids = Vec::new();
    for (offset, more) in [(0, true), (REPORT_ROWS_MAX, true), (2 * REPORT_ROWS_MAX, false)] {
        let page = gateway.reports.read("press", "prints", BTreeSet::new(), offset).await.unwrap();
        assert_eq!(page.more, more, "{offset}");
        ids.extend(page.rows.into_iter().map(|row| row[0].as_u64().unwrap()));
    }
    assert_eq!(ids, (0..u64::from(PRINTS)).collect::<Vec<_>>());
    let page = gateway.reports.read("press", "prints", failed.clone(), 0).await.unwrap();
    assert!(!page.more && page.rows.iter().all(|row| row[1] == true) && page.rows.len() == PRINTS.div_ceil(3) as usize);

    let read = async |plugin, report, options: &BTreeSet<String>| {
        gateway.reports.read(plugin, report, options.clone(), 0).await
    };
    for (plugin, report) in [("press", "paper"), ("reader", "prints"), ("candle", "prints")] {
        assert_eq!(read(plugin, report, &failed).await, Err(ReportError::Unknown), "{plugin} {report}");
    }
    assert_eq!(read("press", "torn", &failed).await, Err(ReportError::UnknownOption("failed".to_owned())));
    assert_eq!(read("press", "torn", &BTreeSet::new()).await, Err(ReportError::NoAnswer));
    let by_plugin = test.get("/api/reader/prints").await;
    assert!(by_plugin.status >= 500, "{}", by_plugin.text());
    test.stop().await;
}
