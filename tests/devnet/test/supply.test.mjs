// Faucet, lock, vesting, treasury, multisig; the wrapped coin, the stablecoins and the exchange.
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFunctionData } from "viem";
import { DAY, FMX, ZERO, brief, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const user = (index) => chain.users[index].address;
const [alice, bob] = [0, 1].map((index) => () => user(index));
const call = (contract, functionName, args) => encodeFunctionData({ abi: chain.artifacts[contract].abi, functionName, args });
const deadline = async () => BigInt(await chain.now()) + 60n;

test("the faucet gives half an FMX, once a day", async () => {
  const before = await chain.balance(chain.at.faucet);
  assert.deepEqual(brief(await chain.send(alice(), "faucet", "drip")), [["Dripped", { to: alice(), amount: FMX / 2n }]]);
  assert.equal(before - (await chain.balance(chain.at.faucet)), FMX / 2n);
  const last = await chain.now();
  assert.equal(await chain.read("faucet", "lastDrip", alice()), BigInt(last));
  await chain.travelTo(last + DAY - 1);
  await chain.reverts("Error", ["Faucet: cooldown"], alice(), "faucet", "drip");
  await chain.send(bob(), "faucet", "drip");
  await chain.travelTo(last + DAY + 10);
  await chain.send(alice(), "faucet", "drip");
});

test("the faucet is its owner's", async () => {
  const change = [FMX, 60n];
  await chain.reverts("Error", ["Faucet: not owner"], alice(), "faucet", "setConfig", change);
  await chain.reverts("Error", ["Faucet: not owner"], alice(), "faucet", "withdraw", [1n]);
  assert.deepEqual(brief(await chain.govern("faucet", "setConfig", change)), [["Config", { dripAmount: FMX, cooldown: 60n }]]);
  const before = await chain.balance(chain.at.multisig);
  await chain.govern("faucet", "withdraw", [await chain.balance(chain.at.faucet)]);
  assert.ok((await chain.balance(chain.at.multisig)) > before);
  await chain.reverts("Error", ["Faucet: empty"], alice(), "faucet", "drip");
  await chain.govern("faucet", "transferOwnership", [alice()]);
  await chain.send(alice(), "faucet", "setConfig", [0n, 0n]);
  const heartless = await chain.fund("0x00000000000000000000000000000000000000aa");
  await chain.rpc.call("anvil_setCode", heartless, "0x60006000fd");
  await chain.reverts("Error", ["Faucet: send failed"], heartless, "faucet", "drip");
});

test("the lock is open after its time, the vesting releases bit by bit", async () => {
  const remaining = await chain.read("foundationLock", "remaining");
  assert.ok(remaining > 0n && remaining <= 365n * BigInt(DAY));
  await chain.reverts("Error", ["FoundationLock: locked"], alice(), "foundationLock", "release");
  const total = await chain.balance(chain.at.vesting);
  const first = await chain.read("vesting", "releasable");
  assert.ok(first > 0n && first < total, "begun 200 days ago, so beyond the cliff of 180");
  await chain.travel(Number(remaining));
  assert.equal(await chain.read("foundationLock", "remaining"), 0n);
  const later = await chain.read("vesting", "releasable");
  assert.ok(later > first && later < total);
  const before = await chain.balance(chain.at.treasury);
  await chain.send(alice(), "foundationLock", "release");
  assert.equal((await chain.balance(chain.at.treasury)) - before, 50_000n * FMX);
  await chain.travel(1080 * DAY);
  assert.equal(await chain.read("vesting", "releasable"), total);
});

test("the multisig acts when two agree, the treasury when the multisig says so", async () => {
  const [first, second] = ["multisig1", "multisig2"].map((role) => chain.keys.find((key) => key.role === role).address);
  const send = call("Treasury", "execute", [bob(), 5n, "0x"]);
  await chain.fund(chain.at.treasury, 5n);
  await chain.reverts("Error", ["Treasury: not owner"], alice(), "treasury", "execute", [bob(), 5n, "0x"]);
  await chain.reverts("Error", ["Multisig: not owner"], alice(), "multisig", "propose", [chain.at.treasury, 0n, send]);
  assert.deepEqual(names(await chain.send(first, "multisig", "propose", [chain.at.treasury, 0n, send])), ["Proposed", "Confirmed"]);
  await chain.reverts("Error", ["Multisig: confirmed"], first, "multisig", "confirm", [0n]);
  const before = await chain.balance(bob());
  assert.deepEqual(names(await chain.send(second, "multisig", "confirm", [0n])), ["Confirmed", "Executed"]);
  assert.equal((await chain.balance(bob())) - before, 5n);
  await chain.reverts("Error", ["Multisig: executed"], second, "multisig", "confirm", [0n]);
  const refused = call("AgentRegistry", "setEscrow", [bob()]);
  await chain.send(first, "multisig", "propose", [chain.at.registry, 0n, refused]);
  await chain.reverts("EscrowAlreadySet", [], second, "multisig", "confirm", [1n]);
});

test("the treasury fetches its fees", async () => {
  await chain.send(alice(), "registry", "register", ["Alpha", "", "", FMX], 100n * FMX);
  await chain.send(bob(), "escrow", "requestJob", [1n, `0x${"00".repeat(32)}`, ""], FMX);
  await chain.send(alice(), "escrow", "deliver", [1n, `0x${"00".repeat(32)}`, ""]);
  await chain.send(bob(), "escrow", "release", [1n, 5]);
  await chain.govern("treasury", "execute", [chain.at.escrow, 0n, call("ServiceEscrow", "withdraw", [])]);
  assert.equal(await chain.balance(chain.at.treasury), FMX / 40n);
});

test("coins are wrapped one to one", async () => {
  assert.deepEqual(brief(await chain.send(alice(), "wfmx", "deposit", [], 5n)), [["Deposit", { dst: alice(), wad: 5n }]]);
  await chain.send(alice(), "wfmx", "transfer", [bob(), 2n]);
  await chain.reverts("Error", ["WFMX: balance"], alice(), "wfmx", "withdraw", [4n]);
  await chain.reverts("Error", ["WFMX: allowance"], bob(), "wfmx", "transferFrom", [alice(), bob(), 1n]);
  await chain.send(alice(), "wfmx", "approve", [bob(), 1n]);
  await chain.send(bob(), "wfmx", "transferFrom", [alice(), bob(), 1n]);
  assert.deepEqual(brief(await chain.send(bob(), "wfmx", "withdraw", [3n])), [["Withdrawal", { src: bob(), wad: 3n }]]);
  assert.deepEqual([await chain.read("wfmx", "balanceOf", alice()), await chain.read("wfmx", "decimals")], [2n, 18]);
});

async function pairOf(token) {
  const pair = await chain.read("dexFactory", "getPair", chain.at.wfmx, chain.at[token]);
  chain.know(pair, "UniswapV2Pair");
  return pair;
}

test("pools give the price of an FMX: 0.05 USD in both", async () => {
  for (const [token, centsOfOneUsd] of [["usdf", 100n], ["aznt", 170n]]) {
    const pair = await pairOf(token);
    const isFirst = (await chain.read(pair, "token0")) === chain.at.wfmx;
    const [reserve0, reserve1] = await chain.read(pair, "getReserves");
    const [coins, quote] = isFirst ? [reserve0, reserve1] : [reserve1, reserve0];
    const hundredthsOfCents = (quote * 10n ** 12n * 100n * 10_000n) / (coins * centsOfOneUsd);
    assert.equal(hundredthsOfCents, 500n);
    assert.equal(await chain.read(token, "decimals"), 6);
  }
  assert.equal(await chain.read("dexFactory", "allPairsLength"), 2n);
});

test("swaps both ways, for the quoted amount or not at all", async () => {
  const pair = await pairOf("usdf");
  const path = [chain.at.wfmx, chain.at.usdf];
  const [, out] = await chain.read("dexRouter", "getAmountsOut", FMX, path);
  const buy = async (min, until) => [alice(), "dexRouter", "swapExactFMXForTokens", [min, path, alice(), until ?? (await deadline())], FMX];
  await chain.reverts("Error", ["DexRouter: output"], ...(await buy(out + 1n)));
  await chain.reverts("Error", ["DexRouter: expired"], ...(await buy(out, 1n)));
  const events = await chain.send(...(await buy(out)));
  assert.deepEqual(names(events.filter(({ address }) => address === pair)), ["Sync", "Swap"]);
  assert.equal(await chain.read("usdf", "balanceOf", alice()), out);
  await chain.send(alice(), "usdf", "approve", [chain.at.dexRouter, out]);
  const back = [chain.at.usdf, chain.at.wfmx];
  await chain.reverts("Error", ["DexRouter: path"], alice(), "dexRouter", "swapExactTokensForFMX", [out, 0n, path, bob(), await deadline()]);
  const before = await chain.balance(bob());
  const [, coins] = await chain.read("dexRouter", "getAmountsOut", out, back);
  await chain.send(alice(), "dexRouter", "swapExactTokensForFMX", [out, coins, back, bob(), await deadline()]);
  assert.equal((await chain.balance(bob())) - before, coins);
  assert.ok(coins < FMX && coins > (FMX * 99n) / 100n, "two fees of 0.3 %");
});

test("a path over two pools, and a pair that is not there", async () => {
  const deployer = chain.keys[0].address;
  await chain.send(deployer, "usdf", "mint", [alice(), 10n ** 6n]);
  await chain.send(alice(), "usdf", "approve", [chain.at.dexRouter, 10n ** 6n]);
  const path = [chain.at.usdf, chain.at.wfmx, chain.at.aznt];
  await chain.send(alice(), "dexRouter", "swapExactTokensForTokens", [10n ** 6n, 0n, path, alice(), await deadline()]);
  const manat = await chain.read("aznt", "balanceOf", alice());
  assert.ok(manat > 1_680_000n && manat < 1_700_000n, `${manat}`);
  const none = [chain.at.usdf, chain.at.aznt];
  await chain.reverts("Error", ["DexRouter: no pair"], alice(), "dexRouter", "getAmountsOut", [1n, none]);
});

test("liquidity keeps the price, and what is too much goes back", async () => {
  const deployer = chain.keys[0].address;
  for (const token of ["usdf", "aznt"]) {
    await chain.send(deployer, token, "mint", [alice(), 10n ** 9n]);
    await chain.send(alice(), token, "approve", [chain.at.dexRouter, 10n ** 9n]);
  }
  const add = async (minLiquidity) => [chain.at.usdf, 10n ** 6n, 0n, 0n, minLiquidity, alice(), await deadline()];
  await chain.reverts("Error", ["DexRouter: liquidity"], alice(), "dexRouter", "addLiquidityFMX", await add(FMX), 100n * FMX);
  await chain.send(alice(), "dexRouter", "addLiquidityFMX", await add(1n), 100n * FMX);
  assert.equal(await chain.balance(chain.at.dexRouter), 0n);
  assert.equal(await chain.read("wfmx", "balanceOf", await pairOf("usdf")), 200_020n * FMX);
  const tokens = [chain.at.usdf, chain.at.aznt, 10n ** 6n, 10n ** 6n, 0n, 0n, 1n, alice(), await deadline()];
  const events = await chain.send(alice(), "dexRouter", "addLiquidity", tokens);
  assert.ok(names(events).includes("PairCreated"));
  assert.notEqual(await chain.read("dexFactory", "getPair", chain.at.usdf, chain.at.aznt), ZERO);
});
