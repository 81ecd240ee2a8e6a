//! Stops the gateway at every request to the chain: before the request arrives, and after it was executed but before
//! the response arrives. Commits happen between two requests, so every step of sending is interrupted.

use super::{DEPTH, assert_paid_once, becomes, builders, pay, payment, until};
use plugin_api::chain::TxState;
use plugin_testing::{Fault, ScriptedChain};

/// Requests between two stops: small numbers hit the first steps, larger ones the later.
const STEPS: usize = 12;
const PAYMENTS: u8 = 4;

/// Waits until the gateway has met the fault, or has no more requests to send.
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
            // A pass that waits is dropped: the next gateway knows only the database and the chain.
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
