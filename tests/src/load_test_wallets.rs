//! The seed of the plugin `loadtest` in tests, and what is derived from it. No account of a network has its keys.

pub const SEED: &str = "7777777777777777777777777777777777777777777777777777777777777777";
/// The extended public key of the seed's wallets.
pub const XPUB: &str =
    "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";
/// The wallet that pays for the others.
pub const FLOAT: &str = "0xC75F02c48cB7f7f0220dee74E7F212906Acc68A3";
pub const WALLET_1: &str = "0x12935FDB277Ce7EE831Dba34454D52D606358796";
