// MemoryAnchor and Endorsements: who may write for an agent, the chain of roots, what backs an endorsement.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DAY, FMX, ZERO, ZERO_HASH, brief, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const user = (index) => chain.users[index].address;
const [owner, other, client] = [0, 1, 2].map((index) => () => user(index));
const sign = (index, digest) => privateKeyToAccount(chain.users[index].privateKey).sign({ hash: digest });
const [A, B] = [hash("a"), hash("b")];
const tomorrow = async () => BigInt(await chain.now()) + BigInt(DAY);

/** Agent 1 is the owner's, agent 2 the other's. */
beforeEach(async () => {
  await chain.send(owner(), "registry", "register", ["Alpha", "", "", 0n], 100n * FMX);
  await chain.send(other(), "registry", "register", ["Beta", "", "", 0n], 100n * FMX);
});

async function accountOf(holder) {
  await chain.send(holder, "accountFactory", "create", [holder, hash("salt")]);
  return chain.fund(await chain.read("accountFactory", "predict", holder, hash("salt")));
}

const memory = (name, ...args) => chain.read("memoryAnchor", name, ...args);
const anchor = (who, root, prev, count = 3, uri = "ipfs://m", id = 1n) => [who, "memoryAnchor", "anchor", [id, root, prev, count, uri]];

test("each root names the one before it", async () => {
  assert.deepEqual(await memory("head", 1n), [ZERO_HASH, 0n, 0n, 0n]);
  const what = { agentId: 1n, seq: 1n, root: A, prevRoot: ZERO_HASH, count: 3, totalRecords: 3n, anchoredBy: owner(), uri: "ipfs://m" };
  assert.deepEqual(brief(await chain.send(...anchor(owner(), A, ZERO_HASH))), [["MemoryAnchored", what]]);
  await chain.reverts("PrevRootMismatch", [A, B], ...anchor(owner(), B, B));
  await chain.send(...anchor(owner(), B, A, 4));
  await chain.send(...anchor(owner(), B, B, 1));
  assert.deepEqual(await memory("head", 1n), [B, 3n, 8n, BigInt(await chain.now())]);
  assert.equal(await memory("anchorCount", 1n), 3n);
  const { root, prevRoot, seq, count, totalRecords, uri } = await memory("getAnchor", 1n, 2n);
  assert.deepEqual([root, prevRoot, seq, count, totalRecords, uri], [B, A, 2n, 4, 7n, "ipfs://m"]);
  for (const missing of [0n, 4n]) await chain.reverts("UnknownAnchor", [1n, missing], owner(), "memoryAnchor", "getAnchor", [1n, missing]);
  const page = async (from, limit) => (await memory("getAnchors", 1n, from, limit)).map((one) => one.seq);
  assert.deepEqual([await page(0n, 9n), await page(2n, 1n), await page(4n, 9n), await page(1n, 0n)], [[1n, 2n, 3n], [2n], [], []]);
});

test("what is no anchor", async () => {
  await chain.reverts("ZeroRoot", [], ...anchor(owner(), ZERO_HASH, ZERO_HASH));
  await chain.reverts("EmptyBatch", [], ...anchor(owner(), A, ZERO_HASH, 0));
  await chain.reverts("StringTooLong", [], ...anchor(owner(), A, ZERO_HASH, 1, "u".repeat(257)));
  await chain.reverts("UnknownAgent", [9n], ...anchor(owner(), A, ZERO_HASH, 1, "", 9n));
  await chain.reverts("EmptyBatch", [], owner(), "memoryAnchor", "computeRoot", [[]]);
  await chain.govern("memoryAnchor", "setMaxUriBytes", [3]);
  await chain.reverts("StringTooLong", [], ...anchor(owner(), A, ZERO_HASH, 1, "four"));
});

test("owners, their delegates and their accounts anchor", async () => {
  await chain.reverts("NotAuthorized", [], ...anchor(client(), A, ZERO_HASH));
  await chain.reverts("NotAuthorized", [], client(), "memoryAnchor", "setAnchorer", [1n, client(), true]);
  await chain.reverts("ZeroAddress", [], owner(), "memoryAnchor", "setAnchorer", [1n, ZERO, true]);
  assert.deepEqual(brief(await chain.send(owner(), "memoryAnchor", "setAnchorer", [1n, client(), true])), [
    ["AnchorerSet", { agentId: 1n, who: client(), allowed: true }],
  ]);
  await chain.send(...anchor(client(), A, ZERO_HASH));
  const account = await accountOf(owner());
  await chain.send(...anchor(account, B, A));
  assert.deepEqual([await memory("isAnchorer", 1n, account), await memory("canAnchor", 1n, account)], [false, true]);
  await chain.reverts("UnknownAgent", [9n], owner(), "memoryAnchor", "canAnchor", [9n, owner()]);
  // A grant and an account lapse with the owner; the memory stays with the agent.
  await chain.send(owner(), "registry", "transferOwnership", [1n, other()]);
  assert.deepEqual([await memory("canAnchor", 1n, client()), await memory("canAnchor", 1n, account)], [false, false]);
  await chain.send(...anchor(other(), A, B));
});

test("anyone relays an anchor that the owner signed, once and in time", async () => {
  const signed = async (index, deadline) => {
    const args = [1n, A, ZERO_HASH, 1, "ipfs://m"];
    const digest = await memory("hashAnchor", ...args, await memory("nonceOf", 1n), deadline);
    return [client(), "memoryAnchor", "anchorFor", [...args, deadline, await sign(index, digest)]];
  };
  await chain.reverts("BadSignature", [], ...(await signed(1, await tomorrow())));
  const past = BigInt(await chain.now()) - 1n;
  await chain.reverts("ExpiredSignature", [past], ...(await signed(0, past)));
  const call = await signed(0, await tomorrow());
  const [{ args }] = await chain.send(...call);
  assert.equal(args.anchoredBy, client());
  await chain.reverts("BadSignature", [], ...call);
  assert.equal(await memory("nonces", 1n), 1n);
});

test("a record is proven against an anchor", async () => {
  const records = ["r1", "r2", "r3"].map((record) => toHex(record));
  const leaves = await Promise.all(records.map((record) => memory("recordLeaf", record)));
  const root = await memory("computeRoot", leaves);
  assert.equal(await memory("verifyAgainstHead", 1n, records[0], [], 0n), false);
  await chain.send(...anchor(owner(), root, ZERO_HASH, 3));
  const proof = [await memory("computeRoot", leaves.slice(0, 2))];
  assert.equal(await memory("verifyAgainstHead", 1n, records[2], proof, 2n), true);
  assert.equal(await memory("verifyRecord", 1n, 1n, records[2], proof, 2n), true);
  assert.equal(await memory("verifyRecord", 1n, 1n, records[1], proof, 2n), false);
  await chain.reverts("UnknownAnchor", [1n, 2n], owner(), "memoryAnchor", "verifyRecord", [1n, 2n, records[2], proof, 2n]);
});

const endorsements = (name, ...args) => chain.read("endorsements", name, ...args);
const endorse = (who, { from = 1n, to = 2n, capability = "audit", uri = "", job = 0n } = {}) => [
  who,
  "endorsements",
  "endorse",
  [from, to, capability, uri, job],
];

/** Paid work of agent 1 for a client, rated. */
async function work({ amount = 3n * FMX, by = client(), rating = 4 } = {}) {
  await chain.send(by, "escrow", "requestJob", [1n, A, ""], amount);
  const id = await chain.read("escrow", "nextJobId");
  await chain.send(owner(), "escrow", "deliver", [id, B, ""]);
  if (rating !== null) await chain.send(by, "escrow", "release", [id, rating]);
  return id;
}

test("an endorsement without work weighs nothing", async () => {
  const capabilityId = hash("audit");
  const what = { id: 1n, fromAgentId: 1n, toAgentId: 2n, capabilityId, capability: "audit", basis: 0, weight: 0 };
  const evidence = { evidenceJobId: 0n, evidenceAmountWei: 0n, uri: "ipfs://e" };
  assert.deepEqual(brief(await chain.send(...endorse(owner(), { uri: "ipfs://e" }))), [["Endorsed", { ...what, ...evidence }]]);
  const { id, ...stored } = { ...what, ...evidence };
  const ts = BigInt(await chain.now());
  assert.deepEqual(await endorsements("getEndorsement", id), { ...stored, endorser: owner(), revoked: false, ts });
  await chain.reverts("AlreadyEndorsed", [1n], ...endorse(owner()));
  await chain.send(...endorse(owner(), { capability: "Audit" }));
  assert.deepEqual([await endorsements("givenIds", 1n, 0n, 9n), await endorsements("receivedIds", 2n, 1n, 9n)], [[1n, 2n], [2n]]);
  assert.deepEqual([await endorsements("receivedCount", 2n), await endorsements("givenCount", 2n)], [2n, 0n]);
  assert.equal(await endorsements("capabilityIdOf", "audit"), capabilityId);
});

test("paid work gives weight: whole FMX times the rating, up to a cap", async () => {
  const job = await work({ amount: 3n * FMX + 9n });
  assert.deepEqual(await endorsements("quoteWeight", 1n, 2n, job), [12, 1, 3n * FMX + 9n]);
  const [{ args }] = await chain.send(...endorse(owner(), { job }));
  assert.deepEqual([args.basis, args.weight, args.evidenceJobId], [1, 12, job]);
  const backed = { total: 1, backed: 1, unbacked: 0, revoked: 0, weight: 12n };
  assert.deepEqual(await endorsements("summary", 2n), backed);
  assert.deepEqual(await endorsements("capabilitySummary", 2n, "audit"), backed);
  await chain.govern("endorsements", "setWeightCap", [5]);
  assert.equal((await endorsements("quoteWeight", 1n, 2n, job))[0], 5);
});

test("an agent without ratings counts as one of three", async () => {
  const job = await work({ rating: 0 });
  assert.equal((await endorsements("quoteWeight", 1n, 2n, job))[0], 9);
});

test("work that is no evidence", async () => {
  const refused = (error, args, job, from = 1n) => chain.reverts(error, args, owner(), "endorsements", "quoteWeight", [from, 3n - from, job]);
  const unfinished = await work({ rating: null });
  await refused("EvidenceNotCompleted", [2], unfinished);
  await refused("EvidenceNotCompleted", [0], 99n);
  const small = await work({ amount: FMX - 1n });
  await refused("EvidenceTooSmall", [FMX - 1n, FMX], small);
  const good = await work();
  await refused("EvidenceNotOwnWork", [1n], good, 2n);
  await chain.govern("endorsements", "setMinPaidWei", [4n * FMX]);
  await refused("EvidenceTooSmall", [3n * FMX, 4n * FMX], good);
  await chain.govern("endorsements", "setMinPaidWei", [0n]);
  const byOther = await work({ by: other() });
  await refused("EvidenceNotArmsLength", [other()], byOther);
  const account = await accountOf(owner());
  const byAccount = await work({ by: account });
  await refused("EvidenceNotArmsLength", [account], byAccount);
});

test("who may endorse, and whom", async () => {
  await chain.reverts("NotAuthorized", [], ...endorse(other()));
  await chain.reverts("UnknownAgent", [9n], ...endorse(owner(), { from: 9n }));
  await chain.reverts("UnknownAgent", [9n], ...endorse(owner(), { to: 9n }));
  for (const capability of ["", "c".repeat(65)]) await chain.reverts("InvalidCapability", [], ...endorse(owner(), { capability }));
  await chain.reverts("StringTooLong", [], ...endorse(owner(), { uri: "u".repeat(257) }));
  await chain.reverts("SelfEndorsement", [], ...endorse(owner(), { to: 1n }));
  const account = await accountOf(owner());
  const [{ args }] = await chain.send(...endorse(account));
  assert.equal((await endorsements("getEndorsement", args.id)).endorser, owner());
  await chain.send(other(), "registry", "transferOwnership", [2n, account]);
  await chain.reverts("SelfEndorsement", [], ...endorse(owner(), { capability: "other" }));
  assert.equal(await endorsements("isRelated", owner(), account), true);
  assert.equal(await endorsements("isRelated", owner(), other()), false);
});

test("a revoked endorsement stays on record and frees its place", async () => {
  const job = await work();
  await chain.send(...endorse(owner(), { job }));
  await chain.reverts("NotAuthorized", [], other(), "endorsements", "revoke", [1n]);
  await chain.reverts("UnknownEndorsement", [9n], owner(), "endorsements", "revoke", [9n]);
  assert.deepEqual(brief(await chain.send(owner(), "endorsements", "revoke", [1n])), [
    ["EndorsementRevoked", { id: 1n, fromAgentId: 1n, toAgentId: 2n, weight: 12 }],
  ]);
  await chain.reverts("AlreadyRevoked", [1n], owner(), "endorsements", "revoke", [1n]);
  assert.deepEqual(await endorsements("summary", 2n), { total: 1, backed: 0, unbacked: 0, revoked: 1, weight: 0n });
  assert.equal(await endorsements("edgeOf", 1n, 2n, hash("audit")), 0n);
  await chain.send(...endorse(owner()));
  assert.equal(await endorsements("edgeOf", 1n, 2n, hash("audit")), 2n);
  assert.equal((await endorsements("getEndorsement", 1n)).revoked, true);
});

test("anyone relays what the endorsing owner signed", async () => {
  const deadline = await tomorrow();
  const args = [1n, 2n, "audit", "", 0n];
  const digest = await endorsements("hashEndorse", ...args, 0n, deadline);
  const call = async (index) => [client(), "endorsements", "endorseFor", [...args, deadline, await sign(index, digest)]];
  await chain.reverts("BadSignature", [], ...(await call(1)));
  assert.deepEqual(names(await chain.send(...(await call(0)))), ["Endorsed"]);
  const revoke = await endorsements("hashRevoke", 1n, 1n, deadline);
  const expired = BigInt(await chain.now()) - 1n;
  await chain.reverts("ExpiredSignature", [expired], client(), "endorsements", "revokeFor", [1n, expired, await sign(0, revoke)]);
  assert.deepEqual(names(await chain.send(client(), "endorsements", "revokeFor", [1n, deadline, await sign(0, revoke)])), ["EndorsementRevoked"]);
  assert.equal(await endorsements("nonces", 1n), 2n);
});

test("governance of both", async () => {
  for (const key of ["memoryAnchor", "endorsements"]) {
    await chain.reverts("NotGovernance", [], owner(), key, "setMaxUriBytes", [1]);
    assert.deepEqual(brief(await chain.govern(key, "setMaxUriBytes", [9])), [["MaxUriBytesChanged", { maxUriBytes: 9 }]]);
  }
  await chain.reverts("NotGovernance", [], owner(), "endorsements", "setWeightCap", [1]);
  assert.deepEqual(names(await chain.govern("endorsements", "setMinPaidWei", [7n])), ["MinPaidWeiChanged"]);
});
