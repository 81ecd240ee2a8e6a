// The gateway as a facilitator of others: asked by the official facilitator client, and by a stranger's server with @x402/express
// that @x402/fetch pays: `node facilitator.mjs BASE_URL PRIVATE_KEY PAYEE`. Prints the outcomes; fails when one is wrong.

import assert from "node:assert/strict";
import { once } from "node:events";

import { HTTPFacilitatorClient } from "@x402/core/http";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import express from "express";
import { privateKeyToAccount } from "viem/accounts";

import { ASSET, NETWORK, payWithVouchers } from "./service_voucher.mjs";

const [gateway, privateKey, payee] = process.argv.slice(2);
const LIMIT_MS = 60_000;
const PRICE_WEI = 10n ** 15n;
const RESOURCE = "https://stranger.example/report";
const SCHEME = "service-voucher";

/** What a provider offers, in the shapes of both versions. */
function offer(x402Version) {
  const common = { scheme: SCHEME, network: NETWORK, asset: ASSET, payTo: payee, maxTimeoutSeconds: 300, extra: {} };
  const amount = String(PRICE_WEI);
  if (x402Version === 2) return { x402Version, resource: { url: RESOURCE }, accepts: [{ ...common, amount }] };
  const requirement = { ...common, maxAmountRequired: amount, resource: RESOURCE, description: "A report", mimeType: "text/plain" };
  return { x402Version, accepts: [requirement] };
}

/** One voucher: it is verified, taken once, and refused afterwards and with any other amount. */
async function settleOnce(facilitator, client, x402Version) {
  const offered = offer(x402Version);
  const [requirements] = offered.accepts;
  const payload = await client.createPaymentPayload(offered);
  const verified = await facilitator.verify(payload, requirements);
  assert.deepEqual([verified.isValid, verified.payer], [true, payload.payload.voucher.payer], JSON.stringify(verified));
  const altered = structuredClone(payload);
  altered.payload.voucher.amount = String(PRICE_WEI + 1n);
  const forged = await facilitator.verify(altered, requirements);
  const settled = await facilitator.settle(payload, requirements);
  assert.deepEqual([settled.success, settled.network], [true, NETWORK], JSON.stringify(settled));
  const again = await facilitator.settle(payload, requirements);
  assert.deepEqual([forged.isValid, again.success], [false, false], JSON.stringify({ forged, again }));
  return { x402Version, nonce: payload.payload.voucher.nonce, verified, forged, settled, again };
}

/** How a server of @x402/express offers vouchers. Its prices are in wei. */
const VOUCHER_SERVER = {
  scheme: SCHEME,
  defaultAssetTransferMethod: "default",
  paymentFlows: { default: { supported: ["authorization"], default: "authorization" } },
  parsePrice: async (price) => price,
  enhancePaymentRequirements: async (requirements, { extra }) => ({ ...requirements, extra: { ...extra, ...requirements.extra } }),
};

async function startStranger(facilitator) {
  const app = express();
  const price = { amount: String(PRICE_WEI), asset: ASSET };
  const accepts = { scheme: SCHEME, network: NETWORK, payTo: payee, price, maxTimeoutSeconds: 300 };
  const routes = { "GET /report": { accepts, description: "A report" }, "GET /broken": { accepts, description: "It fails" } };
  app.use(paymentMiddleware(routes, new x402ResourceServer(facilitator).register(NETWORK, VOUCHER_SERVER)));
  app.get("/report", (request, response) => void response.json({ report: "all is well" }));
  app.get("/broken", (request, response) => void response.status(500).json({ error: "not today" }));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/** The stranger is paid for what it delivers; for what fails it asks the facilitator for nothing. */
async function payStranger(facilitator, client) {
  const stranger = await startStranger(facilitator);
  const paying = wrapFetchWithPayment(fetch, client);
  try {
    const unpaid = await fetch(`${stranger.url}/report`);
    assert.deepEqual([unpaid.status, unpaid.headers.has("PAYMENT-REQUIRED")], [402, true]);
    const paid = await paying(`${stranger.url}/report`);
    const [answer, header] = [await paid.json(), paid.headers.get("PAYMENT-RESPONSE")];
    assert.equal(paid.status, 200, JSON.stringify(answer));
    const payment = decodePaymentResponseHeader(header);
    assert.equal(payment.success, true, JSON.stringify(payment));
    const broken = await paying(`${stranger.url}/broken`);
    assert.deepEqual([broken.status, broken.headers.has("PAYMENT-RESPONSE")], [500, false]);
    return { answer, payment };
  } finally {
    stranger.stop();
  }
}

async function main() {
  const account = privateKeyToAccount(privateKey);
  const facilitator = new HTTPFacilitatorClient({ url: `${gateway}/api/x402` });
  const supported = await facilitator.getSupported();
  const versions = supported.kinds.filter(({ scheme, network }) => scheme === SCHEME && network === NETWORK);
  assert.deepEqual(versions.map(({ x402Version }) => x402Version).sort(), [1, 2], JSON.stringify(supported));
  // The official client leaves out what is not in its schema.
  const { domain } = await (await fetch(`${gateway}/api/x402/supported`)).json();
  const client = payWithVouchers(new x402Client(), account, domain, PRICE_WEI);
  const vouchers = [await settleOnce(facilitator, client, 1), await settleOnce(facilitator, client, 2)];
  const stranger = await payStranger(facilitator, client);
  console.log(JSON.stringify({ payer: account.address, supported, vouchers, stranger }));
}

if (!payee) throw new Error("usage: node facilitator.mjs BASE_URL PRIVATE_KEY PAYEE");
setTimeout(() => {
  console.error(`not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
await main();
