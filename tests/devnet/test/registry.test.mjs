// AgentRegistry: who may do what with an agent, and what it leaves in the log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, FMX, ZERO, brief, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const BOND = 100n * FMX;
const [owner, other, third] = [0, 1, 2].map((index) => () => chain.users[index].address);

async function register(who = owner(), { name = "Alpha", price = FMX, bond = BOND } = {}) {
  await chain.send(who, "registry", "register", [name, "https://a.example", "ipfs://a", price], bond);
  return chain.read("registry", "nextId");
}

test("a registration leaves three events and an active agent", async () => {
  const args = ["Alpha", "https://a.example", "ipfs://a", FMX];
  const events = await chain.send(owner(), "registry", "register", args, BOND + 1n);
  const [name, endpoint, metadataURI, pricePerJob] = args;
  assert.deepEqual(brief(events), [
    ["AgentRegistered", { id: 1n, owner: owner(), name, endpoint, metadataURI, pricePerJob, bond: BOND + 1n }],
    ["AgentStatusChanged", { id: 1n, status: 1 }],
    ["BondChanged", { id: 1n, bond: BOND + 1n }],
  ]);
  const agent = await chain.read("registry", "getAgent", 1n);
  const registeredAt = BigInt(await chain.now());
  assert.deepEqual(agent, {
    owner: owner(),
    ...{ name, endpoint, metadataURI, pricePerJob, bond: BOND + 1n, registeredAt, retiredAt: 0n, status: 1 },
    ...{ jobsCompleted: 0, jobsFailed: 0, ratingCount: 0, ratingSum: 0 },
  });
  assert.equal(await chain.read("registry", "isActive", 1n), true);
});

test("limits of a registration", async () => {
  const call = (name, endpoint, uri, value) => [owner(), "registry", "register", [name, endpoint, uri, 0n], value];
  await chain.reverts("InvalidName", [], ...call("", "", "", BOND));
  await chain.reverts("InvalidName", [], ...call("x".repeat(65), "", "", BOND));
  await chain.reverts("InvalidName", [], ...call("ä".repeat(33), "", "", BOND));
  await chain.reverts("StringTooLong", [], ...call("x", "e".repeat(257), "", BOND));
  await chain.reverts("StringTooLong", [], ...call("x", "", "m".repeat(257), BOND));
  await chain.reverts("InsufficientBond", [BOND - 1n, BOND], ...call("x", "", "", BOND - 1n));
  await chain.send(...call("x".repeat(64), "e".repeat(256), "m".repeat(256), BOND));
});

test("an unknown agent is zeros to read and an error to change", async () => {
  const agent = await chain.read("registry", "getAgent", 7n);
  assert.deepEqual([agent.owner, agent.status], [ZERO, 0]);
  assert.equal(await chain.read("registry", "isActive", 7n), false);
  await chain.reverts("UnknownAgent", [], owner(), "registry", "update", [7n, "", "", 0n]);
  await chain.reverts("UnknownAgent", [], owner(), "registry", "topUpBond", [7n], 1n);
});

test("only the owner updates, in any status, and the name stays", async () => {
  const id = await register();
  await chain.reverts("NotOwner", [], other(), "registry", "update", [id, "", "", 0n]);
  await chain.send(owner(), "registry", "retire", [id]);
  const events = await chain.send(owner(), "registry", "update", [id, "https://b.example", "", 5n]);
  assert.deepEqual(brief(events), [
    ["AgentUpdated", { id, endpoint: "https://b.example", metadataURI: "", pricePerJob: 5n }],
  ]);
  const { name, endpoint, metadataURI, pricePerJob } = await chain.read("registry", "getAgent", id);
  assert.deepEqual([name, endpoint, metadataURI, pricePerJob], ["Alpha", "https://b.example", "", 5n]);
  await chain.reverts("StringTooLong", [], owner(), "registry", "update", [id, "e".repeat(257), "", 0n]);
});

test("a status goes between active and paused, and only that", async () => {
  const id = await register();
  await chain.reverts("NotOwner", [], other(), "registry", "setStatus", [id, 2]);
  for (const refused of [0, 1, 3, 4]) {
    await chain.reverts("InvalidStatusTransition", [], owner(), "registry", "setStatus", [id, refused]);
  }
  assert.deepEqual(brief(await chain.send(owner(), "registry", "setStatus", [id, 2])), [
    ["AgentStatusChanged", { id, status: 2 }],
  ]);
  assert.equal(await chain.read("registry", "isActive", id), false);
  await chain.send(owner(), "registry", "setStatus", [id, 1]);
  assert.equal(await chain.read("registry", "isActive", id), true);
});

test("who retires gets the bond after a week", async () => {
  const id = await register();
  await chain.reverts("NotRetired", [], owner(), "registry", "withdrawBond", [id]);
  assert.deepEqual(names(await chain.send(owner(), "registry", "retire", [id])), ["AgentStatusChanged"]);
  const { retiredAt, status } = await chain.read("registry", "getAgent", id);
  assert.deepEqual([retiredAt, status], [BigInt(await chain.now()), 3]);
  await chain.reverts("InvalidStatusTransition", [], owner(), "registry", "retire", [id]);
  await chain.reverts("InvalidStatusTransition", [], owner(), "registry", "setStatus", [id, 1]);
  await chain.travelTo(Number(retiredAt) + 7 * DAY - 1);
  const availableAt = retiredAt + 7n * BigInt(DAY);
  await chain.reverts("CooldownActive", [availableAt], owner(), "registry", "withdrawBond", [id]);
  await chain.travel(1);
  await chain.reverts("NotOwner", [], other(), "registry", "withdrawBond", [id]);
  const before = await chain.balance(chain.at.registry);
  assert.deepEqual(brief(await chain.send(owner(), "registry", "withdrawBond", [id])), [
    ["BondChanged", { id, bond: 0n }],
  ]);
  assert.equal(before - (await chain.balance(chain.at.registry)), BOND);
  await chain.reverts("NothingToWithdraw", [], owner(), "registry", "withdrawBond", [id]);
});

test("anyone tops up a bond", async () => {
  const id = await register();
  await chain.reverts("ZeroValue", [], other(), "registry", "topUpBond", [id]);
  assert.deepEqual(brief(await chain.send(other(), "registry", "topUpBond", [id], 5n)), [
    ["BondChanged", { id, bond: BOND + 5n }],
  ]);
});

test("an agent goes to a new owner with everything", async () => {
  const id = await register();
  await chain.reverts("ZeroAddress", [], owner(), "registry", "transferOwnership", [id, ZERO]);
  await chain.reverts("NotOwner", [], other(), "registry", "transferOwnership", [id, other()]);
  assert.deepEqual(brief(await chain.send(owner(), "registry", "transferOwnership", [id, other()])), [
    ["OwnershipTransferred", { id, from: owner(), to: other() }],
  ]);
  await chain.reverts("NotOwner", [], owner(), "registry", "retire", [id]);
  await chain.send(other(), "registry", "retire", [id]);
});

test("governance slashes and raises the minimum, without a change of status", async () => {
  const id = await register();
  await chain.reverts("NotGovernance", [], owner(), "registry", "slash", [id, 1n, third(), "late"]);
  const governance = chain.at.multisig;
  await chain.reverts("SlashExceedsBond", [BOND + 1n, BOND], governance, "registry", "slash", [id, BOND + 1n, third(), ""]);
  const before = await chain.balance(third());
  assert.deepEqual(brief(await chain.govern("registry", "slash", [id, 1n, third(), "late"])), [
    ["AgentSlashed", { id, amount: 1n, to: third(), reason: "late" }],
    ["BondChanged", { id, bond: BOND - 1n }],
  ]);
  assert.equal((await chain.balance(third())) - before, 1n);
  assert.equal((await chain.read("registry", "getAgent", id)).status, 1);
  assert.equal(await chain.read("registry", "isActive", id), false);
  assert.deepEqual(brief(await chain.govern("registry", "setMinBond", [BOND - 1n])), [
    ["MinBondChanged", { minBond: BOND - 1n }],
  ]);
  assert.equal(await chain.read("registry", "isActive", id), true);
});

test("outcomes come from the escrow, which is set once", async () => {
  const id = await register();
  await chain.reverts("NotEscrow", [], owner(), "registry", "recordOutcome", [id, true, 5]);
  const escrow = await chain.fund(chain.at.escrow);
  await chain.reverts("InvalidRating", [], escrow, "registry", "recordOutcome", [id, true, 6]);
  assert.deepEqual(brief(await chain.send(escrow, "registry", "recordOutcome", [id, true, 5])), [
    ["OutcomeRecorded", { id, success: true, rating: 5 }],
  ]);
  await chain.send(escrow, "registry", "recordOutcome", [id, false, 0]);
  const { jobsCompleted, jobsFailed, ratingCount, ratingSum } = await chain.read("registry", "getAgent", id);
  assert.deepEqual([jobsCompleted, jobsFailed, ratingCount, ratingSum], [1, 1, 1, 5]);
  await chain.reverts("EscrowAlreadySet", [], chain.at.multisig, "registry", "setEscrow", [owner()]);
  await chain.reverts("NotGovernance", [], owner(), "registry", "setEscrow", [owner()]);
});

test("governance hands over", async () => {
  await chain.reverts("NotGovernance", [], owner(), "registry", "setGovernance", [owner()]);
  await chain.reverts("ZeroAddress", [], chain.at.multisig, "registry", "setGovernance", [ZERO]);
  assert.deepEqual(brief(await chain.govern("registry", "setGovernance", [owner()])), [
    ["GovernanceChanged", { previous: chain.at.multisig, current: owner() }],
  ]);
  await chain.send(owner(), "registry", "setMinBond", [0n]);
});
