// What tests of contracts need: a chain of their own, calls by name, decoded events and errors. Rule: every test begins
// with the chain as it was deployed.
import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  keccak256,
  toHex,
} from "viem";
import { deploy } from "../deploy.mjs";
import { startAnvil } from "./anvil.mjs";
import { compile } from "./compile.mjs";
import { testKeys } from "./keys.mjs";
import { hex } from "./rpc.mjs";

export const FMX = 10n ** 18n;
export const DAY = 86_400;
export const ZERO = `0x${"00".repeat(20)}`;
export const ZERO_HASH = `0x${"00".repeat(32)}`;
export const hash = (text) => keccak256(toHex(text));

/** Which contract stands at which key of the deployment. */
const CONTRACT_OF = {
  registry: "AgentRegistry",
  escrow: "ServiceEscrow",
  arbiterPool: "ArbiterPool",
  x402Vault: "X402Vault",
  accountFactory: "AgentAccountFactory",
  accountImpl: "AgentAccount",
  streamPay: "StreamPay",
  identity8004: "IdentityRegistry8004",
  reputation8004: "ReputationRegistry8004",
  validation8004: "ValidationRegistry8004",
  tokenFactory: "AgentTokenFactory",
  memoryAnchor: "MemoryAnchor",
  endorsements: "Endorsements",
  multisig: "Multisig",
  treasury: "Treasury",
  faucet: "Faucet",
  foundationLock: "FoundationLock",
  vesting: "FMXVesting",
  wfmx: "WFMX",
  usdf: "USDF",
  aznt: "AZNT",
  dexFactory: "UniswapV2Factory",
  dexRouter: "DexRouter",
};

/** Starts a chain for the tests of this file. What it answers is ready when the first test runs. */
export function useChain(deployOptions = {}) {
  const chain = new Chain();
  let snapshot;
  before(async () => {
    await chain.start(deployOptions);
    snapshot = await chain.rpc.call("evm_snapshot");
  });
  beforeEach(async () => {
    await chain.rpc.call("evm_revert", snapshot);
    snapshot = await chain.rpc.call("evm_snapshot");
  });
  after(() => chain.anvil?.stop());
  return chain;
}

class Chain {
  #abis = new Map();

  async start(deployOptions) {
    this.artifacts = compile();
    this.anvil = await startAnvil();
    this.rpc = this.anvil.rpc;
    const { contracts, others } = await deploy(this.rpc, deployOptions);
    this.at = { ...contracts, ...others };
    this.keys = testKeys();
    this.users = this.keys.filter((key) => key.role.startsWith("user"));
    for (const [key, address] of Object.entries(this.at)) this.know(address, CONTRACT_OF[key]);
  }

  /** Lets a contract made by a test be called and its events be decoded. */
  know(address, name) {
    this.#abis.set(address.toLowerCase(), this.artifacts[name].abi);
  }

  encode(target, functionName, args) {
    return encodeFunctionData({ abi: this.#target(target).abi, functionName, args });
  }

  async read(target, functionName, ...args) {
    const { to, abi } = this.#target(target);
    const data = encodeFunctionData({ abi, functionName, args });
    return decodeFunctionResult({ abi, functionName, data: await this.rpc.call("eth_call", { to, data }, "latest") });
  }

  /** Sends and answers the decoded events; throws when it reverts. */
  async send(from, target, functionName, args = [], value = 0n) {
    const { to, abi } = this.#target(target);
    const data = encodeFunctionData({ abi, functionName, args });
    const transaction = { from, to, data, value: hex(value), gas: hex(20_000_000), gasPrice: hex(100n * 10n ** 9n) };
    const receipt = await this.rpc.receipt(await this.rpc.call("eth_sendTransaction", transaction));
    if (receipt.status !== "0x1") {
      const reason = await this.rpc.call("eth_call", transaction, "latest").catch((error) => this.#explain(abi, error));
      throw new Error(`${functionName} reverted: ${JSON.stringify(reason, bigints)}`);
    }
    return receipt.logs.map((log) => this.#decode(log)).filter(Boolean);
  }

  /** Asserts that the call would revert with this error; revert texts are called `Error`. */
  async reverts(errorName, errorArgs, from, target, functionName, args = [], value = 0n) {
    const { to, abi } = this.#target(target);
    const data = encodeFunctionData({ abi, functionName, args });
    const call = { from, to, data, value: hex(value), gas: hex(20_000_000) };
    const outcome = await this.rpc.call("eth_call", call, "latest").then(
      (result) => ({ answered: result }),
      (error) => this.#explain(abi, error),
    );
    assert.deepEqual(outcome, { errorName, args: errorArgs }, `${functionName} should have reverted`);
  }

  async logsOf(target) {
    const { to } = this.#target(target);
    const logs = await this.rpc.call("eth_getLogs", { address: to, fromBlock: "0x0", toBlock: "latest" });
    return logs.map((log) => this.#decode(log)).filter(Boolean);
  }

  async now() {
    return Number((await this.rpc.call("eth_getBlockByNumber", "latest", false)).timestamp);
  }

  /** The next block, which is mined here, is that much later than the last one. */
  async travel(seconds) {
    await this.travelTo((await this.now()) + seconds);
  }

  async travelTo(time) {
    await this.rpc.call("evm_setNextBlockTimestamp", hex(time));
    await this.rpc.call("evm_mine");
  }

  async balance(account) {
    return BigInt(await this.rpc.call("eth_getBalance", account, "latest"));
  }

  /** An address that has money, though nobody has its key. */
  async fund(account, amount = 1000n * FMX) {
    await this.rpc.call("anvil_setBalance", account, hex(amount));
    return account;
  }

  /** Has the multisig, which governs most contracts, send. */
  async govern(target, functionName, args = []) {
    await this.fund(this.at.multisig);
    return this.send(this.at.multisig, target, functionName, args);
  }

  /** The code of one contract at the address of another: for vectors that name addresses. */
  async place(name, args, address) {
    const { abi, bytecode } = typeof name === "string" ? this.artifacts[name] : name;
    const from = this.keys[0].address;
    const data = encodeDeployData({ abi, bytecode, args });
    const sent = await this.rpc.call("eth_sendTransaction", { from, data, gas: hex(15_000_000) });
    const { contractAddress } = await this.rpc.receipt(sent);
    const code = await this.rpc.call("eth_getCode", contractAddress, "latest");
    await this.rpc.call("anvil_setCode", address, code);
    this.#abis.set(address.toLowerCase(), abi);
    return address;
  }

  #target(target) {
    const to = this.at[target] ?? target;
    const abi = this.#abis.get(to.toLowerCase());
    if (!abi) throw new Error(`nothing is known of ${target}`);
    return { to, abi };
  }

  #explain(abi, error) {
    if (!error.data || error.data === "0x") return { errorName: "empty", args: [] };
    // Errors of the contracts behind it bubble up.
    const all = [abi, ...this.#abis.values()].flat().filter((item) => item.type === "error");
    const { errorName, args } = decodeErrorResult({ abi: all, data: error.data });
    return { errorName, args: [...(args ?? [])] };
  }

  #decode({ address, topics, data }) {
    const abi = this.#abis.get(address.toLowerCase());
    if (!abi) return null;
    const { eventName, args } = decodeEventLog({ abi, topics, data });
    return { address: getAddress(address), name: eventName, args };
  }
}

const bigints = (_, value) => (typeof value === "bigint" ? value.toString() : value);

/** [name, args] of each event, to compare a whole transaction at once. */
export const brief = (events) => events.map(({ name, args }) => [name, args]);
export const names = (events) => events.map(({ name }) => name);
