-- What the venues say of the coin's price: how the last attempt to read each of them ended. A reference only.
CREATE TABLE payin_market (
    -- primary or secondary
    venue TEXT NOT NULL PRIMARY KEY,
    tried_at BIGINT NOT NULL,
    -- As JSON; null when it could not be read.
    reading TEXT,
    -- Why not, in words for everybody.
    error TEXT
);
