// A JSON-RPC proxy that can misbehave, in front of anvil. By default it is an honest node of a network with a minimum tip
// of 1 gwei. As a program: node proxy.mjs UPSTREAM_URL [PORT]. /control returns its rules (GET), changes them (POST) and
// resets them (DELETE).
import { createServer } from "node:http";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";
import { JsonRpcError } from "./lib/proxy/errors.mjs";
import { Pool } from "./lib/proxy/pool.mjs";
import { HONEST, changed, failureFor } from "./lib/proxy/rules.mjs";
import { View } from "./lib/proxy/view.mjs";
import { Rpc, RpcError } from "./lib/rpc.mjs";

const BODY_BYTES_MAX = 64 * 1024 * 1024;
const CONTROL = "/control";

/** Answers {url, wsUrl, rules(), change(rules), reset(), stop()}. */
export async function startProxy(upstreamUrl, { port = 0 } = {}) {
  const proxy = new RpcProxy(upstreamUrl);
  await proxy.listen(port);
  return proxy;
}

class RpcProxy {
  #rules = structuredClone(HONEST);
  #tunnels = new Set();
  #server = createServer((request, response) => this.#serve(request, response));

  constructor(upstreamUrl) {
    this.upstreamUrl = new URL(upstreamUrl);
    this.upstream = new Rpc(upstreamUrl);
    this.pool = new Pool(this.upstream);
    this.view = new View(this.upstream, this.pool);
    this.#server.on("upgrade", (request, socket, head) => this.#tunnel(request, socket, head));
  }

  listen(port) {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => {
        const address = `127.0.0.1:${this.#server.address().port}`;
        this.url = `http://${address}`;
        this.wsUrl = `ws://${address}`;
        resolve();
      });
    });
  }

  rules() {
    return this.#rules;
  }

  async change(change) {
    this.#rules = changed(this.#rules, change);
    if (this.#rules.webSocket === "refuse") this.#closeTunnels();
    if (this.#rules.tip.underpriced === "allow") await this.pool.release();
    return this.#rules;
  }

  reset() {
    this.#rules = structuredClone(HONEST);
    return this.#rules;
  }

  stop() {
    this.#closeTunnels();
    return new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  async #serve(request, response) {
    try {
      const body = await read(request);
      if (request.url === CONTROL) await this.#control(request.method, body, response);
      else await this.#call(body, response);
    } catch (error) {
      if (!response.headersSent) json(response, 502, { error: error.message });
    }
  }

  async #control(method, body, response) {
    try {
      if (method === "POST") json(response, 200, await this.change(JSON.parse(body)));
      else json(response, 200, method === "DELETE" ? this.reset() : this.#rules);
    } catch (error) {
      json(response, 400, { error: error.message });
    }
  }

  async #call(body, response) {
    const request = parse(body);
    if (request === undefined) return json(response, 200, failed(null, new JsonRpcError(-32700, "parse error")));
    const calls = Array.isArray(request) ? request : [request];
    if (this.#rules.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#rules.delayMs));
    const failure = failureFor(this.#rules, calls.map((call) => call?.method));
    if (failure) return fail(failure, calls, response);
    const answers = await Promise.all(calls.map((call) => this.#answer(call)));
    json(response, 200, Array.isArray(request) ? answers : answers[0]);
  }

  async #answer(call) {
    const { id = null, method, params = [] } = call ?? {};
    try {
      if (typeof method !== "string") throw new JsonRpcError(-32600, "invalid request");
      const isSend = method === "eth_sendRawTransaction" || method === "eth_sendTransaction";
      const result = isSend
        ? await this.pool.send(this.#rules.tip, method, params)
        : await this.view.answer(this.#rules, method, params);
      return { jsonrpc: "2.0", id, result };
    } catch (error) {
      return failed(id, error);
    }
  }

  /** WebSockets go to the node as they are: no rule but `webSocket` holds for them. */
  #tunnel(request, socket, head) {
    if (this.#rules.webSocket === "refuse") return socket.destroy();
    const upstream = connect(Number(this.upstreamUrl.port), this.upstreamUrl.hostname, () => {
      const headers = request.rawHeaders.reduce((lines, word, i) => lines + word + (i % 2 ? "\r\n" : ": "), "");
      upstream.write(`GET ${request.url} HTTP/1.1\r\n${headers}\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    const close = () => {
      this.#tunnels.delete(close);
      socket.destroy();
      upstream.destroy();
    };
    this.#tunnels.add(close);
    for (const end of [socket, upstream]) end.on("error", close).on("close", close);
  }

  #closeTunnels() {
    for (const close of this.#tunnels) close();
  }
}

async function read(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error("the request is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function json(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function failed(id, error) {
  const known = error instanceof JsonRpcError || error instanceof RpcError;
  const { code = -32603, data } = known ? error : {};
  // The node's own words, without the method that our client puts before them.
  const message = error instanceof RpcError ? error.message.slice(error.message.indexOf(": ") + 2) : error.message;
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** The ways a provider fails. A timeout is an answer that never comes: the client has to give up. */
function fail({ mode, status = 503 }, calls, response) {
  switch (mode) {
    case "status":
      return json(response, status, { error: "service unavailable" });
    case "timeout":
      return undefined;
    case "garbage":
      response.writeHead(200, { "content-type": "text/html" });
      return response.end("<html><body><h1>502 Bad Gateway</h1></body></html>");
    case "truncated":
      response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
      response.write('{"jsonrpc":"2.0","id":1,"resu');
      return setImmediate(() => response.destroy());
    case "reset":
      return response.socket.resetAndDestroy();
    default:
      return json(response, 200, failed(calls[0]?.id ?? null, new JsonRpcError(-32603, "internal error")));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [upstreamUrl, port = "0"] = process.argv.slice(2);
  if (!upstreamUrl) throw new Error("usage: node proxy.mjs UPSTREAM_URL [PORT]");
  const proxy = await startProxy(upstreamUrl, { port: Number(port) });
  console.log(`proxy for ${upstreamUrl} on ${proxy.url}, rules at ${proxy.url}${CONTROL}`);
}
