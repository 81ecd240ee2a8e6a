// Deploys every contract and wires them. The deployer's first transactions make them in this order, so on a fresh chain
// the addresses are always the same. As a program: node deploy.mjs RPC_URL prints the addresses as JSON.
import { pathToFileURL } from "node:url";
import { encodeDeployData, encodeFunctionData, getAddress } from "viem";
import { compile } from "./lib/compile.mjs";
import { keyOf, testKeys } from "./lib/keys.mjs";
import { Rpc, hex } from "./lib/rpc.mjs";

const FMX = 10n ** 18n;
const DAY = 86_400n;
/** More than any of these needs; unused gas costs nothing. */
const GAS = hex(15_000_000);
/** High enough for any base fee of a young chain. */
const GAS_PRICE = hex(100n * 10n ** 9n);
const BASE_URL = "http://127.0.0.1:8080";

/** What the steps below share: the node, the compiled contracts, who sends. */
class Deployer {
  constructor(rpc, from) {
    this.rpc = rpc;
    this.from = from;
    this.artifacts = compile();
  }

  async deploy(name, args = [], value = 0n) {
    const { abi, bytecode } = this.artifacts[name];
    const receipt = await this.#send({ data: encodeDeployData({ abi, bytecode, args }), value: hex(value) }, name);
    return getAddress(receipt.contractAddress);
  }

  async call(name, to, functionName, args, value = 0n) {
    const data = encodeFunctionData({ abi: this.artifacts[name].abi, functionName, args });
    await this.#send({ to, data, value: hex(value) }, `${name}.${functionName}`);
  }

  async #send(transaction, what) {
    const complete = { from: this.from, gas: GAS, gasPrice: GAS_PRICE, ...transaction };
    const receipt = await this.rpc.receipt(await this.rpc.call("eth_sendTransaction", complete));
    if (receipt.status !== "0x1") throw new Error(`${what} reverted`);
    return receipt;
  }
}

/**
 * On a node that mines at once and lets the deployer send. Answers {contracts, others, deployBlock}: `contracts` by the
 * keys of the gateway's configuration, `others` what the gateway is not configured with.
 */
export async function deploy(rpc, { baseUrl = BASE_URL, minBond = 100n * FMX } = {}) {
  // A second for each block, whatever the clock says: the same chain each time.
  await rpc.call("anvil_setBlockTimestampInterval", 1);
  const deployed = await deployAll(rpc, baseUrl, minBond);
  await rpc.call("anvil_removeBlockTimestampInterval");
  return deployed;
}

async function deployAll(rpc, baseUrl, minBond) {
  const keys = testKeys();
  const step = new Deployer(rpc, keyOf(keys, "deployer").address);
  const block = await rpc.call("eth_getBlockByNumber", "latest", false);
  const supply = await deploySupply(step, keys, BigInt(block.timestamp));
  const jobs = await deployJobs(step, supply, minBond);
  const payments = await deployPayments(step, supply);
  const registries = await deployRegistries(step, jobs, `${baseUrl}/api/agents/`);
  const tokens = { tokenFactory: await step.deploy("AgentTokenFactory", [jobs.registry, supply.multisig, supply.treasury]) };
  const records = await deployRecords(step, jobs, payments, supply);
  const dex = await deployDex(step);
  return {
    deployBlock: Number(block.number) + 1,
    contracts: { ...jobs, ...payments, ...registries, ...tokens, ...records },
    others: { ...supply, ...dex },
  };
}

async function deploySupply(step, keys, now) {
  const owners = ["multisig1", "multisig2", "multisig3"].map((role) => keyOf(keys, role).address);
  const multisig = await step.deploy("Multisig", [owners, 2n]);
  const treasury = await step.deploy("Treasury", [multisig]);
  return {
    multisig,
    treasury,
    faucet: await step.deploy("Faucet", [multisig], 10_000n * FMX),
    foundationLock: await step.deploy("FoundationLock", [treasury, now + 365n * DAY], 50_000n * FMX),
    vesting: await step.deploy("FMXVesting", [treasury, now - 200n * DAY], 20_000n * FMX),
  };
}

/** The deployer governs until the escrow is known to the registry. Disputes are decided by the pool. */
async function deployJobs(step, { multisig, treasury }, minBond) {
  const registry = await step.deploy("AgentRegistry", [step.from, minBond]);
  const escrow = await step.deploy("ServiceEscrow", [registry, step.from, treasury]);
  const arbiterPool = await step.deploy("ArbiterPool", [multisig, escrow]);
  await step.call("AgentRegistry", registry, "setEscrow", [escrow]);
  await step.call("AgentRegistry", registry, "setGovernance", [multisig]);
  await step.call("ServiceEscrow", escrow, "setGovernance", [arbiterPool]);
  return { registry, escrow, arbiterPool };
}

async function deployPayments(step, { multisig, treasury }) {
  const accountImpl = await step.deploy("AgentAccount");
  return {
    x402Vault: await step.deploy("X402Vault", [multisig, treasury]),
    accountImpl,
    accountFactory: await step.deploy("AgentAccountFactory", [accountImpl]),
    streamPay: await step.deploy("StreamPay", [multisig, treasury]),
  };
}

async function deployRegistries(step, { registry, escrow }, uriPrefix) {
  const identity8004 = await step.deploy("IdentityRegistry8004", [registry, uriPrefix, "/erc8004.json"]);
  return {
    identity8004,
    reputation8004: await step.deploy("ReputationRegistry8004", [identity8004, escrow]),
    validation8004: await step.deploy("ValidationRegistry8004", [identity8004]),
  };
}

async function deployRecords(step, { registry, escrow }, { accountFactory }, { multisig }) {
  return {
    memoryAnchor: await step.deploy("MemoryAnchor", [registry, accountFactory, multisig]),
    endorsements: await step.deploy("Endorsements", [registry, escrow, accountFactory, multisig]),
  };
}

/** Pools at 0.05 USD per FMX, in both currencies. */
async function deployDex(step) {
  const wfmx = await step.deploy("WFMX");
  const usdf = await step.deploy("USDF", [step.from]);
  const aznt = await step.deploy("AZNT", [step.from]);
  const dexFactory = await step.deploy("UniswapV2Factory", [step.from]);
  const dexRouter = await step.deploy("DexRouter", [dexFactory, wfmx]);
  const pools = [
    ["USDF", usdf, 10_000n * 10n ** 6n, 200_000n * FMX],
    ["AZNT", aznt, 8_500n * 10n ** 6n, 100_000n * FMX],
  ];
  for (const [name, token, tokens, coins] of pools) {
    await step.call(name, token, "mint", [step.from, tokens]);
    await step.call(name, token, "approve", [dexRouter, tokens]);
    const args = [token, tokens, 0n, 0n, 0n, step.from, 2n ** 63n];
    await step.call("DexRouter", dexRouter, "addLiquidityFMX", args, coins);
  }
  return { wfmx, usdf, aznt, dexFactory, dexRouter };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [url] = process.argv.slice(2);
  if (!url) throw new Error("usage: node deploy.mjs RPC_URL");
  console.log(JSON.stringify(await deploy(new Rpc(url)), null, 2));
}
