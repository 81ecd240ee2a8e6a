// The funded test keys and what they are for. Anyone knows them: never send real money there.
import { mnemonicToAccount } from "viem/accounts";
import { toHex } from "viem";
import { MNEMONIC } from "./anvil.mjs";

/** In the order of the mnemonic. The last ones are for whoever needs a wallet. */
const ROLES = [
  "deployer",
  "multisig1",
  "multisig2",
  "multisig3",
  "gateway",
  "facilitator",
  "relayer",
  "payin",
  "oracle",
  "growth",
];
export const KEY_COUNT = 20;

function roleOf(index) {
  return ROLES[index] ?? `user${index - ROLES.length + 1}`;
}

export function testKeys() {
  return Array.from({ length: KEY_COUNT }, (_, index) => {
    const account = mnemonicToAccount(MNEMONIC, { addressIndex: index });
    return { role: roleOf(index), address: account.address, privateKey: toHex(account.getHdKey().privateKey) };
  });
}

export function keyOf(keys, role) {
  return keys.find((key) => key.role === role);
}
