//! A client that asks the faucet for the first coins of fresh addresses, each again and again.

use crate::{
    dice::Dice,
    ledger::{Drip, Ledger, Outcome},
    machine,
    replica::Request,
    site::Site,
    trace::Trace,
};
use plugin_testing::{Wallet, json};
use std::{
    cell::RefCell,
    net::{IpAddr, Ipv4Addr},
    rc::Rc,
    time::Duration,
};

const ATTEMPTS: u64 = 6;

pub struct DripClient {
    pub site: Rc<Site>,
    pub ledger: Rc<RefCell<Ledger>>,
    pub trace: Trace,
    pub name: String,
    /// Number of the wallet of its first address.
    pub first: u64,
    pub ip: u8,
    pub dice: Dice,
    pub count: u64,
}

impl DripClient {
    pub async fn run(mut self) {
        for turn in 0..self.count {
            tokio::time::sleep(Duration::from_millis(self.dice.below(15_000))).await;
            let address = Wallet::new(self.first + turn).address().to_owned();
            if let Some(outcome) = self.ask(&address).await {
                let answered_s = machine::now_s();
                self.trace.record(&self.name, &format!("{turn} {outcome:?}"));
                let drip =
                    Drip { address: address.clone(), client: format!("client {}", self.ip), answered_s, outcome };
                self.ledger.borrow_mut().drips.push(drip);
                if outcome == Outcome::Acknowledged {
                    self.site.granted.send_modify(|granted| *granted += 1);
                }
                self.ask_again(&address).await;
            }
        }
    }

    fn request(&self, address: &str) -> Request {
        let body = json!({ "address": address }).to_string();
        Request::post("/api/faucet", body).sent_by(IpAddr::V4(Ipv4Addr::new(10, 0, 0, self.ip)))
    }

    /// None when no attempt can have had an effect.
    async fn ask(&mut self, address: &str) -> Option<Outcome> {
        let mut outcome = None;
        for _ in 0..ATTEMPTS {
            let answer = self.site.send(self.request(address)).await;
            match &answer {
                None => self.trace.record(&self.name, "no answer"),
                Some(answer) => self.trace.record(&self.name, &format!("{} {}", answer.status, answer.code())),
            }
            match answer.as_ref().map(|answer| (answer.status, answer.code())) {
                Some((202, _)) => return Some(Outcome::Acknowledged),
                // An attempt before was recorded, whose response was lost.
                Some((429, "faucet_cooldown")) if outcome.is_some() => return Some(Outcome::Acknowledged),
                Some((429, "faucet_cooldown")) => {
                    self.violation(&format!("{address} never asked before, and has to wait"));
                    return None;
                }
                Some((503, "faucet_daily_cap" | "faucet_reserve") | (429, "faucet_ip_limit")) => return outcome,
                Some((503, _)) | None => outcome = Some(Outcome::Unknown),
                Some((429, _)) => {}
                Some((status, code)) => {
                    // With the coins of an attempt whose response was lost.
                    if code != "faucet_not_needed" || outcome.is_none() {
                        self.violation(&format!("answered {status} {code} to a fresh address"));
                    }
                    return outcome;
                }
            }
            self.site.wait_until_back(Duration::from_millis(2000 + self.dice.below(20_000))).await;
        }
        outcome
    }

    /// An address that was answered asks once more, which must not pay it again.
    async fn ask_again(&mut self, address: &str) {
        if !self.dice.one_in(2) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(self.dice.below(8000))).await;
        if let Some(answer) = self.site.send(self.request(address)).await {
            self.trace.record(&self.name, &format!("again {} {}", answer.status, answer.code()));
        }
    }

    fn violation(&self, text: &str) {
        self.ledger.borrow_mut().refuse(format!("{}: {text}", self.name));
    }
}
