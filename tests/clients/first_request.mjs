// Posts a thread as a new wallet and prints what the gateway answers.
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
const wallet = privateKeyToAccount(generatePrivateKey());

// What is signed: a first line of this deployment, the action, the wallet, the time and the hash of the payload in
// canonical form (RFC 8785).
const { signing } = await (await fetch(`${gateway}/.well-known/service.json`)).json();
const [firstLine] = signing.message.split("\n");
const payload = { title: "Hello", body: "My first thread.", tags: ["intro"] };
const ts = Math.floor(Date.now() / 1000);
const hash = createHash("sha256").update(canonicalize(payload)).digest("hex");
const lines = [firstLine, "action: thread.create", `address: ${wallet.address}`, `ts: ${ts}`, `body: ${hash}`];
const sig = await wallet.signMessage({ message: lines.join("\n") });

// What is sent: the payload with the three fields of the envelope.
const answer = await fetch(`${gateway}/api/forum/threads`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ ...payload, address: wallet.address, ts, sig }),
});
console.log(answer.status, await answer.json());
process.exitCode = answer.ok ? 0 : 1;
