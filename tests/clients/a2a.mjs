// Talks to a free agent and a priced one with the official A2A client in its default settings, paid through the official fetch of
// x402: `node a2a.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG [SLUG_OF_JOB JOB_ID]`. With the last two it also asks for the work
// of a job in escrow, which nobody pays for again. Prints what came back; fails when anything is wrong.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

import { payWithVouchers } from "./service_voucher.mjs";

const [gateway, privateKey, priced, free, slugOfJob, jobId] = process.argv.slice(2);
const LIMIT_MS = 60_000;
const MAX_WEI = 10n ** 18n;
const CARDS = ["agent.json", "agent-card.json"];

const cardPath = (slug, name) => `/a/${slug}/.well-known/${name}`;

/** The SDK's defaults, and perhaps another fetch for calls. */
function newFactory(fetchImpl) {
  if (!fetchImpl) return new ClientFactory();
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
}

function messageOf(text, metadata) {
  const part = { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" };
  const ids = { messageId: randomUUID(), contextId: "", taskId: "" };
  const message = { ...ids, role: Role.ROLE_USER, parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { tenant: "", message, configuration: undefined, metadata };
}

/** A task as a test reads it: its state by name, and the data or text of its artifacts. */
function told(task) {
  const artifacts = task.artifacts.map(({ parts }) => parts.map(({ content }) => content.value));
  return { id: task.id, state: TaskState[task.status.state], artifacts };
}

/** Both names of the card tell the same, and a client is made of either. */
async function readCards(slug) {
  const cards = [];
  for (const name of CARDS) {
    const card = await new DefaultAgentCardResolver().resolve(gateway, cardPath(slug, name));
    await new ClientFactory().createFromAgentCard(card);
    cards.push(card);
  }
  assert.deepEqual(cards[0], cards[1]);
  const { name, version, supportedInterfaces, capabilities, skills, securityRequirements } = cards[0];
  const interfaces = supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => [url, protocolBinding, protocolVersion]);
  const scheme = (securityRequirements ?? []).flatMap(({ schemes }) => Object.keys(schemes));
  return { name, version, interfaces, capabilities, skills: skills.map(({ id }) => id), scheme };
}

async function ask(slug, text, { fetchImpl, metadata } = {}) {
  const client = await newFactory(fetchImpl).createFromUrl(gateway, cardPath(slug, CARDS[1]));
  return { client, task: told(await client.sendMessage(messageOf(text, metadata))) };
}

const failure = async (call) => call.then(() => assert.fail("it did not fail"), (error) => `${error.name}: ${error.message}`);

async function payFor(account, domain, text) {
  const statuses = [];
  let payment = null;
  const counted = async (request) => {
    const response = await fetch(request);
    statuses.push(response.status);
    const header = response.headers.get("PAYMENT-RESPONSE");
    if (header) payment = decodePaymentResponseHeader(header);
    return response;
  };
  const paying = wrapFetchWithPayment(counted, payWithVouchers(new x402Client(), account, domain, MAX_WEI));
  const { task } = await ask(priced, text, { fetchImpl: paying });
  assert.deepEqual([statuses, task.state], [[402, 200], "TASK_STATE_COMPLETED"], JSON.stringify(task));
  assert.deepEqual([payment?.success, payment?.payer], [true, account.address], JSON.stringify(payment));
  return { task, payment };
}

/** Work that was paid for on the chain: neither the message nor the question for the task costs anything. */
async function workForJob() {
  const { client, task } = await ask(slugOfJob, "The job", { metadata: { jobId: Number(jobId) } });
  assert.equal(task.id, `job-${jobId}`);
  const read = told(await client.getTask({ tenant: "", id: task.id, historyLength: undefined }));
  assert.equal(read.id, task.id);
  return { sent: task, read };
}

async function main() {
  const account = privateKeyToAccount(privateKey);
  const { domain } = await (await fetch(`${gateway}/api/x402/supported`)).json();
  const cards = { priced: await readCards(priced), free: await readCards(free) };

  const { client, task } = await ask(free, "Hello");
  assert.equal(task.state, "TASK_STATE_COMPLETED", JSON.stringify(task));
  const unknown = await failure(client.getTask({ tenant: "", id: "nobody-has-it", historyLength: undefined }));
  const unpaid = await failure(ask(priced, "Hello"));
  assert.match(unknown, /^TaskNotFoundError/);
  assert.match(unpaid, /402/);
  const paid = await payFor(account, domain, "Hello");
  const job = jobId ? await workForJob() : null;
  console.log(JSON.stringify({ payer: account.address, cards, free: task, unknown, unpaid, paid, job }));
}

if (!free) throw new Error("usage: node a2a.mjs BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG [SLUG_OF_JOB JOB_ID]");
setTimeout(() => {
  console.error(`not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();
await main();
