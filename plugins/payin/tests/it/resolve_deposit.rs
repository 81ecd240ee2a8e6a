//! `POST /api/payin/deposits/resolve`: what operators, and they alone, see and decide.

use crate::{assert_refused, buyer, deposit_address, each, operator, selling, transfer};
use plugin_testing::{Wallet, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_gives_a_deposit_to_a_quote() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        // An exchange has kept a fee of 1 USDX.
        site.dev.mine(vec![transfer(&buyer(), deposit_address(), "9000000")]);
        site.until("it is left", async || site.deposits("unmatched").await.len() == 1).await;
        let deposit = site.deposits("unmatched").await[0].clone();
        assert_eq!((&deposit["amount"], &deposit["from"]), (&json!("9.0"), &json!(buyer().address())));
        let (id, quote_id) = (&deposit["depositId"], &quote["quoteId"]);

        let resolve =
            async |wallet: &Wallet, payload| site.operate(wallet, "deposits/resolve", "payin.resolve", payload).await;
        let assign = json!({ "depositId": id, "quoteId": quote_id, "note": "Kraken's fee" });
        assert_refused(&resolve(&buyer(), assign.clone()).await, 403, "not_operator");
        assert_refused(&resolve(&operator(), json!({ "depositId": 999 })).await, 404, "not_found");
        let unknown = json!({ "depositId": id, "quoteId": "q_0000000000000000" });
        assert_refused(&resolve(&operator(), unknown).await, 404, "not_found");
        let done = resolve(&operator(), assign.clone()).await;
        assert_eq!((done.status, &done.json()["state"]), (200, &json!("matched")), "{}", done.text());
        assert_refused(&resolve(&operator(), assign).await, 409, "not_resolvable");

        // Nine USDX are paid for.
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "176400000000000000000");
        let paid = site.paid(&quote).await;
        assert_eq!(paid["fmxOut"], "176400000000000000000");
        let history = paid["history"].to_string();
        assert!(history.contains("Kraken") && history.contains(operator().address()), "{history}");

        let events = site.gateway.events().await;
        let event = events.iter().find(|event| event.kind == "payin.paid").unwrap();
        assert_eq!((&event.data["amount"], &event.data["usd"]), (&json!("9.0"), &json!("9.0")), "what arrived");

        // Another one is refunded by hand.
        site.dev.mine(vec![transfer(&buyer(), deposit_address(), "8000000")]);
        site.until("it is left", async || site.deposits("unmatched").await.len() == 1).await;
        let id = site.deposits("unmatched").await[0]["depositId"].clone();
        let taken = json!({ "depositId": id, "quoteId": quote_id });
        assert_refused(&resolve(&operator(), taken).await, 409, "not_resolvable");
        let done = resolve(&operator(), json!({ "depositId": id, "note": "sent back" })).await;
        assert_eq!((done.status, &done.json()["state"]), (200, &json!("dismissed")), "{}", done.text());
        assert_eq!(site.main.mined().len(), 1);
        site
    })
    .await;
}

/// The coins are those of the deposit: when it leaves, the quote waits for its own amount again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_coins_of_an_assigned_deposit_leave_with_it() {
    each(selling(), async |site| {
        let (quote, lapsed) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "20").await);
        let expired =
            format!("UPDATE payin_quotes SET status = 'expired', open_key = NULL WHERE id = {}", lapsed["quoteId"]);
        site.gateway.execute(&expired.replace('"', "'")).await;
        site.dev.mine(["9000000", "8000000"].map(|units| transfer(&buyer(), deposit_address(), units)).into());
        site.until("they are left", async || site.deposits("unmatched").await.len() == 2).await;
        for deposit in site.deposits("unmatched").await {
            let to = if deposit["amount"] == "9.0" { &quote } else { &lapsed };
            let assign = json!({ "depositId": deposit["depositId"], "quoteId": to["quoteId"] });
            let done = site.operate(&operator(), "deposits/resolve", "payin.resolve", assign).await;
            assert_eq!(done.status, 200, "{}", done.text());
        }
        assert_eq!(site.state(&quote).await["fmxOut"], "176400000000000000000");
        assert_eq!(site.state(&lapsed).await["fmxOut"], "156800000000000000000");
        let removed = site.dev.reorg(1);
        assert_eq!(removed.len(), 2);
        site.dev.mine_empty(2);
        assert_eq!(site.becomes(&quote, "quoted").await["fmxOut"], "196000000000000000000");
        // Its amount is free since it expired.
        assert_eq!(site.becomes(&lapsed, "expired").await["fmxOut"], "392000000000000000000");

        // Now what was asked for arrives.
        site.deposit(&quote);
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "196000000000000000000");
        site.paid(&quote).await;
        site
    })
    .await;
}

/// The recipient accepts no coins: the operator takes the deposit from that quote, and gives it to another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_ends_a_quote_that_cannot_be_paid() {
    each(selling(), async |site| {
        let wallet = Wallet::new(20);
        site.main.refuse_calls(wallet.address().parse().unwrap(), true);
        let refused = site.quote_for(&wallet, "10").await;
        site.deposit(&refused);
        site.dev.mine_empty(crate::CONFIRMATIONS);
        let is_held = async || site.state(&refused).await["error"].as_str().is_some_and(|text| text.contains("fail"));
        site.until("it is held", is_held).await;
        let id = site.deposits("matched").await[0]["depositId"].clone();
        let resolve = async |payload| site.operate(&operator(), "deposits/resolve", "payin.resolve", payload).await;
        assert_refused(&resolve(json!({ "depositId": id })).await, 409, "not_resolvable");
        let other = site.quote("20").await;
        let of_another = json!({ "depositId": id, "quoteId": other["quoteId"], "endQuote": true });
        assert_refused(&resolve(of_another).await, 409, "not_resolvable");
        let end = json!({ "depositId": id, "endQuote": true, "note": "a contract" });
        let ended = resolve(end.clone()).await;
        assert_eq!((ended.status, &ended.json()["state"]), (200, &json!("unmatched")), "{}", ended.text());
        let state = site.state(&refused).await;
        assert_eq!((&state["status"], &state["txHashIn"]), (&json!("failed"), &json!(null)), "{state}");
        assert!(state["history"].to_string().contains("a contract"), "{state}");
        assert_refused(&resolve(end.clone()).await, 409, "not_resolvable");
        let service = site.service().await;
        assert_eq!((&service["ok"], &service["failed"]), (&json!(true), &json!(0)), "no payout failed: {service}");

        let given = resolve(json!({ "depositId": id, "quoteId": other["quoteId"] })).await;
        assert_eq!(given.status, 200, "{}", given.text());
        site.pays(&other).await;
        assert_refused(&resolve(end.clone()).await, 409, "not_resolvable");
        site.paid(&other).await;
        assert_refused(&resolve(end).await, 409, "not_resolvable");
        assert_eq!(site.coins_of(&buyer()), ["196000000000000000000"]);
        assert_eq!(site.coins_of(&wallet), Vec::<String>::new());
        site
    })
    .await;
}
