// ServiceEscrow: every way through a job's states, who may go it and when, and where the money goes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, FMX, ZERO, brief, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const BOND = 100n * FMX;
const [owner, client, other] = [0, 1, 2].map((index) => () => chain.users[index].address);
const [INPUT, OUTPUT] = [hash("input"), hash("output")];
const fee = (amount) => (amount * 250n) / 10_000n;

async function register(price = FMX) {
  await chain.send(owner(), "registry", "register", ["Alpha", "", "", price], BOND);
}

/** A job in the given state, number 1. */
async function job(state, { amount = FMX } = {}) {
  await register();
  await chain.send(client(), "escrow", "requestJob", [1n, INPUT, "ipfs://in"], amount);
  if (state === "open") return;
  await chain.send(owner(), "escrow", "deliver", [1n, OUTPUT, "ipfs://out"]);
  if (state === "disputed") await chain.send(client(), "escrow", "dispute", [1n]);
}

const credits = (account) => chain.read("escrow", "credits", account);
const status = async () => (await chain.read("escrow", "getJob", 1n)).status;
const refused = (error, args, who, call, ...rest) => chain.reverts(error, args, who, "escrow", call, [1n, ...rest]);

test("a request locks the money with the agent", async () => {
  await register();
  const events = await chain.send(client(), "escrow", "requestJob", [1n, INPUT, "ipfs://in"], 2n * FMX);
  const what = { jobId: 1n, agentId: 1n, client: client(), amount: 2n * FMX, inputHash: INPUT, inputURI: "ipfs://in" };
  assert.deepEqual(brief(events), [["JobRequested", what]]);
  assert.equal(await chain.balance(chain.at.escrow), 2n * FMX);
  const { jobId, ...stored } = what;
  const zero = { outputHash: `0x${"00".repeat(32)}`, outputURI: "", deliveredAt: 0n };
  const createdAt = BigInt(await chain.now());
  assert.deepEqual(await chain.read("escrow", "getJob", jobId), { ...stored, ...zero, createdAt, status: 1 });
  assert.equal(await chain.read("escrow", "nextJobId"), 1n);
});

test("who cannot be hired, or not for that", async () => {
  await register();
  const hire = (error, args, who, id, uri, value) =>
    chain.reverts(error, args, who, "escrow", "requestJob", [id, INPUT, uri], value);
  await hire("InsufficientPayment", [FMX - 1n, FMX], client(), 1n, "", FMX - 1n);
  await hire("CannotHireOwnAgent", [], owner(), 1n, "", FMX);
  await hire("AgentNotActive", [9n], client(), 9n, "", FMX);
  await hire("StringTooLong", [], client(), 1n, "u".repeat(257), FMX);
  await chain.send(owner(), "registry", "setStatus", [1n, 2]);
  await hire("AgentNotActive", [1n], client(), 1n, "", FMX);
  await chain.send(owner(), "registry", "setStatus", [1n, 1]);
  await chain.govern("registry", "setMinBond", [BOND + 1n]);
  await hire("AgentNotActive", [1n], client(), 1n, "", FMX);
});

test("free work can be had for nothing", async () => {
  await register(0n);
  await chain.send(client(), "escrow", "requestJob", [1n, INPUT, ""]);
  await chain.send(owner(), "escrow", "deliver", [1n, OUTPUT, ""]);
  assert.deepEqual(brief(await chain.send(client(), "escrow", "release", [1n, 5])), [
    ["JobCompleted", { jobId: 1n, agentPayout: 0n, fee: 0n, rating: 5 }],
    ["OutcomeRecorded", { id: 1n, success: true, rating: 5 }],
  ]);
});

test("delivered and released: the owner is paid, less the fee, and the agent rated", async () => {
  await job("open", { amount: 12_345n * 10n ** 14n });
  await refused("NotAgentOwner", [], client(), "deliver", OUTPUT, "");
  await refused("StringTooLong", [], owner(), "deliver", OUTPUT, "u".repeat(257));
  const delivered = await chain.send(owner(), "escrow", "deliver", [1n, OUTPUT, "ipfs://out"]);
  assert.deepEqual(brief(delivered), [["JobDelivered", { jobId: 1n, outputHash: OUTPUT, outputURI: "ipfs://out" }]]);
  await refused("NotClient", [], owner(), "release", 5);
  await refused("InvalidRating", [], client(), "release", 6);
  const amount = 12_345n * 10n ** 14n;
  assert.deepEqual(brief(await chain.send(client(), "escrow", "release", [1n, 4])), [
    ["JobCompleted", { jobId: 1n, agentPayout: amount - fee(amount), fee: fee(amount), rating: 4 }],
    ["OutcomeRecorded", { id: 1n, success: true, rating: 4 }],
  ]);
  assert.deepEqual([await credits(owner()), await credits(chain.at.treasury)], [amount - fee(amount), fee(amount)]);
  await refused("WrongStatus", [3], client(), "release", 4);
});

test("credits are fetched by whom they belong to", async () => {
  await job("delivered");
  await chain.reverts("NothingToWithdraw", [], owner(), "escrow", "withdraw");
  await chain.send(client(), "escrow", "release", [1n, 0]);
  const before = await chain.balance(chain.at.escrow);
  const paid = FMX - fee(FMX);
  assert.deepEqual(brief(await chain.send(owner(), "escrow", "withdraw")), [["Withdrawn", { to: owner(), amount: paid }]]);
  assert.equal(before - (await chain.balance(chain.at.escrow)), paid);
  assert.equal(await credits(owner()), 0n);
});

test("work that nobody looks at can be claimed when the review is over", async () => {
  await job("delivered");
  const availableAt = BigInt(await chain.now()) + BigInt(DAY);
  await chain.travelTo(Number(availableAt) - 1);
  await refused("TooEarly", [availableAt], owner(), "claim");
  await chain.travel(1);
  await refused("NotAgentOwner", [], client(), "claim");
  assert.deepEqual(brief(await chain.send(owner(), "escrow", "claim", [1n])), [
    ["JobCompleted", { jobId: 1n, agentPayout: FMX - fee(FMX), fee: fee(FMX), rating: 0 }],
    ["OutcomeRecorded", { id: 1n, success: true, rating: 0 }],
  ]);
});

test("a client takes the money back when nothing came in time", async () => {
  await job("open");
  const availableAt = BigInt(await chain.now()) + BigInt(DAY);
  await refused("TooEarly", [availableAt], client(), "refund");
  await refused("NotClient", [], other(), "refund");
  await chain.travelTo(Number(availableAt));
  assert.deepEqual(brief(await chain.send(client(), "escrow", "refund", [1n])), [
    ["JobRefunded", { jobId: 1n, amount: FMX, byAgent: false }],
    ["OutcomeRecorded", { id: 1n, success: false, rating: 0 }],
  ]);
  assert.equal(await credits(client()), FMX);
});

test("a delivery counts after the window too, if nobody took the money back", async () => {
  await job("open");
  await chain.travel(3 * DAY);
  await chain.send(owner(), "escrow", "deliver", [1n, OUTPUT, ""]);
  await refused("WrongStatus", [2], client(), "refund");
});

test("an agent gives a job back", async () => {
  await job("open");
  await refused("NotAgentOwner", [], client(), "cancel");
  assert.deepEqual(brief(await chain.send(owner(), "escrow", "cancel", [1n])), [
    ["JobRefunded", { jobId: 1n, amount: FMX, byAgent: true }],
    ["OutcomeRecorded", { id: 1n, success: false, rating: 0 }],
  ]);
  assert.equal((await chain.read("registry", "getAgent", 1n)).jobsFailed, 1);
});

test("a client disputes while the review lasts", async () => {
  await job("delivered");
  const deadline = BigInt(await chain.now()) + BigInt(DAY);
  await refused("NotClient", [], owner(), "dispute");
  await chain.travelTo(Number(deadline));
  await refused("TooLate", [deadline], client(), "dispute");
});

test("a dispute is decided in parts, with the fee on the agent's only", async () => {
  await job("disputed", { amount: 1001n * 10n ** 15n + 1n });
  assert.equal(await status(), 5);
  const governance = await chain.fund(chain.at.arbiterPool);
  await refused("NotGovernance", [], client(), "resolve", 5000);
  await refused("InvalidBps", [], governance, "resolve", 10_001);
  const amount = 1001n * 10n ** 15n + 1n;
  const clientAmount = (amount * 4999n) / 10_000n;
  const gross = amount - clientAmount;
  assert.deepEqual(brief(await chain.send(governance, "escrow", "resolve", [1n, 4999])), [
    ["JobResolved", { jobId: 1n, clientAmount, agentPayout: gross - fee(gross), fee: fee(gross) }],
    ["OutcomeRecorded", { id: 1n, success: true, rating: 0 }],
  ]);
  assert.equal((await credits(client())) + (await credits(owner())) + (await credits(chain.at.treasury)), amount);
});

test("half for the client is a failure of the agent", async () => {
  await job("disputed");
  const events = await chain.send(await chain.fund(chain.at.arbiterPool), "escrow", "resolve", [1n, 5000]);
  assert.deepEqual(events[1].args, { id: 1n, success: false, rating: 0 });
});

test("no call is for a job in another state, or for none", async () => {
  const calls = [["deliver", OUTPUT, ""], ["release", 5], ["claim"], ["refund"], ["cancel"], ["dispute"]];
  for (const [call, ...args] of calls) await refused("WrongStatus", [0], client(), call, ...args);
  assert.deepEqual((await chain.read("escrow", "getJob", 1n)).client, ZERO);
  await job("delivered");
  for (const [call, ...args] of [calls[0], calls[3], calls[4]]) await refused("WrongStatus", [2], client(), call, ...args);
});

test("fee, windows and owner are those of the settlement", async () => {
  await job("delivered");
  const pool = chain.at.arbiterPool;
  await chain.fund(pool);
  assert.deepEqual(names(await chain.send(pool, "escrow", "setFee", [1000])), ["FeeChanged"]);
  assert.deepEqual(names(await chain.send(pool, "escrow", "setWindows", [60n, 60n])), ["WindowsChanged"]);
  assert.deepEqual(names(await chain.send(pool, "escrow", "setFeeRecipient", [other()])), ["FeeRecipientChanged"]);
  await chain.send(owner(), "registry", "transferOwnership", [1n, client()]);
  await chain.travel(60);
  await refused("NotAgentOwner", [], owner(), "claim");
  await chain.send(client(), "escrow", "claim", [1n]);
  assert.deepEqual([await credits(client()), await credits(other())], [(FMX * 9n) / 10n, FMX / 10n]);
});

test("limits of governance", async () => {
  const pool = await chain.fund(chain.at.arbiterPool);
  await chain.reverts("FeeTooHigh", [], pool, "escrow", "setFee", [1001]);
  await chain.reverts("InvalidWindow", [], pool, "escrow", "setWindows", [0n, 1n]);
  await chain.reverts("InvalidWindow", [], pool, "escrow", "setWindows", [1n, 0n]);
  await chain.reverts("ZeroAddress", [], pool, "escrow", "setFeeRecipient", [ZERO]);
  await chain.reverts("NotGovernance", [], owner(), "escrow", "setFee", [1]);
  await chain.reverts("NotGovernance", [], owner(), "escrow", "setWindows", [1n, 1n]);
  const read = (name) => chain.read("escrow", name);
  assert.deepEqual([await read("feeBps"), await read("MAX_FEE_BPS"), await read("BPS")], [250, 1000, 10_000]);
  assert.deepEqual([await read("deliveryWindow"), await read("reviewWindow")], [86_400n, 86_400n]);
});
