// The three ERC-8004 registries: identity as a view of the agents, feedback, validations.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { encodePacked } from "viem";
import { FMX, ZERO, ZERO_HASH, brief, hash, useChain } from "../lib/harness.mjs";

const chain = useChain();
const user = (index) => chain.users[index].address;
const [owner, client, other, validator] = [0, 1, 2, 3].map((index) => () => user(index));
const BOND = 100n * FMX;
const packed = (address) => encodePacked(["address"], [address]);

/** Agent 1 is the owner's, agent 2 the other's. */
beforeEach(async () => {
  await chain.send(owner(), "registry", "register", ["Alpha", "", "", FMX], BOND);
  await chain.send(other(), "registry", "register", ["Beta", "", "", 0n], BOND);
});

const identity = (name, ...args) => chain.read("identity8004", name, ...args);

test("tokens are the agents of the registry", async () => {
  assert.deepEqual([await identity("ownerOf", 1n), await identity("getAgentWallet", 2n)], [owner(), other()]);
  assert.deepEqual([await identity("totalSupply"), await identity("balanceOf", owner())], [2n, 1n]);
  assert.deepEqual([await identity("name"), await identity("symbol")], ["AgentIdentity", "AGENT"]);
  assert.equal(await identity("isAuthorizedOrOwner", owner(), 1n), true);
  assert.equal(await identity("isAuthorizedOrOwner", other(), 1n), false);
  assert.equal(await identity("isAuthorizedOrOwner", ZERO, 9n), false);
  for (const call of ["ownerOf", "agentURI", "tokenURI", "getAgentWallet"]) {
    await chain.reverts("NonexistentAgent", [9n], owner(), "identity8004", call, [9n]);
  }
  await chain.send(owner(), "registry", "transferOwnership", [1n, other()]);
  assert.equal(await identity("balanceOf", other()), 2n);
  const interfaces = ["0x01ffc9a7", "0x80ac58cd", "0x5b5e139f", "0xffffffff"];
  assert.deepEqual(await Promise.all(interfaces.map((id) => identity("supportsInterface", id))), [true, true, true, false]);
});

test("what would change an owner says where to do it", async () => {
  const refused = (error, name, args) => chain.reverts(error, [], owner(), "identity8004", name, args);
  await refused("RegistrationViaAgentRegistry", "register", []);
  await refused("RegistrationViaAgentRegistry", "register", ["ipfs://x"]);
  await refused("RegistrationViaAgentRegistry", "register", ["ipfs://x", [{ metadataKey: "a", metadataValue: "0x" }]]);
  const move = "UseAgentRegistryTransferOwnership";
  await refused(move, "transferFrom", [owner(), other(), 1n]);
  await refused(move, "safeTransferFrom", [owner(), other(), 1n]);
  await refused(move, "safeTransferFrom", [owner(), other(), 1n, "0x"]);
  await refused(move, "approve", [other(), 1n]);
  await refused(move, "setApprovalForAll", [other(), true]);
  await refused("AgentWalletIsRegistryOwner", "setAgentWallet", [1n, other(), 0n, "0x"]);
  await refused("AgentWalletIsRegistryOwner", "unsetAgentWallet", [1n]);
  assert.deepEqual(await chain.logsOf("identity8004"), []);
});

test("an agent's URI is its own, or one by its id", async () => {
  const usual = "http://127.0.0.1:8080/api/agents/1/erc8004.json";
  assert.deepEqual([await identity("agentURI", 1n), await identity("tokenURI", 1n)], [usual, usual]);
  await chain.reverts("NotAuthorized", [], other(), "identity8004", "setAgentURI", [1n, "x"]);
  await chain.reverts("NonexistentAgent", [9n], other(), "identity8004", "setAgentURI", [9n, "x"]);
  assert.deepEqual(brief(await chain.send(owner(), "identity8004", "setAgentURI", [1n, "ipfs://a"])), [
    ["URIUpdated", { agentId: 1n, newURI: "ipfs://a", updatedBy: owner() }],
  ]);
  assert.equal(await identity("agentURI", 1n), "ipfs://a");
});

test("metadata belongs to the agent and outlives its owner", async () => {
  await chain.reverts("NotAuthorized", [], other(), "identity8004", "setMetadata", [1n, "cv", "0x01"]);
  await chain.reverts("ReservedKey", [], owner(), "identity8004", "setMetadata", [1n, "agentWallet", "0x01"]);
  assert.deepEqual(brief(await chain.send(owner(), "identity8004", "setMetadata", [1n, "cv", "0x01"])), [
    ["MetadataSet", { agentId: 1n, indexedMetadataKey: hash("cv"), metadataKey: "cv", metadataValue: "0x01" }],
  ]);
  await chain.send(owner(), "registry", "transferOwnership", [1n, other()]);
  assert.equal(await identity("getMetadata", 1n, "cv"), "0x01");
  assert.equal(await identity("getMetadata", 1n, "agentWallet"), packed(other()).toLowerCase());
  assert.equal(await identity("getMetadata", 9n, "agentWallet"), "0x");
});

const give = (who, value, decimals = 0, tag1 = "quality", tag2 = "fast") => [
  who,
  "reputation8004",
  "giveFeedback",
  [1n, value, decimals, tag1, tag2, "https://e", "ipfs://f", hash("f")],
];
const reputation = (name, ...args) => chain.read("reputation8004", name, ...args);

test("anyone but the owner gives feedback, within limits", async () => {
  assert.deepEqual(brief(await chain.send(...give(client(), -5n, 1))), [
    [
      "NewFeedback",
      {
        ...{ agentId: 1n, clientAddress: client(), feedbackIndex: 1n, value: -5n, valueDecimals: 1 },
        ...{ indexedTag1: hash("quality"), tag1: "quality", tag2: "fast", endpoint: "https://e" },
        ...{ feedbackURI: "ipfs://f", feedbackHash: hash("f") },
      },
    ],
  ]);
  assert.deepEqual(await reputation("readFeedback", 1n, client(), 1n), [-5n, 1, "quality", "fast", false]);
  await chain.reverts("SelfFeedback", [], ...give(owner(), 1n));
  await chain.reverts("TooManyDecimals", [], ...give(client(), 1n, 19));
  await chain.reverts("ValueTooLarge", [], ...give(client(), 10n ** 38n + 1n));
  await chain.reverts("ValueTooLarge", [], ...give(client(), -(10n ** 38n) - 1n));
  await chain.send(...give(client(), 10n ** 38n, 18));
  const unknown = [9n, 1n, 0, "", "", "", "", ZERO_HASH];
  await chain.reverts("NonexistentAgent", [9n], client(), "reputation8004", "giveFeedback", unknown);
  assert.deepEqual([await reputation("getLastIndex", 1n, client()), await reputation("getClients", 1n)], [2n, [client()]]);
});

test("feedback is taken back by who gave it", async () => {
  await chain.send(...give(client(), 5n));
  const revoke = (who, index) => [who, "reputation8004", "revokeFeedback", [1n, index]];
  for (const [who, index] of [[other(), 1n], [client(), 0n], [client(), 2n]]) {
    await chain.reverts("IndexOutOfBounds", [], ...revoke(who, index));
  }
  await chain.reverts("IndexOutOfBounds", [], client(), "reputation8004", "readFeedback", [1n, client(), 2n]);
  assert.deepEqual(brief(await chain.send(...revoke(client(), 1n))), [
    ["FeedbackRevoked", { agentId: 1n, clientAddress: client(), feedbackIndex: 1n }],
  ]);
  await chain.reverts("AlreadyRevoked", [], ...revoke(client(), 1n));
  assert.equal((await reputation("readFeedback", 1n, client(), 1n))[4], true);
});

test("anyone responds to feedback", async () => {
  await chain.send(...give(client(), 5n));
  const respond = (who, index, uri) => [who, "reputation8004", "appendResponse", [1n, client(), index, uri, hash("r")]];
  await chain.reverts("EmptyURI", [], ...respond(owner(), 1n, ""));
  await chain.reverts("IndexOutOfBounds", [], ...respond(owner(), 2n, "ipfs://r"));
  const responseURI = "ipfs://r";
  const what = { agentId: 1n, clientAddress: client(), feedbackIndex: 1n, responder: owner(), responseURI, responseHash: hash("r") };
  assert.deepEqual(brief(await chain.send(...respond(owner(), 1n, responseURI))), [["ResponseAppended", what]]);
  await chain.send(...respond(other(), 1n, responseURI));
  const count = (...args) => reputation("getResponseCount", 1n, ...args);
  assert.deepEqual([await count(client(), 1n, []), await count(client(), 1n, [owner()]), await count(ZERO, 0n, [])], [2n, 1n, 2n]);
});

test("a summary is a mean in the decimals that most have", async () => {
  const summary = (clients, tag1 = "", tag2 = "") => reputation("getSummary", 1n, clients, tag1, tag2);
  await chain.reverts("ClientAddressesRequired", [], client(), "reputation8004", "getSummary", [1n, [], "", ""]);
  assert.deepEqual(await summary([client()]), [0n, 0n, 0]);
  await chain.send(...give(client(), 10n, 0));
  await chain.send(...give(client(), 205n, 1));
  // One of each: the smaller number of decimals.
  assert.deepEqual(await summary([client()]), [2n, 15n, 0]);
  await chain.send(...give(validator(), -1n, 1, "other"));
  assert.deepEqual(await summary([client(), validator()]), [3n, 101n, 1]);
  assert.deepEqual(await summary([client(), validator()], "other"), [1n, -1n, 1]);
  assert.deepEqual(await summary([client()], "", "slow"), [0n, 0n, 0]);
  await chain.send(client(), "reputation8004", "revokeFeedback", [1n, 2n]);
  assert.deepEqual(await summary([client()]), [1n, 10n, 0]);
  const all = await reputation("readAllFeedback", 1n, [], "", "", true);
  assert.deepEqual([all[0], all[1], all[2]], [[client(), client(), validator()], [1n, 2n, 1n], [10n, 205n, -1n]]);
  assert.deepEqual((await reputation("readAllFeedback", 1n, [], "", "", false))[1], [1n, 1n]);
  assert.deepEqual((await reputation("readAllFeedback", 1n, [client()], "quality", "", true))[6], [false, true]);
});

test("outcomes of jobs become feedback, once and by anyone", async () => {
  const sync = (id) => [validator(), "reputation8004", "syncFromEscrow", [id]];
  await chain.send(client(), "escrow", "requestJob", [1n, hash("in"), ""], FMX);
  await chain.send(client(), "escrow", "requestJob", [1n, hash("in"), ""], FMX);
  await chain.reverts("JobNotSyncable", [1], ...sync(1n));
  await chain.reverts("JobNotSyncable", [0], ...sync(9n));
  await chain.send(owner(), "escrow", "deliver", [1n, hash("out"), "ipfs://out"]);
  await chain.send(client(), "escrow", "release", [1n, 5]);
  await chain.send(owner(), "escrow", "cancel", [2n]);
  const [feedback, synced] = await chain.send(...sync(1n));
  const { value, valueDecimals, tag1, tag2, feedbackURI, feedbackHash, clientAddress } = feedback.args;
  assert.deepEqual([value, valueDecimals, tag1, tag2], [1n, 0, "escrow", "completed"]);
  assert.deepEqual([feedbackURI, feedbackHash, clientAddress], ["ipfs://out", hash("out"), client()]);
  assert.deepEqual([synced.name, synced.args.feedbackIndex], ["EscrowSynced", 1n]);
  await chain.reverts("AlreadySynced", [1n], ...sync(1n));
  const [refunded] = await chain.send(...sync(2n));
  assert.deepEqual([refunded.args.value, refunded.args.tag2, refunded.args.feedbackIndex], [0n, "refunded", 2n]);
  assert.equal(await reputation("syncedJob", 2n), true);
});

const REQUEST = hash("work");
const request = (who, id = 1n, requestHash = REQUEST) => [
  who,
  "validation8004",
  "validationRequest",
  [validator(), id, "ipfs://work", requestHash],
];
const respond = (who, response, tag = "work") => [
  who,
  "validation8004",
  "validationResponse",
  [REQUEST, response, "ipfs://report", hash("report"), tag],
];

test("a validation is asked for by the owner, or by the validator that the agent names", async () => {
  await chain.reverts("NotAuthorized", [], ...request(other()));
  await chain.reverts("NotAuthorized", [], ...request(validator()));
  await chain.reverts("NonexistentAgent", [9n], ...request(owner(), 9n));
  await chain.reverts("ZeroAddress", [], owner(), "validation8004", "validationRequest", [ZERO, 1n, "", REQUEST]);
  await chain.send(owner(), "identity8004", "setMetadata", [1n, "validator", `0x00${validator().slice(2)}`]);
  await chain.reverts("NotAuthorized", [], ...request(validator()));
  await chain.send(owner(), "identity8004", "setMetadata", [1n, "validator", packed(validator())]);
  const what = { validatorAddress: validator(), agentId: 1n, requestURI: "ipfs://work", requestHash: REQUEST };
  assert.deepEqual(brief(await chain.send(...request(validator()))), [["ValidationRequest", what]]);
  await chain.reverts("RequestExists", [REQUEST], ...request(owner()));
  await chain.send(...request(owner(), 1n, hash("more")));
  assert.deepEqual(await chain.read("validation8004", "getAgentValidations", 1n), [REQUEST, hash("more")]);
  assert.deepEqual(await chain.read("validation8004", "getValidatorRequests", validator()), [REQUEST, hash("more")]);
});

test("only the named validator answers, and its last answer counts", async () => {
  const status = () => chain.read("validation8004", "getValidationStatus", REQUEST);
  await chain.reverts("UnknownRequest", [REQUEST], ...respond(validator(), 1));
  await chain.reverts("UnknownRequest", [REQUEST], owner(), "validation8004", "getValidationStatus", [REQUEST]);
  await chain.send(...request(owner()));
  const asked = BigInt(await chain.now());
  assert.deepEqual(await status(), [validator(), 1n, 0, ZERO_HASH, "", asked]);
  assert.equal(await chain.read("validation8004", "hasResponse", REQUEST), false);
  await chain.reverts("NotValidator", [], ...respond(owner(), 1));
  await chain.reverts("ResponseOutOfRange", [], ...respond(validator(), 101));
  const [{ name, args }] = await chain.send(...respond(validator(), 0));
  assert.deepEqual([name, args.response, args.tag, args.responseHash], ["ValidationResponse", 0, "work", hash("report")]);
  assert.equal(await chain.read("validation8004", "hasResponse", REQUEST), true);
  await chain.send(...respond(validator(), 91, "again"));
  assert.deepEqual((await status()).slice(2, 5), [91, hash("report"), "again"]);
  await chain.send(...request(owner(), 1n, hash("unanswered")));
  const summary = (validators, tag) => chain.read("validation8004", "getSummary", 1n, validators, tag);
  assert.deepEqual(await summary([], ""), [1n, 91]);
  assert.deepEqual(await summary([other()], ""), [0n, 0]);
  assert.deepEqual(await summary([validator()], "work"), [0n, 0]);
});

test("the registries know each other", async () => {
  assert.equal(await reputation("getIdentityRegistry"), chain.at.identity8004);
  assert.equal(await chain.read("validation8004", "getIdentityRegistry"), chain.at.identity8004);
  assert.equal(await reputation("getVersion"), await identity("getVersion"));
});
