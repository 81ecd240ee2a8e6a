// The program: the files it leaves, the network it runs, and that nothing of it is left behind.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Rpc } from "../lib/rpc.mjs";

const PROGRAM = fileURLToPath(new URL("../devnet.mjs", import.meta.url));
const KEYS = JSON.parse(readFileSync(new URL("../facts/addresses.json", import.meta.url), "utf8")).map(({ key }) => key);
const LIMIT_MS = 60_000;
let out;

beforeEach(() => (out = mkdtempSync(join(tmpdir(), "devnet-"))));
afterEach(() => rmSync(out, { recursive: true }));

/** Starts it, and answers what it left when it says that it is ready. */
async function start(...args) {
  const child = spawn(process.execPath, [PROGRAM, "--port", "0", "--out", out, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  const said = [];
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line) && line.startsWith("chain ") && resolve(line));
    ended.then((code) => reject(new Error(`ended with ${code}`)));
  });
  assert.match(await ready, /^chain 3961 on http:\/\/127\.0\.0\.1:\d+, 13 contracts/);
  const devnet = JSON.parse(readFileSync(join(out, "devnet.json"), "utf8"));
  return { child, ended, said, devnet, rpc: new Rpc(devnet.rpcUrl), anvil: new Rpc(devnet.anvilUrl) };
}

async function eventually(what, condition) {
  for (const started = Date.now(); Date.now() - started < LIMIT_MS; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await condition()) return;
  }
  assert.fail(`${what} did not happen`);
}

const isGone = (rpc) => () => rpc.call("eth_chainId").then(() => false, () => true);

test("it leaves a network that can be used, and mines by itself", async () => {
  const { child, ended, devnet, rpc, anvil } = await start("--block-time", "1");
  assert.deepEqual(Object.keys(devnet.contracts).sort(), [...KEYS].sort());
  for (const address of [...Object.values(devnet.contracts), ...Object.values(devnet.others)]) {
    assert.notEqual(await rpc.call("eth_getCode", address, "latest"), "0x");
  }
  assert.equal(await rpc.call("eth_chainId"), "0xf79");
  const block = Number(await rpc.call("eth_blockNumber"));
  await eventually("a block", async () => Number(await rpc.call("eth_blockNumber")) > block + 1);
  await isOfNow(rpc);
  assert.equal((await (await fetch(devnet.controlUrl)).json()).tip.underpriced, "refuse");
  const settings = readFileSync(join(out, "gateway.toml"), "utf8");
  const addresses = [...Object.values(devnet.contracts), ...Object.values(devnet.others)];
  for (const part of ["chain_id = 3961", "[chains.main]", devnet.rpcUrl, ...addresses]) {
    assert.ok(settings.includes(part), part);
  }
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
  assert.ok(await isGone(anvil)());
});

test("anvil ends also when the program is killed", async () => {
  const { child, ended, anvil } = await start("--block-time", "0");
  child.kill("SIGKILL");
  assert.equal(await ended, "SIGKILL");
  await eventually("the end of anvil", isGone(anvil));
});

/** The chain's clock is the machine's, give or take the time that a test may wait. */
async function isOfNow(rpc) {
  const { timestamp } = await rpc.call("eth_getBlockByNumber", "latest", false);
  assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 120, `${Number(timestamp)}`);
}

test("it plays an economy up to now", async () => {
  const { child, ended, anvil } = await start("--agents", "6", "--jobs", "12", "--block-time", "0");
  const economy = JSON.parse(readFileSync(join(out, "economy.json"), "utf8"));
  assert.deepEqual([economy.agents.length, economy.jobs.length], [6, 12]);
  await isOfNow(anvil);
  await anvil.call("evm_mine");
  await isOfNow(anvil);
  child.kill("SIGINT");
  assert.equal(await ended, 0);
});

test("it has agents that answer calls, and says what a gateway needs to be paid", async () => {
  const { child, ended, said, devnet } = await start("--endpoints", "2", "--block-time", "0");
  assert.deepEqual(said.slice(0, -1), [
    "agent echo: POST http://127.0.0.1:8080/a/echo/invoke, free",
    "agent paid-echo: POST http://127.0.0.1:8080/a/paid-echo/invoke, 0.001 FMX a call",
  ]);
  const [, priced] = devnet.agents;
  assert.deepEqual([devnet.agents.length, priced.id, priced.slug], [2, 2, "paid-echo"]);
  const card = await (await fetch(`${priced.endpoint}/.well-known/service-agent.json`)).json();
  assert.equal(card.pricePerCall, priced.pricePerCall);
  const variables = readFileSync(join(out, "gateway.env"), "utf8").split("\n");
  const key = (role) => devnet.keys.find((key) => key.role === role);
  for (const variable of [
    ...["facilitator", "relayer", "growth", "oracle"].map(
      (role) => `GATEWAY_SIGNERS__${role.toUpperCase()}__KEY=${key(role).privateKey}`,
    ),
    `GATEWAY_PLUGINS__MEMORY__TREASURY=${key("growth").address}`,
    `GATEWAY_EGRESS__ALLOW_HOSTS=${new URL(priced.endpoint).host},127.0.0.1:8799`,
  ]) {
    assert.ok(variables.includes(variable), variable);
  }
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});

test("it has chains of deposits, and says what a gateway needs to sell coins on them", async () => {
  const { child, ended, said, devnet } = await start("--payin", "--block-time", "0");
  assert.deepEqual(devnet.payin.map(({ name, chainId, decimals }) => [name, chainId, decimals]), [["devbase", 31337, 6], ["devbsc", 31338, 18]]);
  assert.equal(said.filter((line) => line.startsWith("payin ")).length, 2);
  const variables = readFileSync(join(out, "gateway.env"), "utf8").split("\n");
  const holder = devnet.keys.find(({ role }) => role === "user6").address.slice(2).padStart(64, "0");
  for (const { name, chainId, decimals, rpcUrls, token, lookAlike } of devnet.payin) {
    // balanceOf and decimals, as both servers tell them.
    for (const rpc of rpcUrls.map((url) => new Rpc(url))) {
      assert.equal(Number(await rpc.call("eth_chainId")), chainId);
      assert.equal(Number(await rpc.call("eth_call", { to: token, data: "0x313ce567" }, "latest")), decimals);
      for (const to of [token, lookAlike]) {
        const dollars = await rpc.call("eth_call", { to, data: `0x70a08231${holder}` }, "latest");
        assert.equal(BigInt(dollars), 100_000n * 10n ** BigInt(decimals));
      }
    }
    assert.equal(new Set(rpcUrls).size, 2);
    assert.ok(variables.includes(`GATEWAY_CHAINS__${name.toUpperCase()}__RPC=${rpcUrls.join(",")}`));
    assert.ok(variables.includes(`GATEWAY_PLUGINS__PAYIN__CHAINS__${name.toUpperCase()}__TOKENS__USDC__ADDRESS=${token}`));
  }
  const nodes = devnet.payin.map(({ anvilUrl }) => new Rpc(anvilUrl));
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
  for (const node of nodes) assert.ok(await isGone(node)());
});

test("it has named chains with their ids, and dollars where the real ones are", async () => {
  const { child, ended, devnet } = await start("--payin-named", "2", "--block-time", "0");
  const facts = devnet.payin.map(({ name, chainId, decimals, confirmations }) => [name, chainId, decimals, confirmations]);
  assert.deepEqual(facts, [["eth", 1, 6, 6], ["bsc", 56, 18, 12]]);
  const holder = devnet.keys.find(({ role }) => role === "user10").address.slice(2).padStart(64, "0");
  for (const { chainId, decimals, rpcUrls, token, usdt, odd, feed } of devnet.payin) {
    const rpc = new Rpc(rpcUrls[1]);
    assert.equal(Number(await rpc.call("eth_chainId")), chainId);
    for (const [to, places] of [[token, decimals], [usdt, decimals], [odd, 6]]) {
      assert.equal(Number(await rpc.call("eth_call", { to, data: "0x313ce567" }, "latest")), places);
      const dollars = await rpc.call("eth_call", { to, data: `0x70a08231${holder}` }, "latest");
      assert.equal(BigInt(dollars), 100_000n * 10n ** BigInt(places));
    }
    // latestRoundData
    const round = await rpc.call("eth_call", { to: feed, data: "0xfeaf968c" }, "latest");
    assert.equal(BigInt(`0x${round.slice(66, 130)}`), 2500n * 10n ** 8n);
  }
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});

test("it refuses what it does not understand", async () => {
  for (const [args, words] of [[["--bogus"], /bogus/], [["--block-time", "-1"], /block-time/], [["--agents", "x"], /whole number/]]) {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += chunk));
    assert.equal(await new Promise((resolve) => child.on("close", resolve)), 1);
    assert.match(errors, words);
  }
});
