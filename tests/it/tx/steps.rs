//! The gateway ends in the middle of its work, at every question that it asks the chain: before the question arrives, and after
//! it was answered but before the answer came. Between two questions lie the commits, so every step of sending is met.

use super::{DEPTH, assert_paid_once, becomes, builders, pay, payment, until};
use plugin_api::TxState;
use plugin_testing::{Fault, ScriptedChain};

/// Questions between two ends: small numbers meet the first steps, larger ones the later.
const STEPS: usize = 12;
const PAYMENTS: u8 = 4;

/// Goes on until the gateway has met its end, or has nothing more to ask.
pub async fn runs_into(chain: &ScriptedChain, questions: u64, fault: Fault) {
    let begun = chain.requests();
    let is_met = async || chain.requests() > begun + questions;
    chain.fail_after(questions, fault);
    let _ = tokio::time::timeout(std::time::Duration::from_millis(150), until(is_met)).await;
}

async fn ends_everywhere(place: usize, fault: Fault) {
    let chain = ScriptedChain::start().await;
    let builder = builders(&chain).await.remove(place).configure(|config| {
        config.chains.get_mut("main").unwrap().timeout_ms = 60_000;
    });
    let mut gateway = builder.start().await;
    let mut highest = 0;
    for number in 1..=PAYMENTS {
        pay(&gateway, payment(number)).await;
        for step in 0..STEPS {
            runs_into(&chain, step as u64, fault).await;
            // A turn that waits is dropped where it is: the next gateway has the database and the chain alone.
            gateway = gateway.restart_after(|_| chain.fail_always(None)).await;
            match (usize::from(number) + step) % 4 {
                0 => drop(chain.mine(Vec::new())),
                1 if chain.head() + DEPTH > highest + 2 => drop(chain.reorg(2)),
                2 if step % 3 == 0 => chain.lose(false),
                _ => {}
            }
            highest = highest.max(chain.head());
        }
    }
    until(async || {
        chain.mine(Vec::new());
        gateway.clock().advance(std::time::Duration::from_secs(3)).await;
        chain.waiting().is_empty() && chain.mined().len() >= usize::from(PAYMENTS)
    })
    .await;
    chain.mine_empty(DEPTH + 1);
    for number in 1..=PAYMENTS {
        becomes(&gateway, &number.to_string(), TxState::Final).await;
    }
    assert_paid_once(&chain, 1..=PAYMENTS);
    gateway.stop().await;
}

#[tokio::test]
async fn an_end_before_any_question_loses_and_doubles_nothing() {
    for place in 0..builders(&ScriptedChain::start().await).await.len() {
        ends_everywhere(place, Fault::Silence).await;
    }
}

#[tokio::test]
async fn an_end_after_any_question_loses_and_doubles_nothing() {
    for place in 0..builders(&ScriptedChain::start().await).await.len() {
        ends_everywhere(place, Fault::SilentSuccess).await;
    }
}
