// What an economy consists of, as the acts make it: plain records, which become the JSON at the end.
import { keccak256, toHex } from "viem";
import { Random } from "./random.mjs";

export const FMX = 10n ** 18n;
export const DAY = 86_400;
export const hash = (text) => keccak256(toHex(text));

export class World {
  constructor(stage, { agents, jobs, seed }) {
    this.stage = stage;
    this.random = new Random(seed);
    this.size = { agents, jobs, seed };
    this.cast = castOf(agents);
    this.agents = [];
    this.jobs = [];
    this.cases = [];
    this.accounts = [];
    this.streams = [];
    this.plans = [];
    this.subs = [];
    this.settlements = [];
    this.tokens = [];
    this.feedback = [];
    this.validations = [];
    this.anchors = [];
    this.endorsements = [];
  }

  /** The last id that a contract has issued: what is made now comes behind it, also when this is not the first play. */
  async lastId(contract, getter) {
    return Number(await this.stage.read(contract, getter));
  }

  address(player) {
    return this.stage.address(player);
  }

  /** A part of the size, but never less than `min`. */
  share(of, divisor, min) {
    return Math.max(min, Math.floor(of / divisor));
  }
}

/** Ranges of players: owners of agents, clients, arbiters, and a validator. */
function castOf(agents) {
  let next = 0;
  const some = (count) => Array.from({ length: count }, () => next++);
  const owners = some(Math.max(2, Math.ceil(agents * 0.8)));
  const clients = some(Math.max(4, Math.min(2000, Math.ceil(agents / 2))));
  const arbiters = some(5);
  const [validator] = some(1);
  return { owners, clients, arbiters, validator, count: next };
}
