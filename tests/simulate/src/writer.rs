//! A client that writes to the forum, and sends the same signed request again until it is answered.

use crate::{
    client::Client,
    ledger::{Kind, Outcome, Write},
    machine,
    replica::Request,
    site::Answer,
    stored::{OPENING, THREAD},
};
use plugin_testing::{Value, Wallet, json};
use std::{cell::RefCell, rc::Rc, time::Duration};

/// How long a signature counts.
const SIGNATURE_S: i64 = 300;

pub struct Writer {
    pub client: Client,
    /// Threads that are known to be there.
    pub threads: Rc<RefCell<Vec<i64>>>,
    pub wallet: Wallet,
    pub count: u64,
}

struct Draft {
    kind: Kind,
    path: String,
    /// That a reply is for.
    thread: Option<i64>,
    text: String,
    body: String,
    signed_s: i64,
}

impl Writer {
    /// Writes so often, with pauses.
    pub async fn run(mut self) {
        for turn in 0..self.count {
            // Now and then at once, which the write interval refuses.
            let dice = &mut self.client.dice;
            let pause_ms = if dice.one_in(6) { 0 } else { 1000 + dice.below(4000) };
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            let draft = self.draft(turn);
            let write = self.deliver(&draft).await;
            self.client.record(&format!("{turn} {:?}", write.outcome));
            let is_stored = write.outcome == Outcome::Acknowledged;
            self.client.ledger.borrow_mut().writes.push(write);
            if is_stored && self.client.dice.one_in(3) {
                self.send_again(&draft).await;
            }
        }
    }

    fn draft(&mut self, turn: u64) -> Draft {
        let signed_s = machine::now_s();
        let text = format!("{} {turn} {signed_s}", self.client.name);
        let thread = {
            let threads = self.threads.borrow();
            let is_new = threads.is_empty() || self.client.dice.one_in(6);
            if is_new { None } else { threads.get(self.client.dice.index(threads.len())).copied() }
        };
        let is_message = self.client.dice.one_in(4);
        let thread = thread.filter(|_| !is_message);
        let (kind, path, action, text, payload) = match thread {
            _ if is_message => {
                let to = Wallet::new(self.client.dice.below(10)).address().to_owned();
                let payload = json!({ "to": to, "subject": text, "body": "between us" });
                (Kind::Message, "/api/messages".to_owned(), "message.send", text, payload)
            }
            Some(thread) => {
                let payload = json!({ "body": text });
                (Kind::Reply, format!("/api/forum/threads/{thread}/posts"), "post.create", text, payload)
            }
            None => {
                let title = format!("{THREAD}{text}");
                let payload = json!({ "title": title, "body": format!("{OPENING}{title}") });
                (Kind::Thread, "/api/forum/threads".to_owned(), "thread.create", title, payload)
            }
        };
        let body = self.wallet.signed_body(action, signed_s, &payload).to_string();
        Draft { kind, path, thread, text, body, signed_s }
    }

    fn request(draft: &Draft) -> Request {
        Request::post(&draft.path, draft.body.clone())
    }

    /// Sends it until the response says what became of it.
    async fn deliver(&mut self, draft: &Draft) -> Write {
        let mut write = Write {
            kind: draft.kind,
            author: self.wallet.address().to_owned(),
            text: draft.text.clone(),
            outcome: Outcome::Refused,
            took_ms: None,
        };
        while machine::now_s() - draft.signed_s < SIGNATURE_S - 5 {
            let sent_ms = machine::now_ms();
            let answer = self.client.site.write(Self::request(draft).sent_by(self.client.ip)).await;
            self.client.record_answer(answer.as_ref());
            match self.outcome(answer.as_ref(), write.outcome) {
                Some(Outcome::Acknowledged) => {
                    write.outcome = Outcome::Acknowledged;
                    let is_first = answer.as_ref().is_some_and(|answer| answer.status == 201);
                    write.took_ms = is_first.then(|| (sent_ms, machine::now_ms()));
                    self.learn(draft, answer.map_or(Value::Null, |answer| answer.body));
                    return write;
                }
                Some(outcome) => {
                    write.outcome = outcome;
                    return write;
                }
                // A response that was lost leaves open what became of it.
                None if answer.is_none_or(|answer| answer.status >= 500) => write.outcome = Outcome::Unknown,
                None => {}
            }
            self.client.wait_until_back(200, 1500).await;
        }
        write
    }

    /// What a response says; none when the request has to be sent again. `before` is what earlier responses said.
    fn outcome(&self, answer: Option<&Answer>, before: Outcome) -> Option<Outcome> {
        let answer = answer?;
        match (answer.status, answer.code()) {
            (201, _) => Some(Outcome::Acknowledged),
            (409, "replay") if before == Outcome::Unknown => Some(Outcome::Acknowledged),
            (409, "replay") => {
                self.client.violation(&format!("refused as a replay, and was never sent before: {}", answer.body));
                Some(Outcome::Refused)
            }
            (429 | 503, _) => None,
            (400..500, _) if before == Outcome::Refused => Some(Outcome::Refused),
            (400..500, _) => Some(Outcome::Unknown),
            (status, code) => {
                self.client.violation(&format!("answered {status} {code} to a write"));
                None
            }
        }
    }

    /// A network may deliver a request twice: the second one must change nothing.
    async fn send_again(&mut self, draft: &Draft) {
        self.client.sleep_below(20_000).await;
        if machine::now_s() - draft.signed_s >= SIGNATURE_S - 5 {
            return;
        }
        let Some(answer) = self.client.send_unrecorded(Self::request(draft)).await else { return };
        self.client.record(&format!("again {} {}", answer.status, answer.code()));
        if answer.status < 300 {
            self.client.violation(&format!("the same signed request was accepted twice: {}", draft.text));
        }
    }

    fn learn(&self, draft: &Draft, body: Value) {
        let opened = body["id"].as_i64().filter(|_| draft.kind == Kind::Thread);
        if let Some(thread) = opened.or(draft.thread) {
            *self.client.ledger.borrow_mut().posts.entry(thread).or_default() += 1;
        }
        self.threads.borrow_mut().extend(opened);
    }
}
