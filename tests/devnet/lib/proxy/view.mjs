// The results of calls under the rules: a head that lags, lies about balances, receipts and logs, caps on eth_getLogs.
import { beyondHead, rangeTooWide, tooManyResults } from "./errors.mjs";

const quantity = (number) => `0x${number.toString(16)}`;
const isTag = (block) => ["latest", "pending", "safe", "finalized"].includes(block);

/** Where the block stands among the parameters of methods that take one. */
const BLOCK_AT = {
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_feeHistory: 1,
};

export class View {
  constructor(upstream, pool) {
    this.upstream = upstream;
    this.pool = pool;
  }

  async answer(rules, method, params) {
    const head = isLagging(rules) ? await this.#head(rules) : null;
    switch (method) {
      case "eth_blockNumber":
        return quantity(Math.max(0, (await this.#head(rules)) + rules.lieHead));
      case "eth_getLogs":
        return this.#logs(rules, params, head);
      case "eth_getTransactionReceipt":
        return this.#receipt(rules, params, head);
      case "eth_getTransactionByHash":
        return this.#transaction(params, head);
      case "eth_getBlockByHash": {
        const block = await this.upstream.call(method, ...params);
        return isBeyond(block?.number, head) ? null : block;
      }
      default:
        return this.#atBlock(rules, method, params, head);
    }
  }

  async #head({ lagBlocks, headMax }) {
    const real = Number(await this.upstream.call("eth_blockNumber"));
    return Math.max(0, Math.min(real - lagBlocks, headMax ?? real));
  }

  async #atBlock(rules, method, params, head) {
    const at = BLOCK_AT[method];
    const asked = params[at];
    const seen = [...params];
    if (head !== null && at !== undefined) {
      if (asked === undefined || isTag(asked)) seen[at] = quantity(head);
      else if (isBeyond(asked, head)) {
        if (method.startsWith("eth_getBlock")) return null;
        throw beyondHead();
      }
    }
    const result = await this.upstream.call(method, ...seen);
    if (method === "eth_getBalance" && rules.lieBalanceWei !== null) {
      const wrong = BigInt(result) + BigInt(rules.lieBalanceWei);
      return quantity(wrong < 0n ? 0n : wrong);
    }
    if (method === "eth_getTransactionCount" && asked === "pending") {
      return quantity(this.pool.nextNonce(params[0], Number(result)));
    }
    return result;
  }

  async #transaction([hash], head) {
    const transaction = await this.upstream.call("eth_getTransactionByHash", hash);
    if (!transaction) return this.pool.pending(hash);
    if (!isBeyond(transaction.blockNumber, head)) return transaction;
    return { ...transaction, blockHash: null, blockNumber: null, transactionIndex: null };
  }

  async #receipt(rules, params, head) {
    if (rules.dropReceipts) return null;
    const receipt = await this.upstream.call("eth_getTransactionReceipt", ...params);
    if (!receipt || isBeyond(receipt.blockNumber, head)) return null;
    if (!rules.lieReceipts) return receipt;
    const failed = receipt.status === "0x1";
    return { ...receipt, status: failed ? "0x0" : "0x1", logs: failed ? [] : receipt.logs };
  }

  async #logs(rules, [filter], head) {
    const seen = filter.blockHash ? filter : await this.#range(rules, filter, head);
    const logs = await this.upstream.call("eth_getLogs", seen);
    if (rules.logsResultsMax !== null && logs.length > rules.logsResultsMax) {
      const [from, to] = [Number(seen.fromBlock ?? 0), Number(seen.toBlock ?? 0)];
      throw tooManyResults(rules.logsErrorStyle, rules.logsResultsMax, from, to);
    }
    const visible = logs.filter((log) => !isBeyond(log.blockNumber, head));
    return lied(visible, rules.lieLogs);
  }

  /** The filter with numbers for words, if its range is allowed. */
  async #range(rules, filter, head) {
    const last = head ?? Number(await this.upstream.call("eth_blockNumber"));
    const numberOf = (block) => {
      if (block === undefined || isTag(block)) return last;
      return block === "earliest" ? 0 : Number(block);
    };
    const [from, to] = [numberOf(filter.fromBlock), numberOf(filter.toBlock)];
    if (head !== null && to > head) throw beyondHead();
    if (rules.logsRangeMax !== null && to - from + 1 > rules.logsRangeMax) {
      throw rangeTooWide(rules.logsErrorStyle, rules.logsRangeMax, from);
    }
    return { ...filter, fromBlock: quantity(from), toBlock: quantity(to) };
  }
}

const isLagging = ({ lagBlocks, headMax }) => lagBlocks > 0 || headMax !== null;

const isBeyond = (block, head) => head !== null && block !== null && /^0x/.test(block ?? "") && Number(block) > head;

/** Each way leaves something that a client can find out by asking another node. */
function lied(logs, how) {
  if (how === "drop") return logs.filter((_, index) => index % 2 === 0);
  if (how === "repeat") return logs.flatMap((log) => [log, log]);
  if (how === "alter") return logs.map((log) => ({ ...log, data: altered(log.data) }));
  return logs;
}

function altered(data) {
  const last = data.slice(-1);
  return data === "0x" ? data : `${data.slice(0, -1)}${last === "0" ? "1" : "0"}`;
}
