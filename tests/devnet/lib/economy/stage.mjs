// The players of an economy, how their steps get on the chain, and its time. Rule: steps are mined
// in the order in which they are given, so that the ids they will get are known before.
import { decodeFunctionResult, encodeDeployData, encodeFunctionData, getAddress, keccak256, toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { compile } from "../compile.mjs";
import { keyOf, testKeys } from "../keys.mjs";
import { hex } from "../rpc.mjs";

const BLOCK_TIME_S = 7;
const BLOCK_GAS = 30_000_000;
/** While playing, blocks take whatever is in them, and the base fee does not climb. */
const PLAY_GAS = 40_000_000_000;
const GAS_PRICE = hex(1000n * 10n ** 9n);
const PURSE = hex(10n ** 30n);
const STEPS_PER_CALL = 50;
/** anvil reads all state for each block, so a large economy has large blocks unless an option sets another size. */
const STEPS_PER_BLOCK = { crowded: 2500, direct: 40 };
const HIRED_PER_CALL = 200;

/** The key of a player beyond the test keys; anybody can derive it. */
export const actorKey = (index) => keccak256(toHex(`devnet actor ${index}`));

export class Stage {
  #waiting = [];

  constructor(rpc, deployed) {
    this.rpc = rpc;
    this.at = { ...deployed.contracts, ...deployed.others };
    this.artifacts = compile();
    this.keys = testKeys();
  }

  /** `crowded` players are contracts, many to a transaction; else each is a wallet that sends for itself. */
  async open({ players, crowded, blockSteps }) {
    this.crowded = crowded;
    this.blockSteps = blockSteps || (crowded ? STEPS_PER_BLOCK.crowded : STEPS_PER_BLOCK.direct);
    await this.rpc.call("evm_setAutomine", false);
    await this.rpc.call("evm_setBlockGasLimit", hex(PLAY_GAS));
    const block = await this.rpc.call("eth_getBlockByNumber", "latest", false);
    this.time = Number(block.timestamp);
    this.firstBlock = Number(block.number) + 1;
    this.players = crowded ? await this.#hire(players) : await this.#invite(players);
  }

  /** Leaves the node as it was, with empty blocks until the base fee is an ordinary one. */
  async close() {
    await this.flush();
    await this.rpc.call("evm_setBlockGasLimit", hex(BLOCK_GAS));
    await this.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(10 ** 9));
    await this.#mine();
    this.lastBlock = Number(await this.rpc.call("eth_blockNumber"));
  }

  /** `who` is the index of a player, or an address that sends for itself. */
  step(who, contract, functionName, args = [], value = 0n) {
    const [name, to] = this.#resolve(contract);
    const data = encodeFunctionData({ abi: this.artifacts[name].abi, functionName, args });
    this.#waiting.push({ who, to, value, data, what: `${name}.${functionName}(${args})` });
  }

  /** Mines what is waiting; the time goes on by one block for each that it takes. */
  async flush() {
    const steps = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < steps.length; ) {
      from = await this.#playSome(steps, from);
    }
  }

  /** Lets time pass, after what is waiting. */
  async wait(seconds) {
    await this.flush();
    this.time += seconds;
  }

  /** When the last block was, after what is waiting. */
  async now() {
    await this.flush();
    return this.time;
  }

  address(player) {
    return this.players[player];
  }

  role(name) {
    return keyOf(this.keys, name);
  }

  async read(contract, functionName, args = []) {
    const [name, to] = this.#resolve(contract);
    const { abi } = this.artifacts[name];
    const data = encodeFunctionData({ abi, functionName, args });
    const result = await this.rpc.call("eth_call", { to, data }, "latest");
    return decodeFunctionResult({ abi, functionName, data: result });
  }

  #resolve([name, at]) {
    return [name, this.at[at] ?? at];
  }

  /** As many steps from `from` on as one block takes. Answers where the next begin. */
  async #playSome(steps, from) {
    const most = from + this.blockSteps;
    const calls = [];
    for (let next = from; next < Math.min(most, steps.length); next = calls.at(-1).end) {
      calls.push({ from: next, end: this.#endOfCall(steps, next) });
    }
    const transactions = calls.map((call) => this.#transaction(steps.slice(call.from, call.end)));
    await this.#send(transactions, (index) => steps[calls[index].from].what);
    return calls.at(-1).end;
  }

  /** Steps of players of a crowd share a call. */
  #endOfCall(steps, from) {
    const isPlayer = (step) => this.crowded && typeof step?.who === "number";
    if (!isPlayer(steps[from])) return from + 1;
    let end = from;
    const most = Math.min(STEPS_PER_CALL, this.blockSteps);
    while (end < from + most && isPlayer(steps[end])) end += 1;
    return end;
  }

  #transaction(steps) {
    const [{ who, to, value, data }] = steps;
    if (!this.crowded || typeof who !== "number") {
      return { from: typeof who === "number" ? this.players[who] : who, to, value: hex(value), data, gas: hex(5_000_000) };
    }
    const sum = steps.reduce((total, step) => total + step.value, 0n);
    const call = encodeFunctionData({ abi: this.artifacts.Crowd.abi, functionName: "play", args: [packed(steps)] });
    return { from: this.director, to: this.crowd, value: hex(sum), data: call, gas: hex(1_000_000 * steps.length) };
  }

  async #send(transactions, describe = () => "") {
    const hashes = [];
    // One after the other: a node takes the calls of a batch in any order.
    for (const one of transactions) {
      hashes.push(await this.rpc.call("eth_sendTransaction", { ...one, gasPrice: GAS_PRICE }));
    }
    await this.#mine();
    const receipts = await this.rpc.batch(hashes.map((hash) => ["eth_getTransactionReceipt", hash]));
    const failed = receipts.findIndex((receipt) => receipt?.status !== "0x1");
    if (failed >= 0) {
      const why = await this.rpc.call("eth_call", transactions[failed], "latest").catch((error) => error.data);
      throw new Error(`a step was ${receipts[failed] ? "reverted" : "not mined"}: ${describe(failed)}: ${why}`);
    }
    return receipts;
  }

  async #mine() {
    this.time += BLOCK_TIME_S;
    await this.rpc.batch([
      ["evm_setNextBlockTimestamp", hex(this.time)],
      ["anvil_setNextBlockBaseFeePerGas", hex(7)],
      ["evm_mine"],
    ]);
  }

  async #invite(count) {
    const users = this.keys.filter((key) => key.role.startsWith("user")).map((key) => key.address);
    const players = Array.from({ length: count }, (_, index) => users[index] ?? privateKeyToAddress(actorKey(index)));
    await this.rpc.batch(players.map((player) => ["anvil_setBalance", player, PURSE]));
    return players;
  }

  async #hire(count) {
    this.director = this.role("deployer").address;
    await this.rpc.call("anvil_setBalance", this.director, PURSE);
    const { abi, bytecode } = this.artifacts.Crowd;
    const data = encodeDeployData({ abi, bytecode });
    const [{ contractAddress }] = await this.#send([{ from: this.director, data, gas: hex(5_000_000) }]);
    this.crowd = getAddress(contractAddress);
    const players = [];
    for (let hired = 0; hired < count; hired += HIRED_PER_CALL) {
      const some = Math.min(HIRED_PER_CALL, count - hired);
      const hire = encodeFunctionData({ abi, functionName: "hire", args: [BigInt(some)] });
      await this.#send([{ from: this.director, to: this.crowd, data: hire, gas: hex(some * 300_000) }]);
      const indexes = Array.from({ length: some }, (_, index) => BigInt(hired + index));
      const calls = indexes.map((index) => {
        const at = encodeFunctionData({ abi, functionName: "actorAt", args: [index] });
        return ["eth_call", { to: this.crowd, data: at }, "latest"];
      });
      players.push(...(await this.rpc.batch(calls)).map((word) => getAddress(`0x${word.slice(-40)}`)));
    }
    return players;
  }
}

/** As Crowd.play reads it. */
function packed(steps) {
  const word = (number, bytes) => number.toString(16).padStart(2 * bytes, "0");
  const parts = steps.map(({ who, to, value, data }) => {
    const size = (data.length - 2) / 2;
    return word(who, 4) + to.slice(2) + word(value, 16) + word(size, 4) + data.slice(2);
  });
  return `0x${parts.join("")}`;
}
