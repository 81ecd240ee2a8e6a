// The proxy: what it lets through, what it does wrong when it is told to, and that it can be told at run time.
import assert from "node:assert/strict";
import { get } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { createPublicClient, keccak256, webSocket } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startAnvil } from "../lib/anvil.mjs";
import { keyOf, testKeys } from "../lib/keys.mjs";
import { Rpc, hex } from "../lib/rpc.mjs";
import { startProxy } from "../proxy.mjs";

const GWEI = 10n ** 9n;
const account = privateKeyToAccount(keyOf(testKeys(), "user1").privateKey);
const to = keyOf(testKeys(), "user2").address;
let anvil, proxy, rpc;

before(async () => {
  anvil = await startAnvil();
  proxy = await startProxy(anvil.url);
  rpc = new Rpc(proxy.url);
});
beforeEach(async () => {
  await control("POST", { tip: { underpriced: "allow" } });
  await control("DELETE");
});
after(async () => {
  await proxy?.stop();
  await anvil?.stop();
});

async function control(method, rules) {
  const response = await fetch(`${proxy.url}/control`, { method, body: rules && JSON.stringify(rules) });
  return { status: response.status, body: await response.json() };
}

async function signed({ tip = GWEI, nonce, maxFee = 100n * GWEI } = {}) {
  const next = nonce ?? Number(await anvil.rpc.call("eth_getTransactionCount", account.address, "latest"));
  const fees = { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip };
  return account.signTransaction({ chainId: 3961, type: "eip1559", nonce: next, to, value: 1n, gas: 21_000n, ...fees });
}

const send = (raw) => rpc.call("eth_sendRawTransaction", raw);
const count = (tag) => rpc.call("eth_getTransactionCount", account.address, tag).then(Number);
const mine = (blocks) => anvil.rpc.call("anvil_mine", hex(blocks));
const head = async (via) => Number(await via.call("eth_blockNumber"));

test("an honest proxy answers as the node does, alone and in batches", async () => {
  const balance = ["eth_getBalance", to, "latest"];
  assert.equal(await rpc.call(...balance), await anvil.rpc.call(...balance));
  assert.deepEqual(await rpc.batch([["eth_chainId"], balance]), ["0xf79", await anvil.rpc.call(...balance)]);
  await assert.rejects(rpc.call("eth_bogus"), /eth_bogus: .*not found/);
  const response = await fetch(proxy.url, { method: "POST", body: "{" });
  assert.equal((await response.json()).error.code, -32700);
});

test("a tip below 1 gwei is refused, one of 1 gwei is mined", async () => {
  await assert.rejects(send(await signed({ tip: GWEI - 1n })), /transaction underpriced/);
  const fee = BigInt((await anvil.rpc.call("eth_getBlockByNumber", "latest", false)).baseFeePerGas);
  // What is offered beyond the base fee counts, not what is promised.
  await assert.rejects(send(await signed({ tip: GWEI, maxFee: fee + GWEI - 1n })), /transaction underpriced/);
  const hash = await send(await signed());
  assert.equal((await anvil.rpc.receipt(hash)).status, "0x1");
  const unsigned = { from: account.address, to, value: "0x1", maxPriorityFeePerGas: "0x1", maxFeePerGas: hex(100n * GWEI) };
  await assert.rejects(rpc.call("eth_sendTransaction", unsigned), /transaction underpriced/);
});

test("what tips too little can be held as pending, replaced, and released", async () => {
  await control("POST", { tip: { underpriced: "hold" } });
  const before = await count("latest");
  const raw = await signed({ tip: 1n });
  const hash = await send(raw);
  assert.equal(hash, keccak256(raw));
  assert.deepEqual([await count("latest"), await count("pending")], [before, before + 1]);
  const pending = await rpc.call("eth_getTransactionByHash", hash);
  assert.deepEqual([pending.blockNumber, Number(pending.nonce)], [null, before]);
  assert.equal(await rpc.call("eth_getTransactionReceipt", hash), null);
  await assert.rejects(send(raw), /already known/);
  await assert.rejects(send(await signed({ tip: 1n, maxFee: 101n * GWEI })), /replacement transaction underpriced/);
  const replaced = await send(await signed({ tip: GWEI, maxFee: 110n * GWEI }));
  assert.equal((await anvil.rpc.receipt(replaced)).status, "0x1");
  assert.equal(await rpc.call("eth_getTransactionByHash", hash), null);

  const [first, second] = [await signed({ tip: 1n }), await signed({ tip: 1n, nonce: before + 2 })];
  await send(second);
  await send(first);
  assert.equal(await count("pending"), before + 3);
  await control("POST", { tip: { underpriced: "allow" } });
  assert.equal((await anvil.rpc.receipt(keccak256(second))).status, "0x1");
});

test("what tips too little can be lost", async () => {
  await control("POST", { tip: { minWei: (50n * GWEI).toString(), underpriced: "drop" } });
  const before = await count("latest");
  const hash = await send(await signed());
  assert.equal(await rpc.call("eth_getTransactionByHash", hash), null);
  assert.equal(await count("pending"), before);
});

test("a lagging node knows nothing of later blocks", async () => {
  await mine(3);
  const hash = await send(await signed());
  await anvil.rpc.receipt(hash);
  const real = await head(anvil.rpc);
  await control("POST", { lagBlocks: 2 });
  assert.equal(await head(rpc), real - 2);
  assert.equal(Number((await rpc.call("eth_getBlockByNumber", "latest", false)).number), real - 2);
  assert.equal(await rpc.call("eth_getBlockByNumber", hex(real), false), null);
  assert.equal(await rpc.call("eth_getTransactionReceipt", hash), null);
  assert.equal((await rpc.call("eth_getTransactionByHash", hash)).blockNumber, null);
  await assert.rejects(rpc.call("eth_getBalance", to, hex(real)), /beyond current head/);
  await assert.rejects(rpc.call("eth_getLogs", { fromBlock: "0x0", toBlock: hex(real) }), /beyond current head/);
  const earlier = BigInt(await rpc.call("eth_getBalance", to, "latest"));
  assert.equal(BigInt(await anvil.rpc.call("eth_getBalance", to, "latest")), earlier + 1n);
  await control("POST", { lagBlocks: 0, headMax: 1 });
  await mine(2);
  assert.equal(await head(rpc), 1);
});

test("a lying node", async () => {
  const hash = await send(await signed());
  const truth = await anvil.rpc.receipt(hash);
  const { body } = await control("POST", { lieReceipts: true, lieBalanceWei: "5", lieHead: 3 });
  assert.deepEqual([body.lieReceipts, body.lieBalanceWei, body.lieHead], [true, "5", 3]);
  assert.equal((await rpc.call("eth_getTransactionReceipt", hash)).status, truth.status === "0x1" ? "0x0" : "0x1");
  const balance = BigInt(await anvil.rpc.call("eth_getBalance", to, "latest"));
  assert.equal(BigInt(await rpc.call("eth_getBalance", to, "latest")), balance + 5n);
  assert.equal(await head(rpc), (await head(anvil.rpc)) + 3);
  await control("POST", { dropReceipts: true });
  assert.equal(await rpc.call("eth_getTransactionReceipt", hash), null);
});

/** A contract whose deployment leaves this many logs with one word of data each. */
async function emit(logs) {
  const code = `0x${"60206000a0".repeat(logs)}00`;
  const hash = await anvil.rpc.call("eth_sendTransaction", { from: account.address, data: code, gas: hex(1_000_000) });
  return Number((await anvil.rpc.receipt(hash)).blockNumber);
}

test("caps on eth_getLogs, in the words of providers", async () => {
  const block = await emit(3);
  await mine(10);
  const logs = (from, to) => rpc.call("eth_getLogs", { fromBlock: hex(from), toBlock: typeof to === "number" ? hex(to) : to });
  assert.equal((await logs(block, block)).length, 3);
  await control("POST", { logsRangeMax: 5 });
  assert.equal((await logs(block, block + 4)).length, 3);
  await assert.rejects(logs(block, block + 5), /-32005|exceeds max block range 5/);
  await assert.rejects(logs(block, "latest"), /exceeds max block range/);
  const words = { alchemy: /up to a 5 block range/, quicknode: /limited to a 5 range/, ankr: /too wide/ };
  for (const [logsErrorStyle, expected] of Object.entries({ ...words, bsc: /exceed maximum/, geth: /greater than 5/ })) {
    await control("POST", { logsErrorStyle });
    await assert.rejects(logs(0, block), expected);
  }
  await control("POST", { logsRangeMax: null, logsResultsMax: 2, logsErrorStyle: "infura" });
  await assert.rejects(logs(block, block), /more than 2 results. Try with this block range/);
  await control("POST", { logsResultsMax: 3 });
  assert.equal((await logs(0, "latest")).length, 3);
});

test("lies about logs", async () => {
  const block = await emit(3);
  const filter = { fromBlock: hex(block), toBlock: hex(block) };
  const truth = await anvil.rpc.call("eth_getLogs", filter);
  const lie = async (lieLogs) => {
    await control("POST", { lieLogs });
    return rpc.call("eth_getLogs", filter);
  };
  assert.deepEqual(await lie("drop"), [truth[0], truth[2]]);
  assert.equal((await lie("repeat")).length, 6);
  assert.notEqual((await lie("alter"))[0].data, truth[0].data);
  assert.deepEqual(await lie(null), truth);
});

test("failures by method, every so often, so many times", async () => {
  const fails = async (failure, expected) => {
    await control("POST", { failures: [failure] });
    await assert.rejects(rpc.call("eth_chainId"), expected);
  };
  await fails({ mode: "status", status: 429 }, /answered 429/);
  await fails({ mode: "error" }, /internal error/);
  await fails({ mode: "garbage" }, /Unexpected token|not valid JSON/);
  await fails({ mode: "reset" }, /fetch failed/);
  await fails({ mode: "truncated" }, /terminated|aborted|fetch failed/);
  await control("POST", { failures: [{ mode: "timeout" }] });
  const impatient = { method: "POST", body: '{"id":1,"method":"eth_chainId"}', signal: AbortSignal.timeout(300) };
  await assert.rejects(fetch(proxy.url, impatient), { name: "TimeoutError" });

  await control("POST", { failures: [{ mode: "status", methods: ["eth_getLogs"], every: 2, times: 1 }] });
  const outcomes = [];
  for (let i = 0; i < 4; i++) outcomes.push(await rpc.call("eth_getLogs", {}).then(() => "ok", () => "failed"));
  assert.deepEqual(outcomes, ["ok", "failed", "ok", "ok"]);
  assert.equal(await rpc.call("eth_chainId"), "0xf79");
});

test("a rule that does not exist changes nothing", async () => {
  for (const wrong of [{ bogus: 1 }, { lagBlocks: -1, delayMs: 5 }, { tip: { minWei: "x" } }, { failures: [{ mode: "x" }] }, [1]]) {
    const { status, body } = await control("POST", wrong);
    assert.equal(status, 400, JSON.stringify(wrong));
    assert.equal(typeof body.error, "string");
  }
  const { body } = await control("GET");
  assert.deepEqual([body.lagBlocks, body.delayMs, body.tip.minWei], [0, 0, GWEI.toString()]);
});

test("new heads come by WebSocket, until that is refused", async () => {
  const client = createPublicClient({ transport: webSocket(proxy.wsUrl, { reconnect: false, keepAlive: false }) });
  const socket = await client.transport.getRpcClient();
  const heard = new Promise((resolve, reject) => {
    client.watchBlockNumber({ onBlockNumber: resolve, onError: reject });
  });
  // A subscription takes a moment; each block is another chance to hear of one.
  const timer = setInterval(() => anvil.rpc.call("evm_mine"), 50);
  assert.ok((await heard) > 0n);
  clearInterval(timer);
  socket.close();
  const request = { headers: { connection: "upgrade", upgrade: "websocket" } };
  const upgrades = () =>
    new Promise((resolve) => {
      const call = get(proxy.url, request);
      call.on("upgrade", (_, stream) => resolve(stream.destroy() && true)).on("error", () => resolve(false));
      call.on("response", (response) => resolve(response.statusCode));
    });
  assert.equal(await upgrades(), 400, "the node itself answers: a key is missing");
  await control("POST", { webSocket: "refuse" });
  assert.equal(await upgrades(), false);
});
