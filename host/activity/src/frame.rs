//! One server-sent event as bytes, built once and shared by all of its readers.

use abi_stable::std_types::{RString, RVec, Tuple2};
use bytes::Bytes;
use plugin_api::{
    abi::Frame,
    manifest::{LabelTest, RETRACTED_TYPES_LABEL, Subscription},
};
use std::{collections::BTreeMap, fmt::Write as _};

#[derive(Debug)]
pub(crate) struct SharedFrame {
    pub id: i64,
    pub ts: i64,
    event: RString,
    /// Few, mostly none.
    labels: RVec<Tuple2<RString, RString>>,
    pub bytes: Bytes,
}

impl From<Frame> for SharedFrame {
    fn from(frame: Frame) -> Self {
        let mut text = String::with_capacity(frame.data.len() + frame.event.len() + 48);
        // Writing to a String cannot fail.
        let _ = write!(text, "id: {}\nevent: {}\n", frame.id, replace_line_breaks(&frame.event));
        let _ = write!(text, "data: {}\n\n", replace_line_breaks(&frame.data));
        Self { id: frame.id, ts: frame.ts, event: frame.event, labels: frame.labels, bytes: text.into() }
    }
}

impl SharedFrame {
    /// The types of the events that this one retracts: who has received one of them hears of it.
    fn retracted_types(&self) -> impl Iterator<Item = &str> {
        self.label(RETRACTED_TYPES_LABEL).into_iter().flat_map(str::split_whitespace)
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|label| label.0 == name).map(|label| label.1.as_str())
    }
}

/// Whether a type is the wanted one, or begins with it where it ends in a dot.
fn is_type(wanted: &str, event: &str) -> bool {
    if wanted.ends_with('.') { event.starts_with(wanted) } else { event == wanted }
}

/// A line break inside a field would end it: the text that a plugin renders must not be able to forge another frame.
fn replace_line_breaks(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ").into() } else { text.into() }
}

/// Which frames a subscriber wants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    event: Option<String>,
    labels: BTreeMap<String, String>,
    tests: BTreeMap<String, LabelTest>,
    after_ts: Option<i64>,
}

impl Filter {
    pub(crate) fn of(subscription: &Subscription) -> Self {
        Self {
            event: subscription.event.clone().filter(|event| !event.is_empty()),
            labels: subscription.labels.clone(),
            tests: subscription.tests.clone(),
            // Ids and times of events are only roughly in the same order, so a start by time needs the filter as well.
            after_ts: subscription.after_ts.filter(|_| subscription.after_id.is_none()),
        }
    }

    pub(crate) fn accepts_all(&self) -> bool {
        self.event.is_none() && self.labels.is_empty() && self.tests.is_empty() && self.after_ts.is_none()
    }

    pub(crate) fn matches(&self, frame: &SharedFrame) -> bool {
        let has_event = self.event.as_deref().is_none_or(|wanted| {
            is_type(wanted, &frame.event) || frame.retracted_types().any(|retracted| is_type(wanted, retracted))
        });
        let is_newer = self.after_ts.is_none_or(|after| frame.ts > after);
        let passes_test =
            |(name, test): (&String, &LabelTest)| frame.label(name).is_some_and(|label| test.passes(label));
        has_event
            && is_newer
            && self.labels.iter().all(|(name, value)| frame.label(name) == Some(value))
            && self.tests.iter().all(passes_test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(event: &str, data: &str) -> SharedFrame {
        Frame { id: 7, ts: 1, event: event.into(), data: data.into(), labels: RVec::new() }.into()
    }

    #[test]
    fn a_frame_is_four_lines() {
        assert_eq!(frame("post.create", "{}").bytes, "id: 7\nevent: post.create\ndata: {}\n\n");
    }

    #[test]
    fn rendered_text_cannot_forge_another_frame() {
        let forged = frame("a\nid: 9", "{}\n\nid: 8");
        assert_eq!(forged.bytes, "id: 7\nevent: a id: 9\ndata: {}  id: 8\n\n");
    }

    #[test]
    fn filters_test_labels() {
        let labels = [("kind", "job"), ("reward", "007"), ("text", "dig data")];
        let labels = labels.into_iter().map(|(name, value)| Tuple2(name.into(), value.into())).collect();
        let frame: SharedFrame = Frame { id: 7, ts: 1, event: "work".into(), data: "{}".into(), labels }.into();
        let takes = |label: &str, test: LabelTest| {
            Filter::of(&Subscription { tests: [(label.to_owned(), test)].into(), ..Default::default() }).matches(&frame)
        };
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(takes("kind", LabelTest::OneOf(texts(&["arena", "job"]))));
        assert!(!takes("kind", LabelTest::OneOf(texts(&["jo"]))));
        for (least, is_taken) in [("006", true), ("007", true), ("008", false), ("010", false)] {
            assert_eq!(takes("reward", LabelTest::AtLeast(least.into())), is_taken, "{least}");
        }
        assert!(takes("text", LabelTest::ContainsAny(texts(&["sort", "dat"]))));
        assert!(!takes("text", LabelTest::ContainsAny(texts(&["sort"]))));
        assert!(!takes("other", LabelTest::ContainsAny(texts(&[""]))), "a label that is not there");
    }

    #[test]
    fn a_filter_by_type_lets_the_retraction_of_that_type_pass() {
        let labels = [Tuple2(RETRACTED_TYPES_LABEL.into(), "job.completed job.requested".into())].into_iter().collect();
        let event = "chain.retracted".into();
        let frame: SharedFrame = Frame { id: 7, ts: 1, event, data: "{}".into(), labels }.into();
        let passes =
            |event: &str| Filter::of(&Subscription { event: Some(event.into()), ..Default::default() }).matches(&frame);
        assert!(passes("job.requested") && passes("job.") && passes("chain.retracted") && passes("chain."));
        assert!(!passes("job.request") && !passes("agent."));
    }

    #[test]
    fn filters_take_a_name_or_a_prefix() {
        let filter = |event: &str| Filter::of(&Subscription { event: Some(event.into()), ..Default::default() });
        let post = frame("post.create", "{}");
        assert!(filter("post.create").matches(&post) && filter("post.").matches(&post) && filter("").matches(&post));
        assert!(!filter("post").matches(&post) && !filter("thread.").matches(&post));
    }
}
