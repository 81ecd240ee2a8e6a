//! Durable queues: work that a transaction leaves to later, on any gateway that shares the database.
//!
//! A migration of the plugin makes the tables of the queue: `{{queue notes_mails}}`. Tasks are pushed in the transaction of what they
//! follow from, and the handler ends each in the transaction of what came of it, so that none is lost and none is done twice in the
//! database. What the handler does outside of it (a request, a mail) may happen again after a crash: the other side tells by
//! [`Task::id`], which stays over all attempts.
//!
//! ```
//! use plugin_api::{Definition, Fetch, HostError, Plugin, PluginContext, Tx};
//! use plugin_api::queue::{NewTask, Queue, QueueSettings, Retry, RetryOutcome, Task};
//! use std::time::Duration;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Mail {
//!     to: String,
//!     text: String,
//! }
//!
//! /// Its tables are made by `{{queue notes_mails}}`.
//! const MAILS: Queue<Mail> = Queue::new("notes_mails");
//!
//! fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     let settings = |_: &P| QueueSettings { concurrency: 8, timeout: Duration::from_secs(10), ..QueueSettings::default() };
//!     definition.on_queue(MAILS, settings, send_mail)
//! }
//!
//! /// One mail at a time to each recipient, and four at a time of each author.
//! async fn queue_mail(tx: &Tx, author: &str, mail: &Mail) -> Result<Option<i64>, HostError> {
//!     MAILS.push(tx, &NewTask::new(&mail.to, mail).group(author)).await
//! }
//!
//! async fn send_mail<P: Plugin>(cx: PluginContext<P>, task: Task<Mail>) -> Result<(), HostError> {
//!     let sent = Fetch::post("https://mail.example/send").json(&task.payload).send(&cx).await;
//!     if sent.is_ok_and(|response| response.is_success()) {
//!         return Ok(());
//!     }
//!     cx.write(async move |tx| {
//!         if task.retry(tx, Retry::Backoff, "the mail server does not answer").await? == RetryOutcome::Dead {
//!             // The rows of the plugin that say so.
//!         }
//!         Ok(())
//!     })
//!     .await
//! }
//! ```
//!
//! A handler that returns `Ok` without an outcome has done its task. One that returns an error, panics or takes longer than
//! [`QueueSettings::timeout`] has a fault, and the task is tried again by [`QueueSettings::backoff`]: so what is expected to fail, such
//! as a stranger's server, ends with [`Task::retry`] and `Ok`.
//!
//! | | |
//! |---|---|
//! | order | tasks of one key start in the order of their push, one at a time; one that waits for its retry holds up none behind it |
//! | fairness | keys take turns, groups have [`QueueSettings::concurrency_per_group`] places, slow and failing keys share a quarter of the places |
//! | leases | by the database's clock, for one key each, with a token: an outcome under an old token is refused |
//! | due times | by the gateway's clock |
//! | the end of a gateway | tasks that were running are due again when their lease is over, on PostgreSQL after seven seconds where the process was killed, with the same attempt; the third loss in a row counts as a failure |
//!
//! A push belongs into a write of a handler, job or task; handlers of chain events and services within another plugin's write cannot
//! push. It wakes the gateway that commits it; others look twice a second. A queue that nothing handles (its plugin is off) keeps its
//! tasks. The queue's tables may be read and rows of `TABLE` be deleted (all tasks of a key that is gone), nothing else; the response
//! of a route that reads them must not be `.cached()`.

pub use crate::sdk::{NewTask, Queue, QueueSettings, Retry, RetryOutcome, Task};
