// Calls a priced agent and a free one through @x402/fetch and @x402/axios, in both versions of x402:
// `node paid_call.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG`. Prints the answers and payments; fails when a call does.

import assert from "node:assert/strict";

import * as forAxios from "@x402/axios";
import * as forFetch from "@x402/fetch";
import axios from "axios";
import { privateKeyToAccount } from "viem/accounts";

import { payWithVouchers } from "./service_voucher.mjs";

const [gateway, privateKey, priced, free] = process.argv.slice(2);
const LIMIT_MS = 60_000;
const MAX_WEI = 10n ** 18n;
const INPUT = { text: "Grüße, 世界" };

/** `domain` is the gateway's for vouchers. A call answers how many requests it took, and what the last one got. */
const LIBRARIES = {
  fetch(account, domain) {
    const client = payWithVouchers(new forFetch.x402Client(), account, domain, MAX_WEI);
    return (url) => callWithFetch(client, url);
  },
  axios(account, domain) {
    const client = payWithVouchers(new forAxios.x402Client(), account, domain, MAX_WEI);
    return (url) => callWithAxios(client, url);
  },
};

async function callWithFetch(client, url) {
  let requests = 0;
  const counted = (request) => {
    requests += 1;
    return fetch(request);
  };
  const paying = forFetch.wrapFetchWithPayment(counted, client);
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(INPUT) };
  const response = await paying(url, init);
  const header = response.headers.get("PAYMENT-RESPONSE");
  const payment = header && forFetch.decodePaymentResponseHeader(header);
  return { requests, status: response.status, answer: await read(response), payment };
}

async function read(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function callWithAxios(client, url) {
  let requests = 0;
  const instance = axios.create();
  instance.interceptors.request.use((request) => {
    requests += 1;
    return request;
  });
  const { status, data, headers } = await forAxios.wrapAxiosWithPayment(instance, client).post(url, INPUT);
  const header = headers["payment-response"];
  return { requests, status, answer: data, payment: header ? forAxios.decodePaymentResponseHeader(header) : null };
}

/** What clients say that may not pay: one that was not told of the asset, and one whose limit is lower than the price. */
async function refusals(account, domain, url) {
  const unaware = payWithVouchers(new forFetch.x402Client(), account, domain, MAX_WEI).setSpendControls({});
  const thrifty = payWithVouchers(new forAxios.x402Client(), account, domain, 0n);
  const reason = async (call) => call.then(() => "it paid", (error) => error.message);
  const refused = [await reason(callWithFetch(unaware, url)), await reason(callWithAxios(thrifty, url))];
  assert.match(refused[0], /rejected by spendControls/);
  assert.match(refused[1], /may be paid at once/);
  return refused;
}

async function main() {
  const account = privateKeyToAccount(privateKey);
  const { domain } = await (await fetch(`${gateway}/api/x402/supported`)).json();
  const urlOf = (slug, version) => `${gateway}/a/${slug}/invoke${version === 1 ? "" : `?x402Version=${version}`}`;
  const calls = [];
  for (const [library, open] of Object.entries(LIBRARIES)) {
    const call = open(account, domain);
    for (const version of [1, 2]) {
      const paid = await call(urlOf(priced, version));
      assert.deepEqual([paid.status, paid.requests], [200, 2], JSON.stringify(paid));
      assert.equal(paid.payment?.success, true, JSON.stringify(paid));
      assert.equal(paid.payment.payer, account.address);
      calls.push({ library, version, ...paid });
    }
    const unpaid = await call(urlOf(free, 1));
    assert.deepEqual([unpaid.status, unpaid.requests, unpaid.payment], [200, 1, null], JSON.stringify(unpaid));
    calls.push({ library, version: null, ...unpaid });
  }
  const nonces = calls.flatMap(({ payment }) => payment?.nonce ?? []);
  assert.equal(new Set(nonces).size, 4, "each call has a voucher of its own");
  const refused = await refusals(account, domain, urlOf(priced, 1));
  console.log(JSON.stringify({ payer: account.address, calls, refused }));
}

if (!free) throw new Error("usage: node paid_call.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG");
setTimeout(() => {
  console.error(`not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
await main();
