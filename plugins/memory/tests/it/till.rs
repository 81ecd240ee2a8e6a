//! A plugin that takes payments, of this test: a coin is paid once.

use plugin_api::{
    Address, ConfigError, Definition, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Query as _,
    Tx, Wei,
    abi::PluginModule_Ref,
    host::Identity,
    payment::{self, Check, CheckInput, CheckedPayment, End, Offer, OfferInput, Payment, Reserve, ReserveInput},
    sql,
};
use plugin_testing::json;

pub struct Till;

impl Identity for Till {
    const NAME: &'static str = "till";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Takes payments";
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Till>()
}

/// As a client sends it: nonce and amount.
pub fn coin(nonce: u64, amount: &str) -> String {
    format!("{nonce} {amount}")
}

fn read(coin: &str) -> Option<(String, Wei)> {
    let (nonce, amount) = coin.split_once(' ')?;
    Some((nonce.to_owned(), amount.parse().ok()?))
}

impl Plugin for Till {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(
                1,
                "create",
                "CREATE TABLE till_payments (nonce TEXT NOT NULL PRIMARY KEY, amount TEXT NOT NULL, resource TEXT NOT NULL)",
            )])
            .provides(payment::OFFER, async |_, OfferInput { price, resource, refused }| {
                let terms = json!({ "amount": price.amount, "payTo": price.payee, "resource": resource, "error": refused });
                Ok(Offer::Terms(terms.to_string()))
            })
            .provides(payment::CHECK, async |_, CheckInput { price, payment, .. }| {
                let Some((nonce, amount)) = read(&payment) else { return Ok(Check::Malformed("no coin".to_owned())) };
                if amount < price.amount {
                    return Ok(Check::Refused("too small".to_owned()));
                }
                let checked = Payment { payer: Address([9; 20]), nonce };
                Ok(Check::Accepted(CheckedPayment { payment: checked, document: payment }))
            })
            .provides_in_write(payment::RESERVE, reserve)
            .provides(payment::END, async |_, _: payment::EndInput| Ok(End::Gone))
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn reserve(_: PluginContext<Till>, tx: Tx, input: ReserveInput) -> Result<Reserve, HostError> {
    let Some((nonce, amount)) = read(&input.checked.document) else {
        return Ok(Reserve::Refused("no coin".to_owned()));
    };
    if amount < input.price.amount {
        return Ok(Reserve::Refused("too small now".to_owned()));
    }
    let known: Option<String> = tx.row(sql("SELECT nonce FROM till_payments WHERE nonce = $1").bind(&nonce)).await?;
    if known.is_some() {
        return Ok(Reserve::Refused("the coin is spent".to_owned()));
    }
    let insert = sql("INSERT INTO till_payments (nonce, amount, resource) VALUES ($1, $2, $3)");
    tx.execute(insert.bind((&nonce, amount, &input.resource))).await?;
    Ok(Reserve::Reserved("{}".to_owned()))
}
