//! Which quote a deposit is for.

use crate::{each, selling};

/// Otherwise, who sees a deposit that nobody asked for could ask for its amount, and have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_is_for_an_earlier_quote_of_its_chain_and_token_in_its_time() {
    each(selling(), async |site| {
        let deposit = async |amount: &str, change: &dyn Fn(u64, u64) -> String| {
            let quote = site.quote(amount).await;
            let (block, id) = (site.dev.head() + 1, quote["quoteId"].as_str().unwrap());
            let change = change(block, 1_767_225_600 + 7 * block);
            site.gateway.execute(&format!("UPDATE payin_quotes SET {change} WHERE id = '{id}'")).await;
            site.deposit(&quote);
            quote
        };
        let other = "0x0000000000000000000000000000000000000009";
        deposit("10", &|_, _| "chain = 'elsewhere'".to_owned()).await;
        deposit("11", &|_, _| format!("token = '{other}'")).await;
        deposit("12", &|block, _| format!("position = {block}")).await;
        deposit("13", &|_, time| format!("expires_at = {}", time - 601)).await;
        let last = deposit("14", &|block, time| format!("position = {}, expires_at = {}", block - 1, time - 600)).await;
        site.becomes(&last, "seen").await;
        site.until("nobody asked for the others", async || site.deposits("unmatched").await.len() == 4).await;
        site
    })
    .await;
}
