// Checks credentials of agents with public libraries: JSON-LD expansion in safe mode (jsonld), the rules of VC 2.0 (@digitalbazaar/vc), the
// served JSON Schema (ajv, strict), and the signature by ethers and viem, over typed data that are computed from the document alone.
//
//     node public_verifiers.mjs < question.json
//
// The question: `credentials`, which are right; `malformed` and `forged`, of which each is {what, document}; `unsigned`, the scaffold of an
// owner, and `ownerKey`. Context and schema are read where the first credential says. Prints what was checked, with the scaffold as the owner
// signed it, and fails when a library accepts what is wrong or refuses what is right.
import { strict as assert } from "node:assert";
import { text } from "node:stream/consumers";
import { _checkCredential, CredentialIssuancePurpose, defaultDocumentLoader, verifyCredential } from "@digitalbazaar/vc";
import Ajv2020 from "ajv/dist/2020.js";
import canonicalize from "canonicalize";
import { verifyTypedData as recoverByEthers } from "ethers";
import jsonld from "jsonld";
import jsigs from "jsonld-signatures";
import { concat, hashTypedData, keccak256, recoverTypedDataAddress, toHex, verifyTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const AGENT_CV = [
  ["chainId", "uint256"],
  ["registry", "address"],
  ["agentId", "uint256"],
  ["subject", "address"],
  ["claimsRoot", "bytes32"],
  ["documentHash", "bytes32"],
  ["issuedAt", "uint64"],
  ["expiresAt", "uint64"],
  ["asOfBlock", "uint64"],
  ["asOfBlockHash", "bytes32"],
  ["uri", "string"],
];
const PROOF_TYPE = "ServiceAgentCVEip712Proof2025";

const { credentials, malformed, forged, unsigned, ownerKey } = JSON.parse(await text(process.stdin));
const contextUrl = credentials[0]["@context"][1];
const context = await served(contextUrl, "application/ld+json");
const schema = await served(credentials[0].credentialSchema.id, "application/schema+json");

async function served(url, type) {
  const response = await fetch(url);
  assert.deepEqual([response.status, response.headers.get("content-type")], [200, type]);
  return response.json();
}

const hash = (value) => keccak256(toHex(canonicalize(value)));
const accountOf = (did) => did.split("#")[0].split(":").at(-1);

function rootOf(record) {
  let level = record.map(({ leaf, ...claim }) => hash(claim));
  if (level.length === 0) return keccak256("0x");
  while (level.length > 1) {
    const pairs = level.map((left, at) => (at % 2 === 0 ? [left, level[at + 1] ?? left] : null)).filter(Boolean);
    level = pairs.map((pair) => keccak256(concat(pair)));
  }
  return level[0];
}

/** What a signature of the document is over; nothing of it is taken from the proof. */
function typedData({ proof, documentHash, ...document }) {
  const { id, agent, record } = document.credentialSubject;
  return {
    domain: { name: "Service AI-CV", version: "1", chainId: agent.chainId, verifyingContract: agent.identityRegistry },
    types: { AgentCV: AGENT_CV.map(([name, type]) => ({ name, type })) },
    primaryType: "AgentCV",
    message: {
      chainId: agent.chainId,
      registry: agent.agentRegistry,
      agentId: agent.agentId,
      subject: accountOf(id),
      claimsRoot: rootOf(record),
      documentHash: hash(document),
      issuedAt: document.issuedAt,
      expiresAt: document.expiresAt,
      asOfBlock: document.asOfBlock,
      asOfBlockHash: document.evidence[0].asOfBlockHash,
      uri: document.id,
    },
  };
}

/** Whether each library finds that this account has signed: ethers and viem, which recovers and verifies. */
async function signedBy(document, address) {
  const typed = typedData(document);
  const { domain, types, message } = typed;
  const signature = document.proof.proofValue;
  const attempt = async (what) => {
    try {
      return await what();
    } catch {
      return false;
    }
  };
  return [
    await attempt(() => recoverByEthers(domain, types, message, signature) === address),
    await attempt(async () => (await recoverTypedDataAddress({ ...typed, signature })) === address),
    await attempt(() => verifyTypedData({ ...typed, signature, address })),
  ];
}

/** The proof's type as a suite: who would add it to `@digitalbazaar/vc` writes this. */
class Eip712Suite extends jsigs.suites.LinkedDataProof {
  constructor() {
    super({ type: PROOF_TYPE });
  }

  async verifyProof({ proof, document, purpose, documentLoader }) {
    try {
      const controller = proof.verificationMethod.split("#")[0];
      const signed = { ...document, proof };
      assert.deepEqual(await signedBy(signed, accountOf(controller)), [true, true, true], "the signature");
      const verificationMethod = { id: proof.verificationMethod, controller };
      const purposeResult = await purpose.validate(proof, { document, suite: this, verificationMethod, documentLoader });
      if (!purposeResult.valid) throw purposeResult.error;
      return { verified: true, purposeResult };
    } catch (error) {
      return { verified: false, error };
    }
  }
}

/** What did:pkh says of an account; contexts of the W3C from the packages, that of the gateway as it serves it. */
async function documentLoader(url) {
  if (url === contextUrl) return { contextUrl: null, documentUrl: url, document: context };
  if (url.startsWith("did:pkh:")) {
    const assertionMethod = [`${url}#blockchainAccountId`];
    return { contextUrl: null, documentUrl: url, document: { "@context": ["https://www.w3.org/ns/did/v1"], id: url, assertionMethod } };
  }
  return defaultDocumentLoader(url);
}

const expand = (document, loader = documentLoader) => jsonld.expand(document, { documentLoader: loader, safe: true });

function vc(credential) {
  const purpose = new CredentialIssuancePurpose();
  const checkStatus = async () => ({ verified: true });
  return verifyCredential({ credential, suite: new Eip712Suite(), purpose, checkStatus, documentLoader });
}

async function isRefused(promise, message) {
  await assert.rejects(promise, (error) => message.test(`${error.message} ${JSON.stringify(error.details ?? {})}`));
}

async function checkMeaning(credential) {
  const [expanded] = await expand(credential);
  const [{ "@list": record }] = expanded["https://www.w3.org/2018/credentials#credentialSubject"][0][`${contextUrl}#record`];
  const claims = credential.credentialSubject.record;
  assert.deepEqual(record.map((claim) => claim["@type"]), claims.map((claim) => [`${contextUrl}#${claim.type}`]));
  // Each member of a claim means something: its id and type, and an IRI for each of the others.
  assert.deepEqual(record.map((claim) => Object.keys(claim).length), claims.map((claim) => stated(claim)));
  await jsonld.canonize(credential, { algorithm: "RDFC-1.0", format: "application/n-quads", documentLoader, safe: true });
}

/** Members of a claim that JSON-LD keeps: null is no value. */
const stated = (claim) => Object.values(claim).filter((value) => value !== null).length;

const ajv = new Ajv2020({ strict: true, allErrors: true });
const validate = ajv.compile(schema);

for (const credential of credentials) {
  await checkMeaning(credential);
  _checkCredential({ credential });
  const { verified, error } = await vc(credential);
  assert.ok(verified, JSON.stringify(error, null, 1));
  assert.ok(validate(credential), JSON.stringify(validate.errors));
  const signer = accountOf(credential.issuer);
  assert.deepEqual(await signedBy(credential, signer), [true, true, true]);
  assert.equal(hashTypedData(typedData(credential)), credential.proof.digest);
}

for (const { what, document } of malformed) {
  assert.ok(!validate(document), what);
  assert.ok(!(await vc(document)).verified, what);
}
for (const { what, document } of forged) {
  assert.deepEqual(await signedBy(document, accountOf(document.issuer)), [false, false, false], what);
  assert.ok(!(await vc(document)).verified, what);
}

// What safe mode and protection are for: a member without a term, and a term of VC 2.0 with another meaning.
const [first] = credentials;
const [claim] = first.credentialSubject.record;
await isRefused(expand({ ...first, fame: 5 }), /fame/);
const changed = { ...first.credentialSubject, record: [{ ...claim, fame: 5 }] };
await isRefused(expand({ ...first, credentialSubject: changed }), /fame/);
const redefined = { "@context": { ...context["@context"], evidence: "https://elsewhere.example/evidence" } };
const otherLoader = (url) => (url === contextUrl ? { contextUrl: null, documentUrl: url, document: redefined } : documentLoader(url));
await isRefused(expand(first, otherLoader), /protected term/);
assert.throws(() => _checkCredential({ credential: { ...first, issuer: undefined } }), /issuer/);
assert.throws(() => _checkCredential({ credential: { ...first, validUntil: 1_700_000_000 } }), /validUntil/);

// A wallet signs what the scaffold says, and finds the same typed data in the document alone.
const owner = privateKeyToAccount(ownerKey);
const { eip712, digest } = unsigned.proof;
assert.equal(unsigned.proof.proofValue, null);
assert.equal(hashTypedData(eip712), digest);
const proofValue = await owner.signTypedData(eip712);
const ownerSigned = { ...unsigned, proof: { ...unsigned.proof, proofValue } };
assert.deepEqual(await signedBy(ownerSigned, owner.address), [true, true, true]);
assert.equal(accountOf(unsigned.proof.verificationMethod), owner.address);
assert.ok(validate(ownerSigned), JSON.stringify(validate.errors));

console.log(JSON.stringify({ valid: credentials.length, malformed: malformed.length, forged: forged.length, ownerSigned }));
