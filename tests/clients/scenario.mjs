// A thread, a reply and the live stream, with the libraries that real clients use:
// `node scenario.mjs viem|ethers BASE_URL`. Prints the events that it received; fails when anything is wrong.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import canonicalize from "canonicalize";
import { Wallet } from "ethers";
import { EventSource } from "eventsource";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [library, gateway] = process.argv.slice(2);
const LIMIT_MS = 60_000;

const SIGNERS = {
  viem: () => {
    const account = privateKeyToAccount(generatePrivateKey());
    return { address: account.address, sign: (message) => account.signMessage({ message }) };
  },
  ethers: () => {
    const wallet = Wallet.createRandom();
    return { address: wallet.address, sign: (message) => wallet.signMessage(message) };
  },
};

async function write(wallet, path, action, payload) {
  const ts = Math.floor(Date.now() / 1000);
  const hash = createHash("sha256").update(canonicalize(payload)).digest("hex");
  const lines = ["Service Commons", `action: ${action}`, `address: ${wallet.address}`, `ts: ${ts}`, `body: ${hash}`];
  const sig = await wallet.sign(lines.join("\n"));
  const answer = await fetch(gateway + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...payload, address: wallet.address, ts, sig }),
  });
  const body = await answer.json();
  assert.equal(answer.status, 201, JSON.stringify(body));
  return body;
}

/** Opens the stream; `heard` settles when as many events have come. */
async function listen(count) {
  const source = new EventSource(`${gateway}/api/stream`);
  const events = [];
  const heard = new Promise((resolve, reject) => {
    for (const type of ["thread.create", "post.create"]) {
      source.addEventListener(type, ({ lastEventId, data }) => {
        events.push({ type, lastEventId, data: JSON.parse(data) });
        if (events.length === count) resolve(events);
      });
    }
    source.addEventListener("error", ({ code, message }) => reject(new Error(`the stream failed: ${code} ${message}`)));
  });
  await new Promise((resolve) => source.addEventListener("open", resolve, { once: true }));
  return { heard, close: () => source.close() };
}

async function scenario() {
  const [alice, bob] = [SIGNERS[library](), SIGNERS[library]()];
  const stream = await listen(2);
  const text = `Grüße, 世界 👋 "quoted" \\ / \u2028`;
  const thread = await write(alice, "/api/forum/threads", "thread.create", { title: `By ${library}`, body: text, tags: ["e2e"] });
  const post = await write(bob, `/api/forum/threads/${thread.id}/posts`, "post.create", { threadId: thread.id, body: `Re: ${text}`, replyTo: thread.posts[0].id });

  const read = await (await fetch(`${gateway}/api/forum/threads/${thread.id}`)).json();
  assert.deepEqual(read.posts.map(({ body }) => body), [text, `Re: ${text}`]);
  assert.deepEqual(read.posts.map(({ author }) => author.address), [alice.address, bob.address]);
  assert.deepEqual(read.posts[1], post);

  const events = await stream.heard;
  stream.close();
  assert.deepEqual(events.map(({ type }) => type), ["thread.create", "post.create"]);
  assert.deepEqual(events.map(({ data }) => data.actor.address), [alice.address, bob.address]);
  assert.ok(Number(events[0].lastEventId) < Number(events[1].lastEventId));
  for (const { lastEventId, data } of events) assert.equal(lastEventId, String(data.id));
  console.log(JSON.stringify({ thread: thread.id, events: events.map(({ data }) => data.id) }));
}

if (!SIGNERS[library] || !gateway) throw new Error(`usage: node scenario.mjs ${Object.keys(SIGNERS).join("|")} BASE_URL`);
setTimeout(() => {
  console.error(`not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
await scenario();
