// Plays an economy on a dev network and prints the result as JSON: the records that an index must contain.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { changePrices, registerAgents, settleFates } from "./lib/economy/agents.mjs";
import { described } from "./lib/economy/description.mjs";
import { playJobs } from "./lib/economy/jobs.mjs";
import { openAccounts, openStreams, settleVouchers, subscribe } from "./lib/economy/money.mjs";
import { anchorMemory, endorse, giveFeedback, validate } from "./lib/economy/reputation.mjs";
import { Stage } from "./lib/economy/stage.mjs";
import { launchTokens } from "./lib/economy/tokens.mjs";
import { World } from "./lib/economy/world.mjs";
import { Rpc } from "./lib/rpc.mjs";

const USAGE = `usage: node scenario.mjs --devnet DIR/devnet.json [OPTIONS]
  --agents N       how many agents register (10)
  --jobs M         how many jobs they get (40)
  --seed S         the same seed plays the same economy (1)
  --updates N      how often each agent changes its price (0)
  --block-steps N  at most N steps in a block (2500 in a large economy, 40 in a small one)
  --crowd          players are contracts and share transactions: fast; so it is from 300 agents or 1000 jobs on
  --out FILE       where the JSON goes, else it is printed`;

/** Beyond these it would take minutes, one transaction for each step. */
const DIRECT_AGENTS_MAX = 300;
const DIRECT_JOBS_MAX = 1000;

/**
 * The node is anvil, and its clock goes forward by some weeks. Afterwards it mines at once, whatever it did before.
 * `deployed` is what deploy() answers.
 */
export async function playEconomy(rpc, deployed, options = {}) {
  const { agents = 10, jobs = 40, seed = 1, updates = 0, crowded, blockSteps } = options;
  const stage = new Stage(rpc, deployed);
  const world = new World(stage, { agents, jobs, seed });
  const isLarge = agents >= DIRECT_AGENTS_MAX || jobs >= DIRECT_JOBS_MAX;
  await stage.open({ players: world.cast.count, crowded: crowded ?? isLarge, blockSteps });
  await registerAgents(world);
  await changePrices(world, updates);
  await openAccounts(world);
  await openStreams(world);
  await subscribe(world);
  await settleVouchers(world);
  await playJobs(world);
  await giveFeedback(world);
  await validate(world);
  await anchorMemory(world);
  await endorse(world);
  await launchTokens(world);
  await settleFates(world);
  await stage.close();
  await rpc.call("evm_setAutomine", true);
  return described(world);
}

async function main() {
  const { values } = parseArgs({
    options: {
      devnet: { type: "string" },
      agents: { type: "string", default: "10" },
      jobs: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      updates: { type: "string", default: "0" },
      "block-steps": { type: "string" },
      crowd: { type: "boolean" },
      out: { type: "string" },
    },
  });
  if (!values.devnet) throw new Error(USAGE);
  const devnet = JSON.parse(readFileSync(values.devnet, "utf8"));
  const rpc = new Rpc(devnet.anvilUrl);
  const [agents, jobs, updates, seed] = [values.agents, values.jobs, values.updates, values.seed].map(Number);
  const blockSteps = values["block-steps"] && Number(values["block-steps"]);
  const economy = await playEconomy(rpc, devnet, { agents, jobs, updates, seed, crowded: values.crowd, blockSteps });
  if (devnet.blockTime > 0) await rpc.call("evm_setIntervalMining", devnet.blockTime);
  if (values.out) writeFileSync(values.out, JSON.stringify(economy));
  else console.log(JSON.stringify(economy, null, 2));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  main().catch((error) => {
    console.error(`scenario: ${error.message}`);
    process.exitCode = 1;
  });
}
