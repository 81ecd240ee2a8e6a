// The network's rule on the minimum tip. anvil has no such rule, so the proxy enforces it: a transaction that tips less
// is refused, held back as if no signer took it, or lost.
import { keccak256, parseTransaction, recoverTransactionAddress } from "viem";
import { alreadyKnown, replacementUnderpriced, underpriced } from "./errors.mjs";

export class Pool {
  /** sender:nonce → transaction */
  #held = new Map();

  constructor(upstream) {
    this.upstream = upstream;
  }

  /** `eth_sendRawTransaction`, or `eth_sendTransaction` for accounts that the node itself signs for. */
  async send(tip, method, params) {
    if (tip.underpriced === "allow") return this.upstream.call(method, ...params);
    return method === "eth_sendRawTransaction" ? this.#sendRaw(tip, params[0]) : this.#sendUnsigned(tip, params);
  }

  async #sendRaw(tip, raw) {
    const transaction = await decode(raw);
    const place = `${transaction.from}:${transaction.nonce}`;
    const held = this.#held.get(place);
    if (held?.hash === transaction.hash) throw alreadyKnown();
    if (held && !replaces(transaction, held)) throw replacementUnderpriced();
    const offered = effectiveTip(transaction, await this.#baseFee());
    if (offered >= BigInt(tip.minWei)) {
      this.#held.delete(place);
      return this.upstream.call("eth_sendRawTransaction", raw);
    }
    if (tip.underpriced === "refuse") throw underpriced(offered, tip.minWei);
    if (tip.underpriced === "hold") this.#held.set(place, transaction);
    return transaction.hash;
  }

  /** A transaction without any price gets the node's own. One that is not signed cannot be held: it has no hash yet. */
  async #sendUnsigned(tip, params) {
    const [{ gasPrice, maxFeePerGas, maxPriorityFeePerGas }] = params;
    const price = { gasPrice, maxFeePerGas, maxPriorityFeePerGas };
    if (Object.values(price).some((value) => value !== undefined)) {
      const offered = effectiveTip(price, await this.#baseFee());
      if (offered < BigInt(tip.minWei)) throw underpriced(offered, tip.minWei);
    }
    return this.upstream.call("eth_sendTransaction", ...params);
  }

  /** Hands over what was held, in the order of nonces: the rule is gone. */
  async release() {
    const all = [...this.#held.values()].sort((one, other) => one.nonce - other.nonce);
    this.#held.clear();
    // One that has become invalid meanwhile is dropped, as in any pool.
    for (const { raw } of all) await this.upstream.call("eth_sendRawTransaction", raw).catch(() => {});
  }

  /** As a node shows a transaction that waits. */
  pending(hash) {
    const held = [...this.#held.values()].find((transaction) => transaction.hash === hash);
    if (!held) return null;
    const { from, nonce, to, value, data, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = held;
    const prices = { gasPrice: gasPrice ?? maxFeePerGas, maxFeePerGas, maxPriorityFeePerGas };
    const amounts = { nonce, value: value ?? 0n, gas, ...prices };
    const quantities = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
    return {
      ...{ hash, from, to: to ?? null, input: data ?? "0x", blockHash: null, blockNumber: null, transactionIndex: null },
      ...Object.fromEntries(quantities.map(([name, amount]) => [name, `0x${amount.toString(16)}`])),
    };
  }

  /** The next nonce of an account, where `known` is what the node says. */
  nextNonce(account, known) {
    let next = known;
    while (this.#held.has(`${account.toLowerCase()}:${next}`)) next += 1;
    return next;
  }

  async #baseFee() {
    return BigInt((await this.upstream.call("eth_getBlockByNumber", "latest", false)).baseFeePerGas ?? 0);
  }
}

async function decode(raw) {
  const transaction = parseTransaction(raw);
  const from = (await recoverTransactionAddress({ serializedTransaction: raw })).toLowerCase();
  return { ...transaction, nonce: transaction.nonce ?? 0, from, raw, hash: keccak256(raw) };
}

/** What is left for the signer after the base fee; negative when not even that is covered. */
function effectiveTip({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }, baseFee) {
  if (maxFeePerGas === undefined && gasPrice !== undefined) return BigInt(gasPrice) - baseFee;
  const tip = BigInt(maxPriorityFeePerGas ?? 0);
  const room = maxFeePerGas === undefined ? tip : BigInt(maxFeePerGas) - baseFee;
  return room < tip ? room : tip;
}

/** A tenth more than before, in both prices. */
function replaces(transaction, held) {
  const isMore = (one, other) => BigInt(one ?? 0) * 10n >= BigInt(other ?? 0) * 11n;
  const price = ({ gasPrice, maxFeePerGas }) => maxFeePerGas ?? gasPrice;
  const tip = ({ gasPrice, maxPriorityFeePerGas }) => maxPriorityFeePerGas ?? gasPrice;
  return isMore(price(transaction), price(held)) && isMore(tip(transaction), tip(held));
}
