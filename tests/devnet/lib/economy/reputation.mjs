// What is said about agents: metadata, feedback, validations, anchored memory, endorsements.
import { encodePacked } from "viem";
import { FMX, hash } from "./world.mjs";

const IDENTITY = ["IdentityRegistry8004", "identity8004"];
const REPUTATION = ["ReputationRegistry8004", "reputation8004"];
const VALIDATION = ["ValidationRegistry8004", "validation8004"];
const MEMORY = ["MemoryAnchor", "memoryAnchor"];
const ENDORSEMENTS = ["Endorsements", "endorsements"];
const CAPABILITIES = ["translation", "audit", "research", "code"];

/** A few of the most wanted agents: what concerns them is worth looking at. */
const someAgents = (world, divisor, min) =>
  world.agents.slice(0, Math.min(world.agents.length, world.share(world.size.agents, divisor, min)));

export async function giveFeedback(world) {
  const { stage, random, cast } = world;
  const agents = someAgents(world, 10, 4);
  for (const [index, agent] of agents.entries()) {
    const client = cast.clients[index % cast.clients.length];
    const value = BigInt(random.below(101));
    const about = ["quality", CAPABILITIES[index % 4], "", `ipfs://feedback-${agent.id}`, hash("f")];
    stage.step(client, REPUTATION, "giveFeedback", [BigInt(agent.id), value, 0, ...about]);
    world.feedback.push({ agentId: agent.id, client, value, decimals: 0, tag1: "quality", revoked: index % 4 === 3 });
  }
  await stage.flush();
  for (const [index, agent] of agents.entries()) {
    const client = cast.clients[index % cast.clients.length];
    const at = await stage.read(REPUTATION, "getLastIndex", [BigInt(agent.id), world.address(client)]);
    if (index % 4 === 3) stage.step(client, REPUTATION, "revokeFeedback", [BigInt(agent.id), at]);
    const answer = [BigInt(agent.id), world.address(client), at, "ipfs://thanks", hash("thanks")];
    if (index % 4 === 1) stage.step(agent.owner, REPUTATION, "appendResponse", answer);
  }
  await stage.flush();
  await syncJobs(world);
}

/** Outcomes of jobs as feedback; anybody may bring them over. */
async function syncJobs(world) {
  const { stage, cast } = world;
  const settled = world.jobs.filter(({ end }) => ["released", "claimed", "refunded"].includes(end)).slice(0, 20);
  for (const { id, agent, client, end } of settled) {
    stage.step(cast.validator, REPUTATION, "syncFromEscrow", [BigInt(id)]);
    const value = end === "refunded" ? 0n : 1n;
    world.feedback.push({ agentId: agent.id, client, value, decimals: 0, tag1: "escrow", revoked: false });
  }
  await stage.flush();
}

/** Some agents name a validator, who then asks for itself; others ask it. */
export async function validate(world) {
  const { stage, random, cast } = world;
  const validator = world.address(cast.validator);
  const hashOf = (agent) => hash(`work ${world.size.seed} ${agent.id}`);
  const work = someAgents(world, 20, 3).map((agent, index) => ({ agent, hash: hashOf(agent), index }));
  const named = encodePacked(["address"], [validator]);
  for (const { agent } of work) {
    stage.step(agent.owner, IDENTITY, "setMetadata", [BigInt(agent.id), "validator", named]);
  }
  for (const { agent, hash: requestHash, index } of work) {
    const by = index % 2 === 0 ? agent.owner : cast.validator;
    stage.step(by, VALIDATION, "validationRequest", [validator, BigInt(agent.id), `ipfs://work-${agent.id}`, requestHash]);
  }
  for (const { agent, hash: requestHash, index } of work) {
    const isAnswered = index % 3 !== 2;
    const response = isAnswered ? random.below(101) : null;
    const answer = [requestHash, response ?? 0, "ipfs://report", hash("report"), "work"];
    if (isAnswered) stage.step(cast.validator, VALIDATION, "validationResponse", answer);
    world.validations.push({ requestHash, agentId: agent.id, validator: cast.validator, response });
  }
  await stage.flush();
}

export async function anchorMemory(world) {
  const { stage, random } = world;
  for (const agent of someAgents(world, 20, 2)) {
    const [before, seqBefore] = await stage.read(MEMORY, "head", [BigInt(agent.id)]);
    let prevRoot = before;
    for (let batch = 1; batch <= 2; batch++) {
      const root = hash(`memory ${world.size.seed} ${agent.id} ${seqBefore} ${batch}`);
      const count = 1 + random.below(50);
      const uri = `ipfs://memory-${agent.id}-${batch}`;
      stage.step(agent.owner, MEMORY, "anchor", [BigInt(agent.id), root, prevRoot, count, uri]);
      world.anchors.push({ agentId: agent.id, seq: Number(seqBefore) + batch, root, prevRoot, count });
      prevRoot = root;
    }
  }
  await stage.flush();
}

/** Backed by a job where the endorsing agent has one that counts; one is revoked. */
export async function endorse(world) {
  const { stage } = world;
  const last = await world.lastId(ENDORSEMENTS, "nextId");
  // Who has done paid work first, so that some endorsements are backed by it.
  const worked = world.jobs.filter(isPaidWork).map(({ agent }) => agent);
  const pairs = neighbours(world, [...new Set([...worked.slice(0, 3), ...someAgents(world, 10, 4)])]);
  for (const [index, [from, to]] of pairs.entries()) {
    const evidence = index % 2 === 0 ? evidenceOf(world, from, to) : undefined;
    const capability = `${CAPABILITIES[index % 4]}-${last + index}`;
    const args = [BigInt(from.id), BigInt(to.id), capability, "", BigInt(evidence?.id ?? 0)];
    stage.step(from.owner, ENDORSEMENTS, "endorse", args);
    const id = last + 1 + index;
    world.endorsements.push({ id, from: from.id, to: to.id, capability, basis: evidence ? 1 : 0, revoked: index === 1 });
    if (index === 1) stage.step(from.owner, ENDORSEMENTS, "revoke", [BigInt(id)]);
  }
  await stage.flush();
}

/** Each with the next one of another owner. */
function neighbours(world, agents) {
  const pairs = agents.map((from) => [from, world.agents.find((to) => to.id !== from.id && to.owner !== from.owner)]);
  return pairs.filter(([, to]) => to);
}

function evidenceOf(world, from, to) {
  const isOutside = (client) => client !== from.owner && client !== to.owner;
  return world.jobs.find((job) => job.agent === from && isPaidWork(job) && isOutside(job.client));
}

function isPaidWork({ end, amount }) {
  return ["released", "claimed", "unrated"].includes(end) && amount >= FMX;
}

