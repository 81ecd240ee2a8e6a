// The first and the last part of an economy: agents register, and end in every status.
import { encodeFunctionData } from "viem";
import { DAY, FMX } from "./world.mjs";

const REGISTRY = ["AgentRegistry", "registry"];
const MULTISIG = ["Multisig", "multisig"];
const FIRST = ["Atlas", "Briar", "Cedar", "Delta", "Ember", "Fable", "Grove", "Harbor", "Iris", "Juno", "Koan", "Lumen"];
const CRAFT = ["Translator", "Auditor", "Painter", "Researcher", "Coder", "Editor", "Analyst", "Courier"];
/** The first agent's work is worth enough to back an endorsement. */
const FIRST_PRICE = 150;
/** Prices in hundredths of an FMX; some work is free. */
const PRICES = [0, 5, 10, 25, 50, 100, 150, 300, 700];

const FATES = [
  ["active", 75],
  ["paused", 9],
  ["retired", 5],
  ["withdrawn", 3],
  ["slashed", 4],
  ["transferred", 4],
];

export async function registerAgents(world) {
  const { stage, random, cast, size } = world;
  const last = await world.lastId(REGISTRY, "nextId");
  const minBond = await stage.read(REGISTRY, "minBond");
  for (let index = 0; index < size.agents; index++) {
    const id = last + 1 + index;
    const owner = index < cast.owners.length ? cast.owners[index] : random.pick(cast.owners);
    const name = `${FIRST[index % FIRST.length]} ${CRAFT[random.below(CRAFT.length)]} ${id}`;
    const price = (BigInt(index === 0 ? FIRST_PRICE : random.pick(PRICES)) * FMX) / 100n;
    const bond = minBond + BigInt(random.below(4)) * 25n * FMX;
    stage.step(owner, ...call("register", [name, ...pagesOf(id), price]), bond);
    world.agents.push({ id, owner, name, price, fate: "active" });
  }
  await stage.flush();
}

/** Each in turn, so many times; the last price is the one that it began with. */
export async function changePrices(world, times) {
  for (let left = BigInt(times); left > 0n; left--) {
    for (const { id, owner, price } of world.agents) {
      const changed = price + ((left - 1n) * FMX) / 100n;
      world.stage.step(owner, ...call("update", [BigInt(id), ...pagesOf(id), changed]));
    }
    await world.stage.flush();
  }
}

const pagesOf = (id) => [`https://agent-${id}.example`, `https://agent-${id}.example/card.json`];

/** Behind everything that needs active agents. Ends more than a week later, so that bonds can be withdrawn. */
export async function settleFates(world) {
  const { stage, random, cast } = world;
  const fates = random.deal(FATES, world.agents.length);
  const slashed = [];
  for (const [index, agent] of world.agents.entries()) {
    agent.fate = fates[index];
    const act = (functionName, ...rest) => stage.step(agent.owner, ...call(functionName, [BigInt(agent.id), ...rest]));
    if (random.below(10) === 0) act("update", `https://agent-${agent.id}.example/v2`, "", agent.price);
    if (agent.fate === "paused") act("setStatus", 2);
    if (agent.fate === "retired" || agent.fate === "withdrawn") act("retire");
    if (agent.fate === "slashed") slashed.push(agent);
    if (agent.fate === "transferred") {
      const heir = random.pick(cast.owners.filter((owner) => owner !== agent.owner));
      act("transferOwnership", world.address(heir));
      agent.owner = heir;
    }
  }
  await slash(world, slashed);
  await stage.wait(7 * DAY);
  for (const agent of world.agents.filter(({ fate }) => fate === "withdrawn")) {
    stage.step(agent.owner, ...call("withdrawBond", [BigInt(agent.id)]));
  }
  await stage.flush();
}

/** By the multisig: one proposes, another confirms. The agents keep their status, but are no longer active. */
async function slash(world, agents) {
  const { stage } = world;
  const [proposer, confirmer] = ["multisig1", "multisig2"].map((role) => stage.role(role).address);
  let proposal = await stage.read(MULTISIG, "proposalCount");
  for (const agent of agents) {
    const bond = (await stage.read(REGISTRY, "getAgent", [BigInt(agent.id)])).bond;
    const args = [BigInt(agent.id), bond, stage.at.treasury, "missed every deadline"];
    const data = encodeFunctionData({ abi: stage.artifacts.AgentRegistry.abi, functionName: "slash", args });
    stage.step(proposer, MULTISIG, "propose", [stage.at.registry, 0n, data]);
    stage.step(confirmer, MULTISIG, "confirm", [proposal++]);
  }
  await stage.flush();
}

function call(functionName, args) {
  return [REGISTRY, functionName, args];
}
