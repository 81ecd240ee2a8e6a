//! Server-sent events: the rows of the activity log, rendered by a topic and sent to the clients that subscribe to it.
//!
//! ```
//! use plugin_api::{Definition, HandlerError, HostError, Plugin, PluginContext, RequestContext};
//! use plugin_api::stream::{
//!     Frame, LabelTest, LastEventId, RETRACTED_TYPES_LABEL, StreamPosition, Subscription, Topic, TopicRow,
//! };
//!
//! /// A frame per row of the log.
//! async fn frames<P>(_: PluginContext<P>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
//!     let frame = |row: TopicRow| {
//!         let frame = Frame::new(row.id, row.ts, row.kind, &row.data)?;
//!         Ok(row.subject.into_iter().fold(frame, |frame, about| frame.label("about", about.kind)))
//!     };
//!     rows.into_iter().map(frame).collect()
//! }
//!
//! /// What one client receives: it names the last event that it has.
//! async fn follow<P>(_: RequestContext<P>, last_event_id: LastEventId) -> Result<Topic, HandlerError> {
//!     let position = StreamPosition::new(&last_event_id, None, None);
//!     let tests = [("about".to_owned(), LabelTest::OneOf(vec!["note".to_owned()]))].into();
//!     Ok(Topic(Subscription { tests, ..position.subscription("notes") }))
//! }
//!
//! /// Events that are no longer true: the frame reaches the clients who follow their types.
//! fn retraction(frame: Frame, types: &[&str]) -> Frame {
//!     frame.label(RETRACTED_TYPES_LABEL, types.join(" "))
//! }
//!
//! fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     definition.topic("notes", frames)
//! }
//! ```
//!
//! An [`ActivityRecord`] is a row of the view `host_activity_v1`, with which a plugin reads the log itself:
//!
//! ```
//! use plugin_api::{HostError, List, Query, stream::{ActivityRecord, ActivityRow, EventRef}};
//!
//! const LOG: List = List::new("host_activity_v1", "id, type, ts, actor, ref_kind, ref_id, data").order_by("id DESC");
//!
//! async fn newest(db: &impl Query) -> Result<Option<EventRef>, HostError> {
//!     let rows: Vec<ActivityRecord> = LOG.first(1).rows(db).await?;
//!     Ok(rows.into_iter().next().and_then(|row| ActivityRow::from(row).subject))
//! }
//! ```

pub use crate::abi::Frame;
pub use crate::manifest::{
    ActivityRecord, ActivityRow, EventRef, LabelTest, RETRACTED_TYPES_LABEL, Subscription, TopicRow,
};
pub use crate::sdk::{EventBuilder, LastEventId, StreamPosition, Topic};
