//! `POST /api/payin/quote`: how much of a token to send where, and how many coins that buys.
//!
//! The rule: the amount is taken in the transaction that stores the quote, in which the bounds are checked.

use super::{PAUSED, disabled, unavailable_reason};
use crate::{
    Payin,
    error::QuoteError,
    jobs::scan::are_right,
    model::{
        Account, Decimal, Dust, LIFE_S, NewQuote, Quote, QuoteView, ROLE, SPREAD_BPS, Status, TakenChain, Token,
        USD_MAX, USD_MIN, Units, coins_for, dust_max, format_units, free_amount, in_micro, one_usd, parse_units,
        usd_of,
    },
    store::{addresses, pauses, prices, quotes, scans},
};
use plugin_api::{
    Address, Created, HandlerError, HostError, HostErrorCode, JsonBody, RequestContext, Route, Tx, Wei,
    chain::{BlockInfo, MAIN},
};
use std::collections::BTreeSet;

const BODY_BYTES_MAX: u64 = 4096;
const MICRO: i64 = 1_000_000;
/// What a client's quotes block is free again after life and grace.
const RETRY_S: i64 = 300;
/// A /48 may have so many times the quotes of a /64. USD it may have as many: they are what others have less of.
const SITE_FACTOR: i64 = 4;
/// All networks together may have so many times the quotes for a recipient that one may have: to keep him from buying takes as many networks.
const RECIPIENT_FACTOR: i64 = 20;
/// What everybody reads; the log has the reason.
const NO_PRICE: &str = "its price cannot be read";

type HandlerResult<T> = Result<T, HandlerError<QuoteError>>;

pub fn route() -> Route<Payin> {
    Route::post("/api/payin/quote", create_quote)
        .public()
        .per_minute(20)
        .body_max_bytes(BODY_BYTES_MAX)
        .timeout_ms(20_000)
        .summary("Get a quote: the exact amount to send on another chain, and the coins that it buys")
        .description(
            "Deposits are told apart by their amount, so send exactly sendExactly in one transfer. The first version's \
             {chain, usdc, to} works too; target and address are other names of to.",
        )
        .example("POST /api/payin/quote {chain, asset, amount, to}")
}

/// What is checked before the write.
struct Draft {
    quote: Quote,
    /// A keyed hash of the client's /48, with IPv6.
    site: Option<String>,
    /// Where the quote gets an address of its own: the account, and addresses of which the gateway has keys.
    account: Option<Account>,
    held: BTreeSet<Address>,
    own_addresses_max: i64,
    /// When the database was restored last, or 0.
    restored_s: i64,
    price: Units,
    dust: Dust,
    per_recipient: i64,
    per_network: i64,
    usd_micro_max: i64,
    network_usd_micro_max: i64,
    /// What one payout may be, and what the account has beside what it owes.
    coins_max: Wei,
}

async fn create_quote(
    cx: RequestContext<Payin>,
    JsonBody(new): JsonBody<NewQuote>,
) -> HandlerResult<Created<QuoteView>> {
    if let Some(reason) = disabled(&cx).await? {
        return Err(QuoteError::Disabled { disabled: true, reason }.into());
    }
    let chain = cx.plugin().chain(&new.chain).ok_or_else(|| QuoteError::UnknownChain(shortened(&new.chain)))?.clone();
    let (token, amount) = asked(&chain, &new)?;
    let requested = parse_units(&amount.0, token.decimals).map_err(QuoteError::Amount)?;
    if new.to == Address::ZERO {
        return Err(QuoteError::ZeroAddress.into());
    }
    let asset_usd = asset_usd(&cx, &chain, token).await?;
    check_bounds(usd_of(requested, token.decimals, asset_usd))?;
    let position = position(&cx, &chain, token).await?;
    let price = cx.plugin().price.unwrap_or_default();
    let draft = draft(&cx, &chain, token, (&new, requested, asset_usd), (price, position)).await?;
    let draft = Draft { coins_max: coins_max(&cx).await?, ..draft };
    check_coins(&draft.quote, &draft)?;
    let quote = cx.write(async move |tx| record(tx, &draft).await).await?;
    Ok(Created(quote.into_quote_view(&chain)))
}

fn shortened(text: &str) -> String {
    text.chars().take(32).collect()
}

fn asked<'t>(chain: &'t TakenChain, new: &'t NewQuote) -> Result<(&'t Token, &'t Decimal), QuoteError> {
    let (asset, amount) = match (&new.asset, &new.amount, &new.usdc) {
        (None, None, Some(usdc)) => ("USDC", usdc),
        (asset, Some(amount), _) => (asset.as_deref().unwrap_or("USDC"), amount),
        _ => return Err(QuoteError::Amount("it is missing".to_owned())),
    };
    let unknown = || QuoteError::UnknownAsset { asset: shortened(asset), chain: chain.slug.clone() };
    Ok((chain.token(asset).ok_or_else(unknown)?, amount))
}

/// USD for one. A token is one USD, if its feed, where it has one, confirms that.
async fn asset_usd(cx: &RequestContext<Payin>, chain: &TakenChain, token: &Token) -> HandlerResult<Units> {
    let Some(feed) = &token.feed else { return Ok(one_usd()) };
    let known = prices::find(&cx.db(), &chain.slug, &token.symbol).await?;
    let usable = known.as_ref().and_then(|known| known.usable(feed.address, cx.now_s()));
    let reason = || known.as_ref().and_then(|known| known.paused.as_ref()).map_or(NO_PRICE, |_| PAUSED);
    let usd = usable.ok_or_else(|| QuoteError::PriceUnavailable {
        asset: token.symbol.clone(),
        chain: chain.slug.clone(),
        reason: reason(),
    })?;
    Ok(if token.is_native() { usd } else { one_usd() })
}

/// Of the requested amount, without dust.
fn check_bounds(usd: Option<Units>) -> Result<(), QuoteError> {
    let whole = |usd: u64| parse_units(&usd.to_string(), 18).unwrap_or_default();
    match usd {
        Some(usd) if whole(USD_MIN) <= usd && usd <= whole(USD_MAX) => Ok(()),
        usd => Err(QuoteError::OutOfBounds { usd: format_units(usd.unwrap_or_default(), 18) }),
    }
}

/// The newest block of the chain, while its deposits are scanned: only later blocks can hold the deposit.
async fn position(cx: &RequestContext<Payin>, chain: &TakenChain, token: &Token) -> HandlerResult<i64> {
    let db = cx.db();
    let scan = scans::find(&db, &chain.slug).await?;
    let reason = match unavailable_reason(cx, chain, scan.as_ref()).await? {
        Some(reason) => reason,
        None => match head(cx, chain, token).await {
            Ok(None) => PAUSED.to_owned(),
            Ok(Some(head)) => {
                // A server may be behind what was scanned.
                let scanned_to = scan.map_or(0, |scan| scan.scanned_to);
                return Ok(head.number.cast_signed().max(scanned_to));
            }
            Err(error) if error.is_transient() => "its servers do not answer, or differ".to_owned(),
            Err(error) => return Err(error.into()),
        },
    };
    let mut available = Vec::new();
    let scans = scans::all(&db).await?;
    for other in cx.plugin().chains.iter().filter(|other| other.slug != chain.slug) {
        if unavailable_reason(cx, other, scans.get(&other.slug)).await?.is_none() {
            available.push(other.slug.clone());
        }
    }
    Err(QuoteError::ChainUnavailable { chain: chain.slug.clone(), reason, unavailable: true, available }.into())
}

/// The newest block, when the token's decimals are those of its contract.
async fn head(cx: &RequestContext<Payin>, chain: &TakenChain, token: &Token) -> Result<Option<BlockInfo>, HostError> {
    let source = cx.chain(&chain.slug).quorum();
    let is_right = are_right(cx.plugin(), &chain.slug, &source, token).await?;
    if is_right { source.head().await.map(Some) } else { Ok(None) }
}

async fn draft(
    cx: &RequestContext<Payin>,
    chain: &TakenChain,
    token: &Token,
    (new, requested, asset_usd): (&NewQuote, Units, Units),
    (price, position): (Units, i64),
) -> HandlerResult<Draft> {
    let (network, site) = cx.client_hashes("clients").await?;
    let config = &cx.plugin().config;
    let quote = Quote {
        id: format!("q_{:016x}", rand::random::<u64>()),
        chain: chain.slug.clone(),
        asset: token.symbol.clone(),
        token: token.address,
        decimals: token.decimals,
        deposit_address: chain.deposit,
        recipient: new.to,
        payer: new.from,
        network,
        requested,
        send: requested,
        asset_usd,
        usd: Units::ZERO,
        price,
        spread_bps: SPREAD_BPS.cast_signed(),
        fmx_out: Wei::ZERO,
        position,
        required: chain.confirmations.cast_signed(),
        status: Status::Quoted,
        deposit: None,
        confirmations: 0,
        error: None,
        attempt: 1,
        intent: None,
        tx_out: None,
        nonce: None,
        is_mined: false,
        created_at: cx.now_s(),
        expires_at: cx.now_s() + LIFE_S,
        seen_at: None,
        paid_at: None,
        tx_in: None,
        block_in: None,
        units_in: None,
        is_open: true,
        address_index: None,
    };
    let quote = priced(quote, requested, price)?;
    Ok(Draft {
        quote,
        site,
        account: chain.account.clone().filter(|_| chain.gives_address(token)),
        held: cx.environment().signer_addresses.clone(),
        own_addresses_max: config.own_addresses_max,
        restored_s: cx.environment().restored_s.unwrap_or(0),
        price,
        dust: config.dust,
        per_recipient: config.open_per_recipient,
        per_network: config.open_per_network,
        usd_micro_max: config.open_usd_max.saturating_mul(MICRO),
        network_usd_micro_max: config.open_usd_per_network.saturating_mul(MICRO),
        coins_max: Wei::ZERO,
    })
}

/// The quote for this amount: what is sent is what is paid for, dust included.
fn priced(mut quote: Quote, send: Units, price: Units) -> Result<Quote, QuoteError> {
    let too_large = || QuoteError::Amount("it is too large".to_owned());
    quote.send = send;
    quote.usd = quote.usd_of(send).ok_or_else(too_large)?;
    quote.fmx_out = coins_for(quote.usd, price, SPREAD_BPS).ok_or_else(too_large)?;
    Ok(quote)
}

/// Nothing is sold that the account could not pay beside what it owes. Open quotes do not count: they may never be paid.
async fn coins_max(cx: &RequestContext<Payin>) -> HandlerResult<Wei> {
    let Some(payer) = cx.signer(ROLE).configured_address().await? else { return Err(QuoteError::NoCoins.into()) };
    let balance = match cx.chain(MAIN).balance(payer, None).await {
        Err(error) if error.is_transient() => return Err(QuoteError::NoCoins.into()),
        balance => balance?,
    };
    let reserved = quotes::reserved(&cx.db()).await?;
    let payout_max = cx.plugin().config.payout_max_wei.unwrap_or_default();
    Ok(payout_max.min(balance.saturating_sub(reserved)))
}

fn check_coins(quote: &Quote, draft: &Draft) -> Result<(), QuoteError> {
    if quote.fmx_out <= draft.coins_max { Ok(()) } else { Err(QuoteError::NoCoins) }
}

async fn record(tx: &Tx, draft: &Draft) -> HandlerResult<Quote> {
    let Draft { quote, price, dust, .. } = draft;
    if pauses::is_paused(tx, &quote.chain, Some(&quote.asset)).await? {
        let (chain, reason, available) = (quote.chain.clone(), PAUSED.to_owned(), Vec::new());
        return Err(QuoteError::ChainUnavailable { chain, reason, unavailable: true, available }.into());
    }
    let send = match &draft.account {
        Some(_) => quote.requested,
        None => free_of(tx, quote, *dust).await?,
    };
    // With its dust: what is promised is what is bounded.
    let quote = priced(quote.clone(), send, *price)?;
    check_coins(&quote, draft)?;
    // Before the bounds: of those that it supersedes, the USD count no more.
    quotes::supersede(tx, &quote).await?;
    check_open(tx, draft, &quote).await?;
    let quote = with_own_address(tx, draft, quote).await?;
    if !quotes::insert(tx, &quote, draft.site.as_deref()).await? {
        // Another quote took the amount at this moment, and the database has not noticed: the client is told to ask again.
        return Err(HostError::new(HostErrorCode::Conflict, "the amount was taken at this moment").into());
    }
    Ok(quote)
}

/// The first amount that is no other open quote's.
async fn free_of(tx: &Tx, quote: &Quote, dust: Dust) -> HandlerResult<Units> {
    let most = quote.requested.saturating_add(dust_max(quote.requested));
    let taken = quotes::taken(tx, (&quote.chain, quote.token), (quote.requested, most)).await?;
    let send = free_amount(quote.requested, quote.decimals, dust, &taken);
    Ok(send.ok_or_else(|| QuoteError::no_amount_free(dust))?)
}

/// With the next address of the account, where the chain has one.
async fn with_own_address(tx: &Tx, draft: &Draft, quote: Quote) -> HandlerResult<Quote> {
    let Some(account) = &draft.account else { return Ok(quote) };
    if quotes::open_own(tx, &quote.chain).await? >= draft.own_addresses_max {
        return Err(QuoteError::AddressesFull(quote.chain).into());
    }
    let index = addresses::take_index(tx, account.xpub(), &quote.chain, draft.restored_s).await?;
    let taken = index.and_then(|index| Some((index, account.address(index)?)));
    let unusable = |chain: &str, reason: &str| {
        let (chain, reason, available) = (chain.to_owned(), reason.to_owned(), Vec::new());
        QuoteError::ChainUnavailable { chain, reason, unavailable: true, available }
    };
    let Some((index, address)) = taken else {
        return Err(unusable(&quote.chain, "its xpub was that of another chain, or has no more addresses").into());
    };
    if draft.held.contains(&address) {
        return Err(unusable(&quote.chain, "its xpub has an address of the gateway's own").into());
    }
    let quote = Quote { deposit_address: address, address_index: Some(index), ..quote };
    if !addresses::insert(tx, &quote, account.xpub(), index).await? {
        return Err(unusable(&quote.chain, "an address of its xpub was given to another quote").into());
    }
    Ok(quote)
}

async fn check_open(tx: &Tx, draft: &Draft, quote: &Quote) -> HandlerResult<()> {
    let open = quotes::open(tx, quote.recipient, (&quote.network, draft.site.as_deref()), tx.now_s()).await?;
    if open.recipient >= draft.per_recipient {
        return Err(QuoteError::TooManyOpen {
            of: "no more for this recipient from your network",
            retry_after_s: RETRY_S,
        }
        .into());
    }
    if open.recipient_of_all >= draft.per_recipient.saturating_mul(RECIPIENT_FACTOR) {
        return Err(QuoteError::TooManyOpen { of: "no more for this recipient", retry_after_s: RETRY_S }.into());
    }
    if open.network >= draft.per_network || open.site >= draft.per_network.saturating_mul(SITE_FACTOR) {
        return Err(QuoteError::TooManyOpen { of: "no more for your network", retry_after_s: RETRY_S }.into());
    }
    let micro = in_micro(quote.usd);
    if open.network_usd_micro.max(open.site_usd_micro).saturating_add(micro) > draft.network_usd_micro_max {
        return Err(QuoteError::TooManyOpen { of: "no more USD for your network", retry_after_s: RETRY_S }.into());
    }
    if open.usd_micro.saturating_add(micro) > draft.usd_micro_max {
        return Err(QuoteError::OpenUsdFull.into());
    }
    Ok(())
}
