//! The log as JSON, a line per event: time, level, the event's own fields, target.
//!
//! Not tracing-subscriber's JSON, which builds each line through serde and takes several times as long; a gateway writes one
//! per request.

use std::fmt::{self, Write as _};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

pub(crate) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        line.write_str(r#"{"timestamp":""#)?;
        SystemTime.format_time(&mut line)?;
        let metadata = event.metadata();
        write!(line, r#"","level":"{}""#, metadata.level())?;
        let mut visitor = FieldVisitor { line: line.by_ref(), result: Ok(()) };
        event.record(&mut visitor);
        visitor.result?;
        line.write_str(r#","target":"#)?;
        write_text(&mut line, metadata.target())?;
        line.write_str("}\n")
    }
}

/// Writes fields as members. (A visitor returns nothing, so the first error waits here.)
struct FieldVisitor<'w> {
    line: Writer<'w>,
    result: fmt::Result,
}

impl FieldVisitor<'_> {
    fn member(&mut self, field: &Field, write_value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_ok() {
            self.result = write_name(&mut self.line, field.name()).and_then(|()| write_value(&mut self.line));
        }
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.member(field, |line| if value.is_finite() { write!(line, "{value}") } else { line.write_str("null") });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |line| write!(line, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |line| write!(line, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |line| write!(line, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |line| write_text(line, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.member(field, |line| {
            line.write_char('"')?;
            write!(EscapingWriter(line), "{value:?}")?;
            line.write_char('"')
        });
    }
}

fn write_name(line: &mut Writer<'_>, name: &str) -> fmt::Result {
    line.write_char(',')?;
    // Raw identifiers, such as `r#type`.
    write_text(line, name.strip_prefix("r#").unwrap_or(name))?;
    line.write_char(':')
}

fn write_text(line: &mut Writer<'_>, text: &str) -> fmt::Result {
    line.write_char('"')?;
    EscapingWriter(line).write_str(text)?;
    line.write_char('"')
}

/// Escapes what JSON does not allow within a text.
struct EscapingWriter<'l, 'w>(&'l mut Writer<'w>);

impl fmt::Write for EscapingWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
            let (plain, special) = rest.split_at(at);
            self.0.write_str(plain)?;
            let (special, after) = special.split_at(1);
            match special {
                "\"" => self.0.write_str("\\\"")?,
                "\\" => self.0.write_str("\\\\")?,
                "\n" => self.0.write_str("\\n")?,
                "\r" => self.0.write_str("\\r")?,
                "\t" => self.0.write_str("\\t")?,
                control => write!(self.0, "\\u{:04x}", control.as_bytes().first().copied().unwrap_or_default())?,
            }
            rest = after;
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::{io, sync::Arc};
    use tracing_subscriber::{fmt, layer::SubscriberExt as _};

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The line of this event, and the one that tracing-subscriber writes, both without their time.
    fn lines(log: impl FnOnce()) -> [serde_json::Value; 2] {
        let (own, other) = (Output::default(), Output::default());
        let (own_writer, other_writer) = (own.clone(), other.clone());
        let own_layer = fmt::layer().event_format(JsonLines).with_writer(move || own_writer.clone());
        let other_layer =
            fmt::layer().json().flatten_event(true).with_current_span(false).with_writer(move || other_writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(own_layer).with(other_layer), log);
        [own, other].map(|output| {
            let mut line: serde_json::Value = serde_json::from_slice(&output.0.lock()).unwrap();
            let time = line.as_object_mut().unwrap().remove("timestamp").unwrap();
            assert_eq!(time.as_str().unwrap().len(), "2026-11-24T08:00:00.000000Z".len());
            line
        })
    }

    #[test]
    fn a_line_is_that_of_tracing_subscriber() {
        let text = "quotes \" \\ and\nlines\r\t\u{1} ü";
        let error = io::Error::other(text);
        let [own, other] = lines(|| {
            tracing::info!(
                target: "gateway::access",
                status = 200u16,
                none = None::<u64>,
                latency_ms = 0.25,
                infinite = f64::INFINITY,
                below = -7,
                is_it = true,
                r#type = "a",
                shown = %text,
                listed = ?[text],
                error = &error as &dyn std::error::Error,
                "{text}",
            );
        });
        assert_eq!(own, other);
        assert_eq!(
            (&own["status"], &own["shown"], &own["target"]),
            (&200.into(), &text.into(), &"gateway::access".into())
        );
    }
}
