// Real agents: HTTP servers that answer calls, registered on a dev network. The second one is priced.
//
// What makes a gateway sell calls of an agent:
// 1. On the chain: AgentRegistry.register(name, endpoint, metadataURI, pricePerJob), with a bond of at least minBond(). The sender is
//    the owner, whom calls are paid to; the name becomes the slug of /a/{slug}/…; the endpoint is what the gateway calls. The agent
//    must be Active. `pricePerJob` is what jobs in escrow cost, and has nothing to do with calls.
// 2. At the endpoint: GET <endpoint>/.well-known/service-agent.json answers 2xx with a JSON object of at most 64 KiB in which
//    "service" is 1 and "pricePerCall" the price of a call in wei (text of digits, or an integer up to 2^53). Without it, or with 0,
//    calls are free. The gateway's plugin `agents` asks a few seconds after it has read the registration, and then every
//    `agents.probe_interval_s` (300).
// 3. Calls: the gateway forwards POST /a/{slug}/invoke to POST <endpoint>/invoke.
// All of it is on this machine, so the gateway has to allow the host: `egress.allow_hosts = ["127.0.0.1:PORT"]`.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createPublicClient, createWalletClient, http, parseAbi, parseEther, parseEventLogs, parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { keyOf } from "./lib/keys.mjs";
import { whenParentEnds } from "./lib/parent.mjs";

const USAGE = `usage: node agents.mjs [OPTIONS]
  --devnet FILE  of the dev network on whose chain they register (./data/devnet/devnet.json)
  --port N       port on 127.0.0.1, 0 for a free one (8090)
  --agents N     how many (3)
  --with-parent  ends when the program that started it does`;

const OWNER = "user8";
const PRICED = 2;
const PRICE_PER_CALL = parseEther("0.001");
const PRICE_PER_JOB = parseEther("1");
const BODY_BYTES_MAX = 1024 * 1024;
/** The network takes no transaction with less. */
const TIP = parseGwei("1");
const REGISTRY = parseAbi([
  "function minBond() view returns (uint256)",
  "function register(string name, string endpoint, string metadataURI, uint256 pricePerJob) payable returns (uint256)",
  "event AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
]);

const nameOf = (number) => (number === 1 ? "Echo" : number === PRICED ? "Paid Echo" : `Echo ${number}`);
const priceOf = (number) => (number === PRICED ? PRICE_PER_CALL : 0n);

function cardOf({ number, id }) {
  return {
    service: 1,
    ...(id && { agentId: id }),
    name: nameOf(number),
    description: "Answers what it was asked, and who paid.",
    capabilities: ["echo"],
    pricePerJob: String(PRICE_PER_JOB),
    ...(priceOf(number) > 0n && { pricePerCall: String(priceOf(number)) }),
  };
}

/** What the gateway said of the call stands in its headers. */
function answer({ number }, headers, body) {
  const said = (name) => headers[`x-service-${name}`] ?? null;
  const from = { agentId: said("agent-id"), payer: said("payer"), nonce: said("payment-nonce"), jobId: said("job-id") };
  return { agent: nameOf(number), echo: parsed(body), ...from };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Null when it is too long. It is read to its end all the same, so that the client reads the answer. */
async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? null : Buffer.concat(chunks).toString();
}

/** Serves so many agents, each below its number. Answers {agents, stop()}; `agents` are {number, name, slug, endpoint, pricePerCall}. */
export async function startAgents({ port = 0, count = 3 } = {}) {
  const agents = [];
  const server = createServer(async (request, response) => {
    const reply = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const [, number, ...rest] = request.url.split("?")[0].split("/");
    const agent = agents.find((agent) => String(agent.number) === number);
    const what = `${request.method} ${rest.join("/")}`;
    if (agent && what === "GET .well-known/service-agent.json") return reply(200, cardOf(agent));
    if (!agent || what !== "POST invoke") return reply(404, { error: "there is nothing" });
    const body = await readBody(request);
    if (body === null) return reply(413, { error: "too long" });
    reply(200, answer(agent, request.headers, body));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  for (let number = 1; number <= count; number++) {
    const [name, endpoint] = [nameOf(number), `${url}/${number}`];
    const slug = name.toLowerCase().replaceAll(" ", "-");
    agents.push({ number, name, slug, endpoint, pricePerCall: String(priceOf(number)) });
  }
  const stop = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { agents, stop };
}

/** Registers what is not yet, for one owner; `devnet` is devnet.json. Each agent gets its `id`. */
export async function registerAgents(devnet, agents) {
  const { rpcUrl, deployBlock, contracts, keys } = devnet;
  const account = privateKeyToAccount(keyOf(keys, OWNER).privateKey);
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: 100 });
  const wallet = createWalletClient({ account, chain: null, transport });
  const registry = { address: contracts.registry, abi: REGISTRY };
  const value = await reader.readContract({ ...registry, functionName: "minBond" });
  const query = { ...registry, eventName: "AgentRegistered", args: { owner: account.address } };
  const known = await reader.getContractEvents({ ...query, fromBlock: BigInt(deployBlock) });
  const hashes = [];
  for (const { name, endpoint } of agents.filter(({ endpoint }) => !known.some(({ args }) => args.endpoint === endpoint))) {
    const args = [name, endpoint, `${endpoint}/.well-known/service-agent.json`, PRICE_PER_JOB];
    hashes.push(await wallet.writeContract({ ...registry, functionName: "register", args, value, maxPriorityFeePerGas: TIP }));
  }
  const receipts = await Promise.all(hashes.map((hash) => reader.waitForTransactionReceipt({ hash })));
  const registered = [...known, ...receipts.flatMap(({ logs }) => parseEventLogs({ abi: REGISTRY, logs }))];
  for (const agent of agents) {
    agent.id = Number(registered.find(({ args }) => args.endpoint === agent.endpoint).args.id);
    agent.owner = account.address;
  }
}

async function main() {
  const text = (value) => ({ type: "string", default: value });
  const flag = { type: "boolean", default: false };
  const options = { devnet: text("./data/devnet/devnet.json"), port: text("8090"), agents: text("3"), "with-parent": flag, help: flag };
  const { values } = parseArgs({ options });
  if (values.help) return console.log(USAGE);
  const { agents } = await startAgents({ port: Number(values.port), count: Number(values.agents) });
  if (values["with-parent"]) whenParentEnds(() => process.exit());
  await registerAgents(JSON.parse(readFileSync(values.devnet, "utf8")), agents);
  console.log(JSON.stringify({ agents }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  main().catch((error) => {
    console.error(`agents: ${error.message}`);
    process.exit(1);
  });
}
