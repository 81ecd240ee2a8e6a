// Pays the priced agent of the dev network for a call, with the public client of x402: `node pay.mjs [GATEWAY]`.
import { readFileSync } from "node:fs";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import { payWithVouchers } from "./service_voucher.mjs";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
// The wallet that deposit.mjs made.
const wallet = privateKeyToAccount(readFileSync("payer.key", "utf8"));

// Signs vouchers of the gateway's vault, each over a hundredth of 1 FMX at most. A call that needs one is sent again with it.
const { domain } = await (await fetch(`${gateway}/api/x402/supported`)).json();
const pay = wrapFetchWithPayment(fetch, payWithVouchers(new x402Client(), wallet, domain, 10n ** 16n));

const answer = await pay(`${gateway}/a/paid-echo/invoke`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ text: "Hello" }),
});
console.log(answer.status, await answer.json());
const header = answer.headers.get("PAYMENT-RESPONSE");
console.log("payment:", header && decodePaymentResponseHeader(header));
process.exitCode = answer.ok ? 0 : 1;
