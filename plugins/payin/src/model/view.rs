//! What the routes respond about quotes and deposits.

use super::{
    Deposit, DepositState, Quote, Status, TakenChain, USD_DECIMALS, Units,
    chain::NATIVE,
    format_units,
    price::{LIFE_S, in_micro},
};
use plugin_api::{Address, Hash256, JsonSchema, Wei};
use serde::Serialize;

const USDC_DECIMALS: u8 = 6;
/// The symbol for which quotes have members of the first version.
const USDC: &str = "USDC";

/// A new quote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuoteView {
    pub quote_id: String,
    pub chain: String,
    pub chain_id: u64,
    pub chain_name: String,
    pub asset: String,
    /// `erc20` or `native`
    pub asset_kind: &'static str,
    /// Null for the coins of the chain itself.
    pub token: Option<Address>,
    pub decimals: u8,
    /// What to send, in whole tokens.
    pub amount: String,
    pub amount_requested: String,
    /// What was added so that no other open quote has this amount.
    pub dust_units: String,
    /// `up` or `none`
    pub dust_direction: &'static str,
    /// What to send, in the token's smallest unit.
    pub send_exactly: String,
    pub send_exactly_formatted: String,
    pub usd: String,
    /// USD for one whole token.
    pub asset_usd: String,
    pub deposit_address: Address,
    pub fmx_out: Wei,
    pub fmx_out_formatted: String,
    pub price_usd_per_fmx: String,
    pub spread_bps: i64,
    pub to: Address,
    pub from: Option<Address>,
    pub expires_at: i64,
    /// Seconds for which the quote is valid.
    pub expires: i64,
    /// Blocks until a deposit counts, its own included.
    pub confirmations: i64,
    pub status: Status,
    pub explorer: String,
    pub note: String,
    /// The amount, for USDC only; as the two members that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usdc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usdc_token: Option<Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usdc_decimals: Option<u8>,
}

/// `GET /api/payin/{quoteId}`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    pub quote_id: String,
    pub chain: String,
    pub chain_id: u64,
    pub asset: String,
    /// `erc20` or `native`
    pub asset_kind: &'static str,
    /// Null for the coins of the chain itself.
    pub token: Option<Address>,
    pub decimals: u8,
    pub amount: String,
    pub amount_units: String,
    pub send_exactly: String,
    pub send_exactly_formatted: String,
    pub usd: String,
    /// The value in USD, with 6 decimals.
    pub usdc: String,
    pub usdc_units: String,
    pub fmx_out: Wei,
    pub fmx_out_formatted: String,
    pub price_usd_per_fmx: String,
    pub deposit_address: Address,
    /// Who gets the coins.
    pub target: Address,
    /// The account that sends the deposit, when the quote names one.
    pub payer: Option<Address>,
    pub status: Status,
    /// Why it does not go on, or what went wrong.
    pub error: Option<String>,
    /// Blocks with and on top of the deposit, and how many it needs.
    pub confirmations: i64,
    pub required: i64,
    pub tx_hash_in: Option<Hash256>,
    pub tx_hash_out: Option<Hash256>,
    pub block_in: Option<i64>,
    pub payout_nonce: Option<i64>,
    pub tx_hashes: TxLinks,
    pub created_at: i64,
    pub expires_at: i64,
    pub seen_at: Option<i64>,
    pub paid_at: Option<i64>,
    /// Whether quotes are given on this gateway.
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Every change of the status, oldest first.
    pub history: Vec<HistoryView>,
}

/// A change of a quote's status.
#[derive(Clone, Debug, Serialize, serde::Deserialize, JsonSchema)]
pub struct HistoryView {
    pub at: i64,
    pub status: Status,
    pub detail: String,
}

/// The two transactions of a quote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TxLinks {
    pub deposit: Option<TxLink>,
    pub fmx: Option<TxLink>,
}

/// A transaction, for people.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TxLink {
    pub chain: String,
    pub chain_id: u64,
    pub hash: Hash256,
    pub url: String,
}

/// The page of a transaction in an explorer.
pub fn explorer_link(explorer: &str, hash: Hash256) -> String {
    if explorer.is_empty() { String::new() } else { format!("{explorer}/tx/{hash}") }
}

/// A deposit, for operators.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DepositView {
    pub deposit_id: i64,
    pub chain: String,
    pub asset: String,
    /// Of which it is: an earlier one may have had the same symbol.
    pub token: Address,
    /// In whole tokens; null when the decimals of its token are not known any more.
    pub amount: Option<String>,
    pub units: Units,
    pub from: Address,
    /// The address that it came to.
    pub deposit_address: Address,
    pub tx: Hash256,
    pub url: String,
    pub block: i64,
    pub state: DepositState,
    /// Why it is not matched.
    pub reason: Option<String>,
    pub quote_id: Option<String>,
    /// When it was found to have left its chain after its payout.
    pub lost_at: Option<i64>,
    pub found_at: i64,
    /// What an operator may do now.
    pub actions: Vec<&'static str>,
}

impl DepositView {
    pub fn new(deposit: Deposit, chain: Option<&TakenChain>) -> Self {
        let configured = chain.and_then(|chain| chain.token(&deposit.asset));
        let same = configured.filter(|token| token.address == deposit.token);
        // An operator may have put right what the configuration said then.
        let decimals = same.map(|token| token.decimals).or(deposit.decimals);
        let actions = match deposit.state {
            DepositState::Unmatched => vec![
                "assign it to a quote: POST /api/payin/deposits/resolve {depositId, quoteId}",
                "dismiss it, after a refund by hand: POST /api/payin/deposits/resolve {depositId}",
            ],
            DepositState::Matched => vec![
                "while no payout of its quote is recorded, end that quote: POST /api/payin/deposits/resolve {depositId, endQuote: true}",
            ],
            _ => Vec::new(),
        };
        Self {
            deposit_id: deposit.id,
            token: deposit.token,
            amount: decimals.map(|decimals| format_units(deposit.units, decimals)),
            units: deposit.units,
            from: deposit.sender,
            deposit_address: deposit.address,
            tx: deposit.tx,
            url: explorer_link(chain.map_or("", |chain| &chain.explorer), deposit.tx),
            block: deposit.block,
            state: deposit.state,
            reason: deposit.reason,
            quote_id: deposit.quote,
            lost_at: deposit.lost_at,
            found_at: deposit.found_at,
            actions,
            chain: deposit.chain,
            asset: deposit.asset,
        }
    }
}

/// `erc20` or `native`.
pub fn asset_kind(token: Address) -> &'static str {
    if token == NATIVE { "native" } else { "erc20" }
}

/// Coins of a chain have no contract.
pub fn token_of(address: Address) -> Option<Address> {
    (address != NATIVE).then_some(address)
}

pub fn in_usd(amount: Units) -> String {
    format_units(amount, USD_DECIMALS)
}

impl Quote {
    /// The value in millionths of a USD, rounded down as amounts of USDC are.
    fn usdc_units(&self) -> Units {
        let up = in_micro(self.usd);
        let down =
            if Units::from(up.unsigned_abs()).saturating_mul(1_000_000_000_000) > self.usd { up - 1 } else { up };
        Units::from(down.unsigned_abs())
    }

    /// The value as USDC, in whole tokens.
    pub fn usdc(&self) -> String {
        format_units(self.usdc_units(), USDC_DECIMALS)
    }

    /// What is to be sent, in whole tokens.
    pub fn amount(&self) -> String {
        format_units(self.send, self.decimals)
    }

    pub fn usd(&self) -> String {
        in_usd(self.usd)
    }

    pub fn into_quote_view(self, chain: &TakenChain) -> QuoteView {
        let dust = self.send.saturating_sub(self.requested);
        let is_usdc = self.asset == USDC;
        let amount = self.amount();
        let by_hand = if self.token == NATIVE {
            " Send it from an account: what a contract sends is not recognised."
        } else {
            ""
        };
        let what = match self.address_index {
            None => "Another amount is not recognised: exchanges that deduct a fee change it.",
            Some(_) => "The address is this quote's alone, for one transfer: what a fee takes away buys fewer coins.",
        };
        let note = format!(
            "Send exactly {amount} {} in one transfer on {} to {} before expiresAt. {what}{by_hand} The coins go to {} after {} confirmations; GET /api/payin/{} shows the progress.",
            self.asset, chain.name, self.deposit_address, self.recipient, self.required, self.id
        );
        QuoteView {
            chain_id: chain.chain_id,
            chain_name: chain.name.clone(),
            asset_kind: asset_kind(self.token),
            amount_requested: format_units(self.requested, self.decimals),
            dust_units: dust.to_string(),
            dust_direction: if dust == Units::ZERO { "none" } else { "up" },
            send_exactly: self.send.to_string(),
            send_exactly_formatted: amount.clone(),
            usd: self.usd(),
            asset_usd: in_usd(self.asset_usd),
            fmx_out_formatted: self.fmx_out.in_coins(),
            price_usd_per_fmx: in_usd(self.price),
            expires: LIFE_S,
            explorer: chain.explorer.clone(),
            note,
            usdc: is_usdc.then(|| amount.clone()),
            usdc_token: is_usdc.then_some(self.token),
            usdc_decimals: is_usdc.then_some(self.decimals),
            amount,
            quote_id: self.id,
            chain: self.chain,
            asset: self.asset,
            token: token_of(self.token),
            decimals: self.decimals,
            deposit_address: self.deposit_address,
            fmx_out: self.fmx_out,
            spread_bps: self.spread_bps,
            to: self.recipient,
            from: self.payer,
            expires_at: self.expires_at,
            confirmations: self.required,
            status: self.status,
        }
    }

    /// `disabled` says why no quotes are given; `main` has name, chain id and explorer of the chain of the coins.
    pub fn into_status_view(
        self,
        chain: Option<&TakenChain>,
        (main, main_id): (&str, u64),
        disabled: Option<String>,
        history: Vec<HistoryView>,
    ) -> StatusView {
        let chain_id = chain.map_or(0, |chain| chain.chain_id);
        let explorer = chain.map_or("", |chain| &chain.explorer);
        let deposit = self.tx_in.map(|hash| TxLink {
            chain: self.chain.clone(),
            chain_id,
            hash,
            url: explorer_link(explorer, hash),
        });
        let fmx = self.tx_out.map(|hash| TxLink {
            chain: main.to_owned(),
            chain_id: main_id,
            hash,
            url: format!("/api/tx/{hash}"),
        });
        let (amount, usd, usdc, usdc_units) = (self.amount(), self.usd(), self.usdc(), self.usdc_units());
        StatusView {
            chain_id,
            asset_kind: asset_kind(self.token),
            amount: amount.clone(),
            amount_units: self.send.to_string(),
            send_exactly: self.send.to_string(),
            send_exactly_formatted: amount,
            usd,
            usdc,
            usdc_units: usdc_units.to_string(),
            fmx_out_formatted: self.fmx_out.in_coins(),
            price_usd_per_fmx: in_usd(self.price),
            tx_hashes: TxLinks { deposit, fmx },
            enabled: disabled.is_none(),
            disabled: disabled.is_some().then_some(true),
            reason: disabled,
            history,
            quote_id: self.id,
            chain: self.chain,
            asset: self.asset,
            token: token_of(self.token),
            decimals: self.decimals,
            fmx_out: self.fmx_out,
            deposit_address: self.deposit_address,
            target: self.recipient,
            payer: self.payer,
            status: self.status,
            error: self.error,
            confirmations: self.confirmations,
            required: self.required,
            tx_hash_in: self.tx_in,
            tx_hash_out: self.tx_out,
            block_in: self.block_in,
            payout_nonce: self.nonce,
            created_at: self.created_at,
            expires_at: self.expires_at,
            seen_at: self.seen_at,
            paid_at: self.paid_at,
        }
    }
}
