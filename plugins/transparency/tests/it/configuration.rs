//! `[plugins.transparency]`.

use super::{builders, json};

#[tokio::test]
async fn a_wrong_setting_keeps_the_plugin_off() {
    let root = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    for (settings, problem) in [
        (json!({ "origin": "log example" }), "without spaces"),
        (json!({ "origin": "" }), "1 to 255 bytes"),
        (json!({ "origin": "a+b" }), "plus signs"),
        (json!({ "origin": "two", "previous": { "origin": "one", "size": 3, "root": "abc" } }), "32 bytes in base64"),
        (json!({ "previous": { "origin": "one", "size": 3, "root": root } }), "set origin to another name"),
        (
            json!({ "origin": "one", "previous": { "origin": "one", "size": 3, "root": root } }),
            "set origin to another name",
        ),
        (json!({ "origin": "two", "previous": { "origin": "one", "size": 3 } }), "root"),
        (json!({ "orgin": "two" }), "orgin"),
        (json!({ "publish": { "to": "0x0000000000000000000000000000000000000000" } }), "the zero address"),
        (json!({ "publish": { "to": "0x00000000000000000000000000000000000000ee", "every_s": 59 } }), "must be 60 to"),
    ] {
        let builder = builders().await.swap_remove(0).config("transparency", settings.clone());
        let gateway = builder.open().await;
        let reports = gateway.reports().await;
        let report = reports.iter().find(|report| report.name == "transparency").unwrap();
        assert!(report.is_failure() && report.reason.contains(problem), "{settings}: {}", report.reason);
        gateway.stop().await;
    }
}
