// AgentTokenFactory and AgentToken: the curve, what it owes, and how holders share.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FMX, ZERO, brief, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const user = (index) => chain.users[index].address;
const [owner, buyer, holder] = [0, 1, 2].map((index) => () => user(index));
const BASE = FMX / 1000n;
const SLOPE = FMX / 10_000n;
const factory = (name, ...args) => chain.read("tokenFactory", name, ...args);
const send = (who, name, args, value) => chain.send(who, "tokenFactory", name, args, value);
const refused = (error, args, who, name, call, value) => chain.reverts(error, args, who, "tokenFactory", name, call, value);
const credits = (account) => factory("credits", account);
let token;

beforeEach(async () => {
  await chain.send(owner(), "registry", "register", ["Alpha", "", "", 0n], 100n * FMX);
});

async function launch(base = BASE, slope = SLOPE) {
  const events = await send(owner(), "launch", [1n, "ALPHA", base, slope]);
  token = await factory("tokenOf", 1n);
  chain.know(token, "AgentToken");
  return events;
}

const reserve = (supply, base = BASE, slope = SLOPE) => (base * supply) / FMX + (slope * supply * supply) / (2n * 10n ** 36n);
const balance = (account) => chain.read(token, "balanceOf", account);

test("the owner launches one token, for ever", async () => {
  await refused("UnknownAgent", [], owner(), "launch", [9n, "A", 1n, 0n]);
  await refused("NotAgentOwner", [], buyer(), "launch", [1n, "A", 1n, 0n]);
  for (const symbol of ["", "TWELVESYMBOL"]) await refused("InvalidSymbol", [], owner(), "launch", [1n, symbol, 1n, 0n]);
  const max = 10n ** 30n;
  for (const [base, slope] of [[0n, 0n], [max + 1n, 0n], [0n, max + 1n]]) {
    await refused("InvalidCurve", [], owner(), "launch", [1n, "A", base, slope]);
  }
  await chain.send(owner(), "registry", "retire", [1n]);
  assert.deepEqual(brief(await launch()), [["Launched", { agentId: 1n, token, symbol: "ALPHA" }]]);
  await refused("AlreadyLaunched", [token], owner(), "launch", [1n, "B", 1n, 0n]);
  const about = ["name", "symbol", "decimals", "factory", "agentId", "totalSupply"];
  assert.deepEqual(await Promise.all(about.map((name) => chain.read(token, name))), ["Alpha", "ALPHA", 18, chain.at.tokenFactory, 1n, 0n]);
  assert.deepEqual(await factory("getCurve", token), { agentId: 1n, base: BASE, slope: SLOPE, reserve: 0n });
  assert.deepEqual([await factory("tokenCount"), await factory("tokens", 0n)], [1n, token]);
});

test("a purchase pays the fee and never more tokens than the reserve covers", async () => {
  await launch();
  for (const value of [FMX, 3n * FMX + 1n, 10n ** 15n]) {
    const supply = await chain.read(token, "totalSupply");
    const before = (await factory("getCurve", token)).reserve;
    const quoted = await factory("quoteBuy", token, value);
    const [minted, { args }] = await send(buyer(), "buy", [token, quoted], value);
    assert.deepEqual(minted.args, { from: ZERO, to: buyer(), value: quoted });
    assert.deepEqual(args, { token, buyer: buyer(), fmxIn: value, fee: value / 100n, amountOut: quoted });
    const after = (await factory("getCurve", token)).reserve;
    assert.equal(after - before, value - value / 100n);
    assert.ok(reserve(supply + quoted) <= after);
    assert.ok(reserve(supply + quoted + 10n ** 9n) > reserve(supply) + value - value / 100n, "close to what was paid");
  }
  assert.equal(await factory("price", token), BASE + (SLOPE * (await chain.read(token, "totalSupply"))) / FMX);
  assert.ok((await credits(chain.at.treasury)) > 0n);
});

test("a flat curve", async () => {
  await launch(BASE, 0n);
  const out = await factory("quoteBuy", token, FMX);
  assert.equal(out, ((FMX - FMX / 100n) * FMX) / BASE);
  await send(buyer(), "buy", [token, 0n], FMX);
  assert.equal(await factory("price", token), BASE);
});

test("a sale pays the way back along the curve, as credit and without a fee", async () => {
  await launch();
  await send(buyer(), "buy", [token, 0n], 10n * FMX);
  const supply = await balance(buyer());
  const half = supply / 2n;
  const quoted = await factory("quoteSell", token, half);
  assert.equal(quoted, reserve(supply) - reserve(supply - half));
  await refused("Slippage", [quoted, quoted + 1n], buyer(), "sell", [token, half, quoted + 1n]);
  const events = await send(buyer(), "sell", [token, half, quoted]);
  assert.deepEqual(names(events), ["Transfer", "Sold"]);
  assert.deepEqual(events[1].args, { token, seller: buyer(), amountIn: half, fmxOut: quoted });
  assert.equal(await credits(buyer()), quoted);
  await send(buyer(), "sell", [token, supply - half, 0n]);
  assert.equal(await chain.read(token, "totalSupply"), 0n);
  assert.ok((await factory("getCurve", token)).reserve >= 0n);
  assert.deepEqual(names(await send(buyer(), "withdraw", [])), ["Withdrawn"]);
});

test("what cannot be bought or sold", async () => {
  await refused("UnknownToken", [], buyer(), "buy", [ZERO, 0n], 1n);
  await refused("UnknownToken", [], buyer(), "sell", [ZERO, 1n, 0n]);
  await launch();
  await refused("ZeroValue", [], buyer(), "buy", [token, 0n]);
  await refused("ZeroValue", [], buyer(), "sell", [token, 0n, 0n]);
  await refused("InsufficientBalance", [], buyer(), "sell", [token, 1n, 0n]);
  const out = await factory("quoteBuy", token, FMX);
  await refused("Slippage", [out, out + 1n], buyer(), "buy", [token, out + 1n], FMX);
});

test("too little for a unit of the token buys nothing", async () => {
  await launch(10n ** 30n, 0n);
  await refused("Slippage", [0n, 0n], buyer(), "buy", [token, 0n], 1n);
});

test("a distribution is shared by what is held at that moment", async () => {
  await launch();
  await refused("NoSupply", [], owner(), "distribute", [token], FMX);
  await send(buyer(), "buy", [token, 0n], 10n * FMX);
  await refused("ZeroValue", [], owner(), "distribute", [token]);
  const supply = await balance(buyer());
  await chain.send(buyer(), token, "transfer", [holder(), supply / 4n]);
  assert.deepEqual(brief(await send(owner(), "distribute", [token], FMX)), [
    ["Distributed", { token, from: owner(), amount: FMX }],
  ]);
  // What moves afterwards takes nothing of it along.
  await chain.send(buyer(), token, "transfer", [owner(), supply / 2n]);
  assert.equal(await factory("claimable", token, owner()), 0n);
  const [share, rest] = [await factory("claimable", token, holder()), await factory("claimable", token, buyer())];
  assert.ok(share <= FMX / 4n && share >= FMX / 4n - 2n, `${share}`);
  assert.ok(share + rest <= FMX && share + rest >= FMX - 3n);
  const claimed = await send(holder(), "claimDistribution", [token]);
  assert.deepEqual(brief(claimed), [["Claimed", { token, holder: holder(), amount: share }]]);
  assert.deepEqual([await credits(holder()), await chain.read(token, "distributionsClaimed", holder())], [share, share]);
  await refused("NothingToClaim", [], holder(), "claimDistribution", [token]);
  await send(owner(), "distribute", [token], FMX);
  assert.ok((await chain.read(token, "accumulative", holder())) >= 2n * share - 2n);
  assert.equal(await chain.read(token, "totalDistributed"), 2n * FMX);
  assert.equal(await chain.read(token, "magnifiedPerShare"), 2n * ((FMX * 2n ** 128n) / supply));
});

test("a token is a usual one, which only its factory makes", async () => {
  await launch();
  await send(buyer(), "buy", [token, 0n], FMX);
  const all = await balance(buyer());
  await chain.reverts("InsufficientBalance", [], buyer(), token, "transfer", [holder(), all + 1n]);
  await chain.reverts("ZeroAddress", [], buyer(), token, "transfer", [ZERO, 1n]);
  await chain.reverts("InsufficientAllowance", [], holder(), token, "transferFrom", [buyer(), holder(), 1n]);
  assert.deepEqual(names(await chain.send(buyer(), token, "approve", [holder(), 5n])), ["Approval"]);
  await chain.send(holder(), token, "transferFrom", [buyer(), holder(), 3n]);
  assert.deepEqual([await chain.read(token, "allowance", buyer(), holder()), await balance(holder())], [2n, 3n]);
  const internal = [["mint", [buyer(), 1n]], ["burn", [buyer(), 1n]], ["addDistribution", [1n]], ["settleClaimable", [buyer()]]];
  for (const [name, args] of internal) await chain.reverts("NotFactory", [], buyer(), token, name, args);
});
