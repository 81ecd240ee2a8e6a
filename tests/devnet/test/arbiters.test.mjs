// ArbiterPool: stakes, cases, votes, the median and who is rewarded.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { encodeFunctionData } from "viem";
import { DAY, FMX, ZERO, brief, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const STAKE = 500n * FMX;
const user = (index) => chain.users[index].address;
const [owner, client, outsider] = [0, 1, 9].map((index) => () => user(index));
const send = (who, name, args, value) => chain.send(who, "arbiterPool", name, args, value);
const refused = (error, args, who, name, call, value) => chain.reverts(error, args, who, "arbiterPool", name, call, value);
const join = (index) => send(user(index), "joinPool", [], STAKE);
const credits = (account) => chain.read("arbiterPool", "credits", account);
const now = async () => BigInt(await chain.now());

/** Job 1 is disputed. */
beforeEach(async () => {
  await chain.send(owner(), "registry", "register", ["Alpha", "", "", FMX], 100n * FMX);
  await chain.send(client(), "escrow", "requestJob", [1n, hash("in"), ""], FMX);
  await chain.send(owner(), "escrow", "deliver", [1n, hash("out"), ""]);
  await chain.send(client(), "escrow", "dispute", [1n]);
});

const openCase = () => send(client(), "openCase", [1n, "ipfs://evidence"], FMX);

async function voted(...values) {
  await openCase();
  for (const [index, bps] of values.entries()) {
    await join(index + 2);
    await send(user(index + 2), "vote", [1n, bps]);
  }
}

test("arbiters stake enough, and more if they like", async () => {
  await refused("ZeroValue", [], user(2), "joinPool", []);
  await refused("BelowMinStake", [STAKE - 1n, STAKE], user(2), "joinPool", [], STAKE - 1n);
  assert.deepEqual(brief(await join(2)), [["ArbiterJoined", { arbiter: user(2), stake: STAKE }]]);
  assert.deepEqual(brief(await send(user(2), "joinPool", [], 1n)), [["ArbiterJoined", { arbiter: user(2), stake: STAKE + 1n }]]);
  assert.deepEqual([await chain.read("arbiterPool", "arbiterCount"), await chain.read("arbiterPool", "arbiters", 0n)], [1n, user(2)]);
  assert.equal(await chain.read("arbiterPool", "isArbiter", user(2)), true);
});

test("leaving takes two calls and a week", async () => {
  await refused("NotArbiter", [], user(2), "leavePool", []);
  await join(2);
  await join(3);
  const events = await send(user(2), "leavePool", []);
  const at = (await now()) + BigInt(7 * DAY);
  assert.deepEqual(brief(events), [["ArbiterLeaving", { arbiter: user(2), at }]]);
  assert.equal(await chain.read("arbiterPool", "isArbiter", user(2)), false);
  await refused("CooldownActive", [at], user(2), "leavePool", []);
  await chain.travelTo(Number(at));
  assert.deepEqual(brief(await send(user(2), "leavePool", [])), [["ArbiterLeft", { arbiter: user(2), stake: STAKE }]]);
  assert.equal(await credits(user(2)), STAKE);
  assert.equal(await chain.read("arbiterPool", "arbiters", 0n), user(3));
  assert.deepEqual(names(await send(user(2), "withdraw", [])), ["Withdrawn"]);
  await send(user(3), "leavePool", []);
  await send(user(3), "joinPool", [], 1n);
  assert.equal(await chain.read("arbiterPool", "leaveAt", user(3)), 0n, "more stake takes it back");
});

test("who votes and leaves waits for the case", async () => {
  await voted(5000);
  await send(user(2), "leavePool", []);
  await chain.travel(7 * DAY);
  await refused("VotesPending", [1n], user(2), "leavePool", []);
  await send(outsider(), "close", [1n]);
  await send(user(2), "leavePool", []);
});

test("a case is opened once, by a party, for exactly the fee", async () => {
  await refused("WrongFee", [FMX + 1n, FMX], client(), "openCase", [1n, ""], FMX + 1n);
  await refused("NotParty", [], outsider(), "openCase", [1n, ""], FMX);
  await refused("JobNotDisputed", [], client(), "openCase", [2n, ""], FMX);
  await refused("StringTooLong", [], client(), "openCase", [1n, "u".repeat(257)], FMX);
  const evidenceURI = "ipfs://evidence";
  assert.deepEqual(brief(await openCase()), [["CaseOpened", { caseId: 1n, jobId: 1n, opener: client(), evidenceURI }]]);
  const openedAt = await now();
  const stored = { jobId: 1n, opener: client(), evidenceURI, openedAt, result: 0, votes: 0, closed: false };
  assert.deepEqual(await chain.read("arbiterPool", "getCase", 1n), stored);
  await refused("CaseExists", [1n], owner(), "openCase", [1n, ""], FMX);
  assert.equal(await chain.read("arbiterPool", "caseOf", 1n), 1n);
});

test("both sides bring evidence while a case is open", async () => {
  await refused("UnknownCase", [], owner(), "submitEvidence", [1n, ""]);
  await openCase();
  await refused("NotParty", [], outsider(), "submitEvidence", [1n, ""]);
  await refused("StringTooLong", [], owner(), "submitEvidence", [1n, "u".repeat(257)]);
  assert.deepEqual(brief(await send(owner(), "submitEvidence", [1n, "ipfs://e"])), [
    ["EvidenceSubmitted", { caseId: 1n, by: owner(), uri: "ipfs://e" }],
  ]);
  assert.deepEqual(await chain.read("arbiterPool", "getEvidence", 1n), ["ipfs://e"]);
});

test("who may vote, and when", async () => {
  await openCase();
  const closesAt = (await now()) + BigInt(3 * DAY);
  for (const index of [0, 1, 2, 3]) await join(index);
  await send(user(3), "leavePool", []);
  await refused("UnknownCase", [], user(2), "vote", [2n, 1]);
  await refused("NotArbiter", [], outsider(), "vote", [1n, 1]);
  await refused("Leaving", [], user(3), "vote", [1n, 1]);
  await refused("InvalidBps", [], user(2), "vote", [1n, 10_001]);
  await refused("ConflictOfInterest", [], owner(), "vote", [1n, 1]);
  await refused("ConflictOfInterest", [], client(), "vote", [1n, 1]);
  assert.deepEqual(brief(await send(user(2), "vote", [1n, 2500])), [["Voted", { caseId: 1n, arbiter: user(2), clientBps: 2500 }]]);
  await refused("AlreadyVoted", [], user(2), "vote", [1n, 1]);
  assert.deepEqual(await chain.read("arbiterPool", "getVote", 1n, user(2)), [true, 2500]);
  assert.deepEqual(await chain.read("arbiterPool", "getVoters", 1n), [user(2)]);
  assert.equal(await chain.read("arbiterPool", "pendingVotes", user(2)), 1n);
  await join(4);
  await chain.travelTo(Number(closesAt));
  await refused("VotingClosed", [closesAt], user(4), "vote", [1n, 1]);
});

test("five votes close a case: the median decides, who is near it shares the fee", async () => {
  await voted(0, 4000, 5000, 7000, 10_000);
  const events = await send(outsider(), "close", [1n]);
  assert.deepEqual(names(events), ["Rewarded", "Rewarded", "Rewarded", "CaseClosed", "JobResolved", "OutcomeRecorded"]);
  const part = FMX / 3n;
  assert.deepEqual(events.slice(0, 3).map(({ args }) => [args.arbiter, args.amount]), [3, 4, 5].map((at) => [user(at), part]));
  assert.deepEqual(events[3].args, { caseId: 1n, jobId: 1n, clientBps: 5000 });
  assert.equal(events[4].args.clientAmount, FMX / 2n);
  assert.equal(await credits(chain.at.multisig), FMX - 3n * part);
  const { closed, result, votes } = await chain.read("arbiterPool", "getCase", 1n);
  assert.deepEqual([closed, result, votes], [true, 5000, 5]);
  await refused("CaseClosedAlready", [], outsider(), "close", [1n]);
  await refused("CaseClosedAlready", [], owner(), "submitEvidence", [1n, ""]);
});

test("fewer votes wait for the window; of an even number the mean of the middle counts", async () => {
  await voted(1000, 2001);
  await refused("NotClosable", [], outsider(), "close", [1n]);
  await chain.travel(3 * DAY);
  const closed = (await send(outsider(), "close", [1n])).find(({ name }) => name === "CaseClosed");
  assert.equal(closed.args.clientBps, 1500);
});

test("without votes each side has half, and the owner the fee", async () => {
  await openCase();
  await chain.travel(3 * DAY);
  const events = await send(outsider(), "close", [1n]);
  assert.deepEqual(names(events), ["CaseClosed", "JobResolved", "OutcomeRecorded"]);
  assert.equal(events[0].args.clientBps, 5000);
  assert.equal(await credits(chain.at.multisig), FMX);
});

test("nothing closes while the pool does not govern the escrow", async () => {
  await openCase();
  await chain.travel(3 * DAY);
  const abi = chain.artifacts.ServiceEscrow.abi;
  const handOver = encodeFunctionData({ abi, functionName: "setGovernance", args: [chain.at.multisig] });
  await chain.govern("arbiterPool", "forward", [chain.at.escrow, handOver]);
  await refused("NotGovernance", [], outsider(), "close", [1n]);
});

test("the owner forwards, sets parameters and hands over", async () => {
  const pool = chain.at.multisig;
  const setFee = encodeFunctionData({ abi: chain.artifacts.ServiceEscrow.abi, functionName: "setFee", args: [1] });
  await refused("NotOwner", [], owner(), "forward", [chain.at.escrow, setFee]);
  await refused("ForwardFailed", [], pool, "forward", [chain.at.escrow, "0x12345678"]);
  assert.deepEqual(names(await chain.govern("arbiterPool", "forward", [chain.at.escrow, setFee])), ["FeeChanged"]);
  for (const wrong of [[0n, 1n, 1], [1n, 0n, 1], [1n, 1n, 0]]) await refused("InvalidParams", [], pool, "setParams", wrong);
  await refused("NotOwner", [], owner(), "setParams", [1n, 1n, 1]);
  assert.deepEqual(brief(await chain.govern("arbiterPool", "setParams", [1n, 60n, 1])), [
    ["ParamsChanged", { minStake: 1n, votingWindow: 60n, quorum: 1 }],
  ]);
  await refused("ZeroAddress", [], pool, "transferOwnership", [ZERO]);
  await refused("NotOwner", [], owner(), "transferOwnership", [owner()]);
  assert.deepEqual(names(await chain.govern("arbiterPool", "transferOwnership", [owner()])), ["OwnershipTransferred"]);
  await refused("NothingToWithdraw", [], owner(), "withdraw", []);
});
