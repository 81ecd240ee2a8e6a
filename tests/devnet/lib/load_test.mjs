// The wallets of a load test: another account of the test mnemonic. Anyone knows its keys: never send real money there.
import { pbkdf2Sync } from "node:crypto";
import { HDKey, hdKeyToAccount } from "viem/accounts";
import { MNEMONIC } from "./anvil.mjs";

const BRANCH = "m/44'/60'/7'/0";

/** What a gateway needs to run it, and the account from which the wallets are funded. */
export function loadTest() {
  // The seed of BIP-39.
  const seed = pbkdf2Sync(MNEMONIC, "mnemonic", 2048, 64, "sha512");
  const root = HDKey.fromMasterSeed(seed);
  return {
    seed: seed.toString("hex"),
    xpub: root.derive(BRANCH).publicExtendedKey,
    float: hdKeyToAccount(root, { path: `${BRANCH}/0` }).address,
  };
}
