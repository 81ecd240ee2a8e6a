// Whoever pays out: a receiver that refuses gets nothing and loses nothing, one that comes back in is turned away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toFunctionSelector } from "viem";
import { DAY, FMX, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const user = (index) => chain.users[index].address;
const owner = () => user(0);
const RECEIVER = "0x00000000000000000000000000000000000000Cc";
const REFUSES = "0x60006000fd";

/**
 * Code that, when paid, calls the payer with this selector and a 1 behind it, and keeps the first word of the answer in its
 * slot 0.
 */
function reenters(selector) {
  const callData = `63${selector.slice(2)}60e01b6000526001600452`;
  return `0x${callData}60006000602460006000335af1503d600060003e60005160005500`;
}

/** How each contract comes to owe the receiver something, and how that is fetched. */
const PAYOUTS = {
  async escrow() {
    await chain.send(owner(), "registry", "register", ["Alpha", "", "", 0n], 100n * FMX);
    await chain.send(RECEIVER, "escrow", "requestJob", [1n, hash("in"), ""], FMX);
    await chain.send(owner(), "escrow", "cancel", [1n]);
    return ["withdraw", []];
  },
  async streamPay() {
    await chain.send(RECEIVER, "streamPay", "openStream", [owner(), 1n], FMX);
    await chain.send(RECEIVER, "streamPay", "cancelStream", [1n]);
    return ["withdraw", []];
  },
  async tokenFactory() {
    await chain.send(owner(), "registry", "register", ["Alpha", "", "", 0n], 100n * FMX);
    await chain.send(owner(), "tokenFactory", "launch", [1n, "A", FMX, 0n]);
    const token = await chain.read("tokenFactory", "tokenOf", 1n);
    await chain.send(RECEIVER, "tokenFactory", "buy", [token, 0n], FMX);
    await chain.send(RECEIVER, "tokenFactory", "sell", [token, FMX / 10n, 0n]);
    return ["withdraw", []];
  },
  async arbiterPool() {
    await chain.send(RECEIVER, "arbiterPool", "joinPool", [], 500n * FMX);
    await chain.send(RECEIVER, "arbiterPool", "leavePool");
    await chain.travel(7 * DAY);
    await chain.send(RECEIVER, "arbiterPool", "leavePool");
    return ["withdraw", []];
  },
  async x402Vault() {
    await chain.send(RECEIVER, "x402Vault", "deposit", [], FMX);
    await chain.send(RECEIVER, "x402Vault", "requestUnlock");
    await chain.travel(3600);
    return ["withdraw", [1n]];
  },
  async registry() {
    await chain.send(RECEIVER, "registry", "register", ["Alpha", "", "", 0n], 100n * FMX);
    await chain.send(RECEIVER, "registry", "retire", [1n]);
    await chain.travel(7 * DAY);
    return ["withdrawBond", [1n]];
  },
};

for (const [target, owe] of Object.entries(PAYOUTS)) {
  test(`${target} pays out once, or not at all`, async () => {
    await chain.fund(RECEIVER);
    const [functionName, args] = await owe();
    await chain.rpc.call("anvil_setCode", RECEIVER, REFUSES);
    await chain.reverts("TransferFailed", [], RECEIVER, target, functionName, args);
    const selector = chain.encode(target, functionName, args).slice(0, 10);
    await chain.rpc.call("anvil_setCode", RECEIVER, reenters(selector));
    const events = await chain.send(RECEIVER, target, functionName, args);
    assert.equal(names(events).length, 1);
    const answer = await chain.rpc.call("eth_getStorageAt", RECEIVER, "0x0", "latest");
    assert.equal(answer.slice(0, 10), toFunctionSelector("Reentrancy()"));
  });
}
