// Starts anvil. Rule: it never outlives this process, however that ends.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Rpc } from "./rpc.mjs";

export const CHAIN_ID = 3961;
/** The words that anvil, hardhat and every wallet's documentation use: everybody knows these keys. */
export const MNEMONIC = "test test test test test test test test test test test junk";
const START_LIMIT_MS = 60_000;

// Ends anvil when descriptor 3, whose other end this process holds, is closed: also when it was killed with SIGKILL. The states
// that anvil keeps on disk, gigabytes of a long chain, go with it.
const LEASH = `
  states=$(mktemp -d) && { "$0" "$@" --cache-path "$states" 3<&- & } && anvil=$!
  { cat <&3 >/dev/null; kill -KILL $anvil; rm -rf "$states"; } 2>/dev/null &
  wait $anvil`;

/** From npm where the registry has it (Linux on x86-64); elsewhere the one in PATH, or where ANVIL says. */
function program() {
  if (process.env.ANVIL) return process.env.ANVIL;
  try {
    return createRequire(import.meta.url).resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
  } catch {
    return "anvil";
  }
}

/**
 * A fresh chain that mines a block for each transaction until it is told otherwise.
 * Answers {url, rpc, stop(), ended}, where `ended` becomes a sentence when anvil is gone.
 */
export async function startAnvil({ port = 0, accounts = 20, chainId = CHAIN_ID, genesisTime, args = [] } = {}) {
  const flags = [
    ["--port", port],
    ["--chain-id", chainId],
    ["--hardfork", "paris"],
    ["--mnemonic", MNEMONIC],
    ["--accounts", accounts],
    ["--balance", 1_000_000],
    // In the order in which they are sent, so that a scenario knows the ids in advance.
    ["--order", "fifo"],
    ...(genesisTime === undefined ? [] : [["--timestamp", genesisTime]]),
  ];
  const words = [...flags.flat().map(String), "--auto-impersonate", ...args];
  const child = spawn("sh", ["-c", LEASH, program(), ...words], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const errors = [];
  child.stderr.on("data", (chunk) => errors.push(chunk));
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve(`anvil could not be started: ${error.message}`));
    child.on("exit", (code, signal) => {
      child.stdio[3].destroy();
      const hint = code === 127 ? "npm ci brings it for Linux on x86-64; else install Foundry. " : "";
      resolve(`anvil ended with ${signal ?? code}. ${hint}${Buffer.concat(errors).toString().trim()}`.trim());
    });
  });
  child.stdio[3].on("error", () => {});
  const url = await Promise.race([listening(child.stdout), ended.then((why) => Promise.reject(new Error(why)))]);
  const stop = () => {
    child.stdio[3].destroy();
    return ended;
  };
  return { url, rpc: new Rpc(url), stop, ended };
}

/** anvil says its address when it is ready; what it says later is thrown away, so that it never blocks on a full pipe. */
function listening(stdout) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("anvil did not say where it listens")), START_LIMIT_MS);
    createInterface({ input: stdout }).on("line", (line) => {
      const address = line.match(/Listening on (\S+)/)?.[1];
      if (!address) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
  });
}
