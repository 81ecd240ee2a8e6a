// Jobs in rounds of a day: requested, delivered, and brought to every end there is, disputes included.
import { DAY, FMX, hash } from "./world.mjs";

const ESCROW = ["ServiceEscrow", "escrow"];
const POOL = ["ArbiterPool", "arbiterPool"];
const STAKE = 500n * FMX;
const CASE_FEE = FMX;
const ROUNDS_MAX = 20;
const ROUND_MIN = 10;

const ENDS = [
  ["released", 60],
  ["claimed", 8],
  ["refunded", 6],
  ["cancelled", 5],
  ["open", 8],
  ["delivered", 6],
  ["disputed", 2],
  ["resolved", 3],
  ["unrated", 2],
];

/** The status in the contract's words, and what it is when all is over. */
export const STATUS = {
  open: 1,
  delivered: 2,
  released: 3,
  unrated: 3,
  claimed: 3,
  refunded: 4,
  cancelled: 4,
  disputed: 5,
  resolved: 6,
};

export async function playJobs(world) {
  const { stage, random, size, cast } = world;
  for (const arbiter of cast.arbiters) stage.step(arbiter, POOL, "joinPool", [], STAKE);
  await stage.flush();
  const ends = random.deal(ENDS, size.jobs);
  const round = Math.max(ROUND_MIN, Math.ceil(size.jobs / ROUNDS_MAX));
  for (let from = 0; from < ends.length; from += round) {
    const jobs = await request(world, ends.slice(from, from + round));
    await deliver(world, jobs);
    await settle(world, jobs);
    await decide(world, jobs.filter(({ end }) => end === "resolved"));
    await stage.wait(DAY);
    await settleLate(world, jobs);
  }
}

const isDelivered = ({ end }) => !["open", "refunded", "cancelled"].includes(end);

async function request(world, ends) {
  const { stage, random, cast } = world;
  const last = await world.lastId(ESCROW, "nextJobId");
  const jobs = ends.map((end, index) => {
    const id = last + 1 + index;
    // The very first job, which will be released, goes to the first agent.
    const agent = world.agents[world.jobs.length + index === 0 ? 0 : random.popular(world.agents.length)];
    const client = random.pick(cast.clients);
    // Now and then more than the price: the escrow holds all of it.
    const amount = agent.price + (random.below(5) === 0 ? BigInt(1 + random.below(1000)) * 10n ** 15n : 0n);
    const job = { id, agent, client, amount, end, rating: 0, inputURI: `ipfs://input-${id}` };
    stage.step(client, ESCROW, "requestJob", [BigInt(agent.id), hash(`input ${id}`), job.inputURI], amount);
    return job;
  });
  await stage.flush();
  world.jobs.push(...jobs);
  return jobs;
}

async function deliver(world, jobs) {
  const { stage } = world;
  for (const { id, agent } of jobs.filter(isDelivered)) {
    stage.step(agent.owner, ESCROW, "deliver", [BigInt(id), hash(`output ${id}`), `ipfs://output-${id}`]);
  }
  await stage.flush();
}

async function settle(world, jobs) {
  const { stage, random } = world;
  for (const job of jobs) {
    const id = BigInt(job.id);
    if (job.end === "released") job.rating = 1 + Math.max(random.below(5), random.below(5));
    if (job.end === "released" || job.end === "unrated") stage.step(job.client, ESCROW, "release", [id, job.rating]);
    if (job.end === "cancelled") stage.step(job.agent.owner, ESCROW, "cancel", [id]);
    if (job.end === "disputed" || job.end === "resolved") stage.step(job.client, ESCROW, "dispute", [id]);
  }
  await stage.flush();
}

/** What has to wait for a window to close. */
async function settleLate(world, jobs) {
  const { stage } = world;
  for (const { id, end, agent, client } of jobs) {
    if (end === "claimed") stage.step(agent.owner, ESCROW, "claim", [BigInt(id)]);
    if (end === "refunded") stage.step(client, ESCROW, "refund", [BigInt(id)]);
  }
  await stage.flush();
}

/** Two more than the quorum vote, so nobody has to wait for the end of the window. */
async function decide(world, jobs) {
  const { stage, random, cast } = world;
  if (jobs.length === 0) return;
  const last = await world.lastId(POOL, "nextCaseId");
  const cases = jobs.map((job, index) => ({ id: last + 1 + index, job, votes: [] }));
  for (const { job } of cases) {
    stage.step(job.client, POOL, "openCase", [BigInt(job.id), `ipfs://evidence-${job.id}`], CASE_FEE);
  }
  for (const { id, job } of cases) {
    stage.step(job.agent.owner, POOL, "submitEvidence", [BigInt(id), `ipfs://answer-${job.id}`]);
  }
  for (const opened of cases) {
    const tendency = random.below(5) * 2500;
    for (const arbiter of cast.arbiters) {
      const clientBps = Math.max(0, Math.min(10_000, tendency + (random.below(5) - 2) * 400));
      opened.votes.push(clientBps);
      stage.step(arbiter, POOL, "vote", [BigInt(opened.id), clientBps]);
    }
  }
  for (const { id } of cases) stage.step(cast.arbiters[0], POOL, "close", [BigInt(id)]);
  await stage.flush();
  for (const { id, job, votes } of cases) {
    const result = [...votes].sort((one, other) => one - other)[2];
    world.cases.push({ id, jobId: job.id, opener: world.address(job.client), votes: votes.length, closed: true, result });
    job.resolvedBps = result;
  }
}
