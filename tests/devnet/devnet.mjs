// A whole dev network in the foreground: anvil with every contract, and files that say where. Ends with Ctrl-C or SIGTERM,
// and takes anvil with it however it ends.
import { parseArgs } from "node:util";
import { deploy } from "./deploy.mjs";
import { CHAIN_ID, startAnvil } from "./lib/anvil.mjs";
import { KEY_COUNT, testKeys } from "./lib/keys.mjs";
import { leave } from "./lib/settings.mjs";

const USAGE = `usage: node devnet.mjs [OPTIONS]
  --port N         port on 127.0.0.1, 0 for a free one (8545)
  --out DIR        folder for devnet.json, gateway.toml and chains.toml (./data/devnet)
  --block-time S   seconds between two blocks; 0 mines a block for each transaction (7)
  --base-url URL   where the gateway will be, for the URIs of agents (http://127.0.0.1:8080)`;

function options() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8545" },
      out: { type: "string", default: "./data/devnet" },
      "block-time": { type: "string", default: "7" },
      "base-url": { type: "string", default: "http://127.0.0.1:8080" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  return { ...values, port: whole(values, "port"), blockTime: whole(values, "block-time") };
}

function whole(values, name) {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} takes a whole number, not ${values[name]}`);
  return number;
}

async function main() {
  const { port, out, blockTime, "base-url": baseUrl, help } = options();
  if (help) return console.log(USAGE);
  const anvil = await startAnvil({ port, accounts: KEY_COUNT });
  const stopped = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve(null));
  });
  const deployed = await deploy(anvil.rpc, { baseUrl });
  if (blockTime > 0) await anvil.rpc.call("evm_setIntervalMining", blockTime);
  const rpcUrl = anvil.url;
  const wsUrl = rpcUrl.replace("http", "ws");
  leave(out, { rpcUrl, wsUrl, chainId: CHAIN_ID, blockTime, ...deployed, keys: testKeys() });
  console.log(`chain ${CHAIN_ID} on ${rpcUrl}, ${Object.keys(deployed.contracts).length} contracts, described in ${out}`);
  const failure = await Promise.race([stopped, anvil.ended]);
  await anvil.stop();
  if (failure) throw new Error(failure);
}

main().catch((error) => {
  console.error(`devnet: ${error.message}`);
  process.exitCode = 1;
});
