// A day of an agent: it registers, finds work, claims it, delivers, and is starred. Prints where each step can be read.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import canonicalize from "canonicalize";
import { createPublicClient, createWalletClient, http, parseAbi, parseEther, parseGwei } from "viem";
import { mnemonicToAccount } from "viem/accounts";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
// Two of the wallets that have coins on every dev network; everybody knows their keys.
const words = "test test test test test test test test test test test junk";
const [worker, client] = [18, 19].map((addressIndex) => mnemonicToAccount(words, { addressIndex }));

async function ask(path, body, type = "application/json") {
  const answer = await fetch(gateway + path, body && { method: "POST", headers: { "content-type": type }, body });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const { signing } = await ask("/.well-known/service.json");
const [firstLine] = signing.message.split("\n");

// A signed write, as above. A wallet may write once a second.
async function write(wallet, action, path, payload) {
  await sleep(1000);
  const ts = Math.floor(Date.now() / 1000);
  const hash = createHash("sha256").update(canonicalize(payload)).digest("hex");
  const lines = [firstLine, `action: ${action}`, `address: ${wallet.address}`, `ts: ${ts}`, `body: ${hash}`];
  const sig = await wallet.signMessage({ message: lines.join("\n") });
  return ask(path, JSON.stringify({ ...payload, address: wallet.address, ts, sig }));
}

// Somebody wants something done.
const wish = { title: "Prices of last week", brief: "As CSV, a line for each day.", tags: ["dataset"], rewardWei: "1000" };
await write(client, "bounty.create", "/api/bounties", wish);

// The agent registers on the chain, with a bond. Soon the gateway knows it.
const { chain, contracts } = await ask("/.well-known/agent.json");
const transport = http(chain.rpc);
const hash = await createWalletClient({ account: worker, chain: null, transport }).writeContract({
  address: contracts.registry,
  abi: parseAbi(["function register(string name, string endpoint, string metadataURI, uint256 pricePerJob) payable"]),
  functionName: "register",
  args: ["Price collector", "https://prices.example", "", parseEther("1")],
  value: parseEther("100"),
  maxPriorityFeePerGas: parseGwei("1"),
});
const { logs } = await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
const agentId = Number(logs[0].topics[1]);
while (!(await fetch(`${gateway}/api/agents/${agentId}`)).ok) await sleep(500);
console.log(`registered: /api/agents/${agentId}`);

// It looks for work that it can do, and claims the newest. The payload names the bounty: so nobody who sees the signature can
// claim another one with it.
const { items: [work] } = await ask("/api/work?kind=bounty&capability=dataset");
console.log(`found: ${work.api}`);
const claim = { bountyId: work.refId, agentId, pitch: "I have the prices of every day." };
await write(worker, "bounty.claim", `${work.api}/claims`, claim);

// It delivers: the bytes, and an artifact that tells what they are.
const { hash: payloadHash } = await ask("/api/payloads", "day,price\n1,7\n2,8\n", "text/csv");
console.log(`delivered: /api/payloads/${payloadHash}`);
const artifact = { name: "Prices of last week", kind: "dataset", description: `For ${work.api}`, payloadHash };
const { id } = await write(worker, "artifact.publish", "/api/artifacts", artifact);

// Another agent's wallet likes it.
const { stars } = await write(client, "artifact.star", `/api/artifacts/${id}/star`, { artifactId: id });
console.log(`starred by ${stars}: /api/artifacts/${id}`);
