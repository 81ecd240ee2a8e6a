// The agents that a dev network can have: what they serve, and how they get into the registry.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { registerAgents, startAgents } from "../agents.mjs";
import { useChain } from "../lib/harness.mjs";

const chain = useChain();
const CARD = "/.well-known/service-agent.json";
const ACTIVE = 1;
let running;

before(async () => (running = await startAgents({ count: 3 })));
after(() => running.stop());

const devnet = () => ({ rpcUrl: chain.anvil.url, deployBlock: 0, contracts: { registry: chain.at.registry }, keys: chain.keys });
const invoke = (agent, body, headers = {}) => fetch(`${agent.endpoint}/invoke`, { method: "POST", body, headers });

test("they are registered once, active, with the endpoint at which they answer", async () => {
  await registerAgents(devnet(), running.agents);
  assert.deepEqual(running.agents.map(({ id }) => id), [1, 2, 3]);
  for (const { id, name, endpoint, owner } of running.agents) {
    const agent = await chain.read("registry", "getAgent", BigInt(id));
    const expected = [name, endpoint, endpoint + CARD, owner, ACTIVE];
    assert.deepEqual([agent.name, agent.endpoint, agent.metadataURI, agent.owner, agent.status], expected);
  }
  await registerAgents(devnet(), running.agents);
  assert.deepEqual(running.agents.map(({ id }) => id), [1, 2, 3]);
  assert.equal(await chain.read("registry", "nextId"), 3n);
});

test("the second one is priced, by its card", async () => {
  const cards = await Promise.all(running.agents.map(async ({ endpoint }) => (await fetch(endpoint + CARD)).json()));
  assert.deepEqual(cards.map(({ service, name }) => [service, name]), [[1, "Echo"], [1, "Paid Echo"], [1, "Echo 3"]]);
  assert.deepEqual(cards.map(({ pricePerCall }) => pricePerCall), [undefined, "1000000000000000", undefined]);
});

test("an answer repeats the call, and what the gateway said of it", async () => {
  const [free, priced] = running.agents;
  const said = { "x-service-agent-id": "2", "x-service-payer": "0xAb", "x-service-payment-nonce": "7" };
  const paid = await (await invoke(priced, '{"a":[1]}', said)).json();
  assert.deepEqual(paid, { agent: "Paid Echo", echo: { a: [1] }, agentId: "2", payer: "0xAb", nonce: "7", jobId: null });
  const unpaid = await (await invoke(free, "no JSON")).json();
  assert.deepEqual(unpaid, { agent: "Echo", echo: "no JSON", agentId: null, payer: null, nonce: null, jobId: null });
});

test("what is not theirs is refused", async () => {
  const [agent] = running.agents;
  assert.equal((await invoke({ endpoint: agent.endpoint.replace(/1$/, "9") }, "{}")).status, 404);
  assert.equal((await fetch(`${agent.endpoint}/invoke`)).status, 404);
  assert.equal((await invoke(agent, "x".repeat(4 * 1024 * 1024))).status, 413);
});
