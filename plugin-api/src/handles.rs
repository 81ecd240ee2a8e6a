//! What methods of the SDK take or return, and few authors have to name.
//!
//! ```
//! use plugin_api::{Address, Fetch, HostError, HostHandle, List, Query, sql};
//! use plugin_api::handles::{Authors, Brand, Cell, Db, Environment, FetchResponse, FfiBytes, ListPage, StatementResult};
//! use plugin_api::handles::{TaskHandle, Transaction, UrlProblem, Value};
//!
//! async fn handles(host: &HostHandle, notes: List) -> Result<usize, HostError> {
//!     let Environment { brand: Brand { network_name, .. }, .. } = host.environment();
//!     let authors: Authors = host.authors([Address::ZERO]).await?;
//!     assert_eq!(authors.get(Address::ZERO).name.as_ref(), Some(network_name));
//!
//!     let db: Db = host.db();
//!     let page: ListPage = notes.first(25).fetch(&db).await?;
//!     let titles: Vec<(i64, &str)> = page.rows()?;
//!     let result: StatementResult = db.run(sql("SELECT image FROM notes_images WHERE id = $1").bind(Value::Int(7))).await?;
//!     let image = match result.rows.cells().ok().and_then(|mut cells| cells.next()) {
//!         Some(Ok(Cell::Blob(bytes))) => bytes.len(),
//!         _ => 0,
//!     };
//!
//!     if let Some(UrlProblem { message, .. }) = host.check_url("https://example.com").await? {
//!         host.warn(&message);
//!     }
//!     let task: TaskHandle = host.spawn("wait", async { Ok(()) });
//!     task.abort();
//!     let transaction: Transaction = host.begin();
//!     transaction.commit().await?;
//!     let FetchResponse { body, .. } = Fetch::get("https://example.com").send(host).await?;
//!     let body: FfiBytes = body;
//!     Ok(titles.len() + image + body.len())
//! }
//! ```
//!
//! [`LogEvents`] are events of the activity log, which a handler makes something of and marks as done:
//!
//! ```
//! use plugin_api::{HostError, HostHandle, handles::LogEvents};
//!
//! async fn log(host: &HostHandle, events: LogEvents) -> Result<(), HostError> {
//!     events.iter().for_each(|event| host.info(&format!("{} {}", event.id, event.kind)));
//!     host.write(async move |tx| events.mark_done(tx).await).await
//! }
//! ```
//!
//! Why a plugin contributes nothing to an extension point: because it is off, or because it is [`PluginPresence::Down`].
//!
//! ```
//! use plugin_api::{HostError, HostHandle, handles::PluginPresence};
//!
//! async fn is_forum_off(host: &HostHandle) -> Result<bool, HostError> {
//!     Ok(host.presence(["forum"]).await?.get("forum") == Some(&PluginPresence::Off))
//! }
//! ```
//!
//! A [`RouteWithoutAuth`] becomes a [`Route`](crate::Route) by the rule who may call it:
//!
//! ```
//! use plugin_api::{Route, handles::RouteWithoutAuth};
//!
//! fn for_owners<P>(route: RouteWithoutAuth<P>) -> Route<P> {
//!     route.signed("notes.own")
//! }
//! ```

pub use crate::abi::{Cell, FfiBytes, StatementResult, Value};
pub use crate::manifest::{Brand, Environment, PluginPresence, RateLimit, UrlProblem};
pub use crate::sdk::{
    Authors, Bind, Db, FetchBody, FetchError, FetchResponse, ListPage, LogEvents, PageStart, RouteWithoutAuth,
    TaskHandle, Transaction,
};
