// Lets the public clients of x402 (@x402/fetch, @x402/axios) pay for calls with vouchers, which the vault pays out of the payer's
// deposit.
import { bytesToBigInt, isAddressEqual, keccak256, stringToHex, zeroHash } from "viem";

export const NETWORK = "service:3961";
export const ASSET = "FMX";
/** The gateway takes none that expires within 90 seconds. */
const LIFETIME_MIN_S = 120;
const LIFETIME_MAX_S = 3600;
const TYPES = {
  Voucher: [
    { name: "payer", type: "address" },
    { name: "payee", type: "address" },
    { name: "amount", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "expiry", type: "uint64" },
    { name: "ref", type: "bytes32" },
  ],
};

/**
 * Makes an x402Client pay with vouchers, in both versions of x402. `account` is viem's and has a deposit in the vault; `domain` is
 * that member of the answer to GET /api/x402/supported. The vault pays a voucher as signed, so none is signed over more than
 * `maxWei`.
 */
export function payWithVouchers(client, account, domain, maxWei) {
  // By requirement: version 2 says beside the requirements what is paid for.
  const resources = new WeakMap();
  const scheme = {
    scheme: "service-voucher",
    async createPaymentPayload(x402Version, requirements) {
      const { scheme, network } = requirements;
      const voucher = newVoucher(account, domain, requirements, requirements.resource ?? resources.get(requirements));
      if (voucher.amount > maxWei) throw new Error(`${voucher.amount} wei are more than the ${maxWei} that may be paid at once`);
      const signature = await account.signTypedData({ domain, types: TYPES, primaryType: "Voucher", message: voucher });
      const texts = Object.entries(voucher).map(([name, value]) => [name, String(value)]);
      const payload = { voucher: Object.fromEntries(texts), signature };
      return x402Version === 1 ? { x402Version, scheme, network, payload } : { x402Version, payload };
    },
  };
  client.register(NETWORK, scheme).registerV1(NETWORK, scheme);
  client.onBeforePaymentCreation(async ({ paymentRequired, selectedRequirements }) => {
    resources.set(selectedRequirements, paymentRequired.resource?.url);
  });
  // Without this entry newer clients refuse every asset but the stablecoins that they know; older ones have no such controls.
  client.setSpendControls?.({ allowedAssets: [{ network: NETWORK, asset: ASSET }] });
  return client;
}

function newVoucher(account, domain, { payTo, amount, maxAmountRequired, maxTimeoutSeconds, extra }, resource) {
  const vault = extra?.vault ?? domain.verifyingContract;
  if (!isAddressEqual(vault, domain.verifyingContract)) throw new Error(`${vault} is another vault`);
  const lifetimeS = Math.min(Math.max(maxTimeoutSeconds, LIFETIME_MIN_S), LIFETIME_MAX_S);
  return {
    payer: account.address,
    payee: payTo,
    amount: BigInt(amount ?? maxAmountRequired),
    nonce: bytesToBigInt(crypto.getRandomValues(new Uint8Array(32))),
    expiry: BigInt(Math.floor(Date.now() / 1000) + lifetimeS),
    ref: resource ? keccak256(stringToHex(resource)) : zeroHash,
  };
}
