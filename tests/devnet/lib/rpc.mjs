// JSON-RPC over HTTP, one call or many in a request. Rule: an error of the node is thrown with its message and data.

const RECEIPT_LIMIT_MS = 60_000;
const RECEIPT_PAUSE_MS = 5;

export class RpcError extends Error {
  constructor(method, error) {
    super(`${method}: ${error.message}`);
    this.code = error.code;
    this.data = typeof error.data === "string" ? error.data : error.data?.data;
  }
}

export class Rpc {
  constructor(url) {
    this.url = url;
  }

  async call(method, ...params) {
    const answer = await this.#post({ jsonrpc: "2.0", id: 1, method, params });
    if (answer.error) throw new RpcError(method, answer.error);
    return answer.result;
  }

  /** `calls` are [method, ...params]; the results come in their order. */
  async batch(calls) {
    if (calls.length === 0) return [];
    const request = calls.map(([method, ...params], id) => ({ jsonrpc: "2.0", id, method, params }));
    const answers = await this.#post(request);
    if (!Array.isArray(answers)) throw new RpcError("batch", answers.error ?? { message: "no list" });
    const results = new Array(calls.length);
    for (const { id, error, result } of answers) {
      if (error) throw new RpcError(calls[id][0], error);
      results[id] = result;
    }
    return results;
  }

  /** Waits: a node answers before it has mined, also one that mines at once. */
  async receipt(hash) {
    for (let waited = 0; waited < RECEIPT_LIMIT_MS; waited += RECEIPT_PAUSE_MS) {
      const receipt = await this.call("eth_getTransactionReceipt", hash);
      if (receipt) return receipt;
      await new Promise((resolve) => setTimeout(resolve, RECEIPT_PAUSE_MS));
    }
    throw new Error(`${hash} was not mined: is the node mining?`);
  }

  async #post(body) {
    const response = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${this.url} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }
}

export const hex = (number) => `0x${BigInt(number).toString(16)}`;
