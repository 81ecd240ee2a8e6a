// Economies: what is told of one is what is on the chain, whichever way it was played, and the same for the same seed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeEventLog } from "viem";
import { deploy } from "../deploy.mjs";
import { startAnvil } from "../lib/anvil.mjs";
import { compile } from "../lib/compile.mjs";
import { playEconomy } from "../scenario.mjs";

const GENESIS = 1_800_000_000;

/** Plays on a chain of its own. Answers the economy and the names of the events of some contracts. */
async function play(size) {
  const anvil = await startAnvil({ genesisTime: GENESIS });
  try {
    const deployed = await deploy(anvil.rpc);
    const economy = await playEconomy(anvil.rpc, deployed, size);
    const events = async (name, key) => {
      const filter = { address: deployed.contracts[key], fromBlock: "0x0", toBlock: "latest" };
      const logs = await anvil.rpc.call("eth_getLogs", filter);
      const { abi } = compile()[name];
      return logs.map(({ data, topics }) => decodeEventLog({ abi, data, topics }));
    };
    const all = [await events("AgentRegistry", "registry"), await events("ServiceEscrow", "escrow")].flat();
    const money = [await events("X402Vault", "x402Vault"), await events("StreamPay", "streamPay")].flat();
    const { hash } = await anvil.rpc.call("eth_getBlockByNumber", "latest", false);
    return { economy, hash, events: [...all, ...money, ...(await events("ArbiterPool", "arbiterPool"))] };
  } finally {
    await anvil.stop();
  }
}

function assertTold({ economy, events }, { agents, jobs }) {
  const count = (name) => events.filter(({ eventName }) => eventName === name).length;
  const ends = (...names) => names.reduce((sum, name) => sum + economy.counts.jobs[name], 0);
  assert.equal(count("AgentRegistered"), agents);
  assert.equal(count("JobRequested"), jobs);
  assert.equal(count("JobCompleted"), ends("released", "unrated", "claimed"));
  assert.equal(count("JobRefunded"), ends("refunded", "cancelled"));
  assert.equal(count("JobResolved"), ends("resolved"));
  assert.equal(count("CaseClosed"), economy.cases.length);
  assert.equal(count("AgentSlashed"), economy.counts.agents.slashed);
  assert.equal(count("Settled"), economy.settlements.filter(({ skipped }) => !skipped).length);
  assert.equal(count("Skipped"), economy.settlements.filter(({ skipped }) => skipped).length);
  assert.equal(count("StreamOpened"), economy.streams.length);
  assert.equal(count("Subscribed"), economy.subs.length);
  const ratings = events.filter(({ eventName, args }) => eventName === "JobCompleted" && args.rating > 0);
  assert.deepEqual(
    ratings.map(({ args }) => [Number(args.jobId), args.rating]).sort(([one], [other]) => one - other),
    economy.jobs.filter(({ rating }) => rating > 0).map(({ id, rating }) => [id, rating]),
  );
}

const SIZE = { agents: 12, jobs: 60, seed: 3 };

test("an economy of wallets has agents in every status and jobs in every state, as it is told", async () => {
  const played = await play({ ...SIZE, crowded: false });
  const { economy } = played;
  assertTold(played, SIZE);
  assert.deepEqual(new Set(economy.agents.map(({ status }) => status)), new Set([1, 2, 3]));
  assert.deepEqual(new Set(economy.jobs.map(({ status }) => status)), new Set([1, 2, 3, 4, 5, 6]));
  for (const part of ["cases", "accounts", "streams", "plans", "subs", "tokens", "feedback", "validations", "anchors"]) {
    assert.ok(economy[part].length > 0, `no ${part}`);
  }
  assert.ok(economy.endorsements.some(({ basis }) => basis === 1));
  const again = await play({ ...SIZE, crowded: false });
  assert.deepEqual(again.economy, economy);
  assert.equal(again.hash, played.hash);
  assert.notDeepEqual((await play({ ...SIZE, seed: 4, crowded: false })).economy.jobs, economy.jobs);
});

test("prices change as often as it is told, in blocks as small as it is told, and the economy is the same", async () => {
  const size = { agents: 12, jobs: 20, seed: 3, crowded: true };
  const [plain, moved] = [await play(size), await play({ ...size, updates: 3, blockSteps: 5 })];
  const updates = ({ events }) => events.filter(({ eventName }) => eventName === "AgentUpdated").length;
  assert.equal(updates(moved) - updates(plain), 3 * size.agents);
  const blocks = ({ economy }) => economy.lastBlock - economy.firstBlock;
  assert.ok(blocks(moved) >= blocks(plain) + (3 * size.agents) / 5, `${blocks(moved)} blocks, ${blocks(plain)} before`);
  assert.deepEqual(moved.economy.counts, plain.economy.counts);
  const prices = ({ economy }) => economy.agents.map(({ pricePerJob }) => pricePerJob);
  assert.deepEqual(prices(moved), prices(plain));
});

test("a crowd plays the same economy in few transactions", async () => {
  const size = { agents: 40, jobs: 200, seed: 5 };
  const played = await play({ ...size, crowded: true });
  assertTold(played, size);
  assert.equal(played.economy.crowded, true);
});
