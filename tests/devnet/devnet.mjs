// A whole dev network in the foreground: anvil with every contract behind a proxy that knows the network's rule on tips, and
// files that say where. Ends with Ctrl-C or SIGTERM, and takes anvil with it however it ends.
import { parseArgs } from "node:util";
import { formatEther, parseEther } from "viem";
import { registerAgents, startAgents } from "./agents.mjs";
import { deploy } from "./deploy.mjs";
import { CHAIN_ID, startAnvil } from "./lib/anvil.mjs";
import { KEY_COUNT, testKeys } from "./lib/keys.mjs";
import { loadTest } from "./lib/load_test.mjs";
import { whenParentEnds } from "./lib/parent.mjs";
import { startPayinChains } from "./lib/payin.mjs";
import { hex } from "./lib/rpc.mjs";
import { leave } from "./lib/settings.mjs";
import { startProxy } from "./proxy.mjs";
import { playEconomy } from "./scenario.mjs";

const USAGE = `usage: node devnet.mjs [OPTIONS]
  --port N         port on 127.0.0.1, 0 for a free one (8545)
  --out DIR        folder for devnet.json, gateway.toml and gateway.env (./data/devnet)
  --block-time S   seconds between two blocks; 0 mines a block for each transaction (7)
  --base-url URL   where the gateway will be, for the URIs of agents (http://127.0.0.1:8080)
  --agents N       plays an economy of N agents first, told in DIR/economy.json (0)
  --jobs M         with M jobs (4 for each agent)
  --updates N      and agents that change their prices N times each (0)
  --block-steps N  at most N of its steps in a block (2500 in a large one, 40 in a small one)
  --seed S         the same seed plays the same economy (1)
  --endpoints N    real agents that answer calls, the second one priced (0)
  --load-test      funds the float of a load test, which a gateway then runs
  --payin          two more chains with a test dollar, for which a gateway then sells coins
  --payin-named N  in their place, N of the seven chains that pay-in has names for, with their ids and dollars (0)
  --first-block N  number of the block that the chain begins with (0)
  --with-parent    ends when the program that started it does
  --prune          keeps no state of earlier blocks: a large economy fits into memory`;

/** How long ago the chain begins: long enough for the deployment, and for the weeks that an economy takes. */
const DEPLOYMENT_S = 600;
/** What the float of a load test has. */
const LOAD_TEST_FMX = "1000";
const ECONOMY_S = 60 * 86_400;

function options() {
  const text = (value) => ({ type: "string", default: value });
  const { values } = parseArgs({
    options: {
      port: text("8545"),
      out: text("./data/devnet"),
      "block-time": text("7"),
      "base-url": text("http://127.0.0.1:8080"),
      agents: text("0"),
      jobs: { type: "string" },
      updates: text("0"),
      "block-steps": { type: "string" },
      seed: text("1"),
      endpoints: text("0"),
      "first-block": text("0"),
      "load-test": { type: "boolean", default: false },
      payin: { type: "boolean", default: false },
      "payin-named": text("0"),
      "with-parent": { type: "boolean", default: false },
      prune: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const whole = (name, value = values[name]) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} takes a whole number, not ${value}`);
    return number;
  };
  const agents = whole("agents");
  const blockSteps = values["block-steps"] && whole("block-steps");
  const jobs = whole("jobs", values.jobs ?? 4 * agents);
  const economy = agents > 0 ? { agents, jobs, updates: whole("updates"), blockSteps, seed: whole("seed") } : null;
  const chain = { port: whole("port"), blockTime: whole("block-time"), firstBlock: whole("first-block") };
  const numbers = { ...chain, endpoints: whole("endpoints"), payinNamed: whole("payin-named") };
  return { ...values, ...numbers, baseUrl: values["base-url"], withParent: values["with-parent"], economy, loadTest: values["load-test"] ? loadTest() : null };
}

/** Deploys the contracts and plays the economy, before the network is announced. Returns what the files describe. */
async function prepare({ rpc, url }, { baseUrl, economy, blockTime, endpoints, loadTest }) {
  const deployed = await deploy(rpc, { baseUrl });
  const played = economy ? await playEconomy(rpc, deployed, economy) : null;
  const callable = await startAgents({ count: endpoints });
  // While each transaction is mined at once.
  await registerAgents({ rpcUrl: url, ...deployed, keys: testKeys() }, callable.agents);
  if (loadTest) await rpc.call("anvil_setBalance", loadTest.float, hex(parseEther(LOAD_TEST_FMX)));
  await rpc.call("evm_setNextBlockTimestamp", hex(secondsNow()));
  await rpc.call("evm_mine");
  if (blockTime > 0) await rpc.call("evm_setIntervalMining", blockTime);
  return { deployed, played, callable };
}

const secondsNow = () => Math.floor(Date.now() / 1000);

async function main() {
  const chosen = options();
  if (chosen.help) return console.log(USAGE);
  const genesisTime = secondsNow() - (chosen.economy ? ECONOMY_S : DEPLOYMENT_S);
  const args = ["--number", String(chosen.firstBlock), ...(chosen.prune ? ["--prune-history"] : [])];
  const anvil = await startAnvil({ accounts: KEY_COUNT, genesisTime, args });
  const stopped = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve(null));
    if (chosen.withParent) whenParentEnds(() => resolve(null));
  });
  const serving = serve(anvil, chosen);
  const failure = await Promise.race([stopped, anvil.ended, serving.then(() => stopped)]);
  await anvil.stop();
  if (failure) throw new Error(failure);
  // When it is stopped before it is ready, calls of the node fail, which is no error.
  await serving.then((served) => served.stop(), () => {});
}

async function serve(anvil, chosen) {
  const payin = chosen.payin || chosen.payinNamed > 0 ? await startPayinChains(chosen) : null;
  const { deployed, played, callable } = await prepare(anvil, chosen);
  const { agents } = callable;
  const proxy = await startProxy(anvil.url, { port: chosen.port });
  const where = { rpcUrl: proxy.url, wsUrl: proxy.wsUrl, controlUrl: `${proxy.url}/control`, anvilUrl: anvil.url };
  const extras = { loadTest: chosen.loadTest, payin: payin?.chains ?? null };
  const described = { ...where, chainId: CHAIN_ID, blockTime: chosen.blockTime, ...deployed, agents, keys: testKeys(), ...extras };
  leave(chosen.out, described, played);
  for (const { slug, pricePerCall } of agents) {
    const price = pricePerCall === "0" ? "free" : `${formatEther(BigInt(pricePerCall))} FMX a call`;
    console.log(`agent ${slug}: POST ${chosen.baseUrl}/a/${slug}/invoke, ${price}`);
  }
  if (payin) sayHowToPay(payin.chains);
  const contracts = Object.keys(deployed.contracts).length;
  console.log(`chain ${CHAIN_ID} on ${proxy.url}, ${contracts} contracts, described in ${chosen.out}`);
  return { stop: () => Promise.all([proxy.stop(), callable.stop(), payin?.stop()]) };
}

function sayHowToPay(chains) {
  for (const { name, chainId, rpcUrls, token, decimals } of chains) {
    console.log(`payin ${name}: USDC ${token} with ${decimals} decimals, chain id ${chainId}, ${rpcUrls[0]}`);
  }
  console.log("payin: POST /api/payin/quote, then node tests/clients/send_usdc.mjs QUOTE_ID; docs/buy-the-coin.md has every step");
}

main().catch((error) => {
  console.error(`devnet: ${error.message}`);
  // Also ends what still runs, such as an economy whose node is gone.
  process.exit(1);
});
