// The result of an economy. Rule: everything that a contract returns is read from it, and must equal what was played.
import { decodeFunctionResult, encodeFunctionData } from "viem";
import { STATUS } from "./jobs.mjs";

const CALLS_PER_REQUEST = 500;

/** The status in the contract by the job's outcome. */
const AGENT_STATUS = { active: 1, slashed: 1, transferred: 1, paused: 2, retired: 3, withdrawn: 3 };

export async function described(world) {
  const { stage } = world;
  const agents = await agentRows(world);
  const jobs = await jobRows(world);
  const named = (rows, ...fields) => rows.map((row) => withAddresses(world, row, fields));
  const economy = {
    ...world.size,
    crowded: stage.crowded,
    firstBlock: stage.firstBlock,
    lastBlock: stage.lastBlock,
    counts: { agents: countBy(agents, "fate"), jobs: countBy(jobs, "end") },
    agents,
    jobs,
    cases: world.cases,
    accounts: world.accounts,
    streams: await streamRows(world),
    plans: named(world.plans, "payee"),
    subs: await subRows(world),
    settlements: world.settlements,
    tokens: world.tokens,
    feedback: named(world.feedback, "client"),
    validations: named(world.validations, "validator"),
    anchors: world.anchors,
    endorsements: world.endorsements,
  };
  return plain(economy);
}

async function agentRows(world) {
  const rows = await readEach(world, ["AgentRegistry", "registry"], "getAgent", world.agents);
  return rows.map((row, index) => {
    const { id, owner, fate } = world.agents[index];
    must(row.owner === world.address(owner) && row.status === AGENT_STATUS[fate], `agent ${id} is not ${fate}`);
    return { id, ...row, fate };
  });
}

async function jobRows(world) {
  const rows = await readEach(world, ["ServiceEscrow", "escrow"], "getJob", world.jobs);
  return rows.map((row, index) => {
    const { id, agent, client, amount, end, rating, resolvedBps = null } = world.jobs[index];
    const agrees = Number(row.agentId) === agent.id && row.client === world.address(client) && row.amount === amount;
    must(agrees && row.status === STATUS[end], `job ${id} is not ${end}`);
    return { id, ...row, agentId: agent.id, rating, resolvedBps, end };
  });
}

async function streamRows(world) {
  const rows = await readEach(world, ["StreamPay", "streamPay"], "getStream", world.streams);
  return rows.map((row, index) => ({ id: world.streams[index].id, ...row, end: world.streams[index].end }));
}

async function subRows(world) {
  const rows = await readEach(world, ["StreamPay", "streamPay"], "getSub", world.subs);
  return rows.map((row, index) => ({ id: world.subs[index].id, ...row, end: world.subs[index].end }));
}

/** A getter for each id, many to a request. */
async function readEach({ stage }, [name, at], functionName, items) {
  const { abi } = stage.artifacts[name];
  const rows = [];
  for (let from = 0; from < items.length; from += CALLS_PER_REQUEST) {
    const calls = items.slice(from, from + CALLS_PER_REQUEST).map(({ id }) => {
      const data = encodeFunctionData({ abi, functionName, args: [BigInt(id)] });
      return ["eth_call", { to: stage.at[at], data }, "latest"];
    });
    const words = await stage.rpc.batch(calls);
    rows.push(...words.map((data) => decodeFunctionResult({ abi, functionName, data })));
  }
  return rows;
}

function withAddresses(world, row, fields) {
  return { ...row, ...Object.fromEntries(fields.map((field) => [field, world.address(row[field])])) };
}

function countBy(rows, field) {
  const counts = {};
  for (const row of rows) counts[row[field]] = (counts[row[field]] ?? 0) + 1;
  return counts;
}

/** Amounts as decimal strings, as everywhere in JSON. */
function plain(value) {
  return JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? inner.toString() : inner)));
}

function must(condition, message) {
  if (!condition) throw new Error(`the chain disagrees with the play: ${message}`);
}
