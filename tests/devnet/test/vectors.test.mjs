// Type hashes, signatures, addresses and trees of facts/, recomputed by the contracts themselves and by viem. The contracts
// stand for this at the addresses that the vectors name, once with our names and once with those of the deployed network.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import {
  concat,
  domainSeparator,
  encodePacked,
  getContractAddress,
  hashStruct,
  hashTypedData,
  keccak256,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { compile } from "../lib/compile.mjs";
import { useChain } from "../lib/harness.mjs";

const load = (name) => JSON.parse(readFileSync(new URL(`../facts/${name}.json`, import.meta.url), "utf8"));
const [vectors, types, addresses] = ["vectors", "types", "addresses"].map(load);
const chain = useChain();
const account = privateKeyToAccount(vectors.key);
const hash = (text) => keccak256(toHex(text));

/** `Name(type a,type b)` as viem wants it. */
function typed(name) {
  const { type } = types.find((fact) => fact.type.startsWith(`${name}(`));
  const fields = type.slice(name.length + 1, -1).split(",").map((field) => field.split(" "));
  return { [name]: fields.map(([fieldType, field]) => ({ name: field, type: fieldType })) };
}

const domain = (name, verifyingContract) => ({ name, version: "1", chainId: 3961, verifyingContract });

/** The contracts with the names of the deployed network. */
let original;
before(() => {
  const file = new URL("../contracts/base/Brand.sol", import.meta.url);
  const text = readFileSync(file, "utf8");
  const names = { ServiceX402: "FerminuxX402", ServiceAgentAccount: "FerminuxAgentAccount" };
  const replaced = Object.entries(names).reduce((all, [ours, theirs]) => all.replace(`"${ours}"`, `"${theirs}"`), text);
  assert.notEqual(replaced, text);
  const only = ["payments/X402Vault.sol", "payments/AgentAccount.sol"];
  original = compile({ replace: { "base/Brand.sol": replaced }, only });
});

test("type hashes", async () => {
  for (const { type, typehash } of types) assert.equal(hash(type), typehash, type);
  const of = (name) => types.find(({ type }) => type.startsWith(`${name}(`)).typehash;
  assert.equal(await chain.read("x402Vault", "VOUCHER_TYPEHASH"), of("Voucher"));
  assert.equal(await chain.read("accountImpl", "EXECUTE_TYPEHASH"), of("Execute"));
  assert.equal(await chain.read("memoryAnchor", "ANCHOR_TYPEHASH"), of("Anchor"));
});

test("names and versions", async () => {
  const named = { x402Vault: "ServiceX402", accountImpl: "ServiceAgentAccount", memoryAnchor: "ServiceMemoryAnchor" };
  for (const [key, name] of Object.entries({ ...named, endorsements: "ServiceEndorsements" })) {
    assert.deepEqual([await chain.read(key, "NAME"), await chain.read(key, "VERSION")], [name, "1"]);
    assert.equal(await chain.read(key, "DOMAIN_SEPARATOR"), domainSeparator({ domain: domain(name, chain.at[key]) }));
  }
});

test("the voucher, under both names", async () => {
  const { vault, message, structHash, names } = vectors.voucher;
  assert.equal(hashStruct({ data: message, primaryType: "Voucher", types: typed("Voucher") }), structHash);
  const voucher = { ...message, amount: BigInt(message.amount), nonce: BigInt(message.nonce), expiry: BigInt(message.expiry) };
  for (const [name, { separator, digest, signature }] of Object.entries(names)) {
    const artifact = name.startsWith("Service") ? "X402Vault" : original.X402Vault;
    await chain.place(artifact, [account.address, account.address], vault);
    assert.equal(await chain.read(vault, "NAME"), name);
    assert.equal(await chain.read(vault, "DOMAIN_SEPARATOR"), separator);
    assert.equal(await chain.read(vault, "hashVoucher", voucher), digest);
    const data = { domain: domain(name, vault), types: typed("Voucher"), primaryType: "Voucher", message: voucher };
    assert.equal(hashTypedData(data), digest);
    assert.equal(await account.signTypedData(data), signature);
    await chain.send(await chain.fund(account.address), vault, "deposit", [], 10n ** 18n);
    assert.deepEqual(await chain.read(vault, "verify", voucher, signature), [true, ""]);
  }
});

test("the relayed call, under both names", async () => {
  const { account: clone, message, dataHash, structHash, names } = vectors.execute;
  const { to, data } = message;
  const [value, nonce, deadline] = [message.value, message.nonce, message.deadline].map(BigInt);
  const struct = { to, value, dataHash, nonce, deadline };
  assert.equal(keccak256(data), dataHash);
  assert.equal(hashStruct({ data: struct, primaryType: "Execute", types: typed("Execute") }), structHash);
  for (const [name, { digest, signature }] of Object.entries(names)) {
    await chain.place(name.startsWith("Service") ? "AgentAccount" : original.AgentAccount, [], clone);
    assert.equal(await chain.read(clone, "hashExecute", to, value, dataHash, nonce, deadline), digest);
    assert.equal(await account.sign({ hash: digest }), signature);
  }
});

test("the CV's separators", () => {
  const { registry, ...separators } = vectors.cvSeparators;
  for (const [name, separator] of Object.entries(separators)) {
    assert.equal(domainSeparator({ domain: domain(name, registry) }), separator);
  }
});

test("the address of an account", async () => {
  const { owner, userSalt, factory, implementation, salt, initCodeHash, account: predicted } = vectors.predict;
  assert.equal(keccak256(encodePacked(["address", "bytes32"], [owner, userSalt])), salt);
  await chain.place("AgentAccountFactory", [implementation], factory);
  assert.equal(await chain.read(factory, "predict", owner, userSalt), predicted);
  const code = concat(["0x3d602d80600a3d3981f3363d3d373d3d3d363d73", implementation, "0x5af43d82803e903d91602b57fd5bf3"]);
  assert.equal(keccak256(code), initCodeHash);
  assert.equal(getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode: code }), predicted);
});

test("the tree of a memory", async () => {
  const { records, roots, proofs, header } = vectors.tree;
  const leaves = await Promise.all(records.map((record) => chain.read("memoryAnchor", "recordLeaf", toHex(record))));
  for (const [count, root] of Object.entries(roots)) {
    assert.equal(await chain.read("memoryAnchor", "computeRoot", leaves.slice(0, Number(count))), root);
  }
  assert.equal(leaves[0], roots[1]);
  for (const { count, index, proof } of proofs) {
    const verify = (...rest) => chain.read("memoryAnchor", "verify", roots[count], toHex(records[index]), ...rest);
    assert.equal(await verify(proof, BigInt(index), BigInt(count)), true);
    assert.equal(await verify([...proof, proof[0]], BigInt(index), BigInt(count)), false);
    assert.equal(await verify(proof.slice(1), BigInt(index), BigInt(count)), false);
    assert.equal(await verify(proof, BigInt(count), BigInt(count)), false);
    assert.equal(await verify(proof, BigInt(index), 0n), false);
    assert.equal(await chain.read("memoryAnchor", "verifyLeaf", roots[count], leaves[index], proof, BigInt(index), BigInt(count)), true);
  }
  assert.equal(await chain.read("memoryAnchor", "computeRoot", [leaves[0], leaves[1], leaves[2], leaves[2]]), roots[3]);
  const { addr, seq, op, prev, ts, keyCommit, valueHash } = header;
  assert.equal(hash(JSON.stringify({ key: header.key, nonce: header.nonce })), keyCommit);
  assert.equal(hash(header.value), valueHash);
  const record = JSON.stringify({ addr, chainId: 3961, keyCommit, op, prev, seq, size: 5, ts, v: 1, valueHash });
  assert.equal(hash(record), header.recordHash);
  assert.equal(await chain.read("memoryAnchor", "leafOf", header.recordHash), header.leaf);
});

test("the other hashes", () => {
  const node = (left, right) => keccak256(concat([left, right]));
  const [a, b, c] = vectors.untaggedTree.leaves.map(hash);
  assert.equal(node(node(a, b), node(c, c)), vectors.untaggedTree.root);
  assert.equal(hash(vectors.tagEscrow.tag), vectors.tagEscrow.hash);
});

test("the keys of the configuration are those of the deployment", () => {
  for (const { key, contract } of addresses) assert.ok(chain.at[key] && chain.artifacts[contract], key);
});
