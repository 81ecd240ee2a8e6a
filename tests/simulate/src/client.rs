//! What every client of a run has: where it sends, who it is in the trace, and random numbers of its own.

use crate::{
    dice::Dice,
    ledger::Ledger,
    replica::Request,
    site::{Answer, Site},
    trace::Trace,
};
use std::{cell::RefCell, net::IpAddr, rc::Rc, time::Duration};

pub struct Client {
    pub site: Rc<Site>,
    pub ledger: Rc<RefCell<Ledger>>,
    pub trace: Trace,
    pub name: String,
    /// Where its requests come from.
    pub ip: IpAddr,
    pub dice: Dice,
}

impl Client {
    /// The response of any gateway, which is recorded; none when there was none.
    pub async fn send(&self, request: Request) -> Option<Answer> {
        let answer = self.send_unrecorded(request).await;
        self.record_answer(answer.as_ref());
        answer
    }

    pub async fn send_unrecorded(&self, request: Request) -> Option<Answer> {
        self.site.send(request.sent_by(self.ip)).await
    }

    pub fn record_answer(&self, answer: Option<&Answer>) {
        match answer {
            None => self.record("no answer"),
            Some(answer) => self.record(&format!("{} {}", answer.status, answer.code())),
        }
    }

    pub fn record(&self, event: &str) {
        self.trace.record(&self.name, event);
    }

    /// Something that it has found to be wrong.
    pub fn violation(&self, text: &str) {
        self.ledger.borrow_mut().refuse(format!("{}: {text}", self.name));
    }

    /// For so long at most.
    pub async fn sleep_below(&mut self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(self.dice.below(ms))).await;
    }

    /// Until a gateway serves, and then for so long at least, with so much more at most.
    pub async fn wait_until_back(&mut self, ms: u64, more_ms: u64) {
        let pause = Duration::from_millis(ms + self.dice.below(more_ms));
        self.site.wait_until_back(pause).await;
    }

    /// Something came of a request: gateways are killed soon after.
    pub fn count_granted(&self) {
        self.site.granted.send_modify(|granted| *granted += 1);
    }
}
