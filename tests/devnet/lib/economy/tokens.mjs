// Tokens of agents: launched, bought, sold, and given a share of what the agent earns. And a drip from the faucet.
import { FMX } from "./world.mjs";

const FACTORY = ["AgentTokenFactory", "tokenFactory"];
const BASE = FMX / 1000n;
const SLOPE = FMX / 1_000_000n;

export async function launchTokens(world) {
  const { stage, cast, size } = world;
  const launched = world.agents.slice(0, Math.min(world.agents.length, world.share(size.agents, 50, 2)));
  for (const agent of launched) stage.step(agent.owner, FACTORY, "launch", [BigInt(agent.id), `AG${agent.id}`, BASE, SLOPE]);
  await stage.flush();
  for (const agent of launched) {
    const token = await stage.read(FACTORY, "tokenOf", [BigInt(agent.id)]);
    const [buyer, other] = cast.clients;
    stage.step(buyer, FACTORY, "buy", [token, 0n], 2n * FMX);
    stage.step(other, FACTORY, "buy", [token, 0n], FMX);
    stage.step(buyer, FACTORY, "sell", [token, FMX, 0n]);
    stage.step(agent.owner, FACTORY, "distribute", [token], FMX / 2n);
    stage.step(other, FACTORY, "claimDistribution", [token]);
    const trades = { buys: 2, sells: 1, fmxIn: 3n * FMX, distributed: FMX / 2n };
    world.tokens.push({ token, agentId: agent.id, symbol: `AG${agent.id}`, ...trades });
  }
  stage.step(cast.validator, ["Faucet", "faucet"], "drip");
  await stage.flush();
}
