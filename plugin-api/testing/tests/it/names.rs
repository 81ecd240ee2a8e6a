//! A test plugin that answers authors, and gives them names, which it counts being asked for.

use plugin_api::{
    Address, Author, ConfigError, Created, Definition, HandlerError, HostError, HostHandle, Json, JsonBody, JsonSchema,
    Migration, NoConfig, Plugin, PluginContext, Query as _, QueryString, RenderedJson, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{self, AuthorName, AuthorsInput},
    render_json,
    response::NoContent,
    sql,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Mutex};

pub const NAMES: &str = "/api/names/names";
pub const NOTES: &str = "/api/names/notes";
pub const CACHED_NOTES: &str = "/api/names/cached_notes";
pub const ASKED: &str = "/api/names/asked";

/// The addresses that each call asked for.
#[derive(Default)]
struct Names {
    asked: Mutex<Vec<usize>>,
}

impl Identity for Names {
    const NAME: &'static str = "names";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Names authors";
}

impl Plugin for Names {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([
                Route::post(NAMES, set_name).public(),
                Route::post(NOTES, create_note).public(),
                Route::get(NOTES, list_notes).public(),
                Route::get(CACHED_NOTES, list_cached_notes).public().cached(),
                Route::get(ASKED, take_asked).public(),
            ])
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE names_names (address TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
                 CREATE TABLE names_notes (id {{id}}, author TEXT NOT NULL);",
            )])
            .contributes_cached(point::AUTHORS, names)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

/// Does not use `export_plugin!`, which takes the name of the package.
pub fn plugin_module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Names>()
}

async fn names(cx: PluginContext<Names>, input: AuthorsInput) -> Result<BTreeMap<Address, AuthorName>, HostError> {
    cx.plugin().asked.lock().unwrap().push(input.addresses.len());
    let rows: Vec<(Address, String)> = cx.db().rows(sql("SELECT address, name FROM names_names")).await?;
    let known = rows.into_iter().filter(|(address, _)| input.addresses.contains(address));
    let name = |(address, name)| (address, AuthorName { name: Some(name), agent_id: Some(7), active: true });
    Ok(known.map(name).collect())
}

#[derive(Deserialize, JsonSchema)]
struct NewName {
    address: Address,
    name: String,
}

async fn set_name(
    cx: RequestContext<Names>,
    JsonBody(NewName { address, name }): JsonBody<NewName>,
) -> Result<NoContent, HandlerError> {
    let upsert = sql("INSERT INTO names_names (address, name) VALUES ($1, $2) \
         ON CONFLICT (address) DO UPDATE SET name = excluded.name")
    .bind(address)
    .bind(name);
    cx.write(async move |tx| Ok(tx.execute(upsert.clone()).await?)).await?;
    Ok(NoContent)
}

/// A row and a view in one.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    id: i64,
    author: Author,
}

#[derive(Deserialize, JsonSchema)]
struct NewNote {
    author: Address,
}

async fn create_note(
    cx: RequestContext<Names>,
    JsonBody(NewNote { author }): JsonBody<NewNote>,
) -> Result<Created<Note>, HandlerError> {
    let insert = sql("INSERT INTO names_notes (author) VALUES ($1) RETURNING id").bind(author);
    let id = cx.write(async move |tx| Ok(tx.one(insert.clone()).await?)).await?;
    Ok(Created(Note { id, author: author.into() }))
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    #[serde(default)]
    after: i64,
    #[serde(default)]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Notes {
    notes: Vec<Note>,
    text: String,
}

async fn notes(cx: &RequestContext<Names>, after: i64) -> Result<Vec<Note>, HostError> {
    cx.db().rows(sql("SELECT id, author FROM names_notes WHERE id > $1 ORDER BY id").bind(after)).await
}

async fn list_notes(
    cx: RequestContext<Names>,
    QueryString(Filter { after, text }): QueryString<Filter>,
) -> Result<Json<Notes>, HandlerError> {
    Ok(Json(Notes { notes: notes(&cx, after).await?, text }))
}

#[derive(Serialize, JsonSchema)]
struct Writer {
    author: Author,
}

#[derive(Serialize)]
struct Text {
    text: &'static str,
}

async fn list_cached_notes(cx: RequestContext<Names>) -> Result<RenderedJson<Notes>, HandlerError> {
    let rendered = render_json(&Text { text: "\u{1}" })?;
    let notes = notes(&cx, 0).await?;
    let items = notes.into_iter().map(|note| (rendered.as_str(), Writer { author: note.author }));
    Ok(RenderedJson::list("notes", items, &Text { text: "t" })?)
}

async fn take_asked(cx: RequestContext<Names>) -> Result<Json<Vec<usize>>, HandlerError> {
    Ok(Json(std::mem::take(&mut *cx.plugin().asked.lock().unwrap())))
}
