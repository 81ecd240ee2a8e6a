//! The operator changes the configured deposit address: what is on its way to the earlier one counts.

use crate::{CONFIRMATIONS, buyer, deposit_address, each, selling, transfer};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, Value, Wallet, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deposits_to_the_address_of_their_quote_count() {
    each(selling(), async |site| {
        let (early, waiting) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "20").await);
        let later: Address = Wallet::new(951).address().parse().unwrap();
        let site = site.restart_with(|config| config["chains"]["dev"]["deposit"] = json!(later)).await;
        site.after_run("scan").await;
        let late = site.quote_for(&Wallet::new(13), "30").await;
        assert_eq!((&early["depositAddress"], &late["depositAddress"]), (&json!(deposit_address()), &json!(later)));
        // Each in one transaction with the same amount to the other address.
        let both = |quote: &Value, name: &str| {
            let units = quote["sendExactly"].as_str().unwrap().to_owned();
            [later, deposit_address()].map(|to| transfer(&buyer(), to, &units).in_transaction(name))
        };
        site.dev.mine([both(&early, "one"), both(&late, "two")].concat());
        site.becomes(&early, "seen").await;
        site.becomes(&late, "seen").await;
        let unmatched = async || site.deposits("unmatched").await.len() == 2;
        site.until("the others are left", unmatched).await;
        let matched = site.deposits("matched").await;
        for quote in [&early, &late] {
            let of_quote = matched.iter().find(|deposit| deposit["quoteId"] == quote["quoteId"]).unwrap();
            assert_eq!(of_quote["depositAddress"], quote["depositAddress"], "the one at its own address");
        }
        site.dev.mine_empty(CONFIRMATIONS);
        for quote in [&early, &late] {
            site.pays(quote).await;
        }
        site.paid(&early).await;
        site.paid(&late).await;

        // What the operator moves from one address to the other buys nothing, whatever its amount.
        site.dev.mine(vec![transfer(&Wallet::new(951), deposit_address(), waiting["sendExactly"].as_str().unwrap())]);
        let own = async || {
            let left = site.deposits("unmatched").await;
            left.iter().any(|deposit| deposit["reason"].as_str().unwrap().contains("another deposit address"))
        };
        site.until("it is left", own).await;
        assert_eq!(site.state(&waiting).await["status"], "quoted");
        assert_eq!(site.main.mined().len(), 2);

        // Another token gets the symbol: what comes in the earlier one has its own decimals.
        let other: Address = Wallet::new(72).address().parse().unwrap();
        crate::set_decimals(&site.dev, other, 18);
        let usdx = json!({ "address": other, "decimals": 18 });
        let site = site.restart_with(|config| config["chains"]["dev"]["tokens"]["USDX"] = usdx).await;
        site.dev.mine(vec![transfer(&buyer(), deposit_address(), "7000000")]);
        let seven = async || site.deposits("unmatched").await.into_iter().find(|deposit| deposit["units"] == "7000000");
        site.until("it is left", async || seven().await.is_some()).await;
        let deposit = seven().await.unwrap();
        let (token, to) = (json!(ScriptedChain::address_of(crate::TOKEN)), json!(deposit_address()));
        assert_eq!((&deposit["amount"], &deposit["token"], &deposit["depositAddress"]), (&json!("7.0"), &token, &to));
        site
    })
    .await;
}

/// The operator gives a token another symbol: what is on its way counts, and no other quote of the token gets its amount.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_with_another_symbol_keeps_its_quotes() {
    each(selling(), async |site| {
        let early = site.quote("10").await;
        let rename = |config: &mut Value| {
            let tokens = config["chains"]["dev"]["tokens"].as_object_mut().unwrap();
            let token = tokens.remove("USDX").unwrap();
            tokens.insert("USDY".to_owned(), token);
        };
        let site = site.restart_with(rename).await;
        site.after_run("scan").await;
        let body = json!({ "chain": "dev", "asset": "USDY", "amount": "10", "to": Wallet::new(12).address() });
        let late = site.ask(body).await.json();
        assert_eq!(late["sendExactly"], "10000001", "{late}");
        site.deposit(&early);
        site.becomes(&early, "seen").await;
        assert_eq!(site.state(&late).await["status"], "quoted");
        site.pays(&early).await;
        site.paid(&early).await;
        site
    })
    .await;
}
