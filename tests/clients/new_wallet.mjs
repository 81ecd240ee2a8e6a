// A wallet with nothing comes in: coins from the faucet, an account of its own, a call that the gateway pays for, and a webhook
// that tells it what happened. `node new_wallet.mjs [GATEWAY]` prints what each step answered.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import canonicalize from "canonicalize";
import { createPublicClient, createWalletClient, encodeFunctionData, http, keccak256, parseAbi, parseEther, parseGwei, toBytes } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
const wallet = privateKeyToAccount(generatePrivateKey());
const { chain, contracts } = await ask("/.well-known/agent.json");
const transport = http(chain.rpc);
const reader = createPublicClient({ transport });
const mined = (hash) => reader.waitForTransactionReceipt({ hash, pollingInterval: 500 });

async function ask(path, body, headers = {}) {
  const sent = body && { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const answer = await fetch(gateway + path, sent);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

// Coins for the first steps. When many ask, the faucet wants a proof of work: a text whose hash begins with zero bits.
function solve(bits) {
  for (let number = 0; ; number++) {
    const hash = BigInt(keccak256(toBytes(`${wallet.address.toLowerCase()}:${number}`)));
    if (hash >> BigInt(256 - bits) === 0n) return String(number);
  }
}
const { pow, dripFmx } = await ask("/api/faucet");
const drip = await ask("/api/faucet", { address: wallet.address, ...(pow && { pow: solve(pow.bits) }) });
await mined(drip.txHash);
console.log(`coins: ${wallet.address} has ${dripFmx} FMX`);

// An account on the chain that belongs to the wallet. The gateway pays for its creation.
const created = await ask("/api/accounts/create", { owner: wallet.address });
await mined(created.txHash);
const account = created.address;
console.log(`account: ${account}`);

// The wallet gives its account a part of the coins, and listens on this machine for what happens to it.
const own = createWalletClient({ account: wallet, chain: null, transport });
await mined(await own.sendTransaction({ to: account, value: parseEther("0.1"), maxPriorityFeePerGas: parseGwei("1") }));
const secret = randomBytes(16).toString("hex");
const heard = new Promise((resolve) => {
  createServer(async (request, answer) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const said = String(request.headers["x-service-signature"]).padEnd(signature.length);
    const isGenuine = said.length === signature.length && timingSafeEqual(Buffer.from(said), Buffer.from(signature));
    answer.writeHead(isGenuine ? 204 : 401).end();
    if (isGenuine) resolve(JSON.parse(body));
  }).listen(8799, "127.0.0.1");
});
const { signing } = await ask("/.well-known/service.json");
const [firstLine] = signing.message.split("\n");
const webhook = { url: "http://127.0.0.1:8799/heard", secret, events: ["stream.opened"] };
const ts = Math.floor(Date.now() / 1000);
const hash = createHash("sha256").update(canonicalize(webhook)).digest("hex");
const lines = [firstLine, "action: webhook.set", `address: ${wallet.address}`, `ts: ${ts}`, `body: ${hash}`];
const sig = await wallet.signMessage({ message: lines.join("\n") });
const { id } = await ask("/api/webhooks", { ...webhook, address: wallet.address, ts, sig });
console.log(`webhook: ${id}`);

// A call of the account that costs the wallet no gas: it opens a payment stream to the wallet. The wallet signs the call, the gateway
// sends it.
const { signing: execute } = await ask("/api/relay");
const data = encodeFunctionData({
  abi: parseAbi(["function openStream(address payee, uint256 ratePerSec) payable returns (uint256)"]),
  args: [wallet.address, parseEther("0.0001")],
});
const call = { to: contracts.streamPay, value: parseEther("0.05"), deadline: BigInt(ts + 600) };
const nonce = await reader.readContract({ address: account, abi: parseAbi(["function nonce() view returns (uint256)"]), functionName: "nonce" });
const message = { to: call.to, value: call.value, dataHash: keccak256(data), nonce, deadline: call.deadline };
const signed = await wallet.signTypedData({
  domain: { name: execute.domain.name, version: execute.domain.version, chainId: execute.domain.chainId, verifyingContract: account },
  types: { Execute: parseFields() },
  primaryType: "Execute",
  message,
});
function parseFields() {
  const fields = "address to,uint256 value,bytes32 dataHash,uint256 nonce,uint64 deadline";
  return fields.split(",").map((field) => field.split(" ")).map(([type, name]) => ({ type, name }));
}
const relayed = await ask("/api/relay", {
  ...{ account, to: call.to, value: String(call.value), data, deadline: Number(call.deadline), sig: signed },
});
await mined(relayed.txHash);
console.log(`sponsored call: ${relayed.txHash}, ${relayed.remainingToday} more today`);

const { event, data: stream } = await Promise.race([heard, sleep(120_000, null, { ref: false })]);
console.log(`heard: ${event}, from ${stream.payer}`);
process.exit(0);
