// The files of a dev network: devnet.json for programs and tests, gateway.toml and gateway.env for the gateway.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf } from "./keys.mjs";

/** A single node needs no consensus. */
const CONSENSUS = "anvil";
/** What pay-in may send at once, and in an hour or a day: 20,000 USD at the price. */
const PAYIN_MAX_WEI = 400_000n * 10n ** 18n;
/** 1,000 coins. */
const REFERRALS_BUDGET_WEI = 10n ** 21n;
/** Where `tests/clients/new_wallet.mjs` listens. */
const WEBHOOK_RECEIVER = "127.0.0.1:8799";

/** Written completely or not at all: a program that waits for the file can read it as soon as it exists. */
function write(folder, name, text) {
  const partial = join(folder, `.${name}.${process.pid}`);
  writeFileSync(partial, text);
  renameSync(partial, join(folder, name));
}

/** devnet.json comes last: when it exists, everything is ready. */
export function leave(folder, devnet, economy) {
  mkdirSync(folder, { recursive: true });
  if (economy) write(folder, "economy.json", JSON.stringify(economy));
  write(folder, "gateway.toml", gatewayToml(devnet));
  write(folder, "gateway.env", gatewayEnv(devnet));
  write(folder, "devnet.json", `${JSON.stringify(devnet, null, 2)}\n`);
}

function gatewayToml({ chainId, rpcUrl, wsUrl, blockTime, deployBlock, contracts, others }) {
  const addresses = Object.entries({ ...contracts, ...others }).map(([key, address]) => `${key} = "${address}"`);
  return `# For \`gateway run --config\`: a gateway on this dev network.
network_name = "Dev Network"
chain_id = ${chainId}

[chains.main]
rpc = ["${rpcUrl}"]
ws = "${wsUrl}"
chain_id = ${chainId}
deploy_block = ${deployBlock}
block_time_s = ${Math.max(1, blockTime)}
consensus = "${CONSENSUS}"
public_rpc = "${rpcUrl}"

[chains.main.contracts]
${addresses.join("\n")}
`;
}

/**
 * The same as variables, which a gateway takes whatever its file says, and what it needs to pay and be paid: its keys, who gets the
 * price of memory (a wallet, because only it can take that out of the vault), the budget of referrals, and which local hosts it may
 * call: its agents, and a receiver of webhooks.
 */
function gatewayEnv({ chainId, rpcUrl, wsUrl, blockTime, deployBlock, contracts, others, agents, keys, loadTest, payin }) {
  const addresses = Object.entries({ ...contracts, ...others });
  const main = {
    ...{ RPC: rpcUrl, WS: wsUrl, CHAIN_ID: chainId, DEPLOY_BLOCK: deployBlock },
    ...{ BLOCK_TIME_S: Math.max(1, blockTime), CONSENSUS, PUBLIC_RPC: rpcUrl },
    ...Object.fromEntries(addresses.map(([key, address]) => [`CONTRACTS__${key.toUpperCase()}`, address])),
  };
  const lines = Object.entries(main).map(([key, value]) => `GATEWAY_CHAINS__MAIN__${key}=${value}`);
  const hosts = [...new Set(agents.map(({ endpoint }) => new URL(endpoint).host))];
  const signers = ["facilitator", "relayer", "growth", "oracle"];
  const payments = [
    ...signers.map((role) => `GATEWAY_SIGNERS__${role.toUpperCase()}__KEY=${keyOf(keys, role).privateKey}`),
    `GATEWAY_PLUGINS__MEMORY__TREASURY=${keyOf(keys, "growth").address}`,
    `GATEWAY_PLUGINS__REFERRALS__BUDGET_WEI=${REFERRALS_BUDGET_WEI}`,
    `GATEWAY_EGRESS__ALLOW_HOSTS=${[...hosts, WEBHOOK_RECEIVER].join(",")}`,
  ];
  return [`GATEWAY_CHAIN_ID=${chainId}`, ...lines, ...payments, ...loadTestEnv(loadTest), ...payinEnv(payin, keys, blockTime), ""].join("\n");
}

/** A load test that begins by itself. */
function loadTestEnv(loadTest) {
  if (!loadTest) return [];
  const settings = { XPUB: loadTest.xpub, RUNNER: true, AUTOSTART: true, WALLETS: 200, OPERATOR_NAME: "the developer" };
  const lines = Object.entries(settings).map(([key, value]) => `GATEWAY_PLUGINS__LOADTEST__${key}=${value}`);
  return [`GATEWAY_SIGNERS__LOADTEST__KEY=${loadTest.seed}`, ...lines];
}

/** Coins for the test dollars of these chains. Whoever has the key of `multisig1` operates it, and has what is sent. */
function payinEnv(payin, keys, blockTime) {
  if (!payin) return [];
  const lines = (prefix, values) => Object.entries(values).map(([key, value]) => `${prefix}__${key}=${value}`);
  const caps = ["PAYOUT_MAX_WEI", "HOUR_MAX_WEI", "DAY_MAX_WEI"].map((key) => [key, PAYIN_MAX_WEI]);
  // In double quotes: the price is a text, and not the number that it looks like.
  const sold = { ENABLED: true, PRICE_USD: '"0.05"', ...Object.fromEntries(caps) };
  const settings = { ...sold, OPERATORS: JSON.stringify([keyOf(keys, "multisig1").address]) };
  const chains = payin.flatMap(({ name, title, chainId, rpcUrls, token, decimals, deposit, confirmations }) => [
    ...lines(`GATEWAY_CHAINS__${name.toUpperCase()}`, {
      ...{ RPC: rpcUrls.join(","), CHAIN_ID: chainId, BLOCK_TIME_S: Math.max(1, blockTime) },
    }),
    ...lines(`GATEWAY_PLUGINS__PAYIN__CHAINS__${name.toUpperCase()}`, {
      ...{ NAME: title, CHAIN_ID: chainId, DEPOSIT: deposit, CONFIRMATIONS: confirmations },
      ...{ TOKENS__USDC__ADDRESS: token, TOKENS__USDC__DECIMALS: decimals },
    }),
  ]);
  const key = `GATEWAY_SIGNERS__PAYIN__KEY=${keyOf(keys, "payin").privateKey}`;
  return [key, ...lines("GATEWAY_PLUGINS__PAYIN", settings), ...chains];
}
