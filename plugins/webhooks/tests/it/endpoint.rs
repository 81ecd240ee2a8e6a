//! An endpoint on this machine: answers as it is told, and remembers what it got.

use plugin_testing::{TestGateway, Value};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

pub struct Endpoint {
    server: MockServer,
    answers: Arc<Mutex<VecDeque<ResponseTemplate>>>,
}

/// Answers in turn; 200 when there is none left.
struct Answers(Arc<Mutex<VecDeque<ResponseTemplate>>>);

impl Respond for Answers {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        self.0.lock().unwrap().pop_front().unwrap_or_else(|| ResponseTemplate::new(200).set_body_string("thanks"))
    }
}

impl Endpoint {
    pub async fn start() -> Self {
        let server = MockServer::start().await;
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        Mock::given(any()).respond_with(Answers(answers.clone())).mount(&server).await;
        Self { server, answers }
    }

    pub fn url(&self) -> String {
        format!("{}/hook", self.server.uri())
    }

    /// The next answers.
    pub fn answer(&self, answers: impl IntoIterator<Item = ResponseTemplate>) {
        self.answers.lock().unwrap().extend(answers);
    }

    pub fn fail(&self, times: usize) {
        self.answer(std::iter::repeat_n(ResponseTemplate::new(500), times));
    }

    pub async fn count(&self) -> usize {
        self.server.received_requests().await.unwrap().len()
    }

    /// The first so many calls, as soon as they are there.
    pub async fn calls(&self, count: usize) -> Vec<Request> {
        let what = format!("{count} calls arrive");
        TestGateway::eventually(super::LIMIT, &what, async || self.count().await >= count).await;
        let mut calls = self.server.received_requests().await.unwrap();
        assert_eq!(calls.len(), count, "no more than that: {:?}", calls.iter().map(body).collect::<Vec<_>>());
        calls.truncate(count);
        calls
    }

    /// The bodies of these calls.
    pub async fn bodies(&self, count: usize) -> Vec<Value> {
        self.calls(count).await.iter().map(body).collect()
    }
}

pub fn body(call: &Request) -> Value {
    call.body_json().unwrap()
}

pub fn header(call: &Request, name: &str) -> String {
    call.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}
