// AgentAccountFactory and AgentAccount: known addresses, session keys and their limits, relayed calls, ERC-1271.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { encodeFunctionData, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DAY, FMX, ZERO, brief, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const SALT = hash("salt");
const [owner, session, other] = [0, 1, 2].map((index) => () => chain.users[index].address);
const key = (index) => privateKeyToAccount(chain.users[index].privateKey);
let account;

beforeEach(async () => {
  await chain.send(other(), "accountFactory", "create", [owner(), SALT]);
  account = await chain.read("accountFactory", "predict", owner(), SALT);
  chain.know(account, "AgentAccount");
  await chain.rpc.call("anvil_setBalance", account, `0x${(10n * FMX).toString(16)}`);
});

const execute = (who, to, value = 0n, data = "0x") => [who, account, "execute", [to, value, data]];
const tomorrow = async () => BigInt(await chain.now()) + BigInt(2 * DAY);
const addSession = async (cap, targets, expiry) =>
  chain.send(owner(), account, "addSession", [session(), cap, expiry ?? (await tomorrow()), targets]);

async function relayed(index, { to = other(), value = 1n, data = "0x", nonce, deadline } = {}) {
  const until = deadline ?? (await tomorrow());
  const counted = nonce ?? (await chain.read(account, "nonce"));
  const digest = await chain.read(account, "hashExecute", to, value, keccak256(data), counted, until);
  return [to, value, data, until, await key(index).sign({ hash: digest })];
}

test("an account stands where it was predicted, once", async () => {
  const salt = hash("another");
  const predicted = await chain.read("accountFactory", "predict", owner(), salt);
  assert.equal(await chain.read("accountFactory", "isAccount", predicted), false);
  chain.know(predicted, "AgentAccount");
  assert.deepEqual(brief(await chain.send(other(), "accountFactory", "create", [owner(), salt])), [
    ["Initialized", { owner: owner() }],
    ["OwnershipTransferred", { previous: ZERO, current: owner() }],
    ["AccountCreated", { owner: owner(), account: predicted }],
  ]);
  assert.equal(await chain.read("accountFactory", "isAccount", predicted), true);
  assert.equal(await chain.read("accountFactory", "accountCount", owner()), 2n);
  await chain.reverts("CreateFailed", [], other(), "accountFactory", "create", [owner(), salt]);
  await chain.reverts("ZeroAddress", [], other(), "accountFactory", "create", [ZERO, salt]);
  await chain.reverts("AlreadyInitialized", [], other(), predicted, "initialize", [other()]);
  assert.equal(await chain.read("accountImpl", "owner"), `0x${"00".repeat(19)}01`);
  await chain.reverts("AlreadyInitialized", [], other(), "accountImpl", "initialize", [other()]);
});

test("the owner executes, one call or many, and what fails says why", async () => {
  const before = await chain.balance(other());
  assert.deepEqual(brief(await chain.send(...execute(owner(), other(), 5n))), [
    ["Executed", { by: owner(), to: other(), value: 5n, ok: true }],
  ]);
  assert.equal((await chain.balance(other())) - before, 5n);
  await chain.reverts("NotAuthorized", [], ...execute(other(), other(), 5n));
  const abi = chain.artifacts.AgentRegistry.abi;
  const data = encodeFunctionData({ abi, functionName: "topUpBond", args: [9n] });
  await chain.reverts("UnknownAgent", [], ...execute(owner(), chain.at.registry, 1n, data));
  await chain.reverts("CallFailed", [], ...execute(owner(), chain.at.accountFactory, 1n));
  const batch = [[other(), session()], [1n, 2n], ["0x", "0x"]];
  assert.deepEqual(names(await chain.send(owner(), account, "executeBatch", batch)), ["Executed", "Executed"]);
  await chain.reverts("LengthMismatch", [], owner(), account, "executeBatch", [[other()], [1n, 2n], ["0x"]]);
  await chain.reverts("LengthMismatch", [], owner(), account, "executeBatch", [[other()], [1n], []]);
});

test("an account owns agents and delivers for them", async () => {
  const call = (contract, functionName, args) =>
    encodeFunctionData({ abi: chain.artifacts[contract].abi, functionName, args });
  await chain.rpc.call("anvil_setBalance", account, `0x${(1000n * FMX).toString(16)}`);
  const register = call("AgentRegistry", "register", ["Alpha", "", "", 0n]);
  await chain.send(...execute(owner(), chain.at.registry, 100n * FMX, register));
  await chain.send(owner(), "escrow", "requestJob", [1n, hash("in"), ""]);
  await chain.reverts("NotAgentOwner", [], owner(), "escrow", "deliver", [1n, hash("out"), ""]);
  const deliver = call("ServiceEscrow", "deliver", [1n, hash("out"), ""]);
  assert.deepEqual(names(await chain.send(...execute(owner(), chain.at.escrow, 0n, deliver))), ["JobDelivered", "Executed"]);
});

test("a session key reaches its targets, up to its cap a day", async () => {
  const expiry = await tomorrow();
  assert.deepEqual(brief(await addSession(10n, [other()], expiry)), [
    ["SessionAdded", { key: session(), capPerDay: 10n, expiry }],
  ]);
  assert.equal(await chain.read(account, "allowedTarget", session(), other()), true);
  assert.deepEqual(await chain.read(account, "sessionTargets", session()), [other()]);
  await chain.reverts("TargetNotAllowed", [owner()], ...execute(session(), owner(), 1n));
  await chain.reverts("CapExceeded", [11n, 10n], ...execute(session(), other(), 11n));
  await chain.send(...execute(session(), other(), 7n));
  await chain.reverts("CapExceeded", [4n, 3n], ...execute(session(), other(), 4n));
  await chain.travel(DAY);
  await chain.send(...execute(session(), other(), 10n));
  await chain.travelTo(Number(expiry) - 1);
  assert.equal(await chain.read(account, "isSigner", session()), true);
  await chain.travelTo(Number(expiry));
  assert.equal(await chain.read(account, "isSigner", session()), false);
  await chain.reverts("SessionExpired", [], ...execute(session(), other(), 0n));
});

test("a session without targets reaches all, one without a cap spends nothing", async () => {
  await addSession(0n, []);
  assert.equal((await chain.read(account, "sessions", session()))[4], true);
  await chain.send(...execute(session(), owner()));
  await chain.reverts("CapExceeded", [1n, 0n], ...execute(session(), other(), 1n));
});

test("a session is replaced and revoked by the owner alone", async () => {
  const now = BigInt(await chain.now());
  const call = [session(), 1n, now + 100n, [other()]];
  await chain.reverts("NotOwner", [], session(), account, "addSession", call);
  await chain.reverts("SessionExpired", [], owner(), account, "addSession", [session(), 1n, now, []]);
  await chain.reverts("ZeroAddress", [], owner(), account, "addSession", [ZERO, 1n, now + 100n, []]);
  await addSession(5n, [other()]);
  await addSession(6n, [owner()]);
  assert.equal(await chain.read(account, "allowedTarget", session(), other()), false);
  await chain.reverts("TargetNotAllowed", [other()], ...execute(session(), other(), 1n));
  await chain.reverts("NotOwner", [], session(), account, "revokeSession", [session()]);
  assert.deepEqual(brief(await chain.send(owner(), account, "revokeSession", [session()])), [
    ["SessionRevoked", { key: session() }],
  ]);
  await chain.reverts("NotAuthorized", [], ...execute(session(), owner(), 1n));
});

test("anyone relays what the owner signed, once and in time", async () => {
  const call = await relayed(0);
  assert.deepEqual(brief(await chain.send(other(), account, "executeWithSig", call)), [
    ["Executed", { by: owner(), to: other(), value: 1n, ok: true }],
  ]);
  assert.equal(await chain.read(account, "nonce"), 1n);
  await chain.reverts("BadSignature", [], other(), account, "executeWithSig", call);
  await chain.reverts("BadSignature", [], other(), account, "executeWithSig", await relayed(2));
  const deadline = BigInt(await chain.now());
  const late = await relayed(0, { deadline });
  await chain.travel(1);
  await chain.reverts("Expired", [deadline], other(), account, "executeWithSig", late);
});

test("a relayed call that fails uses no nonce", async () => {
  const call = await relayed(0, { value: 11n * FMX });
  await chain.reverts("CallFailed", [], other(), account, "executeWithSig", call);
  await assert.rejects(chain.send(other(), account, "executeWithSig", call), /CallFailed/);
  assert.equal(await chain.read(account, "nonce"), 0n);
});

test("the limits of a session hold for what it signed too", async () => {
  await addSession(5n, [other()]);
  await chain.send(other(), account, "executeWithSig", await relayed(1, { value: 5n }));
  await chain.reverts("CapExceeded", [1n, 0n], other(), account, "executeWithSig", await relayed(1, { value: 1n }));
  await chain.reverts("TargetNotAllowed", [owner()], other(), account, "executeWithSig", await relayed(1, { to: owner() }));
});

test("signatures of owner and sessions are the account's, for any hash", async () => {
  const digest = hash("anything");
  const valid = async (index) => chain.read(account, "isValidSignature", digest, await key(index).sign({ hash: digest }));
  assert.equal(await valid(0), "0x1626ba7e");
  assert.equal(await valid(1), "0xffffffff");
  await addSession(0n, [other()]);
  assert.equal(await valid(1), "0x1626ba7e");
});

test("an account owned by an account signs through it", async () => {
  await chain.send(other(), "accountFactory", "create", [account, SALT]);
  const inner = account;
  const outer = await chain.read("accountFactory", "predict", inner, SALT);
  chain.know(outer, "AgentAccount");
  const digest = await chain.read(outer, "hashExecute", other(), 0n, keccak256("0x"), 0n, await tomorrow());
  const call = [other(), 0n, "0x", await tomorrow(), await key(0).sign({ hash: digest })];
  assert.deepEqual((await chain.send(other(), outer, "executeWithSig", call))[0].args.by, inner);
});

test("an account changes its owner, and stays an account of the factory", async () => {
  await chain.reverts("NotOwner", [], other(), account, "transferOwnership", [other()]);
  await chain.reverts("ZeroAddress", [], owner(), account, "transferOwnership", [ZERO]);
  assert.deepEqual(brief(await chain.send(owner(), account, "transferOwnership", [other()])), [
    ["OwnershipTransferred", { previous: owner(), current: other() }],
  ]);
  assert.equal(await chain.read("accountFactory", "isAccount", account), true);
  await chain.reverts("NotAuthorized", [], ...execute(owner(), owner(), 1n));
});
