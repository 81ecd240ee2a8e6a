//! Private views: read with the grant, and without it neither by a statement nor by a view of the reader's own.

use plugin_api::host::object_module as module;
use plugin_api::{Definition, Grants, HandlerError, Json, Migration, Plugin, Query as _, RequestContext, Route, sql};
use plugin_testing::{TestGateway, json};

const CREATE: &str = "CREATE TABLE letters_letters (id BIGINT NOT NULL PRIMARY KEY, body TEXT NOT NULL); \
    INSERT INTO letters_letters (id, body) VALUES (1, 'dear reader'); \
    CREATE VIEW letters_v1 AS SELECT id, body FROM letters_letters; \
    CREATE VIEW letters_public_v1 AS SELECT id FROM letters_letters";

fn may_read() -> Grants {
    Grants { views: vec!["letters_v1".to_owned()], ..Grants::default() }
}

plugins! {
    Letters "letters": Definition::new()
        .migrations([Migration::new(1, "create", CREATE)])
        .views(&["letters_public_v1"])
        .private_views(&["letters_v1"]);
    Granted "granted": Definition::new().requires(&["letters"]).grants(may_read())
        .routes([Route::get("/api/granted/letters", read::<Self>).public().operation("read_granted")]);
    Curious "curious": Definition::new().requires(&["letters"])
        .routes([
            Route::get("/api/curious/letters", read::<Self>).public().operation("read_curious"),
            Route::get("/api/curious/ids", read_ids::<Self>).public().operation("read_ids"),
        ]);
    Sly "sly": Definition::new().requires(&["letters"])
        .migrations([Migration::new(1, "create", "CREATE VIEW sly_v1 AS SELECT body FROM letters_v1")])
        .views(&["sly_v1"]);
}

async fn read<P: Plugin>(cx: RequestContext<P>) -> Result<Json<Vec<String>>, HandlerError> {
    Ok(Json(cx.db().rows(sql("SELECT body FROM letters_v1")).await?))
}

async fn read_ids<P: Plugin>(cx: RequestContext<P>) -> Result<Json<Vec<i64>>, HandlerError> {
    Ok(Json(cx.db().rows(sql("SELECT id FROM letters_public_v1")).await?))
}

#[tokio::test]
async fn only_plugins_with_the_grant_read_a_private_view() {
    for gateway in TestGateway::each_database(&[module::<Letters>(), module::<Granted>(), module::<Curious>()]).await {
        let letters = gateway.get("/api/granted/letters").await;
        assert_eq!((letters.status, letters.json()), (200, json!(["dear reader"])));
        assert_eq!(gateway.get("/api/curious/letters").await.status, 500);
        assert_eq!(gateway.get("/api/curious/ids").await.json(), json!([1]));
        let fault = "curious reads only its own tables (curious_…) and published views, not letters_v1";
        let faults = gateway.faults().await;
        assert!(faults.len() == 1 && faults[0].contains(fault), "{faults:?}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_view_of_ones_own_over_a_private_one_is_refused() {
    let builders = [Some(TestGateway::builder()), TestGateway::postgres_builder().await];
    for builder in builders.into_iter().flatten() {
        let gateway = builder.plugin(module::<Letters>()).plugin(module::<Sly>()).open().await;
        let reports = gateway.reports().await;
        let sly = reports.iter().find(|report| report.name == "sly").unwrap();
        assert!(!sly.serves && sly.reason.contains("letters_v1"), "{}", sly.reason);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_plugin_from_elsewhere_reads_it_by_the_word_of_the_operator() {
    let open = |builder: plugin_testing::Builder| {
        builder.plugin(module::<Letters>()).foreign_plugin(module::<Granted>()).open()
    };
    let gateway = open(TestGateway::builder()).await;
    let reports = gateway.reports().await;
    let granted = reports.iter().find(|report| report.name == "granted").unwrap();
    assert!(!granted.serves && granted.reason.contains("view:letters_v1"), "{}", granted.reason);
    gateway.stop().await;
    let consents = TestGateway::builder().configure(|config| {
        let grants = Some(vec!["view:letters_v1".to_owned()]);
        config.plugins.sections.entry("granted".to_owned()).or_default().grants = grants;
    });
    let gateway = open(consents).await;
    assert_eq!(gateway.get("/api/granted/letters").await.json(), json!(["dear reader"]));
    gateway.stop().await;
}
