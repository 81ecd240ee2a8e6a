//! The task that answers a message, in the dialect of the request.

use super::{Dialect, Output, SendParams, TaskState};
use serde_json::{Map, Value, json};

const FAILURE_CHARS_MAX: usize = 2000;

/// A task in one state. There is no store of tasks: it is made for one response.
#[derive(Clone, Debug)]
pub struct Task<'m> {
    pub id: String,
    pub state: TaskState,
    /// Unix milliseconds of the state.
    pub at_ms: i64,
    /// The message that it answers.
    pub sent: Option<&'m SendParams>,
    pub output: Option<Output>,
    /// What the agent says about a state that is no success.
    pub said: Option<String>,
    pub metadata: Map<String, Value>,
}

impl Task<'_> {
    /// The result of a call that sends a message.
    pub fn into_send_result(self, dialect: Dialect) -> Value {
        let task = self.render(dialect);
        if dialect == Dialect::V1 { json!({ "task": task }) } else { task }
    }

    pub fn render(self, dialect: Dialect) -> Value {
        let history: Vec<Value> = self.sent.iter().map(|sent| self.sent_message(sent, dialect)).collect();
        let mut status = json!({ "state": self.state.name(dialect), "timestamp": iso_time(self.at_ms) });
        if let Some(said) = &self.said {
            status["message"] = self.agent_message(said, dialect);
        }
        let context = self.context_id();
        let artifacts: Vec<Value> = self.output.map(|output| artifact(output, dialect)).into_iter().collect();
        let mut task = json!({
            "id": self.id, "status": status, "artifacts": artifacts, "history": history, "metadata": self.metadata,
        });
        match dialect {
            Dialect::V01 => task["sessionId"] = self.sent.and_then(|sent| sent.context_id.clone()).into(),
            Dialect::V03 => (task["kind"], task["contextId"]) = ("task".into(), context.into()),
            Dialect::V1 => task["contextId"] = context.into(),
        }
        task
    }

    /// A client that names no context gets one that is the task's own.
    fn context_id(&self) -> String {
        self.sent.and_then(|sent| sent.context_id.clone()).unwrap_or_else(|| self.id.clone())
    }

    fn sent_message(&self, sent: &SendParams, dialect: Dialect) -> Value {
        let mut message = sent.message.clone();
        if dialect == Dialect::V01 {
            return message.into();
        }
        let is_agent = matches!(message.get("role").and_then(Value::as_str), Some("agent" | "ROLE_AGENT"));
        message.insert("role".to_owned(), role(is_agent, dialect).into());
        message.insert("parts".to_owned(), sent.parts.iter().map(|part| part.render(dialect)).collect());
        message.entry("messageId").or_insert_with(|| format!("{}-message", self.id).into());
        self.place_message(&mut message, dialect);
        message.into()
    }

    fn agent_message(&self, said: &str, dialect: Dialect) -> Value {
        let text = Output::Text(said.chars().take(FAILURE_CHARS_MAX).collect());
        let mut message = Map::new();
        message.insert("role".to_owned(), role(true, dialect).into());
        message.insert("parts".to_owned(), vec![text.into_part(dialect)].into());
        if dialect != Dialect::V01 {
            message.insert("messageId".to_owned(), format!("{}-status", self.id).into());
            self.place_message(&mut message, dialect);
        }
        message.into()
    }

    fn place_message(&self, message: &mut Map<String, Value>, dialect: Dialect) {
        message.insert("taskId".to_owned(), self.id.clone().into());
        message.insert("contextId".to_owned(), self.context_id().into());
        if dialect == Dialect::V03 {
            message.insert("kind".to_owned(), "message".into());
        }
    }
}

const fn role(is_agent: bool, dialect: Dialect) -> &'static str {
    match (is_agent, dialect) {
        (false, Dialect::V1) => "ROLE_USER",
        (true, Dialect::V1) => "ROLE_AGENT",
        (false, _) => "user",
        (true, _) => "agent",
    }
}

fn artifact(output: Output, dialect: Dialect) -> Value {
    let parts = [output.into_part(dialect)];
    match dialect {
        Dialect::V01 => json!({ "name": "output", "parts": parts, "index": 0 }),
        Dialect::V03 | Dialect::V1 => json!({ "artifactId": "output", "name": "output", "parts": parts }),
    }
}

/// `2026-01-01T00:00:00.000Z`
fn iso_time(at_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at_ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// The id of a task that nobody named: the time in base 36, and a number that tells two of one millisecond apart.
pub fn new_task_id(at_ms: i64, number: u32) -> String {
    format!("task-{}{}", base36(at_ms.unsigned_abs()), base36(u64::from(number % 36)))
}

fn base36(mut number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        let digit = usize::try_from(number % 36).unwrap_or_default();
        digits.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'0')));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const AT_MS: i64 = 1_767_225_600_123;

    fn sent(message: &Value) -> SendParams {
        SendParams::parse(json!({ "message": message }).as_object().unwrap()).unwrap()
    }

    fn rendered(dialect: Dialect, message: &Value) -> Value {
        let sent = sent(message);
        let output = Some(Output::of("{\"sum\":3}"));
        let metadata = json!({ "agentId": 1 }).as_object().unwrap().clone();
        let state = TaskState::Completed;
        let task = Task { id: "t".to_owned(), state, at_ms: AT_MS, sent: Some(&sent), output, said: None, metadata };
        task.into_send_result(dialect)
    }

    #[test]
    fn a_task_of_0_1() {
        let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "1+2" }] });
        assert_eq!(
            rendered(Dialect::V01, &message),
            json!({
                "id": "t", "sessionId": null, "status": { "state": "completed", "timestamp": "2026-01-01T00:00:00.123Z" },
                "artifacts": [{ "name": "output", "index": 0, "parts": [{ "type": "data", "data": { "sum": 3 } }] }],
                "history": [message], "metadata": { "agentId": 1 },
            })
        );
    }

    #[test]
    fn a_task_of_0_3() {
        let message = json!({ "role": "user", "messageId": "m", "parts": [{ "text": "1+2" }] });
        assert_eq!(
            rendered(Dialect::V03, &message),
            json!({
                "kind": "task", "id": "t", "contextId": "t",
                "status": { "state": "completed", "timestamp": "2026-01-01T00:00:00.123Z" },
                "artifacts": [{ "artifactId": "output", "name": "output",
                    "parts": [{ "kind": "data", "data": { "sum": 3 } }] }],
                "history": [{ "kind": "message", "role": "user", "messageId": "m", "taskId": "t", "contextId": "t",
                    "parts": [{ "kind": "text", "text": "1+2" }] }],
                "metadata": { "agentId": 1 },
            })
        );
    }

    #[test]
    fn a_task_of_1_0() {
        let message = json!({ "role": "ROLE_USER", "messageId": "m", "contextId": "c", "parts": [{ "text": "1+2" }] });
        assert_eq!(
            rendered(Dialect::V1, &message),
            json!({ "task": {
                "id": "t", "contextId": "c",
                "status": { "state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:00.123Z" },
                "artifacts": [{ "artifactId": "output", "name": "output", "parts": [{ "data": { "sum": 3 } }] }],
                "history": [{ "role": "ROLE_USER", "messageId": "m", "taskId": "t", "contextId": "c",
                    "parts": [{ "text": "1+2" }] }],
                "metadata": { "agentId": 1 },
            } })
        );
    }

    #[test]
    fn a_failure_is_said_by_the_agent() {
        let said = Some("x".repeat(3000));
        for (dialect, role) in [(Dialect::V01, "agent"), (Dialect::V03, "agent"), (Dialect::V1, "ROLE_AGENT")] {
            let (state, said) = (TaskState::Failed, said.clone());
            let task =
                Task { id: "t".to_owned(), state, at_ms: 0, sent: None, output: None, said, metadata: Map::new() };
            let task = task.render(dialect);
            let message = &task["status"]["message"];
            assert_eq!(message["role"], role);
            assert_eq!(message["parts"][0]["text"].as_str().map(str::len), Some(2000));
            assert_eq!((&task["artifacts"], &task["history"]), (&json!([]), &json!([])));
        }
    }

    #[test]
    fn ids_grow_with_time_and_tell_two_of_one_millisecond_apart() {
        assert_eq!(new_task_id(35, 1), "task-z1");
        assert_eq!(new_task_id(36 * 36, 36), "task-1000");
        assert_ne!(new_task_id(AT_MS, 1), new_task_id(AT_MS, 2));
    }
}
