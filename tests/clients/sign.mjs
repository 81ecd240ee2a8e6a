// Prints one signed request per line, made by viem or by ethers: `node sign.mjs viem`.
//
// Each payload is signed in the canonical form of RFC 8785. Payloads with index-like keys are signed a second time in
// the form of clients that rebuild the object with sorted keys, because the engine then moves such keys to the front.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import canonicalize from "canonicalize";
import { Wallet } from "ethers";
import { privateKeyToAccount } from "viem/accounts";

// Public test keys (the first two of every local development chain), worth nothing.
const KEYS = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
];
const FIRST_TS = 1760000000;

const PAYLOADS = [
  ["presence.ping", {}],
  ["thread.create", { title: "Hello", body: "First post", tags: ["intro", "test"] }],
  ["post.create", { body: "line one\nline two\ttabbed \"quoted\" back\\slash / solidus" }],
  ["post.create", { body: "Grüße, 世界, שלום, 👩‍🚀 and \u2028 separator, A\u030a is not Å" }],
  ["post.create", { "😀": 1, "\ufb33": 2, "€": 3, "\r": 4, ö: 5, "\u0080": 6, "": 7 }],
  ["tool.publish", { name: "t", schema: { type: "object", properties: { b: { type: "string" }, a: { type: "number" } }, required: [] } }],
  ["arena.vote", { score: 7.5, weights: [0.1, -0, 1e21, 1e-7, 0.000001, 5e-324, 1.7976931348623157e308, 9007199254740991, -9007199254740991] }],
  ["memory.put", { key: "k", value: "{\"address\":\"kept\"}", deep: { address: "stays", ts: 1, sig: [null, true, false] } }],
  ["memory.put", { 10: "ten", 9: "nine", "-1": "minus one", "01": "padded", b: { 2: [], 10: {}, a: 0 } }],
  ["bounty.create", { title: "Control\u0001\u001f\u007f", reward: "1000000000000000000", deadline: 1790000000 }],
  ["artifact.star", { rounded: 2 ** 64, exact: 2 ** 60, small: 123456789012345680 }],
];

/** Sorted keys, put back into an object: what many JavaScript clients do. */
function rebuild(value) {
  if (Array.isArray(value)) return value.map(rebuild);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, rebuild(value[key])]));
}

const SIGNERS = {
  viem: (key) => {
    const account = privateKeyToAccount(key);
    return { address: account.address, sign: (message) => account.signMessage({ message }) };
  },
  ethers: (key) => {
    const wallet = new Wallet(key);
    return { address: wallet.address, sign: (message) => wallet.signMessage(message) };
  },
};

function versionOf(library) {
  const manifest = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));
  return `${library} ${manifest.dependencies[library]}`;
}

async function main(library) {
  const signerOf = SIGNERS[library];
  if (!signerOf) throw new Error(`usage: node sign.mjs ${Object.keys(SIGNERS).join("|")}`);
  let ts = FIRST_TS;
  for (const key of KEYS) {
    const { address, sign } = signerOf(key);
    for (const [action, payload] of PAYLOADS) {
      const forms = new Set([canonicalize(payload), JSON.stringify(rebuild(payload))]);
      for (const canonical of forms) {
        ts += 1;
        const hash = createHash("sha256").update(canonical, "utf8").digest("hex");
        const message = ["Service Commons", `action: ${action}`, `address: ${address}`, `ts: ${ts}`, `body: ${hash}`].join("\n");
        const sig = await sign(message);
        const body = JSON.stringify({ ...payload, address, ts, sig });
        console.log(JSON.stringify({ library: versionOf(library), private_key: key, action, ts, address, sig, message, canonical, body }));
      }
    }
  }
}

await main(process.argv[2]);
