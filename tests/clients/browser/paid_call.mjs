// A page of another origin pays agents with @x402/fetch in headless Chromium, in both versions of x402:
// `node paid_call.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG`. Prints the answers and payments; fails when a call does.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";
import { chromium } from "playwright-core";

const [gateway, privateKey, priced, free] = process.argv.slice(2);
const LIMIT_MS = 60_000;
/** What the page runs: the published client with its dependencies, and the scheme that pays with vouchers. */
const PAGE = `
  import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
  import { privateKeyToAccount } from "viem/accounts";
  import { payWithVouchers } from "../service_voucher.mjs";

  window.connect = async (gateway, privateKey) => {
    const account = privateKeyToAccount(privateKey);
    const { domain } = await (await fetch(gateway + "/api/x402/supported")).json();
    const pay = wrapFetchWithPayment(fetch, payWithVouchers(new x402Client(), account, domain, 10n ** 18n));
    window.call = async (url, input) => {
      const headers = { "content-type": "application/json" };
      const response = await pay(url, { method: "POST", headers, body: JSON.stringify(input) });
      const header = response.headers.get("PAYMENT-RESPONSE");
      const payment = header && decodePaymentResponseHeader(header);
      return { status: response.status, answer: await response.json(), payment };
    };
    return account.address;
  };
`;

async function bundle() {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    platform: "browser",
    write: false,
  });
  return outputFiles[0].text;
}

/** A page with the script, on an origin that is not the gateway's. */
async function serve(script) {
  const server = createServer(({ url }, response) => {
    const [type, body] = {
      "/": ["text/html", '<!doctype html><title>A shop</title><script src="/page.js"></script>'],
      "/page.js": ["text/javascript", script],
    }[url] ?? ["text/plain", ""];
    response.writeHead(body ? 200 : 404, { "content-type": `${type}; charset=utf-8` }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

async function calls(page) {
  const told = [];
  for (const version of [1, 2]) {
    const url = `${gateway}/a/${priced}/invoke${version === 1 ? "" : `?x402Version=${version}`}`;
    const paid = await page.evaluate(([url, input]) => window.call(url, input), [url, { text: "Grüße, 世界" }]);
    assert.equal(paid.status, 200, JSON.stringify(paid));
    assert.equal(paid.payment?.success, true, "the page reads the receipt");
    told.push({ version, ...paid });
  }
  const url = `${gateway}/a/${free}/invoke`;
  const unpaid = await page.evaluate(([url, input]) => window.call(url, input), [url, { text: "Grüße, 世界" }]);
  assert.deepEqual([unpaid.status, unpaid.payment], [200, null], JSON.stringify(unpaid));
  return [...told, { version: null, ...unpaid }];
}

async function main() {
  const { server, url } = await serve(await bundle());
  const profile = await mkdtemp(join(tmpdir(), "paid-call-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(url);
    const payer = await page.evaluate(([gateway, key]) => window.connect(gateway, key), [gateway, privateKey]);
    const told = await calls(page);
    console.log(JSON.stringify({ payer, origin: new URL(url).origin, calls: told }));
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
    server.close();
  }
}

if (!free) throw new Error("usage: node paid_call.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG");
setTimeout(() => {
  console.error(`not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
await main();
