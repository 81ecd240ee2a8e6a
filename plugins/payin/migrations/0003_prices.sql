-- Prices of assets that have a feed: what was read last, and why an asset is paused.
CREATE TABLE payin_prices (
    chain TEXT NOT NULL,
    asset TEXT NOT NULL,
    -- Address of the feed.
    feed TEXT NOT NULL,
    -- USD for one, with 18 decimals, as quotes may use it; null while there is none.
    usd TEXT,
    -- When it was read, or tried, last.
    read_at BIGINT NOT NULL,
    -- What the feed said when it could be read last, and when that was.
    feed_usd TEXT,
    feed_at BIGINT,
    -- Why the asset is paused; null while it is not.
    paused TEXT,
    PRIMARY KEY (chain, asset)
);

-- USD for one whole token at the time of the quote, with 18 decimals.
ALTER TABLE payin_quotes ADD COLUMN asset_usd TEXT NOT NULL DEFAULT '1000000000000000000';
