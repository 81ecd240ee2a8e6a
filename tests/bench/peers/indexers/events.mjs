// What all indexers here derive: a row for each event of agents and jobs. INDEXER_REGISTRY, INDEXER_ESCROW and INDEXER_RPC say
// where.
import { parseAbi } from "viem";

const registry = parseAbi([
  "event AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
  "event AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)",
  "event AgentStatusChanged(uint256 indexed id, uint8 status)",
]);

const escrow = parseAbi([
  "event JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)",
  "event JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)",
  "event JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)",
  "event JobDisputed(uint256 indexed jobId)",
  "event JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)",
]);

export const contracts = {
  Registry: { abi: registry, address: process.env.INDEXER_REGISTRY },
  Escrow: { abi: escrow, address: process.env.INDEXER_ESCROW },
};

export const rpc = process.env.INDEXER_RPC;
export const chainId = Number(process.env.INDEXER_CHAIN_ID);
export const database = process.env.INDEXER_DATABASE;

/** The row of an event, by its place in the chain. */
export function step({ block, logIndex, name, args }) {
  const id = `${String(block).padStart(10, "0")}-${String(logIndex).padStart(6, "0")}`;
  return { id, block, event: name, subject: String(args.id ?? args.jobId), args: printed(args) };
}

function printed(args) {
  return JSON.stringify(args, (_, value) => (typeof value === "bigint" ? value.toString() : value));
}
