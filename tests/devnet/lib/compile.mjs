// Compiles contracts/ with solc, once: the result is kept below node_modules/.cache under the hash of what went in.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CONTRACTS = join(ROOT, "contracts");
const CACHE = join(ROOT, "node_modules/.cache/solc");

// The chain has no PUSH0.
const SETTINGS = { evmVersion: "paris", optimizer: { enabled: true, runs: 200 }, metadata: { bytecodeHash: "none" } };

// Only these: they have too many variables for the older, four times faster way of solc.
const VIA_IR = [
  "dex/DexRouter.sol",
  "erc8004/ReputationRegistry8004.sol",
  "records/Endorsements.sol",
  "records/MemoryAnchor.sol",
];

/**
 * Name of a contract → {abi, bytecode}, for every contract that can be deployed.
 * `replace` maps files below contracts/ to another text, such as the names of another network; `only` names the files
 * whose contracts are wanted.
 */
export function compile({ replace = {}, only } = {}) {
  const sources = { ...readSources(), ...replace };
  const key = createHash("sha256").update(JSON.stringify([SETTINGS, VIA_IR, sources, only, lockFile()])).digest("hex");
  const cached = join(CACHE, `${key}.json`);
  if (existsSync(cached)) return { ...JSON.parse(readFileSync(cached, "utf8")), ...uniswap() };
  const wanted = only ?? Object.keys(sources);
  const [viaIR, direct] = [true, false].map((is) => wanted.filter((name) => VIA_IR.includes(name) === is));
  const artifacts = { ...runSolc(sources, direct, false), ...runSolc(sources, viaIR, true) };
  mkdirSync(CACHE, { recursive: true });
  // Renamed into place: another process that compiles at the same time never reads half a file.
  const partial = `${cached}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(artifacts));
  renameSync(partial, cached);
  return { ...artifacts, ...uniswap() };
}

function readSources() {
  const files = sourceFiles(CONTRACTS).sort();
  return Object.fromEntries(files.map((path) => [relative(CONTRACTS, path), readFileSync(path, "utf8")]));
}

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith(".sol") ? [path] : [];
  });
}

/** Versions of the compiler and of what contracts import decide what comes out. */
function lockFile() {
  return readFileSync(join(ROOT, "package-lock.json"), "utf8");
}

function runSolc(sources, wanted, viaIR) {
  if (wanted.length === 0) return {};
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }])),
    settings: {
      ...SETTINGS,
      viaIR,
      outputSelection: Object.fromEntries(wanted.map((name) => [name, { "*": ["abi", "evm.bytecode.object"] }])),
    },
  };
  // Loaded here: solc is 8 MB of WebAssembly, and nobody with a warm cache needs it.
  const output = JSON.parse(require("solc").compile(JSON.stringify(input), { import: findImport }));
  const errors = (output.errors ?? []).filter((error) => error.severity === "error");
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"));
  const compiled = wanted.flatMap((name) => Object.entries(output.contracts[name] ?? {}));
  const deployable = compiled.filter(([, { evm }]) => evm.bytecode.object !== "");
  return Object.fromEntries(
    deployable.map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]),
  );
}

function findImport(path) {
  const file = join(ROOT, "node_modules", path);
  return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} is not installed: npm ci` };
}

/** Factory and pair come compiled from Uniswap, for an EVM older than paris. */
function uniswap() {
  const load = (name) => {
    const { abi, evm } = require(`@uniswap/v2-core/build/${name}.json`);
    return { abi, bytecode: `0x${evm.bytecode.object}` };
  };
  const factory = load("UniswapV2Factory");
  // Uniswap left it without a name, and decoders want one.
  factory.abi.find((item) => item.name === "PairCreated").inputs[3].name = "allPairsLength";
  return { UniswapV2Factory: factory, UniswapV2Pair: load("UniswapV2Pair") };
}
